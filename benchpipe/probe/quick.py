"""The fields of a long gateway line without decoding it: a handful of byte searches instead of a parse.

Runs on hosts: Python 3.8, standard library only. Every reading here is proven or given up (None), and the caller parses
the line in full; `answers` holds the rules that both ways follow. What is used of JSON:

- Inside a string a quote has a backslash before it, so `"response"` with bare quotes is a key or a whole value.
- Where every quote of a span has a backslash before it, no other string begins in the span: it is inside one string.
- A member that is followed by nothing but members with plain values and one `}` stands at depth 1; so do its
  neighbours with plain values, and those that follow the line's first `{`.

A line is taken to be JSON in which no object has a name twice, as every writer makes it: values that are skipped are not
validated, but two lines that a crash glued together are seen.
"""

import functools
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from benchpipe.probe.answers import Answer, Carrier, answer_of, carries, conclude
from benchpipe.probe.fastfind import find, rfind
from benchpipe.probe.lenient import NOT_JSON, decode

NEEDED = ("t", "method", "status", "latency_s")
_WANTED = tuple(b'"%s"' % name.encode() for name in NEEDED)
SHORT = 4096
"""Lines up to this length are parsed in full at once."""
BEGINNING = 24
REACH = 1024
"""How far from a landmark plain members are looked for."""


class Members:
    """Patterns of one member with a plain value and of as many as follow each other."""

    def __init__(self, blank: bytes, key: bytes, plain: bytes) -> None:
        one = blank + rb"(" + key + rb")" + blank + rb":" + blank + rb"(" + plain + rb")" + blank
        bare = one.replace(rb"(" + key + rb")", key).replace(rb"(" + plain + rb")", plain)
        self.one = re.compile(one)
        self.chain = re.compile(rb"(?:" + bare + rb",)*(?:" + bare + rb"(?=\}))?" + blank)


_PLAIN = rb'(?:"[^"\\]{0,200}"|-?[0-9][0-9.eE+-]{0,30}|true|false|null)'
_KEY = rb'"[^"\\]{1,60}"'
_MEMBER = Members(rb"\s*", _KEY, _PLAIN)
_LAST_STRING = re.compile(rb'"((?:\s*,\s*' + _KEY + rb"\s*:\s*" + _PLAIN + rb")*\s*\})\s*\Z")
_BEFORE = re.compile(rb",((?:\s*" + _KEY + rb"\s*:\s*" + _PLAIN + rb"\s*,)+)\s*\Z")
_RESPONSE = re.compile(rb'"response"\s*:\s*"')
_METHOD = re.compile(rb'"method"\s*:\s*"')
_OPENING = re.compile(rb"\{\s*" + _KEY + rb"\s*:\s*(?:1\d\d)?")

# The same inside a string, where a bare quote is written \" and nothing that has a backslash of its own is looked at.
_IN_PLAIN = rb'(?:\\"[^"\\]{0,200}\\"|-?[0-9][0-9.eE+-]{0,30}|true|false|null|\{\}|\[\])'
_IN_KEY = rb'\\"[^"\\]{1,60}\\"'
_IN_MEMBER = Members(rb" *", _IN_KEY, _IN_PLAIN)
_IN_OPENING = re.compile(rb" *(" + _IN_KEY + rb") *: *\{")
_IN_USAGE_KEY = re.compile(rb'\\"(?:usage|usageMetadata|usage_metadata)\\" *: *')
_IN_USAGE = re.compile(_IN_USAGE_KEY.pattern + rb"(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}) *")
_IN_MODEL = re.compile(rb'\\"(?:model|modelVersion)\\" *: *\\"([ !#-\[\]-~]{1,200})\\"')
_IN_TYPE = re.compile(rb'\\"type\\" *: *\\"(?:response\.|message_)')
_IN_ID = re.compile(rb'\\"(?:id|responseId)\\" *:')
_END = re.compile(rb"(?:\\n|\\r| )*\Z")


class Line(NamedTuple):
    """The plain top-level members of a line, decoded, and where its response string's content lies, if it is one string."""

    fields: Dict[str, Any]
    start: int
    end: int
    beginning: bytes
    """The response's key and the first bytes of its text: in the next line of this log they are likely the same."""


def quick_line(line: bytes, beginning: bytes = b'"response"') -> Optional[Line]:
    """The wanted parts of a gateway line, or None where they can't be proven. `line` has no newline at its end.

    All fields in NEEDED are there. That start and end belong to the same string is left for `quick_answer` to prove.
    `beginning` is what a line before this had there: a long text is found many times faster than a short one.
    """
    if len(line) <= SHORT or line[:1] != b"{":
        return None
    members, head = _members(_MEMBER, line, 1)
    key = _RESPONSE.match(line, head) or _search_key(line, head, beginning) or _search_key(line, head, b'"response"')
    if key is None:
        return None
    start, before = key.end(), key.start()
    if before != head and _asks_again(line, head, before):
        return None
    last = _LAST_STRING.search(line, max(len(line) - REACH, start))
    if last is not None:
        end = last.start()
        if _escaped(line, end):
            return None
        members += _members(_MEMBER, last.group(1), last.group(1).find(b",") + 1)[0]
    elif before == head:  # proven from the front; other members follow, big ones among them
        end = _end_before_string_key(line, start)
        if end < 0 or _escaped(line, end) or not _is_string(line, start, end) or line[-1:] != b"}" or is_glued(line, end):
            return None
        members += _members(_MEMBER, line, line.index(b",", end) + 1)[0]
    else:
        return None
    fields = _decoded(members)
    if before != head and not all(name in fields for name in NEEDED) and _is_string(line, start, end):
        fields = {**_neighbours(line, max(before - REACH, head - 1), before), **fields}
    return Line(fields, start, end, line[before : start + BEGINNING]) if all(name in fields for name in NEEDED) else None


def first_fields(line: bytes) -> Dict[str, Any]:
    """The plain members that a line begins with, decoded; all that can be said of a line that was shortened too far."""
    return _decoded(_members(_MEMBER, line, 1)[0])


def quick_answer(line: bytes, start: int, end: int, as_before: bool = False) -> Optional[Answer]:
    """`answer_of` the string whose content is line[start:end], with as little decoding as can be; None if it is no string.

    `as_before`: in a line before this, which began its answer alike, it was one string. Then a stream that ends with the id
    it began with needs no other proof, which would take as long as all the rest.
    """
    at = line.rfind(b"usage", start, end)
    carriers = _carriers(line, at, start, end) if at >= 0 else []
    if as_before and carriers and len(carriers) == 1 and _begins_stream(line, start, carriers[0].response_id):
        return conclude(carriers)
    if not _is_string(line, start, end):
        return None
    if carriers is not None:
        return conclude(carriers)
    text = decode(b'"' + line[start:end] + b'"')
    return answer_of(None if text is NOT_JSON else text)


def _begins_stream(line: bytes, start: int, response_id: Optional[str]) -> bool:
    """Whether the text from `start` names this id right at its beginning. Ids too short to be unique prove nothing."""
    named = b'\\"%s\\"' % (response_id or "").encode()
    return len(named) > 9 and line.find(named, start, start + REACH) >= 0


def _neighbours(line: bytes, start: int, before: int) -> Dict[str, Any]:
    """The plain members right before the one at `before`."""
    found = _BEFORE.search(line, start, before)
    return _decoded(_members(_MEMBER, found.group(1), 0)[0]) if found else {}


def _search_key(line: bytes, head: int, beginning: bytes) -> "Optional[re.Match[bytes]]":
    at = find(line, beginning, head, len(line))
    return _RESPONSE.match(line, at) if at >= 0 and line[at - 1] in b", \t" else None


def is_glued(line: bytes, start: int = 1) -> bool:
    """Whether the line's own beginning (`{"t": 179`, the first digits of a time) comes a second time."""
    opening = _OPENING.match(line)
    return opening is None or find(line, opening.group(), start, len(line)) >= 0


def _asks_again(line: bytes, head: int, before: int) -> bool:
    """Whether the line's `"method": "` comes a second time: then another request was glued to it."""
    method = _METHOD.search(line, 0, head + 1)
    return method is None or find(line, method.group(), head, before) >= 0


def _is_string(line: bytes, start: int, end: int) -> bool:
    """Whether line[start:end] is the content of one string: no other begins or ends in it. `end` is a bare quote."""
    return line.count(b'"', start, end) == line.count(b'\\"', start, end)


def _end_before_string_key(line: bytes, start: int) -> int:
    """Position of the closing quote of the string that begins at `start` and is followed by another member, or -1."""
    ends = [line.find(separator, start) for separator in (b'","', b'", "')]
    return min((at for at in ends if at >= 0), default=-1)


def _escaped(line: bytes, at: int) -> bool:
    """Whether the byte at `at` has an odd number of backslashes before it."""
    first = at
    while first > 0 and line[first - 1] == 0x5C:
        first -= 1
    return (at - first) % 2 == 1


def _members(kind: Members, text: bytes, at: int) -> Tuple[List[Tuple[bytes, bytes]], int]:
    """Members with plain values from `at` on, and where the first other one, or the end of their object, begins."""
    chain = kind.chain.match(text, at)
    return (kind.one.findall(chain.group()), chain.end()) if chain else ([], at)


def _decoded(members: List[Tuple[bytes, bytes]]) -> Dict[str, Any]:
    return {key[1:-1].decode(): _plain(value) for key, value in members if key in _WANTED}


_plain = functools.lru_cache(1024)(decode)  # methods and states repeat


def _carriers(line: bytes, at: int, start: int, end: int) -> Optional[List[Carrier]]:
    """The usage-carrying events of a response string that decide; `at` is its last `usage`. None = not proven."""
    if line[start : start + 1] in (b"{", b"["):
        span: Optional[Tuple[int, int]] = (start, end)
    else:
        span = _event_around(line, at, start, end)
    last = _carrier(line, *span) if span else None
    if last is None or not last.updates:
        return None if last is None else [last]
    found = []
    at = line.find(b'\\"usage\\"', start, end)
    while at >= 0:
        span = _event_around(line, at, start, end)
        this = _carrier(line, *span) if span else None
        if span is None or this is None:
            return None
        found.append(this)
        at = line.find(b'\\"usage\\"', span[1], end)
    return found


def _event_around(line: bytes, at: int, start: int, end: int) -> Optional[Tuple[int, int]]:
    """The JSON of the `data:` line of a stream that holds position `at`; None for one with another `data:` line beside it."""
    newline = _rfind_bare(line, b"\\ndata:", start, at)
    first = start if newline < 0 else newline + 2
    if not line.startswith(b"data:", first):
        return None
    if newline >= 0:
        before = _rfind_bare(line, b"\\n", start, newline)
        if line.startswith(b"data:", start if before < 0 else before + 2):
            return None
    last = line.find(b"\\n", at, end)
    while last >= 0 and _escaped(line, last):
        last = line.find(b"\\n", last + 1, end)
    if last >= 0 and line.startswith(b"data:", last + 2):
        return None
    return first + 5, end if last < 0 else last


def _rfind_bare(line: bytes, what: bytes, start: int, end: int) -> int:
    """`rfind` of an escape sequence, passing over those whose backslash is itself escaped."""
    at = rfind(line, what, start, end)
    while at >= 0 and _escaped(line, at):
        at = rfind(line, what, start, at)
    return at


def _carrier(line: bytes, start: int, end: int) -> Optional[Carrier]:
    """What one event carries, read from its first and last plain members; None where that proves nothing."""
    while line[start : start + 1] == b" ":
        start += 1
    event = line[start:end]
    found = _only_usage(event)
    if found is None or event[:1] != b"{":
        return None
    head, inner = _members(_IN_MEMBER, event, 1)
    tail, at = _after(event, found.end())
    if event[at : at + 1] != b"}":
        return None
    if not _END.match(event, at + 1):  # not the event's own brace: one object down
        outer, at = _after(event, at + 1)
        if event[at : at + 1] != b"}" or not _END.match(event, at + 1):
            return None
        tail = outer
    opening = _IN_OPENING.match(event, inner)
    child = _members(_IN_MEMBER, event, opening.end())[0] if opening else []
    return _assemble(event, found.group(1), head, child, tail)


def _only_usage(event: bytes) -> "Optional[re.Match[bytes]]":
    """The one usage key of an event with its object. The quotes of a key have one backslash, those in a text more."""
    keys = []
    at = find(event, b'\\"usage', 0, len(event))
    while at >= 0:
        if event[at - 1 : at] != b"\\" and _IN_USAGE_KEY.match(event, at):
            keys.append(at)
        at = find(event, b'\\"usage', at + 1, len(event))
    return _IN_USAGE.match(event, keys[0]) if len(keys) == 1 else None


def _after(event: bytes, at: int) -> Tuple[List[Tuple[bytes, bytes]], int]:
    """Plain members that follow a value that ended at `at`."""
    while event[at : at + 1] == b" ":
        at += 1
    return _members(_IN_MEMBER, event, at + 1) if event[at : at + 1] == b"," else ([], at)


def _assemble(
    event: bytes,
    raw: bytes,
    head: List[Tuple[bytes, bytes]],
    child: List[Tuple[bytes, bytes]],
    tail: List[Tuple[bytes, bytes]],
) -> Optional[Carrier]:
    plain = raw.replace(b'\\"', b'"')
    usage = NOT_JSON if b"\\" in plain else decode(plain)
    kind = _text(head + tail, (b"type",))
    if not isinstance(usage, dict) or (kind is None and _IN_TYPE.search(event)) or not carries(kind):
        return None
    response_id = _text(head, (b"id", b"responseId")) or _text(child, (b"id",))
    if response_id is None:
        ids = len(_IN_ID.findall(event))
        response_id = _text(tail, (b"id", b"responseId")) if ids == 1 else None
        if response_id is None and ids:
            return None
    model = _IN_MODEL.search(event, max(find(event, b'\\"model', 0, len(event)), 0))
    return Carrier(usage, response_id, model.group(1).decode() if model else None, kind == "message_delta")


def _text(members: List[Tuple[bytes, bytes]], keys: Tuple[bytes, ...]) -> Optional[str]:
    """The first non-empty string under one of `keys`."""
    for key, value in members:
        if key[2:-2] in keys and value[:2] == b'\\"' and len(value) > 4:
            return value[2:-2].decode("utf-8", "replace")
    return None
