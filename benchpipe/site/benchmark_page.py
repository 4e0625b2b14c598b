"""The benchmarks, and one benchmark's task list with the pills of a chosen run (runs-system 12.6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from benchpipe.registry.benchmarks import DIFFICULTIES, STATUSES
from benchpipe.registry.records import Task
from benchpipe.site import order
from benchpipe.site.addresses import BENCHMARKS, benchmark_page, compare_page, results_page, run_page, runs_page, table, task_page
from benchpipe.site.data import BenchmarkData
from benchpipe.site.facts import Fact, benchmark_facts, facts
from benchpipe.site.picker import Option, Picker, picker
from benchpipe.site.pills import Pill, pill
from benchpipe.site.render import Link, Page, cut
from benchpipe.site.states import LOOKS
from benchpipe.trials.records import URGENCY


@dataclass(frozen=True)
class BenchmarkRow:
    """One benchmark of the list."""

    name: str
    href: str
    runs_href: str
    results_href: str
    """Contributed results, "" where none are taken."""
    tasks: str
    tasks_n: int
    runs_n: int
    simulator: str
    status: str


@dataclass(frozen=True, kw_only=True)
class BenchmarksPage(Page):
    template: ClassVar[str] = "benchmarks.html"
    lede: str
    rows: tuple[BenchmarkRow, ...]


@dataclass(frozen=True)
class IdPill:
    """A pill with an id that is unique on its page."""

    pill: Pill
    id: str


@dataclass(frozen=True)
class TaskLine:
    """One task of the list. `states` are the values of the run-state facet, `order` and the ranks are sort keys."""

    id: str
    title: str
    href: str
    family: str
    difficulty: str
    difficulty_rank: int
    status: str
    excluded: bool
    pills: tuple[IdPill, ...]
    reason: str
    order: str
    state_rank: int
    states: str


@dataclass(frozen=True)
class FacetOption:
    value: str
    text: str


@dataclass(frozen=True)
class Facet:
    """A menu that narrows the list; `key` is its parameter in the address."""

    key: str
    label: str
    options: tuple[FacetOption, ...]


@dataclass(frozen=True, kw_only=True)
class BenchmarkPage(Page):
    template: ClassVar[str] = "benchmark.html"
    heading: str
    lede: str
    description: str
    links: tuple[Link, ...]
    picker: Picker
    run_label: str
    """Short name of the run whose pills stand in the page, "" without runs."""
    facets: tuple[Facet, ...]
    tasks: tuple[TaskLine, ...]
    downloads: str
    facts: tuple[Fact, ...]


def plural(n: int, word: str) -> str:
    """`1 task`, `3 tasks`."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def task_counts(tasks: Mapping[str, Task]) -> str:
    """`10 tasks (+ 3 excluded)`."""
    excluded = sum(bool(task.excluded) for task in tasks.values())
    return plural(len(tasks) - excluded, "task") + (f" (+ {excluded} excluded)" if excluded else "")


def benchmarks_page(benchmarks: Sequence[BenchmarkData]) -> BenchmarksPage:
    """The list of all registered benchmarks."""
    rows = tuple(
        BenchmarkRow(
            name=data.benchmark.name,
            href=benchmark_page(data.id),
            runs_href=runs_page(data.id),
            results_href=results_page(data.id) if data.benchmark.pools else "",
            tasks=task_counts(data.tasks).replace(" tasks", "").replace(" task", ""),
            tasks_n=len(data.tasks),
            runs_n=len(data.runs),
            simulator=data.benchmark.simulator or "",
            status=data.benchmark.status or "",
        )
        for data in benchmarks
    )
    lede = f"{plural(len(rows), 'benchmark')}, {plural(sum(row.tasks_n for row in rows), 'task')}."
    return BenchmarksPage(path=BENCHMARKS, section=BENCHMARKS, title="Benchmarks", lede=lede, rows=rows)


def task_list_page(data: BenchmarkData) -> BenchmarkPage:
    """One benchmark's tasks with the default run's pills; other runs' pills come from their own pages, by script."""
    options = [Option(run.agent, run_page(data, run.id)) for run in data.runs]
    default = data.default
    lines = sorted((_line(data, task) for task in data.tasks.values()), key=lambda line: line.order)
    return BenchmarkPage(
        path=benchmark_page(data.id),
        section=BENCHMARKS,
        crumbs=(Link("Benchmarks", BENCHMARKS),),
        title=data.benchmark.name,
        heading=data.benchmark.name,
        lede=f"{task_counts(data.tasks)} · {plural(len(data.runs), 'run')}",
        description=cut(str(data.benchmark.raw.get("description") or ""), 2_000),
        links=tuple(_links(data)),
        picker=picker(options, default=default.id if default else "", current=default.id if default else "", label="Run"),
        run_label=default.agent.short if default else "",
        facets=tuple(_facets(data, lines)),
        tasks=tuple(lines),
        downloads=table(data.id, "tasks"),
        facts=facts(benchmark_facts(data.benchmark)),
    )


def _links(data: BenchmarkData) -> Iterator[Link]:
    yield Link("Runs of this benchmark", runs_page(data.id))
    if len(data.runs) > 1:
        yield Link("Compare two runs", compare_page(data.id))
    if data.benchmark.pools:
        yield Link("Contributed results", results_page(data.id))


def _line(data: BenchmarkData, task: Task) -> TaskLine:
    run = data.default
    seen = run.seen.tasks[task.id] if run else None
    trials = run.by_task.get(task.id, []) if run else []
    return TaskLine(
        id=task.id,
        title=cut(task.title, 200),
        href=task_page(data.id, task.id),
        family=cut(task.family or "", 80),
        difficulty=task.difficulty,
        difficulty_rank=order.difficulty_rank(task),
        status=task.status,
        excluded=bool(task.excluded),
        pills=tuple(
            IdPill(pill(trial, run.agent.label, run.bench_run.metrics), f"t-{trial.task}-{trial.mode}") for trial in trials if run
        ),
        reason=cut(seen.reason or "", 300) if seen and not seen.inside else "",
        order=order.default_order(task, seen, trials),
        state_rank=order.state_rank(seen, trials),
        states=order.states_of(seen, trials),
    )


def _facets(data: BenchmarkData, lines: Sequence[TaskLine]) -> Iterator[Facet]:
    if data.runs:
        states = [FacetOption(state, f"{LOOKS[state].icon} {LOOKS[state].word}") for state in URGENCY]
        outside = [FacetOption("outside", "outside the run"), FacetOption("removed", "removed from the run")]
        yield Facet("runstate", "Run state", (*states, *outside))
    families = list(dict.fromkeys(line.family for line in lines if line.family))
    if len(families) > 1:
        yield Facet("family", "Family", tuple(FacetOption(family, family) for family in families))
    for key, label, known in (("difficulty", "Difficulty", DIFFICULTIES), ("curation", "Curation", STATUSES)):
        present = {line.difficulty if key == "difficulty" else line.status for line in lines}
        if len(present) > 1:
            yield Facet(key, label, tuple(FacetOption(value, value) for value in known if value in present))
