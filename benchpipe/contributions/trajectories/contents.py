"""What is in an archive of trajectories: which task, trial and round each file is of, its records, its verdict (15.2, level L0).

One pass over a stream in bounded memory. Nothing is judged against per-task files here.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, unquote

from benchpipe.contributions.archives import BadArchive, BadLine, Limits, Member, Readable, members, records
from benchpipe.contributions.strict_json import Number

MAX_FAULTS = 20
"""Faults of one archive that are told."""
_ROUND = re.compile(r"round-(0|[1-9]\d{0,5})/(.+)")
_TRIAL = re.compile(r"([^/]+)/trial-(0|[1-9]\d{0,5})\.jsonl")


class Slot(NamedTuple):
    """One trial of one task; `round` is None where the archive holds one round only."""

    round: int | None
    task: str
    trial: int

    @property
    def name(self) -> str:
        """The canonical name of its file."""
        below = f"{quote(self.task, safe='')}/trial-{self.trial}.jsonl"
        return below if self.round is None else f"round-{self.round}/{below}"


def slots(round_: int | None, tasks: Collection[str], trials: int) -> list[Slot]:
    """Every slot of a round, sorted."""
    return [Slot(round_, task, trial) for task in sorted(tasks) for trial in range(trials)]


def slot_of(name: str) -> Slot | None:
    """The slot that a member's name means; `<task>.jsonl` is the old form of a task's only trial. None for any other name."""
    round_, below = None, name
    if match := _ROUND.fullmatch(name):
        round_, below = int(match[1]), match[2]
    if match := _TRIAL.fullmatch(below):
        return Slot(round_, unquote(match[1]), int(match[2]))
    if "/" not in below and below.endswith(".jsonl"):
        return Slot(round_, unquote(below.removesuffix(".jsonl")), 0)
    return None


class Player(Protocol):
    """Plays the records of one trial; see `adapters`."""

    def step(self, record: Mapping[str, Any]) -> None: ...
    def verdict(self) -> Fraction | None: ...


@dataclass
class Contents:
    """What one pass found. Faults are (code, message); `recorded` and `replayed` hold verdicts, None where there is none."""

    n_files: int = 0
    n_records: int = 0
    recorded: dict[Slot, Fraction | None] = field(default_factory=dict)
    replayed: dict[Slot, Fraction | None] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)

    @property
    def unsafe(self) -> bool:
        """Whether a member might have done harm."""
        return any(code == "TRJ-003" for code, _ in self.faults)

    def fault(self, code: str, message: str) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append((code, message))


Visit = Callable[[str, int, bytes], None]
"""(member, line number, bytes of the line)"""


def read_contents(
    stream: Readable,
    wanted: Collection[Slot],
    *,
    limits: Limits | None = None,
    player: Callable[[Slot], Player] | None = None,
    visit: Visit | None = None,
) -> Contents:
    """Level L0 of an archive: readable and safe, exactly the wanted files, every line an object, steps never going back.

    `player` makes one that every record of a slot is played into. Never raises for what is in the archive.
    """
    contents, limits = Contents(), limits or Limits()
    expected = frozenset(wanted)
    try:
        for member in members(stream, limits):
            slot = slot_of(member.name)
            if slot not in expected or slot in contents.recorded:
                contents.fault("TRJ-004", f"unexpected file {member.name}.")
                continue
            contents.n_files += 1
            playing = player(slot) if player else None
            contents.recorded[slot] = _read(member, contents, limits, playing, visit)
            if playing:
                contents.replayed[slot] = playing.verdict()
    except BadArchive as bad:
        contents.fault("TRJ-003" if bad.unsafe else "TRJ-008", _said(bad))
        return contents
    for slot in sorted(expected - contents.recorded.keys(), key=lambda slot: slot.name)[:MAX_FAULTS]:
        where = "" if slot.round is None else f"round {slot.round}: "
        contents.fault("TRJ-004", f"{where}task {slot.task} trial {slot.trial} has no file.")
    return contents


def _said(bad: BadArchive) -> str:
    return f"archive member {bad.member} {bad.fault}." if bad.member else f"the archive {bad.fault}."


def _read(member: Member, contents: Contents, limits: Limits, player: Player | None, visit: Visit | None) -> Fraction | None:
    """The last verdict that a member records."""
    verdict, last_step = None, None
    try:
        for number, line, record in records(member.content, limits.line_bytes):
            contents.n_records += 1
            if visit:
                visit(member.name, number, line)
            step = record.get("step")
            if isinstance(step, int) and not isinstance(step, bool):
                if last_step is not None and step < last_step:
                    contents.fault("TRJ-005", f"{member.name} line {number}: step {step} comes after step {last_step}.")
                last_step = step
            if "verdict" in record:
                verdict = score_of(record["verdict"])
            if player:
                player.step(record)
    except BadLine as bad:
        contents.fault("TRJ-005", f"{member.name} line {bad.line} {bad.fault}.")
    return verdict


def score_of(verdict: Any) -> Fraction | None:
    """The number of a verdict record."""
    score = verdict.get("score") if isinstance(verdict, dict) else None
    return Fraction(score) if isinstance(score, int | Number) and not isinstance(score, bool) else None


def means(scores: Mapping[Slot, Fraction | None], round_: int | None) -> Iterator[tuple[str, Fraction | None]]:
    """(task, mean over its trials) of a round; None where a trial has no verdict."""
    by_task: dict[str, list[Fraction | None]] = {}
    for slot, score in scores.items():
        if slot.round == round_:
            by_task.setdefault(slot.task, []).append(score)
    for task, numbers in sorted(by_task.items()):
        known = [number for number in numbers if number is not None]
        yield task, sum(known, Fraction(0)) / len(known) if len(known) == len(numbers) else None
