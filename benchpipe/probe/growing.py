"""Reading a log that grows: only complete lines, in blocks of 1 MiB, from where the last reading ended. Knows no format.

Runs on hosts: Python 3.8, standard library only. What was read so far is kept under the file's device and inode with
a digest of its first bytes and of the last ones before the offset; if anything contradicts it (replaced, truncated,
rewritten), reading starts over. So every reading equals one from the start; what is kept only saves time. Of a log above
twice WINDOW one thing is taken on trust: that nobody rewrites numbers in its middle and leaves its length and both ends.
"""

import hashlib
import json
import os
import re
import zlib
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, NamedTuple, Optional

BLOCK = 1 << 20
LONG = 4 << 20
"""A line beyond this is shortened: its middle goes, its first HEAD and last TAIL bytes stay."""
HEAD = 1 << 18
TAIL = 1 << 21
WINDOW = 1 << 18
VERSION = 1
"""Of what is kept. Raise it when a line of a log comes to another row than before."""
_RESPONSE = re.compile(rb'"response"\s*:\s*"')


class Line(NamedTuple):
    """One complete line without its newline. `offset` is that of its first byte, `end` that of the next line's."""

    offset: int
    end: int
    text: bytes
    shortened: bool


class Tally:
    """What a log's complete lines came to: rows, and how often which problem was met."""

    def __init__(self, rows: Optional[List[list]] = None, problems: Optional[Dict[str, int]] = None) -> None:
        self.rows: List[list] = [] if rows is None else rows
        self.problems: Dict[str, int] = {} if problems is None else problems
        self.hint = b'"response"'
        """What `take` may remember from line to line to be faster; changes no number and is not kept."""

    def problem(self, what: str) -> None:
        self.problems[what] = self.problems.get(what, 0) + 1


def read_growing(path: str, kind: str, take: Callable[[Tally, Line], None], cursors: Any) -> Tally:
    """Everything that `take` makes of the file's complete lines. `kind` names `take`; OSError if the file can't be read."""
    with open(path, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        key = "%s:%d:%d" % (kind, status.st_dev, status.st_ino)
        offset, tally = _resume(file, status.st_size, cursors.get(key))
        file.seek(offset)
        end = offset
        for line in lines(file, offset):
            take(tally, line)
            end = line.end
        if end != offset:
            cursors.put(key, _pack(file, end, tally))
    return tally


def _resume(file: BinaryIO, size: int, packed: Optional[bytes]) -> Any:
    try:
        kept = json.loads(zlib.decompress(packed or b""))
        offset = kept["offset"]
        if kept["v"] == VERSION and 0 < offset <= size and kept["seal"] == _seal(file, offset):
            return offset, Tally(kept["rows"], kept["problems"])
    except (zlib.error, ValueError, KeyError, TypeError):
        pass
    return 0, Tally()


def _pack(file: BinaryIO, offset: int, tally: Tally) -> bytes:
    kept = {"v": VERSION, "offset": offset, "seal": _seal(file, offset), "rows": tally.rows, "problems": tally.problems}
    return zlib.compress(json.dumps(kept, separators=(",", ":")).encode(), 1)


def _seal(file: BinaryIO, offset: int) -> str:
    """Digest of the first bytes of the file and of the last ones before `offset`."""
    digest = hashlib.blake2b(digest_size=20)
    for start in (0, max(offset - WINDOW, 0)):
        file.seek(start)
        digest.update(file.read(min(WINDOW, offset - start)))
    return digest.hexdigest()


def lines(file: BinaryIO, offset: int) -> Iterator[Line]:
    """The complete lines from the present position, which is `offset` of the file. Blank lines come too."""
    memory = bytearray(LONG + BLOCK)
    buffer = memoryview(memory)
    held, start, shortened = 0, offset, False  # bytes of the unfinished line, where it begins, whether its middle is gone
    position = offset
    while True:
        size = file.readinto(buffer[held : held + BLOCK])  # type: ignore[attr-defined]
        if not size:
            return
        at, filled = 0, held + size
        newline = memory.find(b"\n", held, filled)
        while newline >= 0:
            end = position + newline + 1 - held
            yield Line(start, end, bytes(buffer[at:newline]), shortened)
            at, start, shortened = newline + 1, end, False
            newline = memory.find(b"\n", at, filled)
        position += size
        rest = bytes(buffer[at:filled])
        if len(rest) > LONG:
            rest, shortened = shorten(rest), True
        held = len(rest)
        buffer[:held] = rest


def shorten(text: bytes) -> bytes:
    """The beginning and the end of a line that is too long to be held; what proves a line's structure stays true.

    What is cut out of the inside of one string leaves a line of the same structure. Otherwise a bare quote marks the place,
    so that no string is taken to reach across it; the beginning of a `response` string that goes on after the cut is kept.
    """
    first, last = _off_escape(text, HEAD), _off_escape(text, len(text) - TAIL)
    cut = text[first:last]
    if b"usage" in cut and text.find(b"usage", last) < 0:  # what matters was cut out: nothing may be concluded from the rest
        return text[:first] + b'"' + text[last:]
    if _inside_string(cut):
        return text[:first] + text[last:]
    at = cut.rfind(b'"response"')
    opening = _RESPONSE.match(cut, at) if at >= 0 else None
    if opening is not None and _inside_string(cut[opening.end() :]):
        return text[:first] + b'" ' + opening.group() + text[last:]
    return text[:first] + b'"' + text[last:]


def _inside_string(cut: bytes) -> bool:
    """Whether every quote has a backslash before it, so that no string begins or ends in `cut` (see `quick`)."""
    return cut.count(b'"') == cut.count(b'\\"')


def _off_escape(text: bytes, at: int) -> int:
    """The nearest position not after `at` that has no backslash before it."""
    while text[at - 1 : at] == b"\\":
        at -= 1
    return at
