"""What of a registry is in git: the view that leaves the lab, on the public site and in the snapshot (runs-system 1)."""

from collections.abc import Mapping

import msgspec

from benchpipe.registry.agents import LOCAL, aliases_of
from benchpipe.registry.benchmarks import untouched
from benchpipe.registry.records import DEFAULT_MODES, Agent, Benchmark, Plan, Registry


def committed(registry: Registry) -> Registry:
    """The registry without runs, agents and former names of `.local.yml` files, and without what only those name.

    Hosts stay: they tell which names must not leave.
    """
    agents = {run: agent for run, agent in registry.agents.items() if not agent.local}
    plans = {name: _committed_plan(plan, agents) for name, plan in registry.plans.items() if not plan.place.file.endswith(LOCAL)}
    benchmarks = {
        name: _committed_benchmark(benchmark, registry.plans.get(name), plans.get(name))
        for name, benchmark in registry.benchmarks.items()
        if not benchmark.place.file.endswith(LOCAL)
    }
    aliases = aliases_of(agents.values(), agents)
    return msgspec.structs.replace(registry, agents=agents, plans=plans, benchmarks=benchmarks, aliases=aliases)


def _committed_plan(plan: Plan, agents: Mapping[str, Agent]) -> Plan:
    runs = {
        run: bench_run if run in agents or "modes" in plan.specs[run] else msgspec.structs.replace(bench_run, modes=DEFAULT_MODES)
        for run, bench_run in plan.runs.items()
        if not bench_run.local
    }
    shown = [run for run, bench_run in runs.items() if not bench_run.hidden]
    default = plan.default if plan.default in shown else next(iter(shown), None)
    return msgspec.structs.replace(plan, runs=runs, default=default)


def _committed_benchmark(benchmark: Benchmark, plan: Plan | None, left: Plan | None) -> Benchmark:
    """Where nobody lists a benchmark's tasks, those that its runs name exist: here, its committed runs."""
    if benchmark.listed or plan is None:
        return benchmark
    named, still = ({task for run in of.runs.values() for task in run.tasks} if of else set() for of in (plan, left))
    tasks = {name: task for name, task in benchmark.tasks.items() if name in still or name not in named or not untouched(task)}
    return msgspec.structs.replace(benchmark, tasks=tasks)
