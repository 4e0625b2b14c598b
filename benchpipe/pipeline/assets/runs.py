"""From readings to decisions, money and log pages, a benchmark at a time, and `status.json` over all of them."""

import os
from collections import Counter
from typing import Any

import dagster as dg
import msgspec

from benchpipe.files import lock, sha256, write_json
from benchpipe.hosts.pool import open_pool
from benchpipe.hosts.raw import RawCopies
from benchpipe.hosts.store import load_requests
from benchpipe.pipeline import inputs, report
from benchpipe.pipeline.assets.hosts import host_trials
from benchpipe.pipeline.partitions import BENCHMARKS
from benchpipe.pipeline.scene import Scene, SceneResource
from benchpipe.transcripts import unfinished
from benchpipe.transcripts.update import update_logs
from benchpipe.trials.attempts import host_state
from benchpipe.trials.collect import collect_states
from benchpipe.trials.records import RunFile
from benchpipe.trials.status import status_json as status_of
from benchpipe.trials.store import load_run_file
from benchpipe.trials.view import View, view
from benchpipe.usage.collect import collect_costs
from benchpipe.usage.format import money

OWNED: dict[str, Any] = {"group_name": "runs", "owners": ["team:benchmark_owners"], "code_version": "1"}
BY_BENCHMARK: dict[str, Any] = {**OWNED, "partitions_def": BENCHMARKS}


def run_files_of(scene: Scene, benchmark: str) -> list[RunFile]:
    """The stored run files of a benchmark's shown runs."""
    plan = scene.registry.plans.get(benchmark)
    files = (load_run_file(scene.lab, benchmark, run.run) for run in (plan.shown() if plan else ()))
    return [file for file in files if file]


def views_of(scene: Scene, benchmark: str) -> list[View]:
    """A benchmark's shown runs as people see them, default first."""
    plan = scene.registry.plans.get(benchmark)
    known = scene.registry.benchmarks.get(benchmark)
    tasks = known.tasks if known else {}
    runs = plan.shown() if plan else []
    return [view(run, load_run_file(scene.lab, benchmark, run.run), tasks) for run in runs]


@dg.asset(**BY_BENCHMARK, kinds={"yaml"}, deps=["agent_registry", "benchmark_registry"])
def run_scopes(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """Who runs what of a benchmark: each run's batches, modes and tasks, with every default and override resolved."""
    look = scene.scene()
    plan = look.registry.plans.get(context.partition_key)
    rows = [
        {
            "run": run.run,
            "batches": ", ".join(run.batches),
            "modes": ", ".join(run.modes),
            "tasks": len(run.tasks),
            "trials": len(run.tasks) * len(run.modes),
            "state": "hidden" if run.hidden else "closed" if run.closed else "open",
        }
        for run in (plan.runs.values() if plan else ())
    ]
    return report.result(
        inputs.scopes_inputs(look, context.partition_key),
        n_runs=len(rows),
        runs=report.table(rows, ("run", "batches", "modes", "tasks", "trials", "state")),
    )


@dg.asset(
    **BY_BENCHMARK,
    kinds={"json"},
    deps=[run_scopes, dg.AssetDep(host_trials, partition_mapping=dg.AllPartitionMapping())],
)
def run_states(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """The decided state of every trial of a benchmark: one run file per run, and the history of what changed when."""
    look, benchmark = scene.scene(), context.partition_key
    with lock(look.lab.lock_file(f"benchmark-{benchmark}"), wait=True):
        built_from = inputs.states_inputs(look, benchmark)
        done = collect_states(look.lab, look.registry, look.readings, benchmark, scene.now())
    counts = Counter(record.state for file in done.run_files.values() for modes in file.tasks.values() for record in modes.values())
    rows = [
        {"run": name, **Counter(record.state for modes in file.tasks.values() for record in modes.values())}
        for name, file in done.run_files.items()
    ]
    events = [{"run": e.run, "task": e.task, "mode": e.mode, "from": e.was, "to": e.became, "trial": e.trial} for e in done.events]
    files = {name: look.lab.run_file(benchmark, name) for name in done.run_files}
    return report.result(
        built_from,
        sha256(b"".join(path.read_bytes() for path in files.values()))[:24],
        files=files,
        n_records=counts.total(),
        **{f"n_{state}": n for state, n in sorted(counts.items())},
        n_runs_written=len(done.written),
        states=report.table(rows, ("run", *sorted(counts))),
        changes=report.table(events, ("run", "task", "mode", "from", "to", "trial")),
        **report.problems(done.problems),
    )


@dg.asset(**BY_BENCHMARK, kinds={"parquet"}, deps=[run_states, "price_list", "agent_registry"])
def cost_estimates(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """Tokens and money of a benchmark: list-price estimates and bills, never added up, with coverage; attempts, requests."""
    look, benchmark = scene.scene(), context.partition_key
    with lock(look.lab.lock_file(f"benchmark-{benchmark}"), wait=True):
        built_from = inputs.costs_inputs(look, benchmark)
        costs = collect_costs(look.lab, look.registry, benchmark, views_of(look, benchmark), lambda d: load_requests(look.lab, d))
    rows = [
        {
            "run": run.run,
            "trials": run.n,
            "estimate": money(run.estimate_usd),
            "estimated": f"{run.estimate_n} of {run.n}",
            "billed": money(run.billed_usd),
            "billed trials": f"{run.billed_n} of {run.n}",
            "estimate of superseded attempts": money(run.superseded_estimate_usd),
        }
        for run in costs.runs
    ]
    columns = ("run", "trials", "estimate", "estimated", "billed", "billed trials", "estimate of superseded attempts")
    return report.result(
        built_from,
        costs.digest,
        files={
            "attempts": look.lab.attempts_table(benchmark),
            "requests": look.lab.requests_table(benchmark),
            "costs": look.lab.costs_file(benchmark),
        },
        costs=report.table(rows, columns),
        **{"dagster/row_count": costs.n_requests, "n_attempts": costs.n_attempts},
        **report.problems(costs.problems),
    )


@dg.asset(**BY_BENCHMARK, kinds={"json"}, deps=[run_states])
def trial_logs(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """The data of log pages: what the agent said and did in each trial. Only stale ones are built."""
    look, benchmark = scene.scene(), context.partition_key
    with lock(look.lab.lock_file(f"logs-{benchmark}"), wait=True), open_pool(os.environ) as pool:
        sources = inputs.logs_sources(look, benchmark)
        answered = {host: reading.at for host, reading in look.readings.items()}
        done = update_logs(
            look.lab,
            look.registry,
            run_files_of(look, benchmark),
            now=scene.now().isoformat(),
            folder_of=RawCopies(look.lab, pool).folder,
        )
        unfinished.remember(look.lab, benchmark, done.unfinished, answered)
        built_from = inputs.logs_inputs(look, benchmark, sources)
    return report.result(
        built_from,
        n_built=len(done.built),
        n_unchanged=done.unchanged,
        n_removed=len(done.removed),
        n_partial_copies=len(done.partial),
        **report.problems([*done.failed, *(f"{slot}: partial copy" for slot in done.partial)]),
    )


@dg.asset(**OWNED, kinds={"json"}, deps=[run_states])
def status_json(scene: SceneResource) -> dg.MaterializeResult[Any]:
    """`data/runs/status.json`: every benchmark's default run, for scripts that poll."""
    look = scene.scene()
    lab = look.lab
    with lock(lab.lock_file("status"), wait=True):
        built_from = inputs.status_inputs(look)
        status = status_of(
            look.registry, look.readings, lambda benchmark, run: load_run_file(lab, benchmark, run), scene.now().isoformat()
        )
        write_status(look, status)
    down = [name for name, reading in look.readings.items() if reading.asked and not host_state(reading)["ok"]]
    rows = [
        {"benchmark": name, "run": part["run"], **Counter(r["state"] for modes in part["tasks"].values() for r in modes.values())}
        for name, part in status["benchmarks"].items()
    ]
    states = sorted({key for row in rows for key in row} - {"benchmark", "run"})
    return report.result(
        built_from,
        sha256(msgspec.json.encode({**status, "generated_at": None}))[:24],
        files={"file": lab.status_file},
        n_benchmarks=len(rows),
        hosts_down=", ".join(down) or "none",
        benchmarks=report.table(rows, ("benchmark", "run", *states)),
    )


def write_status(look: Scene, status: dict[str, Any]) -> None:
    """Write status.json unless only `generated_at` differs: a watcher of the file sees changes and nothing else."""
    path = look.lab.status_file
    try:
        stored = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        stored = None
    if not isinstance(stored, dict) or {**stored, "generated_at": None} != {**status, "generated_at": None}:
        write_json(path, status)
