"""The compare page: every run beside the default one, paired by task; any other pair is put together in the page.

The script reads the two runs' own pages, so the numbers of a run stand in one place (D5: `?a=<run>&b=<run>`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchpipe.site.addresses import OVERVIEW, compare_page, run_page, runs_page
from benchpipe.site.data import BenchmarkData, RunData
from benchpipe.site.render import Link, Page
from benchpipe.trials.records import DONE


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


def mcnemar(only_a: int, only_b: int) -> float | None:
    """Two-sided exact p of a pairing in which one run alone solved `only_a` tasks and the other `only_b`.

    None where no task tells them apart. Written out since importing scipy.stats would cost every rebuild a second; a
    test holds it against `scipy.stats.binomtest`.
    """
    n = only_a + only_b
    if not n:
        return None
    tail = sum(math.comb(n, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / 2**n)


def pairs(data: BenchmarkData, a: RunData, b: RunData) -> Iterator[tuple[str, int, int, int, int]]:
    """Per common mode: mode, both solved, only `a`, only `b`, neither; over own tasks that are done in both."""
    for mode in a.bench_run.modes:
        solved = [_solved(data, run, mode) for run in (a, b)]
        common = solved[0].keys() & solved[1].keys()
        if mode in b.bench_run.modes and common:
            counts = [sum((solved[0][t], solved[1][t]) == case for t in common) for case in CASES]
            yield (mode, *counts)  # type: ignore[misc]


CASES = ((True, True), (True, False), (False, True), (False, False))


def _solved(data: BenchmarkData, run: RunData, mode: str) -> dict[str, bool]:
    return {
        trial.task: trial.state == "success"
        for trial in run.trials
        if trial.mode == mode and trial.state in DONE and trial.task in data.tasks and not data.tasks[trial.task].excluded
    }


def compare(data: BenchmarkData) -> ComparePage:
    """The page of one benchmark."""
    choices = tuple(
        Choice(run.id, run.agent.short, run_page(data, run.id), " ".join(run.agent.formerly)) for run in data.runs
    )
    rows = []
    for run in data.runs[1:]:
        for mode, both, only_a, only_b, neither in pairs(data, data.runs[0], run):
            p = mcnemar(only_a, only_b)
            href = f"{compare_page(data.id)}?a={data.runs[0].id}&b={run.id}"
            n = both + only_a + only_b + neither
            p_text = "" if p is None else f"{p:.3f}" if p >= 0.001 else "< 0.001"
            p_value = "" if p is None else f"{p:.9f}"
            rows.append(PairRow(run.id, run.agent.label, href, mode, n, both, only_a, only_b, neither, p_text, p_value))
    return ComparePage(
        path=compare_page(data.id),
        title=f"Compare runs of {data.benchmark.name}",
        lede="Two runs of one benchmark, task by task: first the tasks on which they disagree.",
        empty="There are fewer than two runs here: nothing to compare yet.",
        default_label=data.runs[0].agent.label if data.runs else "",
        choices=choices,
        rows=tuple(rows),
        section=OVERVIEW,
        crumbs=(Link("Runs", OVERVIEW), Link(data.benchmark.name, runs_page(data.id))),
    )
