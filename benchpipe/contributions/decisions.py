"""Maintainers' decisions on submissions: `state/contrib/<dataset>.yml` (F6). Everything in it is public.

Reading gives typed records; `change` writes one decision and keeps the file's comments and order. What a decision means for
a verdict or a row is said elsewhere.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import msgspec
import yaml

from benchpipe.contributions.contacts import without_contacts
from benchpipe.contributions.file_rules import runs_of
from benchpipe.contributions.strict_json import Number, decode, parse
from benchpipe.errors import UsageError
from benchpipe.files import write_bytes
from benchpipe.lab import Lab
from benchpipe.registry.quoting import short
from benchpipe.registry.records import Problem
from benchpipe.registry.source import Source

TRAJECTORY_DAYS = 30
"""Days to answer a request for trajectories (PUB-004)."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """The one round of questions. `text` is public."""

    asked: str
    text: str
    answered: str | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Trajectories asked for, with the public reason."""

    asked: str
    reason: str
    answered: str | None = None


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """A row taken off the tables, with the public reason."""

    at: str
    reason: str


class Correction(msgspec.Struct, frozen=True, kw_only=True):
    """A submission replaced, with the public reason and what its runs scored before and after."""

    at: str
    reason: str
    before: Mapping[str, str] = {}
    after: Mapping[str, str] = {}


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """All decisions on one submission."""

    unverified: bool = False
    """May be shown unverified although its author did not ask for it in the file."""
    declined: str | None = None
    """Will not be published; the public reason."""
    questions: Question | None = None
    trajectories: Request | None = None
    withdrawn: Withdrawn | None = None
    corrections: tuple[Correction, ...] = ()
    written: str | None = None
    """sha256 of the submission file as the platform last wrote it (status, mirror); any other `status` is a stranger's."""
    writing: str | None = None
    """sha256 of what the platform is about to write; stays if that is cut off."""

    @property
    def own(self) -> tuple[str, ...]:
        """Hashes of a submission file whose `status` is the platform's."""
        return tuple(digest for digest in (self.written, self.writing) if digest)


class MethodOwner(msgspec.Struct, frozen=True, kw_only=True):
    """Whose method a name is (PUB-003)."""

    author: str


class Decisions(msgspec.Struct, frozen=True, kw_only=True):
    """One dataset's decisions. Submissions are keyed `<method>/<variant>`."""

    submissions: Mapping[str, Decided] = {}
    methods: Mapping[str, MethodOwner] = {}

    def on(self, key: str) -> Decided:
        """The decisions on `<method>/<variant>`; none of them if nobody decided anything."""
        return self.submissions.get(key, Decided())


def parse_decisions(data: bytes | None, name: str) -> Decisions:
    """Decisions from a file's bytes. UsageError, naming the file and the place, if it can't be read."""
    if data is None:
        return Decisions()
    try:
        decided = msgspec.convert(_with_text_dates(yaml.safe_load(data) or {}), Decisions)
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", -1) + 1
        raise UsageError(f"{name}:{line}: is not YAML; mend it") from None
    except msgspec.ValidationError as error:
        raise UsageError(f"{name}: {error}. See docs/contributing.md, Maintainers") from None
    for key, one in decided.submissions.items():
        for day in _days(one):
            if not _is_day(day):
                raise UsageError(f"{name}: {short(day)} in the decisions on {key} is no day; write it as 2026-11-20")
        for text in _texts(one):
            if without_contacts(text) != text:
                raise UsageError(f"{name}: a text on {key} is public and holds an address or a messenger id; leave it out")
    return decided


def _days(decided: Decided) -> Iterator[str]:
    yield from (one.asked for one in (decided.questions, decided.trajectories) if one)
    yield from (one.at for one in (decided.withdrawn, *decided.corrections) if one)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _texts(decided: Decided) -> Iterator[str]:
    """Everything in the decisions on a submission that is published in words."""
    yield from [decided.declined] if decided.declined else ()
    yield from [decided.questions.text] if decided.questions else ()
    for one in (decided.trajectories, decided.withdrawn, *decided.corrections):
        yield from [one.reason] if one else ()


def faults_of(lab: Lab, dataset: str) -> list[Problem]:
    """What is wrong with a dataset's file: `decisions-file` where it can't be read, `decisions-key` for keys that look misspelt."""
    source, rule = Source(lab), "decisions-file"
    file = lab.state_contrib / f"{dataset}.yml"
    top = source.optional(file, "decisions")
    submissions, methods = top.mapping("submissions", rule), top.mapping("methods", rule)
    for _, entry in submissions.entries(rule) if submissions else ():
        entry.read_elsewhere(*Decided.__struct_fields__)
        for name, kind in (("questions", Question), ("trajectories", Request), ("withdrawn", Withdrawn)):
            if part := entry.mapping(name, rule):
                part.read_elsewhere(*kind.__struct_fields__)
        for correction in entry.records("corrections", rule):
            correction.read_elsewhere(*Correction.__struct_fields__)
    for _, owner in methods.entries(rule) if methods else ():
        owner.read_elsewhere(*MethodOwner.__struct_fields__)
    source.misspelt()
    if all(problem.slip for problem in source.problems):
        try:
            parse_decisions(file.read_bytes() if file.is_file() else None, "")
        except UsageError as error:
            source.problem(source.place(file), rule, str(error).removeprefix(": "))
    return sorted(source.problems, key=lambda problem: problem.place.line or 0)


def _with_text_dates(value: Any) -> Any:
    """YAML reads 2026-11-20 as a date; records keep days as ISO text."""
    if isinstance(value, dict):
        return {key: _with_text_dates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_text_dates(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value


def due(decided: Decided, today: date) -> str | None:
    """The last day on which asked-for trajectories are in time; None if nothing is awaited or the day has passed."""
    request = decided.trajectories
    if request is None or request.answered:
        return None
    last = date.fromisoformat(request.asked) + timedelta(days=TRAJECTORY_DAYS)
    return last.isoformat() if today <= last else None


def overdue(decided: Decided, today: date) -> str | None:
    """The day on which trajectories were asked for, if they were not answered within TRAJECTORY_DAYS."""
    request = decided.trajectories
    if request is None or request.answered or due(decided, today):
        return None
    return request.asked


def change(file: Path, key: str, edit: Callable[[dict[str, Any], Decided], None]) -> None:
    """Apply `edit` to the entry of one submission and write the file; comments and order stay.

    `edit` gets the entry as a mapping to change and as it was, typed; it raises UsageError if the decision isn't possible.
    """
    from ruamel.yaml import YAML

    plain = YAML()
    plain.width = 120
    data = file.read_bytes() if file.is_file() else None
    before = parse_decisions(data, file.name)
    document = (plain.load(data) if data else None) or {}
    entry = document.setdefault("submissions", {}).setdefault(key, {})
    edit(entry, before.on(key))
    out = io.StringIO()
    plain.dump(document, out)
    parse_decisions(out.getvalue().encode(), file.name)
    write_bytes(file, out.getvalue().encode())


def public_reason(text: str) -> str:
    """A reason as it may be published. UsageError if it is empty or holds contact data."""
    reason = " ".join(text.split())
    if not reason:
        raise UsageError("a public reason is needed: --reason TEXT")
    if without_contacts(reason) != reason:
        raise UsageError("the reason is public; leave addresses and messenger ids out of it")
    return reason


def ask(entry: dict[str, Any], before: Decided, *, day: str, text: str) -> None:
    """Record the one round of questions. UsageError for a second one."""
    if before.questions:
        raise UsageError(f"questions were asked on {before.questions.asked}; there is at most one round")
    entry["questions"] = {"asked": day, "text": public_reason(text)}


def answer(entry: dict[str, Any], before: Decided, *, day: str, what: str) -> None:
    """Record that `questions` or `trajectories` were answered. UsageError if nothing was asked."""
    if what not in entry:
        raise UsageError(f"nothing was asked there ({what})")
    entry[what]["answered"] = day


def request_trajectories(entry: dict[str, Any], before: Decided, *, day: str, reason: str) -> None:
    """Record a request for trajectories; the answer is due within TRAJECTORY_DAYS."""
    if before.trajectories and not before.trajectories.answered:
        raise UsageError(f"trajectories were asked for on {before.trajectories.asked}")
    entry["trajectories"] = {"asked": day, "reason": public_reason(reason)}


def writes(entry: dict[str, Any], before: Decided, *, old: str, new: str) -> None:
    """The platform is about to write a submission whose sha256 is `old`: what it has written stays its own till then."""
    if old in before.own:
        entry["written"] = old
    entry["writing"] = new


def wrote(entry: dict[str, Any], before: Decided) -> None:
    """What was being written into the submission is written."""
    entry["written"] = entry.pop("writing")


def withdraw(entry: dict[str, Any], before: Decided, *, day: str, reason: str) -> None:
    """Take a submission's rows off the tables. UsageError if they are off already."""
    if before.withdrawn:
        raise UsageError(f"withdrawn on {before.withdrawn.at} already")
    entry["withdrawn"] = {"at": day, "reason": public_reason(reason)}


def correct(
    entry: dict[str, Any], before: Decided, *, day: str, reason: str, scores: tuple[dict[str, str], dict[str, str]]
) -> None:
    """Record a correction with the runs' scores before and after."""
    old, new = scores
    entry.setdefault("corrections", []).append({"at": day, "reason": public_reason(reason), "before": old, "after": new})


def scores_of_file(data: bytes) -> dict[str, str]:
    """`<run_id>@<round>` → reported score of a submission's bytes, for the change log. Refused if they can't be read."""
    doc = parse(decode(data))
    found = {}
    for _, run in runs_of(doc):
        score = run.get("score")
        found[f"{run.get('run_id')}@{run.get('round')}"] = score.literal if isinstance(score, Number) else str(score)
    return found
