"""What may be compared with what, and which H0 a row is held against (contributions 13). Pure."""

import json
import math
import statistics
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from benchpipe.contributions.gate.config import normal
from benchpipe.files import sha256
from benchpipe.usage.totals import wilson

Z95 = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, order=True)
class Stack:
    """Rows of one stack stand in one group: same task set, same task agent. The names are as they are shown.

    `key` is made of the names as they were written, so that two that are shown alike, for what was taken out, stay two.
    """

    dataset: str
    pool: str
    base_harness: str
    model: str
    decoding: str
    key: str

    def __str__(self) -> str:
        return " · ".join((self.base_harness, self.model, self.decoding, self.pool))


@dataclass(frozen=True, order=True)
class Conditions:
    """Rows of one stack are only ranked against each other where these are equal too."""

    trials: int
    sampling: str


@dataclass(frozen=True)
class Candidate:
    """A measurement as far as references are concerned. `sound`: every check of its run passed or does not apply.

    `verified`: so did those of every other run of its file. An unverified H0 serves no other file's row.
    """

    row_id: str
    path: str
    stack: Stack
    conditions: Conditions
    round: int
    harness_sha: str
    by_task: Mapping[str, Fraction]
    sound: bool
    verified: bool
    merged_at: str = "~"
    """When the platform entered its verdict (UTC); "~", after every time, if it has not yet."""
    index: int = 0
    """Which of its file's runs it is."""

    @property
    def key(self) -> tuple[str, int]:
        """Which measurement it is; a row id is the same for every pool of a run."""
        return self.path, self.index

    @property
    def score(self) -> Fraction:
        """Exact mean."""
        return sum(self.by_task.values(), Fraction(0)) / (len(self.by_task) or 1)


@dataclass(frozen=True)
class Baseline:
    """The agreed round 0 of a task agent, as the benchmark's file names it (17.6)."""

    agent: str
    harness_sha: str
    h0: Candidate | None = None
    """Its measurement, where one is registered and sound."""
    fault: str = ""
    """Why the registered measurement can't serve."""


@dataclass(frozen=True)
class Reference:
    """What a row is held against: the H0 and what changed, or why there is none."""

    h0: Candidate | None
    code: str = ""
    """REF-001, REF-003 or REF-004 without an H0; REF-002 beside one that is not the agreed baseline."""
    values: Mapping[str, object] | None = None


def stack_key(dataset: str, pool: str, base_harness: str, model: str, decoding: str) -> str:
    """The key of a stack from its names as they were written."""
    return sha256(json.dumps(_normalised(dataset, pool, base_harness, model, decoding)).encode())[:16]


def agent_key(name: str) -> str:
    """The key of a task agent from its name as it was written: `<model>_<base harness>`, without a version (17.1)."""
    return sha256(name.encode())[:16]


def stack_of(dataset: str, pool: str, base_harness: str, model: str, decoding: str, key: str) -> Stack:
    """A stack from its names as they are shown, and its key."""
    return Stack(*_normalised(dataset, pool, base_harness, model, decoding), key)


def _normalised(dataset: str, pool: str, base_harness: str, model: str, decoding: str) -> tuple[str, str, str, str, str]:
    """NFC and trimmed; the model's name without regard to case."""
    dataset, pool, base_harness, model, decoding = (
        unicodedata.normalize("NFC", text).strip() for text in (dataset, pool, base_harness, model, decoding)
    )
    return dataset, pool, base_harness, model.casefold(), decoding


def conditions_of(trials: int, sampling: str) -> Conditions:
    """Trials and sampling in one form."""
    return Conditions(trials, str(normal(sampling)))


def reference_of(row: Candidate, all_rows: Iterable[Candidate], baseline: Baseline | None) -> Reference:
    """The H0 of a row (13): of its own file, else the agreed one, else a sound H0 elsewhere with the same key and identity.

    A failed H0 is no reference. Two sound H0s of different identity, without an agreed one, are none either.
    """
    registered = [baseline.h0] if baseline and baseline.h0 else []
    h0s = [other for other in (*registered, *all_rows) if other.round == 0 and other.stack == row.stack and other.sound]
    same = [h0 for h0 in h0s if h0.conditions == row.conditions and h0.by_task.keys() == row.by_task.keys()]
    own = [h0 for h0 in same if h0.path == row.path]
    agreed = [h0 for h0 in same if h0.verified and (baseline is None or h0.harness_sha == baseline.harness_sha)]
    if own:
        if baseline and own[0].harness_sha != baseline.harness_sha:
            values = {"a": own[0].harness_sha, "agent": baseline.agent, "b": baseline.harness_sha}
            return Reference(own[0], "REF-002", values)
        return Reference(own[0])
    if len({h0.harness_sha for h0 in agreed}) == 1:
        return Reference(agreed[0])
    if baseline and baseline.fault:
        return Reference(None, "REF-004", {"agent": baseline.agent, "fault": baseline.fault})
    other = [h0.conditions.trials for h0 in h0s if h0.conditions.trials != row.conditions.trials]
    if other and not same:
        return Reference(None, "REF-003", {"a": other[0], "b": row.conditions.trials})
    return Reference(None, "REF-001", {"stack": str(row.stack)})


def gained_and_lost(row: Mapping[str, Fraction], h0: Mapping[str, Fraction]) -> tuple[list[str], list[str]]:
    """Tasks solved (full score) now and not before, and the other way round."""
    now, before = ({task for task, score in scores.items() if score >= 1} for scores in (row, h0))
    return sorted(now - before), sorted(before - now)


def interval(by_task: Mapping[str, Fraction]) -> tuple[float, float] | None:
    """95 % interval of a mean over tasks: Wilson where every task is 0 or 1, else mean ± z·sqrt(s²/n). None below 2 tasks."""
    n = len(by_task)
    if n < 2:
        return None
    if all(score in (0, 1) for score in by_task.values()):
        rate = wilson(sum(score == 1 for score in by_task.values()), n)
        return (rate.low, rate.high) if rate else None
    scores = [float(score) for score in by_task.values()]
    mean, half = statistics.fmean(scores), Z95 * statistics.stdev(scores) / math.sqrt(n)
    return max(0.0, mean - half), min(1.0, mean + half)
