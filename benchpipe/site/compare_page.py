"""The compare page: every run beside the default one, paired by task; any other pair is put together in the page.

The script reads the two runs' own pages, so the numbers of a run stand in one place (D5: `?a=<run>&b=<run>`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchpipe.site.addresses import OVERVIEW, compare_page, run_page
from benchpipe.site.data import BenchmarkData, RunData
from benchpipe.site.render import Link, Page
from benchpipe.trials.records import DONE
from benchpipe.usage.compare import Paired, paired


@dataclass(frozen=True)
class Choice:
    """One run of the two menus; `formerly` is its former ids, blank-separated."""

    id: str
    text: str
    href: str
    formerly: str


@dataclass(frozen=True)
class PairRow:
    """One run and mode beside the default run: counts of paired tasks as texts, and the test's p (C6)."""

    id: str
    text: str
    href: str
    mode: str
    n: int
    both: int
    only_a: int
    only_b: int
    neither: int
    p: str
    p_value: str


@dataclass(frozen=True, kw_only=True)
class ComparePage(Page):
    template: ClassVar[str] = "compare.html"
    lede: str
    empty: str
    default_label: str
    choices: tuple[Choice, ...]
    rows: tuple[PairRow, ...]


def pairs(data: BenchmarkData, a: RunData, b: RunData) -> Iterator[tuple[str, Paired]]:
    """Per mode that both runs have: their own tasks paired, where any is done in both."""
    for mode in a.bench_run.modes:
        if mode in b.bench_run.modes:
            found = paired(_solved(data, a, mode), _solved(data, b, mode))
            if found.n:
                yield mode, found


def _solved(data: BenchmarkData, run: RunData, mode: str) -> dict[str, bool]:
    return {
        trial.task: trial.state == "success"
        for trial in run.trials
        if trial.mode == mode and trial.state in DONE and trial.task in data.tasks and not data.tasks[trial.task].excluded
    }


def compare(data: BenchmarkData, tabs: tuple[Link, ...]) -> ComparePage:
    """The page of one benchmark. `tabs`: all benchmarks."""
    choices = tuple(Choice(run.id, run.agent.short, run_page(data, run.id), " ".join(run.agent.formerly)) for run in data.runs)
    rows = [_row(data, run, mode, found) for run in data.runs[1:] for mode, found in pairs(data, data.runs[0], run)]
    return ComparePage(
        path=compare_page(data.id),
        title=f"Compare runs of {data.benchmark.name}",
        lede="Two runs of one benchmark, task by task: first the tasks on which they disagree.",
        empty="There are fewer than two runs here: nothing to compare yet.",
        default_label=data.runs[0].agent.label if data.runs else "",
        choices=choices,
        rows=tuple(rows),
        section=OVERVIEW,
        tabs=tabs,
    )


def _row(data: BenchmarkData, run: RunData, mode: str, found: Paired) -> PairRow:
    return PairRow(
        id=run.id,
        text=run.agent.label,
        href=f"{compare_page(data.id)}?a={data.runs[0].id}&b={run.id}",
        mode=mode,
        n=found.n,
        both=found.both,
        only_a=found.only_a,
        only_b=found.only_b,
        neither=found.neither,
        p="—" if found.p is None else f"{found.p:.3f}" if found.p >= 0.001 else "< 0.001",
        p_value="" if found.p is None else f"{found.p:.9f}",
    )
