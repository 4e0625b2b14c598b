"""Does anything that was contributed have to stay where it came from? Credentials, addresses, private hosts, paths.

DS-011 in a dataset directory; PUB-008 in a submission, its per-task files and run records.

The rules are those of every publication (E1), and OWN. A finding names place and rule, never the value.
"""

import io
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from benchpipe.contributions.artifacts.codes import CODES
from benchpipe.contributions.artifacts.layout import walk
from benchpipe.contributions.artifacts.records import at
from benchpipe.contributions.findings import Code, Finding
from benchpipe.publish.find import Finder
from benchpipe.publish.rules import built_in_rules

BLOCK = 1 << 20
"""Bytes that are looked through at once; a line is never divided."""
MAX_FOUND = 20
"""Findings of one directory that are told."""
_WELL_KNOWN = rb"(?:host\.docker|metadata\.google)\.internal\b"
"""Names that every machine has."""
OWN = (
    (
        "local-host",
        "private host",
        rb"(?i)(?:(?::(?:\\?/){2}|@)(?!WELL_KNOWN)(?:[\w-]+\.)+(?:local|internal|lan)(?![\w-]|\.\w)"
        rb"|(?<![\w.-])(?!WELL_KNOWN)(?:[\w-]+\.)+(?:local|internal|lan)(?=:\d))".replace(b"WELL_KNOWN", _WELL_KNOWN),
    ),
    (
        "messenger",
        "messenger id",
        rb"(?i)(?<![\w])(?:we ?chat|weixin|whatsapp|telegram|viber|skype|kakao(?:talk)?)(?:[ _-]?id)?"
        rb"[\"']?\s*[:=]\s*[\"']?(?=[\w.+@-]*[\d@])[\w.+@-]{5,}(?![\w(])|(?<![\w])wxid_\w{4,}",
    ),
    ("phone", "telephone number", rb"(?<=[^\w+.\n])\+(?=(?:\d\D{0,2}){8})[1-9]\d{0,2}[ (-][\d ()-]{6,16}\d"),
)
"""(rule, kind, expression) of what only contributed texts are looked through for. Narrow: code and patches are full of `@name`,
`phone: str` and `+1`."""
PLACES = frozenset({"e-mail", "private ip", "private host"})
"""Kinds that a submission may declare: `name@version` looks like an address, and pages show no host of its `endpoint`."""


@cache
def finder() -> Finder:
    """The finder of the built-in rules, made once for all that is contributed."""
    return Finder(built_in_rules())


def in_own_rules(text: str) -> bool:
    """Whether a text holds what only OWN finds."""
    return any(pattern.search(text.encode()) for _, _, pattern in _own())


def _spans(block: bytes) -> Iterator[tuple[int, str, str, str]]:
    """(start, text, kind, rule) of everything in a block that has to stay where it came from."""
    for span in finder().find(block):
        yield span.start, block[span.start : span.end].decode("utf-8", "replace"), span.rule.kind, span.rule.id
    for rule, kind, pattern in _own():
        for match in pattern.finditer(block):
            yield match.start(), match[0].decode("utf-8", "replace"), kind, rule


@cache
def _own() -> tuple[tuple[str, str, re.Pattern[bytes]], ...]:
    return tuple((rule, kind, re.compile(pattern)) for rule, kind, pattern in OWN)


class Search:
    """Looks through lines as they stream by. `file` is what findings of `code` name; `declared` texts may look like PLACES."""

    def __init__(self, file: str, code: Code = CODES["DS-011"], declared: Collection[str] = ()) -> None:
        self._file, self._code, self._declared = file, code, declared
        self._block = bytearray()
        self._place, self._first = "", 1
        self.findings: dict[tuple[str, int, str], Finding] = {}

    def line(self, place: str, number: int, data: bytes) -> None:
        """One line (with its end) of `place`, a file or a member of an archive."""
        if place != self._place or len(self._block) >= BLOCK:
            self.flush()
            self._place, self._first = place, number
        self._block += data

    def flush(self) -> None:
        """Look through what is kept back. Call it at the end."""
        block, self._block = bytes(self._block), bytearray()
        if not block or len(self.findings) >= MAX_FOUND:
            return
        for start, text, kind, rule in _spans(block):
            if kind in PLACES and any(text in declared for declared in self._declared):
                continue
            number = self._first + block.count(b"\n", 0, start)
            where = f"{self._place}:{number}" if self._place == self._file else f"{self._file}:{self._place}:{number}"
            finding = self._code.finding(kind=kind, place=where, rule=rule)
            self.findings.setdefault((self._place, number, rule), at(finding, self._file, number))


def in_bytes(data: bytes, name: str, code: Code, declared: Collection[str]) -> Iterator[Finding]:
    """Findings of `code` in one file's bytes."""
    search = Search(name, code, declared)
    for number, line in enumerate(io.BytesIO(data), 1):
        search.line(name, number, line)
    search.flush()
    yield from search.findings.values()


def in_texts(folder: Path, name: str) -> Iterator[Finding]:
    """DS-011 for every text file below a directory, archives aside."""
    for below, kind, _, path in walk(folder):
        if kind == "file" and not below.endswith(".tar.gz"):
            yield from in_file(path, f"{name}/{below}")


def in_file(path: Path, name: str) -> Iterator[Finding]:
    """DS-011 for one file, `name` in the dataset repository. Binary files (a NUL byte near the start) are passed over."""
    search = Search(name)
    with open(path, "rb") as file:
        if b"\0" in file.read(8192):
            return
        file.seek(0)
        number = 0
        while line := file.readline(BLOCK):
            number += 1
            search.line(name, number, line)
    search.flush()
    yield from search.findings.values()
