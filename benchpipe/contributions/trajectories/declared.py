"""What a submission declares of its trajectories, and what they are held against: the per-task scores of its runs. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from benchpipe.contributions.checking import Checked
from benchpipe.contributions.trajectories.adapters import Wanted
from benchpipe.contributions.trajectories.contents import Slot, slots
from benchpipe.files import json_bytes, sha256


@dataclass(frozen=True)
class RunScores:
    """One run's per-task scores. `round` is None if it is the only run, whose files need no `round-N/`."""

    round: int | None
    trials: int
    by_task: Mapping[str, Fraction]


@dataclass(frozen=True)
class Declared:
    """The trajectories of one submission. `input` is the digest of everything here and of what is wanted."""

    path: str
    location: str
    bytes: int
    sha256: str
    runs: tuple[RunScores, ...]
    wanted: Wanted
    input: str

    def slots(self) -> list[Slot]:
        """A file for each of these has to be in the archive, and no other."""
        return [slot for run in self.runs for slot in slots(run.round, run.by_task.keys(), run.trials)]

    @property
    def mixed_up(self) -> str:
        """Why its runs can't be told apart in one archive; empty if they can."""
        rounds = Counter(run.round for run in self.runs)
        twice = [number for number, n in rounds.items() if n > 1]
        return f"two runs are of round {twice[0]}; files of one round can't be told apart" if twice else ""


def declared_by(checked: Checked, wanted: Wanted) -> Declared | None:
    """The trajectories that a checked submission links; None if it links none, or is refused."""
    doc: Mapping[str, Any] = checked.doc or {}
    block = doc.get("trajectories")
    if not block or checked.report.verdict == "refused":
        return None
    alone = len(doc["runs"]) == 1
    runs = tuple(
        RunScores(None if alone else run["round"], doc["config"]["trials"], measured.fractions())
        for run, measured in zip(doc["runs"], checked.measured, strict=True)
    )
    facts = [
        block["location"],
        block["bytes"],
        block["sha256"],
        [[run.round, run.trials, sorted((task, str(score)) for task, score in run.by_task.items())] for run in runs],
        *wanted.facts,
    ]
    return Declared(
        path=checked.path,
        location=block["location"],
        bytes=block["bytes"],
        sha256=block["sha256"],
        runs=runs,
        wanted=wanted,
        input=sha256(json_bytes(facts)),
    )
