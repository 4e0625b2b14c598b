"""What the results pages show, as text: the pages' records and the lines of their tables (contributions 13, 14).

Nothing is decided here: a line repeats what a row says. `results.py` puts them on pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from benchpipe.contributions.rows import Change, Open, Row
from benchpipe.site.addresses import results_page
from benchpipe.site.render import Link, Page

SELECTIONS: Mapping[str, str] = {
    "last": "last round",
    "fixed_in_advance": "fixed in advance",
    "nominated_by_method": "nominated by the method",
    "best_on_study": "best on the study tasks",
    "best_on_reported": "best on this very pool",
    "unknown": "not said how chosen",
}
STATE_GROUPS: Mapping[str, str] = {"passed": "success", "failed": "error", "not_run": "notrun", "not_applicable": "nodata"}
STATE_ICONS: Mapping[str, str] = {"passed": "✓", "failed": "✗", "not_run": "○", "not_applicable": "–"}
VERDICTS: Mapping[str, tuple[str, str]] = {
    "verified": ("good", "Verified: every check passed against the files."),
    "unverified": ("warn", "Unverified: not every check passed; why stands below."),
    "refused": ("bad", "Refused: this can't be published as it is; why stands below."),
}


@dataclass(frozen=True)
class Mark:
    """A state as icon, word and colour group."""

    group: str
    icon: str
    word: str


@dataclass(frozen=True)
class Range:
    """A score with its interval and its H0 on a line from 0 to 100, as texts for SVG attributes; `h0` may be empty."""

    low: str
    width: str
    at: str
    h0: str
    label: str


@dataclass(frozen=True)
class RowLine:
    """One row of a table as text."""

    name: str
    href: str
    is_h0: bool
    round: str
    score: str
    score_key: str
    solved: str
    ci: str
    range: Range
    delta: str
    delta_key: str
    changes: str
    selection: str
    selection_warns: bool
    improver: str
    conditions: str
    credit: str
    credit_link: str
    trajectories: Link
    reasons: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class StackTable:
    """The rows of one stack; `mixed`: they differ in trials or sampling, so they are not ranked against each other."""

    title: str
    facts: tuple[tuple[str, str], ...]
    mixed: bool
    rows: tuple[RowLine, ...]


@dataclass(frozen=True)
class OpenLine:
    """A submission without rows."""

    name: str
    href: str
    mark: Mark
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class ChangeLine:
    """A correction or withdrawal. `href` is empty where the submission's file is gone."""

    at: str
    name: str
    href: str
    what: str
    reason: str
    scores: str


@dataclass(frozen=True)
class DatasetLine:
    """A benchmark in the list of all."""

    name: str
    href: str
    n_verified: int
    n_unverified: int
    n_open: int
    pools: str


@dataclass(frozen=True, kw_only=True)
class ResultsPage(Page):
    template: ClassVar[str] = "results/index.html"
    datasets: tuple[DatasetLine, ...]


@dataclass(frozen=True, kw_only=True)
class DatasetPage(Page):
    template: ClassVar[str] = "results/dataset.html"
    heading: str
    benchmark_href: str
    problem: str
    """Why no submission is shown, or empty."""
    pools: tuple[tuple[str, str], ...]
    verified: tuple[StackTable, ...]
    unverified: tuple[StackTable, ...]
    n_verified: int
    n_unverified: int
    open: tuple[OpenLine, ...]
    changes: tuple[ChangeLine, ...]
    downloads: str
    columns: tuple[tuple[str, str], ...]
    """Column of the row files → what it means."""


@dataclass(frozen=True)
class CheckLine:
    """One check over the runs of a file."""

    word: str
    cells: tuple[tuple[Mark, str], ...]
    """Per run: state, evidence."""


@dataclass(frozen=True)
class FindingLine:
    """One finding."""

    code: str
    severity: str
    place: str
    message: str
    hint: str


@dataclass(frozen=True)
class TaskLine:
    """One task's score in each run, as text, and whether it was solved."""

    task: str
    cells: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, kw_only=True)
class SubmissionPage(Page):
    template: ClassVar[str] = "results/submission.html"
    heading: str
    verdict_kind: str
    verdict: str
    runs: tuple[str, ...]
    rows: tuple[RowLine, ...]
    checks: tuple[CheckLine, ...]
    findings: tuple[FindingLine, ...]
    facts: tuple[tuple[str, str], ...]
    links: tuple[Link, ...]
    tasks: tuple[TaskLine, ...]
    changes: tuple[ChangeLine, ...]


@dataclass(frozen=True)
class CreditLine:
    """One contributor."""

    name: str
    link: str
    pairs: tuple[tuple[str, str, bool], ...]
    """(text, address of the benchmark's page, verified)."""


@dataclass(frozen=True, kw_only=True)
class CreditsPage(Page):
    template: ClassVar[str] = "results/credits.html"
    people: tuple[CreditLine, ...]
    acknowledged: tuple[str, ...]
    credits_file: str
    acknowledgements_file: str


def submission_address(dataset: str, method: str, variant: str) -> str:
    """The page of one submission (D5)."""
    return f"{results_page(dataset)}{method}/{variant}/"


def stacks(rows: Sequence[Row]) -> tuple[StackTable, ...]:
    """Rows are sorted by stack already."""
    tables = []
    for stack, group in groupby(rows, key=lambda row: row.stack):
        members = list(group)
        first = members[0]
        facts = (
            ("Decoding", first.decoding),
            ("Pool", f"{stack.pool}, {first.n_tasks} tasks"),
            ("Stack", stack.key),
        )
        mixed = len({(row.trials, row.sampling) for row in members}) > 1
        tables.append(StackTable(f"{first.base_harness} · {first.model}", facts, mixed, tuple(map(row_line, members))))
    return tuple(tables)


def row_line(row: Row) -> RowLine:
    return RowLine(
        name="H0, unmodified" if row.is_h0 else f"{row.method} / {row.variant}",
        href=submission_address(row.dataset, row.method, row.variant),
        is_h0=row.is_h0,
        round=f"{row.round} of {row.rounds}",
        score=f"{row.score:.4f}",
        score_key=f"{row.score:.12f}",
        solved=f"{row.n_solved} of {row.n_tasks} solved",
        ci=f"{row.ci95_low:.3f}–{row.ci95_high:.3f}" if row.ci95_low is not None and row.ci95_high is not None else "—",
        range=_range(row),
        delta=f"{row.delta:+.4f}".replace("-", "−") if row.delta is not None else "—" if row.is_h0 else "no reference",
        delta_key=f"{row.delta:.12f}" if row.delta is not None else "",
        changes=f"{row.gained} gained, {row.lost} lost" if row.gained is not None else "",
        selection=f"sent with {row.method} / {row.variant}" if row.is_h0 else SELECTIONS.get(row.selection, row.selection),
        selection_warns=row.selection == "best_on_reported" and not row.is_h0,
        improver="" if row.is_h0 else f"{row.improver} · {row.improver_model} · {row.improver_harness}",
        conditions=f"{row.trials} trial{'s' * (row.trials != 1)}, sampling {row.sampling}",
        credit=row.credit,
        credit_link=row.credit_link or "",
        trajectories=_trajectories(row),
        reasons=tuple(f"{reason.code} {reason.message}" for reason in row.reasons),
        remarks=tuple(f"{reason.code} {reason.message}" for reason in row.remarks),
    )


def _trajectories(row: Row) -> Link:
    """Where somebody else finds them, the most durable place that there is, and how far they were replayed."""
    replayed = f"replayed to {row.replay_level}" if row.replay_level else "not replayed"
    if row.mirrored and row.trajectory_link_mirror:
        return Link(f"mirrored, {replayed}", row.trajectory_link_mirror)
    if row.trajectory_link_original:
        return Link(f"contributor's copy, {replayed}", row.trajectory_link_original)
    return Link("in the dataset" if row.dataset_path else "on request", row.dataset_link or "")


def _range(row: Row) -> Range:
    low, high = (row.ci95_low, row.ci95_high) if row.ci95_low is not None and row.ci95_high is not None else (row.score, row.score)
    label = f"score {row.score:.4f}, 95 % interval {low:.3f} to {high:.3f}"
    if row.h0_score is not None:
        label += f", H0 {row.h0_score:.4f}"
    return Range(
        low=f"{low * 100:.2f}",
        width=f"{(high - low) * 100:.2f}",
        at=f"{row.score * 100:.2f}",
        h0=f"{row.h0_score * 100:.2f}" if row.h0_score is not None else "",
        label=label,
    )


STANDINGS: Mapping[str, Mark] = {
    "open": Mark("queued", "○", "open: unverified, and nobody asked to show it"),
    "questions": Mark("running", "?", "open: questions asked"),
    "declined": Mark("out", "∅", "declined"),
    "refused": Mark("error", "✗", "refused"),
    "withdrawn": Mark("out", "↩", "withdrawn"),
    "duplicate": Mark("out", "=", "sent before"),
}


def open_line(dataset: str, entry: Open) -> OpenLine:
    reasons = tuple(f"{reason.code} {reason.message}".strip() for reason in entry.reasons)
    href = submission_address(dataset, entry.method, entry.variant)
    return OpenLine(f"{entry.method} / {entry.variant}", href, STANDINGS[entry.standing], reasons)


def change_line(dataset: str, change: Change, *, has_page: bool) -> ChangeLine:
    moved = [(run, change.before.get(run, "—"), score) for run, score in change.after.items()]
    scores = "; ".join(f"{run}: {before} → {after}" for run, before, after in moved if before != after)
    href = submission_address(dataset, change.method, change.variant) if has_page else ""
    return ChangeLine(change.at, f"{change.method} / {change.variant}", href, change.what, change.reason, scores)


def state_mark(state: str) -> Mark:
    return Mark(STATE_GROUPS[state], STATE_ICONS[state], state.replace("_", " "))
