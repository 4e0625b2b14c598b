"""What a benchmark page shows: verified rows, unverified rows, and what is still open (contributions 14). Pure.

Two lists that nothing here ever joins. A row is made from the checked submission only, so page and record can't disagree.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Literal

import msgspec

from benchpipe.contributions.checking import PUBLISH_UNVERIFIED, Checked, Measured
from benchpipe.contributions.codes import CODES
from benchpipe.contributions.decisions import Decided
from benchpipe.contributions.duplicates import Twin, twins
from benchpipe.contributions.report import RunReport, once
from benchpipe.contributions.stacks import (
    Baseline,
    Candidate,
    Stack,
    conditions_of,
    gained_and_lost,
    interval,
    reference_of,
    stack_of,
)
from benchpipe.contributions.store import Dataset

Standing = Literal["open", "questions", "declined", "refused", "withdrawn", "duplicate"]
Key = tuple[str, int]
"""Path of a submission and index of its run."""
DISCLOSED = ("ID-007",)
"""Codes of warnings that stand beside a row."""
NO_REFERENCE = "no reference"
H0 = "H0"


class Reason(msgspec.Struct, frozen=True):
    """Why a row is not verified, or what has to be known about it."""

    code: str
    message: str


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one submission. Scores are exact to 12 digits as text; `reported` is the literal of the file."""

    row_id: str
    dataset: str
    pool: str
    base_harness: str
    model: str
    decoding: str
    stack_key: str
    trials: int
    sampling: str
    method: str
    variant: str
    improver: str
    improver_model: str
    improver_harness: str
    round: int
    rounds: int
    run_id: str
    harness_sha: str
    score: float
    score_exact: str
    score_reported: str
    n_tasks: int
    n_solved: int
    ci95_low: float | None
    ci95_high: float | None
    reference: str
    """Row id of the H0, or "no reference"."""
    h0_score: float | None
    delta: float | None
    gained: int | None
    lost: int | None
    verified: bool
    reasons: tuple[Reason, ...]
    remarks: tuple[Reason, ...]
    mirrored: bool
    replay_level: str | None
    selection: str
    trajectory_link_original: str | None
    trajectory_link_mirror: str | None
    dataset_path: str | None
    dataset_link: str | None
    credit: str
    credit_link: str | None
    paper: str | None
    code: str | None
    submission_path: str
    platform_commit: str
    content_sha: str
    checked_at: str | None

    @property
    def stack(self) -> Stack:
        """The group it stands in."""
        return stack_of(self.dataset, self.pool, self.base_harness, self.model, self.decoding, self.stack_key)

    @property
    def is_h0(self) -> bool:
        """Whether it is the measurement of the unmodified base harness."""
        return self.round == 0


class Open(msgspec.Struct, frozen=True, kw_only=True):
    """A submission without rows, and why."""

    path: str
    method: str
    variant: str
    standing: Standing
    reasons: tuple[Reason, ...]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the change log."""

    at: str
    method: str
    variant: str
    what: Literal["correction", "withdrawal"]
    reason: str
    before: Mapping[str, str] = {}
    after: Mapping[str, str] = {}


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a dataset's pages show."""

    dataset: str
    verified: tuple[Row, ...]
    unverified: tuple[Row, ...]
    open: tuple[Open, ...]
    changes: tuple[Change, ...]


def results_of(dataset: Dataset) -> Results:
    """Rows, open submissions and the change log of a dataset."""
    candidates = {
        row.key: row
        for checked in dataset.checked
        if not taken_off(dataset.decisions.on("/".join(key_of(checked.path))))
        for row in candidates_of(checked)
    }
    doubled = twins(candidates.values())
    verified: list[Row] = []
    unverified: list[Row] = []
    waiting: list[Open] = []
    for checked in dataset.checked:
        method, variant = key_of(checked.path)
        decided = dataset.decisions.on(f"{method}/{variant}")
        standing = _standing(checked, decided, doubled)
        if standing:
            waiting.append(_open(checked, decided, standing, doubled))
            continue
        rows = [_row(checked, n, candidates, doubled, dataset.baselines) for n in range(len(checked.measured))]
        (verified if checked.report.verdict == "verified" else unverified).extend(rows)
    return Results(
        dataset=dataset.id,
        verified=_sorted(verified),
        unverified=_sorted(unverified),
        open=tuple(waiting),
        changes=tuple(_changes(dataset)),
    )


def key_of(path: str) -> tuple[str, str]:
    """(method, variant) of a submission's path."""
    method, _, variant = path.removesuffix(".json").rpartition("/")
    return method.rpartition("/")[2], variant


def row_id(checked: Checked, n: int) -> str:
    """`<dataset>/<method>/<variant>#<run_id>@<round>`."""
    run, doc = checked.report.runs[n], checked.doc or {}
    return f"{doc['dataset']}/{doc['method']['name']}/{doc['variant']}#{run.run_id}@{run.round}"


def _sorted(rows: Iterable[Row]) -> tuple[Row, ...]:
    """By stack, then conditions, then score downwards; H0 rows last of their conditions. The order is no ranking across groups."""
    return tuple(sorted(rows, key=lambda row: (row.stack, row.trials, row.sampling, row.is_h0, -row.score, row.row_id)))


def _sound(run: RunReport) -> bool:
    return all(state in ("passed", "not_applicable") for state in run.checks.values())


def taken_off(decided: Decided) -> bool:
    """Whether a submission is off the tables for good: it is no reference and no first of twins then."""
    return bool(decided.withdrawn or decided.declined)


def candidates_of(checked: Checked) -> list[Candidate]:
    """The measurements of a submission as references and twins see them; none of a refused one."""
    if checked.doc is None or checked.report.verdict == "refused":
        return []
    return [_candidate(checked, n, checked.doc, measured) for n, measured in enumerate(checked.measured) if measured.pool]


def _candidate(checked: Checked, n: int, doc: Mapping[str, Any], measured: Measured) -> Candidate:
    agent, config, run = doc["task_agent"], doc["config"], doc["runs"][n]
    return Candidate(
        row_id=row_id(checked, n),
        path=checked.path,
        stack=stack_of(
            doc["dataset"], measured.pool or "", agent["base_harness"], agent["model"], agent["decoding"], measured.stack_key
        ),
        conditions=conditions_of(config["trials"], config["sampling"]),
        round=run["round"],
        harness_sha=run["harness_sha"],
        by_task=measured.fractions(),
        sound=_sound(checked.report.runs[n]),
        verified=checked.report.verdict == "verified",
        merged_at=(doc.get("status") or {}).get("checked_at") or "~",
        index=n,
    )


def _standing(checked: Checked, decided: Decided, doubled: Mapping[Key, Twin]) -> Standing | None:
    """Why a submission has no rows; None if it has."""
    if decided.withdrawn:
        return "withdrawn"
    if decided.declined:
        return "declined"
    if checked.report.verdict == "refused" or checked.doc is None:
        return "refused"
    if any(twin.copy for n in range(len(checked.measured)) if (twin := doubled.get((checked.path, n)))):
        return "duplicate"
    if checked.report.verdict == "verified" or decided.unverified or checked.doc.get(PUBLISH_UNVERIFIED) is True:
        return None
    return "questions" if decided.questions and not decided.questions.answered else "open"


def _open(checked: Checked, decided: Decided, standing: Standing, doubled: Mapping[Key, Twin]) -> Open:
    method, variant = key_of(checked.path)
    reasons = [Reason(said.code, said.message) for said in once(checked.report.reasons)]
    if decided.withdrawn:
        reasons = [Reason("", f"{decided.withdrawn.reason} ({decided.withdrawn.at})")]
    elif decided.declined:
        reasons.insert(0, Reason("", decided.declined))
    elif standing == "duplicate":
        reasons = [reason for n in range(len(checked.measured)) for reason in _twin_remarks((checked.path, n), doubled)]
    elif standing == "questions" and decided.questions:
        reasons.insert(0, Reason("", f"asked on {decided.questions.asked}: {decided.questions.text}"))
    return Open(path=checked.path, method=method, variant=variant, standing=standing, reasons=tuple(reasons))


def _twin_remarks(row: Key, doubled: Mapping[Key, Twin]) -> list[Reason]:
    twin = doubled.get(row)
    if twin is None:
        return []
    finding = twin.finding()
    return [Reason(finding.code, finding.message)]


def _row(
    checked: Checked,
    n: int,
    candidates: Mapping[Key, Candidate],
    doubled: Mapping[Key, Twin],
    baselines: Mapping[str, Baseline],
) -> Row:
    doc = checked.doc or {}
    run, config, agent, measured = doc["runs"][n], doc["config"], doc["task_agent"], checked.measured[n]
    improver = doc["improver"] or {"method": doc["method"]["name"], "model": "none", "harness": "none"}
    me = candidates.get((checked.path, n)) or _candidate(checked, n, doc, measured)
    score = Fraction(measured.score)
    reference = reference_of(me, candidates.values(), baselines.get(measured.agent_key)) if run["round"] else None
    h0 = reference.h0 if reference else None
    gained, lost = gained_and_lost(me.by_task, h0.by_task) if h0 else ([], [])
    remarks = [*_twin_remarks((checked.path, n), doubled), *_disclosed(checked, n)]
    if reference and reference.code:
        remarks.append(Reason(reference.code, CODES[reference.code].template.format(**reference.values or {})))
    bounds = interval(me.by_task)
    status = doc.get("status") or {}
    trajectories = doc.get("trajectories") or {}
    mirror = trajectories.get("mirror") or {}
    return Row(
        row_id=me.row_id,
        dataset=doc["dataset"],
        pool=measured.pool or run.get("pool") or "unknown",
        base_harness=agent["base_harness"],
        model=agent["model"],
        decoding=agent["decoding"],
        stack_key=measured.stack_key,
        trials=config["trials"],
        sampling=config["sampling"],
        method=doc["method"]["name"],
        variant=doc["variant"],
        improver=improver["method"],
        improver_model=improver["model"],
        improver_harness=improver["harness"],
        round=run["round"],
        rounds=config["rounds"],
        run_id=run["run_id"],
        harness_sha=run["harness_sha"],
        score=round(float(score), 12),
        score_exact=f"{score.numerator}/{score.denominator}",
        score_reported=str(run["score"]),
        n_tasks=len(me.by_task) or run["n_tasks"],
        n_solved=sum(number >= 1 for number in me.by_task.values()),
        ci95_low=round(bounds[0], 6) if bounds else None,
        ci95_high=round(bounds[1], 6) if bounds else None,
        reference=h0.row_id if h0 else H0 if not run["round"] else NO_REFERENCE,
        h0_score=round(float(h0.score), 12) if h0 else None,
        delta=round(float(score - h0.score), 12) if h0 else None,
        gained=len(gained) if h0 else None,
        lost=len(lost) if h0 else None,
        verified=checked.report.verdict == "verified",
        reasons=_reasons(checked, n),
        remarks=tuple(remarks),
        mirrored=bool(mirror),
        replay_level=measured.replay_level,
        selection=run.get("selection", "unknown"),
        trajectory_link_original=trajectories.get("location"),
        trajectory_link_mirror=mirror.get("location"),
        dataset_path=measured.dataset_path,
        dataset_link=measured.dataset_link,
        credit=credit_line(doc["credit"]),
        credit_link=doc["credit"].get("link"),
        paper=doc["method"].get("paper"),
        code=doc["method"].get("code"),
        submission_path=checked.path,
        platform_commit=doc["platform"]["commit"],
        content_sha=doc["platform"]["content_sha"],
        checked_at=status.get("checked_at"),
    )


def _reasons(checked: Checked, n: int) -> tuple[Reason, ...]:
    """Why a row is not verified: what was found about its run, or, if its run is fine, about the other runs of its file."""
    if checked.report.verdict == "verified":
        return ()
    told = checked.report.reasons
    own = [said for said in told if said.run in (None, n)]
    return tuple(Reason(said.code, said.message) for said in own or told)


def _disclosed(checked: Checked, n: int) -> list[Reason]:
    """What no check holds against a row and readers have to know all the same."""
    return [Reason(said.code, said.message) for said in checked.report.findings if said.code in DISCLOSED and said.run in (None, n)]


def credit_line(credit: Mapping[str, Any]) -> str:
    """`name (affiliation)`, as written."""
    affiliation = credit.get("affiliation")
    return f"{credit['name']} ({affiliation})" if affiliation else str(credit["name"])


def _changes(dataset: Dataset) -> list[Change]:
    """Corrections and withdrawals, newest first."""
    found = []
    for key, decided in dataset.decisions.submissions.items():
        method, _, variant = key.partition("/")
        if decided.withdrawn:
            found.append(
                Change(at=decided.withdrawn.at, method=method, variant=variant, what="withdrawal", reason=decided.withdrawn.reason)
            )
        for entry in decided.corrections:
            found.append(
                Change(
                    at=entry.at,
                    method=method,
                    variant=variant,
                    what="correction",
                    reason=entry.reason,
                    before=entry.before,
                    after=entry.after,
                )
            )
    return sorted(found, key=lambda change: (change.at, change.method, change.variant), reverse=True)
