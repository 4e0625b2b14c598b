"""A benchmark's runs, one at a time (runs-system 12.2): the page at `runs/<b>/` and one of its own for every other run."""

from dataclasses import dataclass
from typing import ClassVar

from benchpipe.site.data import RunData
from benchpipe.site.facts import Fact
from benchpipe.site.figures import Figures
from benchpipe.site.frontier import Chart
from benchpipe.site.picker import Picker
from benchpipe.site.pills import Pill
from benchpipe.site.render import Link, Page

MAX_REMARK = 2_000
"""Characters of one reason or remark on a run's page."""


@dataclass(frozen=True)
class Cell:
    """A number of a row; `share` is the length of its bar in per cent, "" without one."""

    text: str
    share: str = ""


@dataclass(frozen=True)
class Row:
    """One trial. `is_` holds the words that filters look for; values are for scripts, "" = unknown."""

    mode: str
    state: str
    is_: str
    pill: Pill
    pill_id: str
    prev: str
    cells: tuple[Cell, ...]
    host: str
    est_value: str
    billed_value: str


@dataclass(frozen=True)
class TaskRows:
    """One task with a row per mode. `sort` is column key → value; a missing one sorts last."""

    id: str
    title: str
    href: str
    difficulty: str
    reason: str
    order: str
    state_rank: int
    states: str
    sort: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Group:
    """The benchmark's own tasks (`last` ""), or those that stand last in every sort, under a heading."""

    heading: str
    last: str
    tasks: tuple[TaskRows, ...]


@dataclass(frozen=True)
class Column:
    """A sortable column; `order` is the direction of the first click."""

    key: str
    label: str
    order: str
    help: str = ""


@dataclass(frozen=True)
class Filter:
    """A filter chip with its count; as a warning it says what to look at."""

    filter: str
    icon: str
    text: str
    n: int


@dataclass(frozen=True)
class Sort:
    """An entry of the sort menu."""

    key: str
    order: str
    text: str


@dataclass(frozen=True)
class Said:
    """A follow-up or a note of the operators."""

    icon: str
    kind: str
    task: str
    mode: str
    note: str
    href: str


@dataclass(frozen=True)
class OutsideTask:
    """A task that isn't part of the run, and why."""

    id: str
    title: str
    href: str
    reason: str
    order: str
    state_rank: int
    states: str


@dataclass(frozen=True)
class Outside:
    """Tasks that aren't part of the run: removed on purpose, or never in it."""

    heading: str
    tasks: tuple[OutsideTask, ...]


@dataclass(frozen=True)
class Banner:
    """A remark on top of the run; `kind` is a kind of `ui.note`."""

    kind: str
    text: str


@dataclass(frozen=True)
class FamilyRow:
    """One family in one mode: solved of done, the plain mean of the raw score, and what it measures."""

    family: str
    mode: str
    solved: str
    mean: str
    measure: str


@dataclass(frozen=True)
class Families:
    label: str
    rows: tuple[FamilyRow, ...]


@dataclass(frozen=True)
class RunPanel:
    """Everything about one run. `all` is the numbers with excluded tasks, shown by the Count switch."""

    id: str
    label: str
    tags: tuple[str, ...]
    meta: str
    collected: str
    banners: tuple[Banner, ...]
    bench_count: int
    excluded_count: int
    bench: Figures
    all: Figures
    families: Families | None
    remarks: tuple[Said, ...]
    warnings: tuple[Filter, ...]
    filters: tuple[Filter, ...]
    sorts: tuple[Sort, ...]
    columns: tuple[Column, ...]
    host_column: bool
    width: int
    """Columns of the table."""
    groups: tuple[Group, ...]
    downloads: str
    facts: tuple[Fact, ...]
    outside: tuple[Outside, ...]


@dataclass(frozen=True, kw_only=True)
class RunPage(Page):
    template: ClassVar[str] = "run.html"
    benchmark: str
    """Benchmark id."""
    heading: str
    lede: str
    picker: Picker
    swap: bool
    """Whether the script may show other runs in place (the page at `runs/<b>/`)."""
    run: RunPanel | None
    empty: str
    """What a page without a run says."""
    links: tuple[Link, ...]
    chart: Chart | None


def run_tags(run: RunData, default: bool) -> tuple[str, ...]:
    """default, closed, no data."""
    tags = ["default"] if default else []
    tags += ["closed"] if run.bench_run.closed else []
    tags += [] if run.seen.has_data else ["no data"]
    return tuple(tags)
