"""`data/runs/status.json`: every benchmark's default run for scripts that poll (runs-system 8.3). Derived, never merged into.

The shape is a contract with watchers outside: `benchmarks.<b>.tasks.<t>.<mode>` and `hosts.<h>` stay as they are.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from benchpipe.registry.records import BenchRun, Registry
from benchpipe.trials.attempts import Readings, host_state
from benchpipe.trials.records import RunFile
from benchpipe.trials.store import run_file_json

NO_SWEEP: dict[str, Any] = {"name": None, "agent": None, "modes": [], "run": None}


def default_runs(registry: Registry) -> list[BenchRun]:
    """Each benchmark's default bench-run, in the order of the plans."""
    return [shown[0] for plan in registry.plans.values() if (shown := plan.shown())]


def status_json(
    registry: Registry, readings: Readings, run_file_of: Callable[[str, str], RunFile | None], now: str
) -> dict[str, Any]:
    """The whole file. `run_file_of(benchmark, run)`: the stored run file. `now`: ISO UTC.

    Hosts: those of the hosts files with their last state. Benchmarks: those whose default run has data.
    """
    with_data = [(run, file) for run in default_runs(registry) if (file := run_file_of(run.benchmark, run.run))]
    return {
        "hosts": {name: host_state(readings[name]) for name in registry.hosts if name in readings},
        "benchmarks": {
            run.benchmark: {"batch": run.batch, "run": run.run, "tasks": run_file_json(file)["tasks"]} for run, file in with_data
        },
        "runs": {run.benchmark: run.run for run, _ in with_data},
        "sweep": _sweep(registry, [run.run for run, _ in with_data]),
        "generated_at": now,
    }


def _sweep(registry: Registry, runs: list[str]) -> dict[str, Any]:
    """The run that is the default of most benchmarks, the first one of equals."""
    if not runs:
        return dict(NO_SWEEP)
    run = Counter(runs).most_common(1)[0][0]
    agent = registry.agents.get(run)
    if agent is None:
        return {**NO_SWEEP, "name": run, "run": run}
    return {"name": agent.sweep or run, "agent": agent.label, "modes": list(agent.modes), "run": run}
