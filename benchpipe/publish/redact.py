"""Redaction of a JSON document: every string value that holds what must not leave gets a marker in that place.

Keys, numbers and the shape of the document stay. Redacting twice changes nothing more. The document is changed in place;
nothing is read or written here.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

from benchpipe.publish.find import Finder, Span
from benchpipe.publish.views import HARD, JOINT

STREAMED: Mapping[str, tuple[str, ...]] = {"steps": ("text", "out", "think")}
"""Lists of a trial log whose fields may hold one text in pieces: list → fields that are read one after the other."""

_SHORTEST = 7
"""No rule matches a text shorter than this, unless it is a piece of a longer one."""
_ROUNDS = 4


Slot = tuple[Any, Any]
"""Where a string value stands: its list or mapping, and its place in there."""


def redact(document: Any, finder: Finder) -> dict[str, int]:
    """Redact `document` in place. Returns how often each rule matched (rule id → places)."""
    counts: dict[str, int] = {}
    streams = _streams(document)
    rest = _strings(document, streams)
    for _ in range(_ROUNDS):
        streams, rest = _round(streams, rest, finder, counts)
        if not streams and not rest:
            break
    return counts


def redact_text(text: str, finder: Finder) -> str:
    """One text by itself, redacted."""
    document = [text]
    redact(document, finder)
    return document[0]


def _round(
    streams: list[list[Slot]], rest: list[Slot], finder: Finder, counts: dict[str, int]
) -> tuple[list[list[Slot]], list[Slot]]:
    """Redact once; returns what changed and has to be looked at again, since a marker makes new borders."""
    slots = [*(slot for stream in streams for slot in stream), *rest]
    parts = [container[key].encode("utf-8", "surrogatepass") for container, key in slots]
    starts = _starts(parts)
    heads = set(accumulate(map(len, streams), initial=0))
    inside = range(sum(map(len, streams)))
    joints = [starts[n] - 1 for n in inside if n not in heads]
    hards = [starts[n] - 1 for n in range(1, len(slots)) if n in heads or n >= len(inside)]
    spans = finder.find(_blob(parts, joints), joints=joints, hards=hards)
    changed = set()
    for index, edits in _by_slot(spans, starts, parts).items():
        container, key = slots[index]
        container[key] = _with_markers(parts[index], edits).decode("utf-8", "surrogatepass")
        changed.add(index)
    for span in spans:
        counts[span.rule.id] = counts.get(span.rule.id, 0) + 1
    ends = list(accumulate(map(len, streams)))
    again = [stream for stream, end in zip(streams, ends, strict=True) if not changed.isdisjoint(range(end - len(stream), end))]
    return again, [slots[n] for n in sorted(changed) if n >= len(inside)]


def _blob(parts: list[bytes], joints: list[int]) -> bytes:
    """All texts in one, with a separator between any two."""
    blob = bytearray(HARD.join(parts))
    for joint in joints:
        blob[joint : joint + 1] = JOINT
    return bytes(blob)


def _starts(parts: list[bytes]) -> list[int]:
    """Where each text begins in the blob."""
    return list(accumulate((len(part) + 1 for part in parts), initial=0))[:-1]


def _by_slot(spans: Iterable[Span], starts: list[int], parts: list[bytes]) -> dict[int, list[tuple[int, int, bytes]]]:
    """Spans of the blob as `(start, end, marker)` inside each slot they touch."""
    edits: dict[int, list[tuple[int, int, bytes]]] = {}
    for span in spans:
        index = bisect_right(starts, span.start) - 1
        while index < len(starts) and starts[index] < span.end:
            a, b = max(span.start - starts[index], 0), min(span.end - starts[index], len(parts[index]))
            if a < b:
                edits.setdefault(index, []).append((a, b, span.rule.marker.encode()))
            index += 1
    return edits


def _with_markers(text: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """`text` with each run of overlapping edits replaced by the marker of its longest one."""
    parts: list[bytes] = []
    at = 0
    run_end, longest, marker = -1, 0, b""
    for start, end, own in [*sorted(edits), (len(text) + 1, len(text) + 1, b"")]:
        if start >= run_end:
            if run_end >= 0:
                parts.append(marker)
                at = run_end
            if start > len(text):
                break
            parts.append(text[at:start])
            run_end, longest, marker = end, end - start, own
        else:
            run_end = max(run_end, end)
            if end - start > longest:
                longest, marker = end - start, own
    parts.append(text[at:])
    return b"".join(parts)


def _streams(document: Any) -> list[list[Slot]]:
    """The pieces of each streamed text, in order."""
    if not isinstance(document, dict):
        return []
    return [
        [(item, field) for item in document[key] if type(item) is dict and type(item.get(field)) is str]
        for key, fields in STREAMED.items()
        if isinstance(document.get(key), list)
        for field in fields
    ]


def _strings(document: Any, streams: list[list[Slot]]) -> list[Slot]:
    """Every string value outside the streams that is long enough to hold anything."""
    taken = {(id(container), key) for stream in streams for container, key in stream}
    found: list[Slot] = []
    todo = [document]
    while todo:
        node = todo.pop()
        for key, value in node.items() if type(node) is dict else enumerate(node):
            kind = type(value)
            if kind is str:
                if len(value) >= _SHORTEST and (id(node), key) not in taken:
                    found.append((node, key))
            elif kind is dict or kind is list:
                todo.append(value)
    return found
