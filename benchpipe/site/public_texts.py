"""What people wrote, as the public build may show it: texts that can name machines go through the publisher's filter
(runs-system 3.3, 17.3). The local build shows them unchanged.
"""

from collections.abc import Callable

import msgspec

from benchpipe.registry.records import Agent, Benchmark, BenchRun, Remark, Task, Withdrawal

Filter = Callable[[str], str]


def public_run(run: BenchRun, no_machines: Filter) -> BenchRun:
    """A bench-run whose reasons, notes and remarks name no machine."""

    def remarks(of: tuple[Remark, ...]) -> tuple[Remark, ...]:
        return tuple(msgspec.structs.replace(remark, note=no_machines(remark.note)) for remark in of)

    def withdrawal(of: Withdrawal) -> Withdrawal:
        return Withdrawal(no_machines(of.label), of.note and no_machines(of.note))

    return msgspec.structs.replace(
        run,
        removed={task: no_machines(reason) for task, reason in run.removed.items()},
        others=run.others and no_machines(run.others),
        closed=run.closed and no_machines(run.closed),
        followups=remarks(run.followups),
        notes=remarks(run.notes),
        not_counted=remarks(run.not_counted),
        stopped=remarks(run.stopped),
        withdrawn={mode: withdrawal(one) for mode, one in run.withdrawn.items()},
    )


def public_agent(agent: Agent, no_machines: Filter) -> Agent:
    """An agent whose notes name no machine."""
    return msgspec.structs.replace(agent, notes=agent.notes and no_machines(agent.notes))


def public_benchmark(benchmark: Benchmark, no_machines: Filter) -> Benchmark:
    """A benchmark whose tasks' reasons and notes name no machine."""

    def public_task(task: Task) -> Task:
        if not (task.excluded or task.note):
            return task
        return msgspec.structs.replace(
            task, excluded=task.excluded and no_machines(task.excluded), note=task.note and no_machines(task.note)
        )

    return msgspec.structs.replace(benchmark, tasks={name: public_task(task) for name, task in benchmark.tasks.items()})
