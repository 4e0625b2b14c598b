"""The home page (runs-system 12.4): one row per benchmark with data for its default run, what goes on, what happened lately.
And the page for addresses that lead nowhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from benchpipe.registry.records import Metric
from benchpipe.site.addresses import HOME, run_page
from benchpipe.site.benchmark_page import plural
from benchpipe.site.data import BenchmarkData, RunData
from benchpipe.site.figures import ModeFigures, coverage, mode_figures, tokens_pair, totals_of
from benchpipe.site.history_page import Change
from benchpipe.site.overview_page import Notice, notices
from benchpipe.site.render import Page
from benchpipe.usage import format as fmt
from benchpipe.usage.totals import Totals, metric_total

RECENT = 8
DASH = "—"


@dataclass(frozen=True)
class Rate:
    """Solved of done in one mode, with its interval."""

    text: str
    note: str


@dataclass(frozen=True)
class HomeRow:
    """One benchmark's default run. `sort` is column key → value."""

    name: str
    href: str
    run: str
    tasks: str
    rates: tuple[Rate, ...]
    score: str
    cost: str
    cost_note: str
    tokens: str
    sort: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class HomePage(Page):
    template: ClassVar[str] = "home.html"
    heading: str
    lede: str
    notices: tuple[Notice, ...]
    modes: tuple[str, ...]
    rows: tuple[HomeRow, ...]
    footnote: str
    empty: str
    recent: tuple[Change, ...]


@dataclass(frozen=True, kw_only=True)
class NotFound(Page):
    template: ClassVar[str] = "404.html"


def not_found() -> NotFound:
    """Shown by a web server at any address that leads nowhere."""
    return NotFound(path="404.html", title="No such page")


def home(benchmarks: Sequence[BenchmarkData], recent: Sequence[Change], *, public: bool) -> HomePage:
    """The home page."""
    shown = [(data, data.default) for data in benchmarks if data.default and data.default.seen.has_data]
    modes = tuple(dict.fromkeys(mode for _, run in shown for mode in run.bench_run.modes))
    runs = {run.id for data in benchmarks for run in data.runs}
    per_family = any(run.bench_run.per_family for _, run in shown)
    return HomePage(
        path=HOME,
        title="Coding agents on robot benchmarks",
        heading="How coding agents do on our benchmarks",
        lede=f"{plural(len(benchmarks), 'benchmark')}, {plural(len(runs), 'agent configuration')}."
        + (" Each benchmark's default run:" if shown else ""),
        notices=tuple(notices(benchmarks)),
        modes=modes,
        rows=tuple(_row(data, run, modes) for data, run in shown),
        footnote="A mean score with a key beside it is the plain mean of that score." if per_family else "",
        empty="Nothing is published yet."
        if public
        else "Nothing was collected yet: register a run, name a host, then `make runs`.",
        recent=tuple(recent[:RECENT]),
    )


def _row(data: BenchmarkData, run: RunData, modes: Sequence[str]) -> HomeRow:
    summed = totals_of(run, "bench")
    in_run = [data.tasks[task] for task in run.by_task if task in data.tasks]
    excluded = sum(bool(task.excluded) for task in in_run)
    figures = [
        mode_figures(summed, mode, run.bench_run.withdrawn.get(mode)) if mode in run.bench_run.modes else None for mode in modes
    ]
    rates = tuple(_rate(figure) for figure in figures)
    sort = [("name", data.benchmark.name), ("tasks", str(len(in_run)))]
    sort += [(f"rate-{i}", f.rate_value) for i, f in enumerate(figures, 1) if f and f.rate_value]
    sort += [("cost", f"{summed.est:.9f}")] if summed.est_n else []
    return HomeRow(
        name=data.benchmark.name,
        href=run_page(data, run.id),
        run=run.agent.short,
        tasks=f"{len(in_run) - excluded}" + (f" + {excluded}" if excluded else ""),
        rates=rates,
        score=_score(run, summed),
        cost=fmt.money(summed.est if summed.est_n else None),
        cost_note=coverage(summed.est_n, summed.trials),
        tokens=tokens_pair(summed),
        sort=tuple(sort),
    )


def _rate(figure: ModeFigures | None) -> Rate:
    if figure is None:
        return Rate(DASH, "")
    return (
        Rate("withdrawn", figure.withdrawn)
        if figure.withdrawn
        else Rate(figure.rate_short or DASH, f"{figure.of} {figure.interval}".strip())
    )


def _score(run: RunData, summed: Totals) -> str:
    """The mean partial credit, or with `per_family` the plain mean of that key over done trials."""
    if wanted := run.bench_run.per_family:
        found = metric_total(run.counted("bench"), Metric(key=wanted.key, label=wanted.label))
        return DASH if found.value is None else f"{found.value:.3f} {wanted.label}"
    return f"{summed.progress_sum / summed.progress_n:.0%} of {summed.progress_n}" if summed.progress_n else DASH
