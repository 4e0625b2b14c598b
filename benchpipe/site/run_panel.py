"""From a bench-run's data to the panel of its page: the table row by row, filters, warnings, remarks, lists of the rest."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from statistics import fmean

from benchpipe.registry.records import Metric, Price, Registry, Task
from benchpipe.site import order
from benchpipe.site.addresses import OVERVIEW, benchmark_page, compare_page, run_page, runs_page, table, task_page, trial_page
from benchpipe.site.benchmark_page import plural, task_counts
from benchpipe.site.data import BenchmarkData, RunData, Trial
from benchpipe.site.facts import facts, run_facts
from benchpipe.site.figures import figures
from benchpipe.site.frontier import Chart
from benchpipe.site.picker import Option, picker
from benchpipe.site.pills import metric_text, pill, progress_text
from benchpipe.site.render import Link, cut
from benchpipe.site.run_page import (
    Banner,
    Cell,
    Column,
    Families,
    FamilyRow,
    Filter,
    Group,
    Outside,
    OutsideTask,
    Row,
    RunPage,
    RunPanel,
    Said,
    Sort,
    TaskRows,
    run_tags,
)  # fmt: skip
from benchpipe.site.states import LOOKS
from benchpipe.trials.records import ACTIVE, DONE, URGENCY
from benchpipe.usage import format as fmt
from benchpipe.usage.totals import family_totals

MAX_REMARK = 2_000
"""Characters of one reason or remark on a run's page."""
DASH = "—"


def run_page_of(
    data: BenchmarkData, run: RunData | None, registry: Registry, chart: Chart | None, tabs: tuple[Link, ...], *, public: bool
) -> RunPage:
    """The page of one run, or of a benchmark without any. The default run's is the benchmark's own. `tabs`: all benchmarks."""
    own = run is data.default
    options = [Option(one.agent, run_page(data, one.id), run_tags(one, one is data.default)) for one in data.runs]
    default = data.default.id if data.default else ""
    name = data.benchmark.name
    return RunPage(
        path=run_page(data, run.id) if run else runs_page(data.id),
        section=OVERVIEW,
        tabs=tabs,
        title=f"{name}: {run.agent.label}" if run and not own else f"Runs of {name}",
        benchmark=data.id,
        heading=f"Runs of {name}",
        lede=f"{task_counts(data.tasks)} · {plural(len(data.runs), 'run')}",
        picker=picker(options, default=default, current=run.id if run else ""),
        swap=own and len(data.runs) > 1,
        run=run_panel(data, run, registry.price_of(run.id), public=public) if run else None,
        empty="No run takes part in this benchmark yet. A run takes part with an entry in state/runs/.",
        links=tuple(_links(data, chart)),
        chart=chart,
    )


def _links(data: BenchmarkData, chart: Chart | None) -> Iterator[Link]:
    yield Link("Task list", benchmark_page(data.id))
    if len(data.runs) > 1:
        yield Link("Compare two runs", compare_page(data.id))
    if chart:
        yield Link("Cost against score", f"{runs_page(data.id)}#cost-score")


def run_panel(data: BenchmarkData, run: RunData, price: Price | None, *, public: bool) -> RunPanel:
    """The panel of one run. The public one names no host."""
    metrics, columns = run.bench_run.metrics, _columns(run)
    groups = tuple(_groups(data, run, columns, hosts=not public))
    counted = [task for task in run.by_task if task in data.tasks]
    excluded = sum(bool(data.tasks[task].excluded) for task in counted)
    return RunPanel(
        id=run.id,
        label=run.agent.label,
        tags=run_tags(run, run is data.default),
        meta=_meta(run, len(counted) - excluded, excluded, public),
        collected=run.run_file.generated_at if run.run_file else "",
        banners=tuple(_banners(run, public)),
        bench_count=len(counted) - excluded,
        excluded_count=excluded,
        bench=figures(run, "bench"),
        all=figures(run, "all"),
        families=_families(data, run),
        remarks=tuple(_remarks(data, run)),
        warnings=tuple(_warnings(data, run)),
        filters=tuple(_filters(run)),
        sorts=tuple(_sorts(metrics)),
        columns=columns,
        host_column=not public,
        width=2 + len(columns) + (not public),
        groups=groups,
        downloads=table(data.id, "attempts") if run.seen.has_data else "",
        facts=facts(run_facts(data, run, price)),
        outside=tuple(_outside(data, run)),
    )


def _meta(run: RunData, own: int, excluded: int, public: bool) -> str:
    modes = len(run.bench_run.modes)
    parts = [f"{own} {'task' if own == 1 else 'tasks'} × {modes} {'mode' if modes == 1 else 'modes'}"]
    parts += [f"{excluded} excluded from the benchmark"] if excluded else []
    parts += [f"{len(run.bench_run.removed)} removed"] if run.bench_run.removed else []
    hosts = run.run_file.hosts.values() if run.run_file and not public else ()
    if hosts:
        parts.append(f"{sum(bool(host.get('ok')) for host in hosts)}/{len(hosts)} hosts answered")
    return " · ".join(parts)


def _banners(run: RunData, public: bool) -> Iterator[Banner]:
    if not run.seen.has_data:
        yield Banner("note", "Results are not published yet." if public else "Nothing was collected here for this run.")
    if run.bench_run.closed:
        yield Banner("note", cut(f"Closed: {run.bench_run.closed}", MAX_REMARK))
    if not public and run.run_file:
        for host, said in sorted(run.run_file.hosts.items()):
            if not said.get("ok"):
                yield Banner("warn", cut(f"{host} did not answer: {said.get('error') or 'no reason given'}", MAX_REMARK))


# --- the table --------------------------------------------------------------------------------------------------------


def _columns(run: RunData) -> tuple[Column, ...]:
    columns = [Column("progress", "Progress", "ascending", "partial credit; a success counts 100%")]
    for i, metric in enumerate(run.bench_run.metrics):
        best_first = "descending" if metric.better == "higher" else "ascending"
        columns.append(Column(f"m{i}", metric.label, best_first, metric.help))
    columns += [
        Column("time", "Agent time", "descending"),
        Column("calls", "Requests", "descending"),
        Column("in", "Tokens in", "descending", "cached ones included"),
        Column("out", "Tokens out", "descending", "reasoning included"),
        Column("est", "Est. cost", "descending", "tokens at list prices; no bill"),
    ]
    if any(trial.bill.usd is not None for trial in run.trials):
        columns.append(Column("billed", "Billed", "descending", "what the provider says it charged"))
    return tuple(columns)


def _groups(data: BenchmarkData, run: RunData, columns: Sequence[Column], *, hosts: bool) -> Iterator[Group]:
    dearest = max((trial.estimate.usd for trial in run.trials if trial.estimate.usd), default=Decimal(0))
    tasks = []
    for name, trials in run.by_task.items():
        tasks.append(_task_rows(data, run, name, trials, columns, dearest, hosts))
    tasks.sort(key=lambda task: task.order)
    for last, heading in GROUPS.items():
        if group := tuple(task for task in tasks if _group(data, task.id) == last):
            yield Group(heading, last, group)


GROUPS = {"": "", "1": "Excluded from the benchmark", "2": "Not tasks of this benchmark: counted nowhere"}
"""In which order the groups of a table stand in every sort, and their headings."""


def _group(data: BenchmarkData, task: str) -> str:
    if task not in data.tasks:
        return "2"
    return "1" if data.tasks[task].excluded else ""


def _task_rows(
    data: BenchmarkData, run: RunData, name: str, trials: Sequence[Trial], columns: Sequence[Column], dearest: Decimal, hosts: bool
) -> TaskRows:
    task = data.tasks.get(name) or Task(id=name, title=name)
    values = [dict(_values(run, trial)) for trial in trials]
    seen = run.seen.tasks[name]
    return TaskRows(
        id=name,
        title=cut(task.title, 200),
        href=task_page(data.id, name) if name in data.tasks else "",
        difficulty="" if task.difficulty == "unrated" else task.difficulty,
        reason=cut(task.excluded or "", MAX_REMARK),
        order=order.default_order(task, seen, trials),
        state_rank=order.state_rank(seen, trials),
        states=order.states_of(seen, trials),
        sort=tuple((column.key, f"{mean:.9g}") for column in columns if (mean := _mean(values, column.key)) is not None),
        rows=tuple(_row(run, trial, columns, dearest, hosts) for trial in trials),
    )


def _mean(values: Sequence[Mapping[str, float]], key: str) -> float | None:
    known = [value[key] for value in values if key in value]
    return fmean(known) if known else None


def _values(run: RunData, trial: Trial) -> Iterator[tuple[str, float]]:
    """What a trial is sorted by, by column key; unknown ones are absent."""
    record, tokens = trial.record, trial.record.tokens
    found = {
        "progress": trial.credit,
        "time": record.agent_wall_s,
        "calls": record.calls,
        "in": tokens.input if tokens else None,
        "out": tokens.output if tokens else None,
        "est": trial.estimate.usd,
        "billed": trial.bill.usd,
        **{f"m{i}": (record.metrics or {}).get(metric.key) for i, metric in enumerate(run.bench_run.metrics)},
    }
    yield from ((key, float(value)) for key, value in found.items() if value is not None)


def _row(run: RunData, trial: Trial, columns: Sequence[Column], dearest: Decimal, hosts: bool) -> Row:
    texts = _texts(run, trial)
    usd = trial.estimate.usd
    share = f"{float(100 * usd / dearest):.1f}" if usd and dearest else ""
    return Row(
        mode=trial.mode,
        state=trial.state,
        is_=" ".join(words(trial)),
        pill=pill(trial, run.agent.label, run.bench_run.metrics),
        pill_id=f"t-{trial.task}-{trial.mode}",
        prev=trial.previous,
        cells=tuple(Cell(texts[column.key] or DASH, share if column.key == "est" else "") for column in columns),
        host=(trial.record.host or "") if hosts else "",
        est_value=str(usd) if usd is not None else "",
        billed_value=str(trial.bill.usd) if trial.bill.usd is not None else "",
    )


def _texts(run: RunData, trial: Trial) -> Mapping[str, str]:
    record, tokens = trial.record, trial.record.tokens
    return {
        "progress": progress_text(trial),
        "time": fmt.duration(record.agent_wall_s),
        "calls": f"{record.calls:,}" if record.calls is not None else "",
        "in": fmt.tokens(tokens.input if tokens else None),
        "out": fmt.tokens(tokens.output if tokens else None),
        "est": fmt.money(trial.estimate.usd),
        "billed": fmt.money(trial.bill.usd),
        **{f"m{i}": metric_text(metric, (record.metrics or {}).get(metric.key)) for i, metric in enumerate(run.bench_run.metrics)},
    }


# --- filters and warnings ---------------------------------------------------------------------------------------------


def words(trial: Trial) -> Iterator[str]:
    """What filters find a trial by: its state, and what should be looked at."""
    yield trial.state
    if trial.state in DONE:
        yield "done"
    if trial.state in ACTIVE:
        yield "active"
    if trial.state in ("error", "stalled"):
        yield "nograde"
    if trial.record.stale:
        yield "stale"
    if trial.state == "queued" and trial.record.rerun:
        yield "rerun"
    if trial.record.followup:
        yield "followup"
    if trial.note:
        yield "noted"
    if trial.missing and trial.state not in ("error", "stalled"):
        yield "missing"
    yield f"group-{LOOKS[trial.state].group}"


WARNINGS = (
    ("nograde", "!", "ended without a grade"),
    ("missing", "⚠", "log records missing"),
    ("stale", "◌", "last known state, host silent"),
    ("rerun", "○", "reruns queued"),
    ("stopped", "■", "stopped by us"),
    ("uncounted", "∅", "not counted"),
)


def _count(trials: Iterable[Trial], word: str) -> int:
    return sum(word in words(trial) for trial in trials)


def _warnings(data: BenchmarkData, run: RunData) -> Iterator[Filter]:
    excluded = [trial for trial in run.trials if _group(data, trial.task)]
    for word, icon, text in WARNINGS:
        if n := _count(run.trials, word):
            apart = _count(excluded, word)
            yield Filter(word, icon, f"{n} {text}" + (f", {apart} of them in excluded tasks" if apart else ""), n)


def _filters(run: RunData) -> Iterator[Filter]:
    for state in URGENCY:
        if n := _count(run.trials, state):
            yield Filter(state, LOOKS[state].icon, LOOKS[state].word, n)
    for word, icon, text in (("followup", "↻", "follow-up"), ("noted", "ⓘ", "with a note")):
        if n := _count(run.trials, word):
            yield Filter(word, icon, text, n)


def _sorts(metrics: Sequence[Metric]) -> Iterator[Sort]:
    yield Sort("", "ascending", "default order")
    yield Sort("task", "ascending", "A–Z")
    yield Sort("est", "descending", "est. cost, highest first")
    yield Sort("time", "descending", "agent time, longest first")
    yield Sort("progress", "ascending", "progress, lowest first")
    for i, metric in enumerate(metrics):
        yield Sort(f"m{i}", "descending" if metric.better == "higher" else "ascending", f"{metric.label}, best first")


# --- remarks and the rest ---------------------------------------------------------------------------------------------


def _remarks(data: BenchmarkData, run: RunData) -> Iterator[Said]:
    for trial in run.trials:
        for icon, kind, note in (("↻", "Follow-up", trial.record.followup), ("ⓘ", "Note", trial.note)):
            if note:
                href = trial.log or trial_page(data, run.id, trial.task)
                yield Said(icon, kind, trial.task_title, trial.mode, cut(note, MAX_REMARK), href)


def _outside(data: BenchmarkData, run: RunData) -> Iterator[Outside]:
    seen = [task for task in run.seen.tasks.values() if not task.inside]
    for heading, removed in (("Removed from this run", True), ("Not in this run", False)):
        tasks = tuple(
            OutsideTask(
                id=task.task,
                title=cut(data.tasks[task.task].title, 200),
                href=task_page(data.id, task.task),
                reason=cut(task.reason or "", MAX_REMARK),
                order=order.default_order(data.tasks[task.task], task, ()),
                state_rank=order.state_rank(task, ()),
                states=order.states_of(task, ()),
            )
            for task in seen
            if task.removed == removed
        )
        if tasks:
            yield Outside(heading, tasks)


def _families(data: BenchmarkData, run: RunData) -> Families | None:
    """The score whose meaning depends on the family (9.5)."""
    wanted = run.bench_run.per_family
    if wanted is None:
        return None
    rows = [
        FamilyRow(
            family=one.family,
            mode=mode,
            solved=f"{numbers.success} of {numbers.done}",
            mean=DASH if numbers.mean is None else f"{numbers.mean:.3f} (of {numbers.n})",
            measure=", ".join(one.scores),
        )
        for one in family_totals(run.trials, data.tasks, wanted.key, data.benchmark.scenes)
        for mode, numbers in one.modes.items()
    ]
    return Families(wanted.label, tuple(rows))
