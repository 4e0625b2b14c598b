"""Read what a build shows: run files, costs and log data of this machine, or of the committed snapshot alone.

The public build never looks at local data, also on a machine that has some.
"""

import os
from collections.abc import Callable, Collection

from benchpipe.lab import Lab
from benchpipe.publish.names import machine_filter, private_places
from benchpipe.publish.published import published_id, published_run
from benchpipe.registry.records import Agent, Benchmark, BenchRun, Price, Registry
from benchpipe.site.addresses import log_page
from benchpipe.site.data import BenchmarkData, RunData, Trial
from benchpipe.site.logs import LogSource
from benchpipe.site.money import Cost, Costs, cost_of_sums, local_costs, published_costs
from benchpipe.site.public_texts import public_agent, public_benchmark, public_run
from benchpipe.transcripts.checks import log_checks
from benchpipe.trials.records import RunFile
from benchpipe.trials.store import parse_run_file
from benchpipe.trials.view import ViewRecord, view


def read_benchmarks(lab: Lab, registry: Registry, *, public: bool, only: Collection[str] | None = None) -> list[BenchmarkData]:
    """Every registered benchmark (or those of `only`) by id, with its shown runs.

    Files that can't be read count as absent (B11).
    """
    logs = LogSource(lab, public, registry.public)
    no_machines = machine_filter(private_places(lab, registry)) if public else None
    found = []
    for name, benchmark in sorted(registry.benchmarks.items()):
        if only is not None and name not in only:
            continue
        plan = registry.plans.get(name)
        costs = {} if public else local_costs(lab, name)
        shown = public_benchmark(benchmark, no_machines) if no_machines else benchmark
        runs = []
        for bench_run in plan.shown() if plan else ():
            stored = (public and published_id(lab, name, registry.ids_of(bench_run.run))) or bench_run.run
            run_file, own = _read(lab, bench_run, stored, costs, public)
            agent = registry.agents.get(bench_run.run) or _stranger(bench_run)
            if no_machines:
                bench_run, agent = public_run(bench_run, no_machines), public_agent(agent, no_machines)
            runs.append(_run(shown, bench_run, agent, registry.price_of(bench_run.run), run_file, stored, own, logs))
        found.append(BenchmarkData(shown, plan, runs))
    return found


def _stranger(bench_run: BenchRun) -> Agent:
    """Stand-in for a run that nobody registered: `check` names it, its results stay visible."""
    return Agent(id=bench_run.run, place=bench_run.place, label=bench_run.run, short=bench_run.run)


def _read(lab: Lab, bench_run: BenchRun, stored: str, costs: Costs, public: bool) -> tuple[RunFile | None, Costs]:
    path = published_run(lab, bench_run.benchmark, stored) if public else lab.run_file(bench_run.benchmark, stored)
    try:
        text = path.read_bytes()
    except OSError:
        return None, {}
    run_file = parse_run_file(text, bench_run.benchmark, bench_run.run, lab.relative(path))
    return run_file, published_costs(text, bench_run.run) if public else costs


def _run(
    benchmark: Benchmark,
    bench_run: BenchRun,
    agent: Agent,
    price: Price | None,
    run_file: RunFile | None,
    stored: str,
    costs: Costs,
    logs: LogSource,
) -> RunData:
    seen = view(bench_run, run_file, benchmark.tasks)
    there, trials = _log_there(logs, bench_run.benchmark, stored), []
    for task in seen.tasks.values():
        title = benchmark.tasks[task.task].title if task.known else task.task
        for record in task.records.values():
            if record.state == "withdrawn":  # its logs are for those who find out why
                addresses = ("", "") if logs.public else _log_addresses(there, bench_run, record)
                trials.append(Trial(benchmark.id, bench_run.run, title, record, Cost(), *addresses))
                continue
            cost = costs.get((bench_run.run, record.task, record.mode)) or cost_of_sums(record.record, price, agent.billing)
            current, previous = _log_addresses(there, bench_run, record)
            missing = () if logs.public else _missing(record, agent)
            trials.append(Trial(benchmark.id, bench_run.run, title, record, cost, current, previous, missing))
    return RunData(bench_run, agent, run_file, seen, trials, stored)


def _missing(seen: ViewRecord, agent: Agent) -> tuple[str, ...]:
    checks = log_checks(seen.record, seen.mode, agent.harness_id) if seen.record.logs else ()
    return tuple(check.item for check in checks if check.verdict == "missing")


LogThere = Callable[[str, str], bool]
"""(task, slot) → whether there is data for a log page."""


def _log_there(logs: LogSource, benchmark: str, stored: str) -> LogThere:
    """Looks for the logs of one bench-run. The path is made once: there may be tens of thousands of trials to look for."""
    task_here, slot_here = "task-goes-here", "slot-goes-here"
    pattern = logs.log_file(benchmark, stored, task_here, slot_here)
    if not os.path.isdir(pattern.partition(task_here)[0]):
        return lambda task, slot: False
    return lambda task, slot: os.path.isfile(pattern.replace(task_here, task).replace(slot_here, slot))


def _log_addresses(there: LogThere, bench_run: BenchRun, record: ViewRecord) -> tuple[str, str]:
    """The addresses of the record's log page and of the one of the attempt before; "" where there is no data for one."""
    current = previous = ""
    for page in record.pages:
        if there(record.task, page.slot):
            address = log_page(bench_run.benchmark, bench_run.run, record.task, page.slot)
            current, previous = (current, address) if page.previous else (address, previous)
    return current, previous
