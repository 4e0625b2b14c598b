"""Reading tar archives of strangers as a stream: bounded memory, bounded expansion, nothing is ever written or executed.

Only plain files and folders with safe names come through. Links, devices, absolute or parent paths, sparse files and
oversized headers end the reading (F5, contributions 15.3). What the members mean is said elsewhere.
"""

import io
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

import msgspec

from benchpipe.contributions.strict_json import Number

BLOCK = 1 << 20
_ROW = 512
_MAX_HEADER = 1 << 16
"""Bytes of an extended header (a long name): no honest one is longer."""
_FOLDER, _LONG_NAME, _PAX = b"5", b"L", b"x"
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)


@dataclass(frozen=True)
class Limits:
    """What an archive may cost. `expansion` is how often larger than the packed bytes the unpacked ones may be, beyond `free`."""

    members: int = 200_000
    member_bytes: int = 2 << 30
    total_bytes: int = 1 << 40
    line_bytes: int = 16 << 20
    expansion: int = 200
    free: int = 64 << 20


class BadArchive(Exception):
    """An archive that is not read further: damaged, larger than the limits, or (`unsafe`) with a member that may do harm."""

    def __init__(self, fault: str, member: str = "", *, unsafe: bool = False) -> None:
        super().__init__(f"{member}: {fault}" if member else fault)
        self.fault, self.member, self.unsafe = fault, member, unsafe


class Readable(Protocol):
    """Anything that gives bytes: a file, a response, a generator in a test."""

    def read(self, size: int, /) -> bytes: ...


class Unpacked:
    """A stream's bytes without their gzip compression (or as they are), never more than asked for in memory."""

    def __init__(self, stream: Readable, limits: Limits) -> None:
        self._stream, self._limits = stream, limits
        self._packed = stream.read(BLOCK)
        self._inflate = zlib.decompressobj(wbits=31) if self._packed[:2] == b"\x1f\x8b" else None
        self._n_packed = len(self._packed)
        self._n_given = 0

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; fewer only at the end."""
        parts, missing = [], size
        while missing and (part := self._some(missing)):
            parts.append(part)
            missing -= len(part)
        self._n_given += size - missing
        if self._n_given > min(self._limits.total_bytes, self._limits.free + self._limits.expansion * self._n_packed):
            raise BadArchive(f"unpacks to more than {self._n_given:,} bytes from {self._n_packed:,}")
        return b"".join(parts)

    def _some(self, size: int) -> bytes:
        while True:
            if not self._packed:
                self._packed = self._stream.read(BLOCK)
                self._n_packed += len(self._packed)
                if not self._packed:
                    if self._inflate is not None and not self._inflate.eof:
                        raise BadArchive("ends in the middle of its compressed data")
                    return b""
            if self._inflate is None:
                part, self._packed = self._packed[:size], self._packed[size:]
                return part
            if self._inflate.eof:
                if not self._packed.strip(b"\0"):
                    self._packed = b""
                    continue
                self._inflate = zlib.decompressobj(wbits=31)
            try:
                part = self._inflate.decompress(self._packed, size)
            except zlib.error:
                raise BadArchive("is neither gzip nor tar, or damaged") from None
            self._packed = self._inflate.unconsumed_tail or self._inflate.unused_data
            if part:
                return part


class Content(io.RawIOBase):
    """The bytes of one member; reading it moves the archive on."""

    def __init__(self, source: Unpacked, name: str, size: int) -> None:
        self._source, self._name, self._left = source, name, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(min(len(buffer), self._left))
        if not data and self._left and len(buffer):
            raise BadArchive("the archive ends inside this member", self._name)
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)

    def skip(self) -> None:
        """Read what is left of it."""
        while self._left:
            self.read(min(BLOCK, self._left))


@dataclass(frozen=True)
class Member:
    """A plain file of an archive: safe relative posix name, size in bytes, content to be read before the next member."""

    name: str
    size: int
    content: BinaryIO


def members(stream: Readable, limits: Limits | None = None) -> Iterator[Member]:
    """The files of a tar or tar.gz stream in their order. BadArchive as soon as anything is not as it should be.

    The stream is read to its end; two members of one name, a missing end and an over-large member are faults.
    """
    limits = limits or Limits()
    source = Unpacked(stream, limits)
    seen: set[str] = set()
    n_headers = 0
    while (header := _next_header(source)) is not None:
        name, size, kind = header
        n_headers += 1
        if n_headers > limits.members:
            raise BadArchive(f"has more than {limits.members:,} members")
        name = name.removeprefix("./")
        _safe(name, kind)
        if kind == _FOLDER:
            continue
        if name in seen:
            raise BadArchive("stands twice in the archive", name, unsafe=True)
        if size > limits.member_bytes:
            raise BadArchive(f"has {size:,} bytes; the limit is {limits.member_bytes:,}", name)
        seen.add(name)
        content = Content(source, name, size)
        yield Member(name, size, io.BufferedReader(content, BLOCK))
        content.skip()
        source.read(-size % _ROW)


def _next_header(source: Unpacked) -> tuple[str, int, bytes] | None:
    """(name, size, type) of the next member; None at the archive's end."""
    long_name, size = None, None
    while True:
        row = source.read(_ROW)
        if len(row) < _ROW:
            raise BadArchive("ends without an end mark")
        if not row.strip(b"\0"):
            while source.read(BLOCK):
                pass
            return None
        try:
            info = tarfile.TarInfo.frombuf(row, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeError, ValueError):
            raise BadArchive("is no tar archive, or has a name that is not UTF-8") from None
        if info.type in (_LONG_NAME, _PAX):
            if not 0 <= info.size <= _MAX_HEADER:
                raise BadArchive(f"has a header of {info.size:,} bytes", info.name)
            data = source.read(info.size + -info.size % _ROW)[: info.size]
            if info.type == _LONG_NAME:
                long_name = _text(data.rstrip(b"\0"))
            else:
                pairs = _pax(data)
                long_name = pairs.get("path", long_name)
                size = int(pairs["size"]) if pairs.get("size", "").isdecimal() else size
            continue
        name = long_name if long_name is not None else info.name
        return name, (info.size if size is None else size), (tarfile.REGTYPE if info.type in _FILES else info.type)


def _pax(data: bytes) -> dict[str, str]:
    """Records `<length> <key>=<value>\\n` of an extended header."""
    pairs = {}
    while data:
        digits, space, _ = data.partition(b" ")
        length = int(digits) if space and digits.isdigit() and len(digits) < 6 else 0
        record = data[len(digits) + 1 : length - 1]
        if length <= len(digits) + 1 or length > len(data) or b"=" not in record:
            raise BadArchive("has a damaged extended header")
        key, _, value = record.partition(b"=")
        if key in (b"path", b"size"):
            pairs[key.decode()] = _text(value)
        elif key.startswith(b"GNU.sparse"):
            raise BadArchive("holds a sparse file", unsafe=True)
        data = data[length:]
    return pairs


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadArchive("has a name that is not UTF-8") from None


def _safe(name: str, kind: bytes) -> None:
    shown = repr(name[:200])[1:-1]
    if kind not in (tarfile.REGTYPE, _FOLDER):
        what = "link" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else "device or special file"
        raise BadArchive(f"is unsafe: {what}", shown, unsafe=True)
    parts = name.rstrip("/").split("/")
    if name.startswith("/") or "\\" in name or (len(name) > 1 and name[1] == ":"):
        raise BadArchive("is unsafe: absolute path", shown, unsafe=True)
    if ".." in parts or (kind != _FOLDER and not all(part and part != "." for part in parts)):
        raise BadArchive("is unsafe: traversal", shown, unsafe=True)
    if len(name) > 1000 or any(ord(char) < 32 or ord(char) == 127 for char in name):
        raise BadArchive("is unsafe: a name that is too long or holds control characters", shown, unsafe=True)


class BadLine(Exception):
    """A line of a trajectory that is no JSON object (TRJ-005); `line` counts from 1."""

    def __init__(self, line: int, fault: str = "is not a JSON object") -> None:
        super().__init__(f"line {line} {fault}")
        self.line, self.fault = line, fault


def records(content: BinaryIO, limit: int = Limits.line_bytes) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
    """(line number, bytes, object) of every line of a JSONL member. BadLine for anything else; blank lines are passed over.

    Numbers with a fraction come as exact `Number`s.
    """
    decoder = msgspec.json.Decoder(dict[str, Any], float_hook=Number)
    number = 0
    while line := content.readline(limit + 1):
        number += 1
        if len(line) > limit:
            raise BadLine(number, f"has more than {limit:,} bytes")
        if not line.strip():
            continue
        try:
            yield number, line, decoder.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise BadLine(number) from None
