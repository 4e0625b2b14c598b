"""All runs added up over benchmarks (runs-system 12.3), and the home page's table of default runs (12.4)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from benchpipe.registry.records import Withdrawal
from benchpipe.site.addresses import OVERVIEW, run_page, runs_page
from benchpipe.site.benchmark_page import plural
from benchpipe.site.data import BenchmarkData, RunData
from benchpipe.site.figures import (
    ModeFigures,
    Segment,
    bar_label,
    coverage,
    mean_progress,
    mode_figures,
    segments,
    tokens_note,
    tokens_pair,
    totals_of,
)
from benchpipe.site.frontier import Chart
from benchpipe.site.picker import Option, Picker, picker
from benchpipe.site.render import Link, Page
from benchpipe.trials.records import ACTIVE
from benchpipe.usage import format as fmt
from benchpipe.usage.totals import Totals, totals


@dataclass(frozen=True)
class Notice:
    """A chip that leads to where something is to be looked at; `bad` where it needs somebody."""

    icon: str
    text: str
    href: str
    bad: bool


@dataclass(frozen=True)
class PerBenchmark:
    """One benchmark's small bar on a run's card."""

    name: str
    href: str
    text: str
    segments: tuple[Segment, ...]
    bar_label: str


@dataclass(frozen=True)
class RunCard:
    """One run over all its benchmarks; `empty` is a sentence where nothing was collected."""

    id: str
    title: str
    subtitle: str
    tags: tuple[str, ...]
    empty: str
    modes: tuple[ModeFigures, ...]
    segments: tuple[Segment, ...]
    bar_label: str
    costs: str
    benchmarks: tuple[PerBenchmark, ...]


@dataclass(frozen=True)
class CardGroup:
    """Runs with the same first three id fields; `heading` only where there are several. `level` of the cards' headings."""

    heading: str
    level: int
    cards: tuple[RunCard, ...]


@dataclass(frozen=True)
class Head:
    text: str
    title: str


@dataclass(frozen=True)
class MatrixCell:
    """`href` is "" where the run has no part in the benchmark."""

    text: str
    href: str


@dataclass(frozen=True)
class MatrixRow:
    name: str
    href: str
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True)
class Matrix:
    heads: tuple[Head, ...]
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True)
class Column:
    key: str
    label: str
    order: str
    num: bool


@dataclass(frozen=True)
class NumbersRow:
    """Every number of one bench-run; `sort` is column key → value."""

    benchmark: str
    run: str
    href: str
    cells: tuple[str, ...]
    sort: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class OverviewPage(Page):
    template: ClassVar[str] = "overview.html"
    lede: str
    warnings: tuple[Notice, ...]
    picker: Picker
    groups: tuple[CardGroup, ...]
    chart: Chart | None
    matrix: Matrix
    columns: tuple[Column, ...]
    rows: tuple[NumbersRow, ...]


Parts = Mapping[str, list[tuple[BenchmarkData, RunData]]]
"""Run id → its part in each benchmark."""


def parts_of(benchmarks: Sequence[BenchmarkData]) -> Parts:
    """Every run with its benchmarks: runs of one family (first three id fields) stand together, in order of appearance."""
    parts: dict[str, list[tuple[BenchmarkData, RunData]]] = {}
    for data in benchmarks:
        for run in data.runs:
            parts.setdefault(run.id, []).append((data, run))
    families = list(dict.fromkeys(family(run) for run in parts))
    return {run: parts[run] for run in sorted(parts, key=lambda run: families.index(family(run)))}


def totals_over(parts: Sequence[tuple[BenchmarkData, RunData]]) -> Totals:
    """The totals of one run over its benchmarks' own tasks."""
    if len(parts) == 1:
        return totals_of(parts[0][1], "bench")
    return totals(trial for _, run in parts for trial in run.counted("bench"))


def family(run: str) -> str:
    """The first three fields of a run id."""
    return "-".join(run.split("-")[:3])


def overview(benchmarks: Sequence[BenchmarkData], chart: Chart | None, tabs: tuple[Link, ...]) -> OverviewPage:
    """The overview page over all benchmarks, which `tabs` lead to."""
    parts = parts_of(benchmarks)
    cards = {run: _card(of) for run, of in parts.items()}
    every = [totals_of(run, "bench") for of in parts.values() for _, run in of]
    done, active = sum(t.done for t in every), sum(_active(t) for t in every)
    size = f"{plural(len(parts), 'run')} on {plural(len(benchmarks), 'benchmark')}"
    lede = f"{size}: {plural(done, 'trial')} done, {active:,} going on."
    return OverviewPage(
        path=OVERVIEW,
        section=OVERVIEW,
        tabs=tabs,
        title="Runs",
        lede=lede,
        warnings=(*notices(benchmarks), *_notice(benchmarks, "↻", "with a follow-up", "followup", lambda summed: summed.followups)),
        picker=_picker(parts),
        groups=tuple(_groups(cards)),
        chart=chart,
        matrix=_matrix(benchmarks, parts),
        columns=COLUMNS,
        rows=tuple(_numbers(data, run) for of in parts.values() for data, run in of),
    )


def _picker(parts: Parts) -> Picker:
    options = [Option(of[0][1].agent, f"{OVERVIEW}?run={run}") for run, of in parts.items()]
    return picker(options, default="", current="", all_href=OVERVIEW)


def _groups(cards: Mapping[str, RunCard]) -> Iterator[CardGroup]:
    grouped: dict[str, list[RunCard]] = {}
    for run, card in cards.items():
        grouped.setdefault(family(run), []).append(card)
    for several, families in groupby(grouped, lambda name: len(grouped[name]) > 1):
        if several:
            yield from (CardGroup(name.replace("-", " · "), 3, tuple(grouped[name])) for name in families)
        else:
            yield CardGroup("", 2, tuple(grouped[name][0] for name in families))


def _card(parts: Sequence[tuple[BenchmarkData, RunData]]) -> RunCard:
    agent = parts[0][1].agent
    summed = totals_over(parts)
    whole = segments(summed.states)
    has_data = any(run.seen.has_data for _, run in parts)
    closed = all(run.bench_run.closed for _, run in parts)
    modes = dict.fromkeys(mode for _, run in parts for mode in run.bench_run.modes)
    return RunCard(
        id=agent.id,
        title=agent.label,
        subtitle=agent.id,
        tags=("closed",) if closed else (),
        empty=_emptiness(has_data, summed),
        modes=tuple(mode_figures(summed, mode, _withdrawal(parts, mode)) for mode in modes if summed.modes.get(mode)),
        segments=whole,
        bar_label=bar_label(whole),
        costs=_costs(summed),
        benchmarks=tuple(_per_benchmark(data, run) for data, run in parts),
    )


def _emptiness(has_data: bool, summed: Totals) -> str:
    if not has_data:
        return "No results of this run are here."
    return "" if summed.expected else "Every task of this run is excluded."


def _withdrawal(parts: Sequence[tuple[BenchmarkData, RunData]], mode: str) -> Withdrawal | None:
    """Why a mode has no number on the card: every benchmark that the run tries it on has withdrawn it."""
    found = [run.bench_run.withdrawn.get(mode) for _, run in parts if mode in run.bench_run.modes]
    return found[0] if all(found) else None


def _per_benchmark(data: BenchmarkData, run: RunData) -> PerBenchmark:
    summed = totals_of(run, "bench")
    whole = segments(summed.states)
    return PerBenchmark(
        name=data.benchmark.name,
        href=run_page(data, run.id),
        text=score_text(summed) if run.seen.has_data else "no data",
        segments=whole,
        bar_label=f"{data.benchmark.name}: {bar_label(whole)}",
    )


def score_text(summed: Totals) -> str:
    """Solved, done and begun in the form of the matrix: `7 ✓ · 9/11`."""
    return f"{summed.success} ✓ · {summed.done}/{summed.trials}"


def _matrix(benchmarks: Sequence[BenchmarkData], parts: Parts) -> Matrix:
    heads = tuple(Head(run, of[0][1].agent.label) for run, of in parts.items())
    rows = []
    for data in benchmarks:
        here = {run.id: run for run in data.runs}
        cells = tuple(_cell(data, here.get(run)) for run in parts)
        rows.append(MatrixRow(data.benchmark.name, runs_page(data.id), cells))
    return Matrix(heads, tuple(rows))


def _cell(data: BenchmarkData, run: RunData | None) -> MatrixCell:
    if run is None:
        return MatrixCell("—", "")
    return MatrixCell(score_text(totals_of(run, "bench")) if run.seen.has_data else "no data", run_page(data, run.id))


def notices(benchmarks: Sequence[BenchmarkData]) -> Iterator[Notice]:
    """What somebody should look at now, each kind once: what goes on, what ended without a grade, silent hosts."""
    yield from _notice(benchmarks, "◑", "going on", "active", _active)
    yield from _notice(benchmarks, "!", "without a grade", "nograde", _ungraded, bad=True)
    silent = [(host, data, run) for data in benchmarks for run in data.runs for host in _silent(run)]
    if silent:
        _, data, run = silent[0]
        yield Notice("◌", f"{', '.join(sorted({host for host, *_ in silent}))} did not answer", run_page(data, run.id), True)


def _silent(run: RunData) -> Iterator[str]:
    """Hosts that didn't answer when the run was collected; the run's page says why."""
    hosts = run.run_file.hosts if run.run_file else {}
    yield from (host for host, said in hosts.items() if not said.get("ok"))


def _active(summed: Totals) -> int:
    return sum(summed.states.get(state, 0) for state in ACTIVE)


def _ungraded(summed: Totals) -> int:
    return summed.states.get("error", 0) + summed.states.get("stalled", 0)


def _notice(
    benchmarks: Sequence[BenchmarkData], icon: str, what: str, only: str, count: Callable[[Totals], int], *, bad: bool = False
) -> Iterator[Notice]:
    """One chip for all runs whose own tasks have such trials. With a single such run it leads to them, by the filter `only`."""
    found = [(data, run, n) for data in benchmarks for run in data.runs if (n := count(totals_of(run, "bench")))]
    if found:
        data, run, _ = found[0]
        where = data.benchmark.name if len(found) == 1 else f"{len(found)} runs"
        href = f"{run_page(data, run.id)}?only={only}#trials" if len(found) == 1 else f"{OVERVIEW}#every-number"
        yield Notice(icon, f"{sum(n for *_, n in found):,} {what}: {where}", href, bad)


def _costs(summed: Totals) -> str:
    """The line of numbers on a card."""
    parts = [f"mean progress {mean_progress(summed)} with a score"] if summed.progress_n else []
    parts += [f"{fmt.hours(summed.agent_s)} agent time of {summed.agent_n} done trials"] if summed.agent_s else []
    parts += [f"tokens {tokens_pair(summed)} ({tokens_note(summed)})"] if summed.tokens_n else []
    parts += [f"est. {fmt.money(summed.est)} ({coverage(summed.est_n, summed.trials)})"] if summed.est_n else ["est. —"]
    parts += [f"billed {fmt.money(summed.billed)} ({coverage(summed.billed_n, summed.trials)})"] if summed.billed_n else []
    return " · ".join(parts)


COLUMNS = (
    Column("run", "Run", "ascending", False),
    Column("benchmark", "Benchmark", "ascending", False),
    Column("trials", "Trials", "descending", True),
    Column("done", "Done", "descending", True),
    Column("success", "Solved", "descending", True),
    Column("rate", "Rate (95%)", "descending", True),
    Column("active", "Going on", "descending", True),
    Column("bad", "No grade", "descending", True),
    Column("progress", "Mean progress", "descending", True),
    Column("hours", "Agent time", "descending", True),
    Column("calls", "Requests", "descending", True),
    Column("in", "Tokens in", "descending", True),
    Column("out", "Tokens out", "descending", True),
    Column("est", "Est. cost", "descending", True),
    Column("billed", "Billed", "descending", True),
)


def _numbers(data: BenchmarkData, run: RunData) -> NumbersRow:
    t = totals_of(run, "bench")
    known = {
        "trials": (t.trials, f"{t.trials}"),
        "done": (t.done, f"{t.done}"),
        "success": (t.success, f"{t.success}"),
        "rate": (t.rate.share, f"{fmt.percent(t.rate.share)} ({fmt.interval(t.rate)})") if t.rate else None,
        "active": (active, f"{active}") if (active := _active(t)) else None,
        "bad": (bad, f"{bad}") if (bad := _ungraded(t)) else None,
        "progress": (t.progress_sum / t.progress_n, mean_progress(t)) if t.progress_n else None,
        "hours": (t.agent_s, fmt.hours(t.agent_s)) if t.agent_s else None,
        "calls": (t.calls, f"{t.calls:,}") if t.calls else None,
        "in": (t.input, fmt.tokens(t.input)) if t.tokens_n else None,
        "out": (t.output, fmt.tokens(t.output)) if t.tokens_n else None,
        "est": (t.est, f"{fmt.money(t.est)} ({t.est_n} of {t.trials})") if t.est_n else None,
        "billed": (t.billed, f"{fmt.money(t.billed)} ({t.billed_n} of {t.trials})") if t.billed_n else None,
    }
    sort = [("benchmark", data.benchmark.name), ("run", run.id)]
    sort += [(key, f"{float(both[0]):.9g}") for key, both in known.items() if both]
    return NumbersRow(
        benchmark=data.benchmark.name,
        run=run.agent.short,
        href=run_page(data, run.id),
        cells=tuple(both[1] if both else "—" for both in known.values()),
        sort=tuple(sort),
    )
