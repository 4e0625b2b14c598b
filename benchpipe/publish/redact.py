"""Redaction of a JSON document: every string value that holds what must not leave gets a marker in that place.

Keys, numbers and the shape of the document stay. Redacting twice changes nothing more. The document is changed in place;
nothing is read or written here.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchpipe.publish.find import Finder, Span

STREAMED: Mapping[str, tuple[str, ...]] = {"steps": ("text", "out", "think")}
"""Lists of a trial log whose fields may hold one text in pieces: list → fields that are read one after the other."""

_SHORTEST = 7
"""No rule matches a text shorter than this, unless it is a piece of a longer one."""
_ROUNDS = 4


class _Slot:
    """A string value and where it stands."""

    __slots__ = ("container", "key", "text")

    def __init__(self, container: Any, key: Any, text: bytes) -> None:
        self.container, self.key, self.text = container, key, text


def redact(document: Any, finder: Finder) -> dict[str, int]:
    """Redact `document` in place. Returns how often each rule matched (rule id → places)."""
    counts: dict[str, int] = {}
    streams = [list(stream) for stream in _streams(document)]
    rest = _strings(document)
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
    streams: list[list[_Slot]], rest: list[_Slot], finder: Finder, counts: dict[str, int]
) -> tuple[list[list[_Slot]], list[_Slot]]:
    """Redact once; returns what changed and has to be looked at again, since a marker makes new borders."""
    slots: list[_Slot] = []
    joints: list[int] = []
    hards: list[int] = []
    at = 0
    for group in (*streams, *([slot] for slot in rest)):
        for k, slot in enumerate(group):
            if slots:
                (joints if k else hards).append(at - 1)
            slots.append(slot)
            at += len(slot.text) + 1
    parts = [slot.text for slot in slots]
    blob = _blob(parts, joints)
    spans = finder.find(blob, joints=joints, hards=hards)
    changed = set()
    starts = _starts(parts)
    for index, edits in _by_slot(spans, starts, parts).items():
        slot = slots[index]
        slot.text = _with_markers(slot.text, edits)
        slot.container[slot.key] = slot.text.decode("utf-8", "surrogatepass")
        changed.add(id(slot))
    for span in spans:
        counts[span.rule.id] = counts.get(span.rule.id, 0) + 1
    return (
        [group for group in streams if any(id(slot) in changed for slot in group)],
        [slot for slot in rest if id(slot) in changed],
    )


def _blob(parts: list[bytes], joints: list[int]) -> bytes:
    if not joints:
        return b"\x00".join(parts)
    blob = bytearray(b"\x00".join(parts))
    for joint in joints:
        blob[joint] = 1
    return bytes(blob)


def _starts(parts: list[bytes]) -> list[int]:
    starts, at = [], 0
    for part in parts:
        starts.append(at)
        at += len(part) + 1
    return starts


def _by_slot(spans: Iterable[Span], starts: list[int], parts: list[bytes]) -> dict[int, list[tuple[int, int, bytes]]]:
    """Spans of the blob as `(start, end, marker)` inside each slot they touch."""
    from bisect import bisect_right

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


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _streams(document: Any) -> Iterator[Iterator[_Slot]]:
    for key, fields in STREAMED.items():
        items = document.get(key) if isinstance(document, dict) else None
        if isinstance(items, list):
            for field in fields:
                yield (
                    _Slot(item, field, _encoded(item[field]))
                    for item in items
                    if isinstance(item, dict) and isinstance(item.get(field), str)
                )


def _strings(document: Any) -> list[_Slot]:
    """Every string value outside the streamed fields that is long enough to hold anything."""
    found: list[_Slot] = []
    todo: list[tuple[Any, tuple[str, ...]]] = [(document, ())]
    while todo:
        node, streamed = todo.pop()
        if type(node) is dict:
            top = node is document
            for key, value in node.items():
                kind = type(value)
                if kind is str:
                    if len(value) >= _SHORTEST and key not in streamed:
                        found.append(_Slot(node, key, _encoded(value)))
                elif kind is dict or kind is list:
                    todo.append((value, STREAMED.get(key, ()) if top else ()))
        else:
            for key, value in enumerate(node):
                kind = type(value)
                if kind is str:
                    if len(value) >= _SHORTEST:
                        found.append(_Slot(node, key, _encoded(value)))
                elif kind is dict or kind is list:
                    todo.append((value, streamed))
    return found
