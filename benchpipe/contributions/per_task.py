"""A per-task file as exact scores (contributions 4): the flat map of old, or the canonical form. Decides nothing about them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from benchpipe.contributions.codes import CODES
from benchpipe.contributions.contacts import MARK, without_contacts
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.models import PER_TASK_SCHEMA, PerTask
from benchpipe.contributions.schema_rules import shape_findings
from benchpipe.contributions.strict_json import Number, Refused, decode, escape, parse
from benchpipe.files import sha256


@dataclass(frozen=True)
class Scores:
    """What a per-task file says. `full` is None for the flat map, which knows neither run nor counters."""

    by_task: Mapping[str, Fraction]
    full: PerTask | None = None

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self.by_task)

    @property
    def shown(self) -> dict[str, Fraction]:
        """By task id as it may be shown, in order; two ids that differ only in contact data are still two tasks."""
        return {_told_apart(task): score for task, score in sorted(self.by_task.items())}

    @property
    def mean(self) -> Fraction:
        """Exact mean over the scored tasks; 0 for none (7.1)."""
        return sum(self.by_task.values(), Fraction(0)) / (len(self.by_task) or 1)

    @property
    def solved(self) -> frozenset[str]:
        """Tasks with the full score."""
        return frozenset(task for task, score in self.by_task.items() if score >= 1)


def _told_apart(task: str) -> str:
    shown = without_contacts(task)
    return task if shown == task else f"{MARK} {sha256(task.encode())[:12]}"


@cache
def _schema() -> dict[str, Any]:
    return PerTask.model_json_schema()


def read_scores(data: bytes, name: str, run: int) -> tuple[Scores | None, list[Finding]]:
    """The scores of a per-task file's bytes, or PTF-001 for each fault that keeps it from being read.

    Whether scores lie in [0, 1] is asked by the gate; here they only are numbers.
    """

    def unreadable(faults: Iterable[tuple[str, str]]) -> tuple[None, list[Finding]]:
        return None, [
            CODES["PTF-001"].finding(pointer, file=name, run=run, name=name, fault=fault.removesuffix("."))
            for pointer, fault in faults
        ]

    try:
        value = parse(decode(data))
    except Refused as refused:
        return unreadable((pointer, fault) for _, pointer, fault in refused.faults)
    if not isinstance(value, dict) or not value:
        return unreadable([("", f"is neither a map of task id to number nor an object of {PER_TASK_SCHEMA}")])
    if "schema" in value:
        findings = shape_findings(value, _schema())
        if findings:
            return unreadable((finding.pointer, finding.message) for finding in findings)
        full = PerTask.model_validate(value)
        return Scores({task: Fraction(entry.score) for task, entry in full.tasks.items()}, full), []
    wrong = [task for task, score in value.items() if isinstance(score, bool) or not isinstance(score, int | Number)]
    if wrong:
        return unreadable([(f"/{escape(wrong[0])}", f"the score of {wrong[0]} is no number")])
    return Scores({task: Fraction(score) for task, score in value.items()}), []
