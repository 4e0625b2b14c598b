"""`benchpipe explain`: where a number comes from, down to the request and the price line."""

import msgspec
import rich_click as click

from benchpipe.cli.main import lab_of
from benchpipe.errors import UsageError
from benchpipe.files import json_bytes
from benchpipe.hosts.store import load_requests
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import BenchRun, Registry
from benchpipe.trials.store import load_run_file
from benchpipe.trials.view import View, ViewRecord, view
from benchpipe.trials.why import why_shown
from benchpipe.usage.collect import load_costs
from benchpipe.usage.costs import SlotCosts
from benchpipe.usage.explain import RequestLine, explain, request_lines, text


@click.command()
@click.argument("benchmark")
@click.argument("run")
@click.argument("task", required=False)
@click.argument("mode", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON; money is decimal strings.")
@click.pass_context
def command(ctx: click.Context, benchmark: str, run: str, task: str | None, mode: str | None, as_json: bool) -> None:
    """Explain the numbers of a run on a benchmark, or of one trial.

    Example: benchpipe explain tabletop codex-gpt6_luna-xhigh pour_water limited
    """
    lab = lab_of(ctx)
    registry = load_registry(lab)
    bench_run = _bench_run(registry, benchmark, run)
    run_file = load_run_file(lab, benchmark, bench_run.run)
    costs = load_costs(lab, benchmark)
    if run_file is None or costs is None:
        raise UsageError(f"nothing of {bench_run.run} on {benchmark} was collected yet: run `benchpipe runs` first")
    of_run = costs.runs.get(bench_run.run, {})
    seen = view(bench_run, run_file, registry.benchmarks[benchmark].tasks)
    price = registry.price_of(bench_run.run)
    if task is None:
        found = explain(seen.records("bench"), of_run, why_shown)
    else:
        slot = _slot(seen, task, mode)
        cost = of_run.get(task, {}).get(slot.mode, SlotCosts())
        found = explain([slot], of_run, why_shown, _requests(lab, registry, bench_run.run, cost))
    if as_json:
        click.echo(json_bytes(msgspec.to_builtins(found)), nl=False)
    else:
        click.echo("\n".join(text(found, price)))


def _bench_run(registry: Registry, benchmark: str, run: str) -> BenchRun:
    plan = registry.plans.get(benchmark)
    if plan is None or benchmark not in registry.benchmarks:
        known = ", ".join(sorted(registry.plans.keys() & registry.benchmarks.keys()))
        raise UsageError(f"no benchmark {benchmark} with runs here; there are: {known or 'none'}")
    found = plan.runs.get(run) or plan.runs.get(registry.aliases.get(run, run))
    if found is None:
        raise UsageError(f"{benchmark} has no run {run}; it has: {', '.join(plan.runs) or 'none'}")
    return found


def _slot(seen: View, task: str, mode: str | None) -> ViewRecord:
    records = seen.tasks[task].records if task in seen.tasks else {}
    if mode is None and len(records) == 1:
        return next(iter(records.values()))
    if not records:
        raise UsageError(f"{seen.run} has no task {task}; it has: {', '.join(seen.tasks)}")
    if mode is None:
        raise UsageError(f"{task} was tried in several modes; add one: {', '.join(records)}")
    if mode not in records:
        raise UsageError(f"{seen.run} has no {task} {mode}; its modes: {', '.join(records)}")
    return records[mode]


def _requests(lab: Lab, registry: Registry, run: str, cost: SlotCosts) -> list[RequestLine]:
    digest = next((attempt.usage_digest for attempt in cost.attempts if attempt.counts), None)
    return request_lines(load_requests(lab, digest), registry.price_of(run)) if digest else []
