"""Everything people wrote in a lab, read at once: `load_registry`. Never raises for a bad file (B11)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchpipe.lab import Lab
from benchpipe.registry.agents import aliases_of, load_agents
from benchpipe.registry.benchmarks import load_benchmarks, unregistered, with_tasks
from benchpipe.registry.hosts import load_hosts
from benchpipe.registry.plans import load_plans
from benchpipe.registry.prices import load_prices
from benchpipe.registry.public import load_public, read_backfill
from benchpipe.registry.records import Benchmark, Plan, Problem, Registry
from benchpipe.registry.source import Source

__all__ = ["load_registry", "read_backfill"]


def load_registry(lab: Lab, *, hosts_files: Sequence[Path] | None = None, overrides: Mapping[Path, str] | None = None) -> Registry:
    """The lab's registry, broken files and wrong values left out and named in `problems` (sorted by place).

    `hosts_files` replaces `data/runs/hosts*.local.yml` (`--hosts`). `overrides` gives texts to read instead of files, by
    path (absolute or relative to the lab): what a change would do, asked before it is written.
    """
    source = Source(lab, overrides)
    agents = load_agents(source)
    prices, unpriced = load_prices(source)
    benchmarks = load_benchmarks(source)
    plans = load_plans(source, agents)
    for name, plan in plans.items():
        if name not in benchmarks:
            message = f"{name} is not registered as a benchmark: add data/benchmarks/{name}.yml or correct the file's name"
            source.problem(plan.place, "plan-benchmark", message)
            benchmarks[name] = unregistered(source, plan)
        benchmarks[name] = _with_tasks_of_runs(source, benchmarks[name], plan)
    _find_curation_of_nothing(source, benchmarks)
    aliases = aliases_of(agents.values(), agents)
    hosts, public = load_hosts(source, hosts_files, aliases), load_public(source)
    source.misspelt()
    return Registry(
        agents=agents,
        prices=prices,
        unpriced=unpriced,
        benchmarks=benchmarks,
        plans=plans,
        hosts=hosts,
        public=public,
        aliases=aliases,
        problems=tuple(sorted(source.problems, key=_by_place)),
    )


def _with_tasks_of_runs(source: Source, benchmark: Benchmark, plan: Plan) -> Benchmark:
    """Where nobody lists a benchmark's tasks, those that its runs name exist; `check` asks for the list."""
    if benchmark.listed:
        return benchmark
    named = [task for bench_run in plan.runs.values() for task in bench_run.tasks]
    if named and benchmark.raw:  # an unreadable or missing file is named already
        message = f"nobody lists the tasks of {benchmark.id}, so typing errors can't be told: add `tasks: [<id>, …]`"
        source.problem(benchmark.place, "benchmark-tasks", message)
    return with_tasks(benchmark, named)


def _find_curation_of_nothing(source: Source, benchmarks: Mapping[str, Benchmark]) -> None:
    for path in source.yaml_files(source.lab.state_tasks, "task"):
        if path.stem not in benchmarks:
            message = f"{path.stem} is not registered as a benchmark: correct the file's name or register it"
            source.problem(source.place(path), "task-benchmark", message)
            source.mapping(path, "task")  # for its own faults


def _by_place(problem: Problem) -> tuple[str, int, str, str]:
    return (problem.place.file, problem.place.line or 0, problem.rule, problem.message)
