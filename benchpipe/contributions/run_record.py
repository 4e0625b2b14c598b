"""What a run wrote about itself: run_meta.json and curve.jsonl, looked up as contributions 10.3 and 11 say. Pure.

Only values of the right type are taken; everything else of a record is ignored. Nothing is decided here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from benchpipe.contributions.strict_json import Number, Refused, decode, parse

Record = Mapping[str, Any]


@dataclass(frozen=True)
class RunRecord:
    """One run's own record. Either half may be missing."""

    meta: Record | None = None
    curve: tuple[Record, ...] = ()
    origin: Mapping[str, str] = field(default_factory=dict)
    """File names for messages: keys `meta`, `curve`, `tree`."""

    def point(self, round_: int) -> Record | None:
        """The curve's record of a round."""
        return next((point for point in self.curve if point.get("round") == round_), None)

    def recorded(self, *names: str) -> Any:
        """The first value found under one of `names`: in run_meta, its platform or config object, the first point's config."""
        first = self.curve[0].get("config") if self.curve else None
        places = [self.meta, _object(self.meta, "platform"), _object(self.meta, "config"), first]
        for place in places:
            for name in names:
                if isinstance(place, Mapping) and name in place:
                    return place[name]
        return None

    def says(self, name: str) -> bool:
        """Whether a name is recorded at all, null included (a temperature of null is a value)."""
        first = self.curve[0].get("config") if self.curve else None
        places = (self.meta, _object(self.meta, "platform"), _object(self.meta, "config"), first)
        return any(isinstance(place, Mapping) and name in place for place in places)

    @property
    def platform_sha(self) -> str | None:
        """The platform's content identity that the run recorded."""
        value = self.recorded("content_sha", "platform_content_sha")
        return value if isinstance(value, str) else None


def _object(record: Record | None, key: str) -> Any:
    return record.get(key) if record else None


def identity_of(point: Record | None, key: str) -> Any:
    """A field of a point's identity; the dataset form keeps some beside it."""
    if point is None:
        return None
    identity = point.get("identity")
    return identity.get(key) if isinstance(identity, Mapping) and key in identity else point.get(key)


def scores_of(point: Record | None) -> dict[str, Fraction]:
    """A point's `per_task` as numbers: id → number, or id → {score: number}. Anything else is left out."""
    per_task = point.get("per_task") if point else None
    found = {}
    for task, entry in per_task.items() if isinstance(per_task, Mapping) else ():
        number = entry.get("score") if isinstance(entry, Mapping) else entry
        if isinstance(number, int | Decimal) and not isinstance(number, bool):
            found[task] = Fraction(number)
    return found


def counter_of(point: Record | None, name: str) -> tuple[int | None, int]:
    """(`n_<name>` or None, size of the map `<name>`) of a point."""
    if point is None:
        return None, 0
    count, listed = point.get(f"n_{name}"), point.get(name)
    return (count if isinstance(count, int) else None), len(listed) if isinstance(listed, Mapping) else 0


def read_meta(data: bytes) -> Record:
    """run_meta.json. Refused unless it is an object."""
    value = parse(decode(data))
    if not isinstance(value, dict):
        raise Refused([(1, "", "is not a JSON object")])
    return value


def read_curve(data: bytes) -> tuple[Record, ...]:
    """curve.jsonl, one object per line, rounds rising. NaN and Infinity are taken as null in `score_ci95` only (11)."""
    points: list[Record] = []
    for number, line in enumerate(decode(data).split("\n"), 1):
        if not line.strip():
            continue
        try:
            point = parse(_without_nan(line))
        except Refused as refused:
            raise Refused([(number, "", f"line {number} {refused}")]) from None
        if not isinstance(point, dict):
            raise Refused([(number, "", f"line {number} is not a JSON object")])
        if not isinstance(point.get("round"), int) or (points and point["round"] <= points[-1]["round"]):
            raise Refused([(number, "", f"line {number}: rounds must be whole numbers and rise")])
        points.append(point)
    return tuple(points)


def _without_nan(line: str) -> str:
    if "NaN" not in line and "Infinity" not in line:
        return line
    before, key, rest = line.partition('"score_ci95"')
    head, close, tail = rest.partition("]")
    for token in ("-Infinity", "Infinity", "NaN"):
        head = head.replace(token, "null")
    return before + key + head + close + tail


def plain(value: Any) -> str:
    """A recorded value as a message shows it."""
    if isinstance(value, Number):
        return value.literal
    return value if isinstance(value, str) else json.dumps(value, default=str)
