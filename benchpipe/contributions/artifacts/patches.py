"""A patch in git's text form, applied to file contents in memory: text hunks, binary literals and deltas, modes, renames.

git itself never runs on contributed content. A patch that only announces a binary change can't be applied; its object ids
can still be compared (`joins_by_ids`, contributions 17.5).
"""

import base64
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from benchpipe.contributions.identity import EXECUTABLE, FILE, Blob, Tree, algorithm_of, blob, tree_id

MAX_FILE = 64 << 20
"""Bytes that one file of a patched tree may have."""
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_INDEX = re.compile(r"index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: (\d{6}))?")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


class BadPatch(Exception):
    """A patch that can't be read or does not fit; the message names the file."""


@dataclass
class Change:
    """What a patch does to one file. `old`/`new` are paths (None: created, deleted); ids are prefixes as written."""

    old: str | None
    new: str | None
    old_mode: str | None = None
    new_mode: str | None = None
    old_id: str | None = None
    new_id: str | None = None
    hunks: list[tuple[int, list[bytes], list[bytes]]] = field(default_factory=list)
    """(first old line from 1, or 0 before the first; old lines; new lines), with their line ends."""
    binary: tuple[str, bytes] | None = None
    """("literal", bytes) or ("delta", bytes)."""
    announced: bool = False
    """A binary change that is only named, not contained."""
    copies: bool = False

    @property
    def name(self) -> str:
        return self.new or self.old or ""


Read = Callable[[str, Blob], bytes]
"""(path, file of the old tree) → its bytes."""


def parse(data: bytes) -> list[Change]:
    """The changes of a patch; an empty patch has none. BadPatch if it is none of git's."""
    lines = data.split(b"\n")
    changes: list[Change] = []
    at = 0
    while at < len(lines):
        if lines[at].startswith(b"diff --git "):
            change, at = _change(lines, at)
            changes.append(change)
        else:
            if lines[at].startswith((b"--- ", b"@@ ")):
                raise BadPatch(f"line {at + 1} belongs to no `diff --git`: write the patch with git diff --binary --full-index")
            at += 1
    if not changes and data.strip():
        raise BadPatch("no `diff --git` in it: write the patch with git diff --binary --full-index")
    names = [change.name for change in changes]
    if len(set(names)) != len(names):
        raise BadPatch(f"{next(name for name in names if names.count(name) > 1)} is changed twice")
    return changes


def _change(lines: list[bytes], at: int) -> tuple[Change, int]:
    old, new = _header_paths(_text(lines[at])[len("diff --git ") :])
    change = Change(old, new)
    at += 1
    while at < len(lines) and not lines[at].startswith(b"diff --git "):
        line = lines[at]
        if line.startswith(b"@@ "):
            return change, _hunks(lines, at, change)
        if line == b"GIT binary patch":
            return change, _binary(lines, at + 1, change)
        if line.startswith(b"Binary files ") and line.endswith(b" differ"):
            change.announced = True
        elif not _extended(_text(line), change):
            break
        at += 1
    return change, at


def _extended(line: str, change: Change) -> bool:
    """Take one line of an extended header in. False if it is none."""
    word, _, rest = line.partition(" ")
    if match := _INDEX.fullmatch(line):
        change.old_id, change.new_id = match[1], match[2]
        if match[3] and change.old_mode is None and change.new_mode is None:
            change.old_mode = change.new_mode = match[3]
    elif line.startswith("new file mode "):
        change.old, change.new_mode = None, line[14:]
    elif line.startswith("deleted file mode "):
        change.new, change.old_mode = None, line[18:]
    elif line.startswith("old mode "):
        change.old_mode = line[9:]
    elif line.startswith("new mode "):
        change.new_mode = line[9:]
    elif line.startswith(("rename from ", "copy from ")):
        change.old, change.copies = _unquoted(line.split(" from ", 1)[1]), word == "copy"
    elif line.startswith(("rename to ", "copy to ")):
        change.new = _unquoted(line.split(" to ", 1)[1])
    elif word == "---":
        _agree(rest, change.old, "a/")
    elif word == "+++":
        _agree(rest, change.new, "b/")
    else:
        return word in ("similarity", "dissimilarity")
    return True


def _agree(written: str, path: str | None, prefix: str) -> None:
    named = _unquoted(written.rstrip("\t"))
    if named != (f"{prefix}{path}" if path is not None else "/dev/null"):
        raise BadPatch(f"{named} is named where {path or '/dev/null'} is meant")


def _header_paths(text: str) -> tuple[str, str]:
    """The two paths of `diff --git a/<old> b/<new>`. Unquoted ones are equal there, or a rename names them again below."""
    if text.startswith('"'):
        end = re.match(r'"(?:[^"\\]|\\.)*"', text)
        first, second = (end[0], text[end.end() + 1 :]) if end else (text, "")
    elif text.endswith('"') and ' "' in text:
        first, _, second = text.partition(' "')
        second = '"' + second
    else:
        half = len(text) // 2
        first, second = text[:half], text[half + 1 :]
        if first[2:] != second[2:]:
            first, _, second = text.partition(" b/")
            second = "b/" + second
    old, new = _unquoted(first), _unquoted(second)
    if not old.startswith("a/") or not new.startswith("b/"):
        raise BadPatch(f"{text[:200]}: the paths must begin with a/ and b/")
    return old[2:], new[2:]


def _unquoted(text: str) -> str:
    """A path as git writes it: in C quotes where it holds unusual bytes."""
    if not text.startswith('"'):
        return text
    if len(text) < 2 or not text.endswith('"'):
        raise BadPatch(f"{text[:200]}: a quote never closes")
    out, i, body = bytearray(), 0, text[1:-1]
    while i < len(body):
        if body[i] != "\\":
            out += body[i].encode("utf-8", "surrogateescape")
            i += 1
        elif octal := re.match(r"[0-3][0-7]{2}", body[i + 1 : i + 4]):
            out.append(int(octal[0], 8))
            i += 4
        elif body[i + 1 : i + 2] in _ESCAPES:
            out.append(_ESCAPES[body[i + 1]])
            i += 2
        else:
            raise BadPatch(f"{text[:200]}: an escape that git does not write")
    return out.decode("utf-8", "surrogateescape")


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def _hunks(lines: list[bytes], at: int, change: Change) -> int:
    """Read hunks from line `at`; the number of the first line behind them."""
    while at < len(lines) and (head := _HUNK.match(lines[at])):
        start, n_old, n_new = int(head[1]), int(head[2] or 1), int(head[4] or 1)
        at += 1
        old: list[bytes] = []
        new: list[bytes] = []
        last = b" "
        while len(old) < n_old or len(new) < n_new or (at < len(lines) and lines[at].startswith(b"\\")):
            if at >= len(lines):
                raise BadPatch(f"{change.name}: a hunk is cut short")
            sign, rest = lines[at][:1], lines[at][1:] + b"\n"
            if sign == b"\\":
                for side, applies in ((old, last != b"+"), (new, last != b"-")):
                    if applies and side:
                        side[-1] = side[-1].removesuffix(b"\n")
            elif sign in (b" ", b"", b"-", b"+"):
                old += [rest] if sign != b"+" else []
                new += [rest] if sign != b"-" else []
            else:
                raise BadPatch(f"{change.name}: line {at + 1} is no line of a hunk")
            last = sign
            at += 1
        if (len(old), len(new)) != (n_old, n_new):
            raise BadPatch(f"{change.name}: a hunk has other lines than its head says")
        change.hunks.append((start, old, new))
    return at


def _binary(lines: list[bytes], at: int, change: Change) -> int:
    """Read the forward half of a binary patch; the reverse half is passed over."""
    kind, _, size = _text(lines[at]).partition(" ") if at < len(lines) else ("", "", "")
    if kind not in ("literal", "delta") or not size.isdecimal() or int(size) > MAX_FILE:
        raise BadPatch(f"{change.name}: a binary part is no literal or delta of at most {MAX_FILE:,} bytes")
    at += 1
    packed = []
    while at < len(lines) and lines[at]:
        packed.append(_base85(lines[at], change.name))
        at += 1
    inflate = zlib.decompressobj()
    try:
        data = inflate.decompress(b"".join(packed), int(size) + 1)
    except zlib.error:
        raise BadPatch(f"{change.name}: the binary part is damaged") from None
    if len(data) != int(size):
        raise BadPatch(f"{change.name}: the binary part has not the {size} bytes that it names")
    change.binary = (kind, data)
    return at


def _base85(line: bytes, name: str) -> bytes:
    first = chr(line[0])
    length = ord(first) - 64 if first.isupper() else ord(first) - 70
    try:
        data = base64.b85decode(line[1:])
    except ValueError:
        raise BadPatch(f"{name}: the binary part is damaged") from None
    if not 0 < length <= 52 or not length <= len(data) < length + 4:
        raise BadPatch(f"{name}: the binary part is damaged")
    return data[:length]


def apply(changes: list[Change], before: Tree, read: Read, algorithm: str = "sha1") -> dict[str, Blob]:
    """The tree after the changes. BadPatch where a change does not fit, or holds no content to apply."""
    after = {path: file for path, file in before.items() if not any(c.old == path and not c.copies for c in changes)}
    for change in changes:
        old = before.get(change.old) if change.old is not None else None
        if change.old is not None and old is None:
            raise BadPatch(f"{change.old} is changed, but the tree before does not have it")
        if change.old is None and change.name in before:
            raise BadPatch(f"{change.name} is created, but the tree before has it already")
        _same_before(change, old)
        if change.new is None:
            continue
        mode = change.new_mode or (old.mode if old else FILE)
        if mode not in (FILE, EXECUTABLE):
            raise BadPatch(f"{change.name}: mode {mode} is no plain file's")
        data = _content(change, read(change.old, old) if old and change.old is not None and _needs_old(change) else b"")
        made = Blob(mode, old.id, old.data) if old and data is None else blob(data or b"", mode, algorithm)
        if change.new_id and not made.id.startswith(change.new_id):
            raise BadPatch(f"{change.name}: the result is {made.id[:7]}, the patch says {change.new_id[:7]}")
        after[change.new] = made
    return after


def _needs_old(change: Change) -> bool:
    return bool(change.hunks) or (change.binary is not None and change.binary[0] == "delta")


def _same_before(change: Change, old: Blob | None) -> None:
    """The pre-image that the patch names is the one that the tree has."""
    if old and change.old_id and not old.id.startswith(change.old_id):
        raise BadPatch(f"{change.old} pre-image {change.old_id[:7]}, tree has {old.id[:7]}")
    if old and change.old_mode and old.mode != change.old_mode:
        raise BadPatch(f"{change.old} has mode {old.mode}, the patch says {change.old_mode}")


def _content(change: Change, old: bytes) -> bytes | None:
    """New bytes of a file; None if they stay as they are."""
    if change.announced:
        raise BadPatch(f"{change.name}: a binary change is announced, not contained")
    if change.binary:
        kind, data = change.binary
        return data if kind == "literal" else _delta(old, data, change.name)
    if change.hunks:
        return _patched(old, change)
    return None if change.old is not None else b""


def _patched(old: bytes, change: Change) -> bytes:
    lines = _lines(old)
    out: list[bytes] = []
    at = 0
    for start, before, after in change.hunks:
        first = max(start - 1, 0) if before else start
        if first < at or lines[first : first + len(before)] != before:
            raise BadPatch(f"{change.name}: the hunk at line {start} does not fit the file before")
        out += [*lines[at:first], *after]
        at = first + len(before)
    return b"".join([*out, *lines[at:]])


def _lines(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _delta(old: bytes, data: bytes, name: str) -> bytes:
    """git's delta: sizes of both sides, then copies from the old bytes and insertions."""
    try:
        at, n_old = _varint(data, 0)
        at, n_new = _varint(data, at)
        if n_old != len(old) or n_new > MAX_FILE:
            raise BadPatch(f"{name}: the delta is made for another file")
        out = bytearray()
        while at < len(data) and len(out) <= n_new:
            command = data[at]
            at += 1
            if command & 0x80:
                offset = size = 0
                for bit in range(7):
                    if command >> bit & 1:
                        if bit < 4:
                            offset |= data[at] << 8 * bit
                        else:
                            size |= data[at] << 8 * (bit - 4)
                        at += 1
                size = size or 0x10000
                if offset + size > n_old:
                    raise BadPatch(f"{name}: the delta copies what is not there")
                out += old[offset : offset + size]
            elif command:
                out += data[at : at + command]
                at += command
            else:
                raise BadPatch(f"{name}: the delta is damaged")
    except IndexError:
        raise BadPatch(f"{name}: the delta is damaged") from None
    if len(out) != n_new:
        raise BadPatch(f"{name}: the delta gives another size than it names")
    return bytes(out)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(place behind it, value)"""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return at, value


def joins_by_ids(changes: list[Change], before: Tree, after: Tree) -> str:
    """Why the patch does not join two trees, by object ids and the set of changed paths alone; empty if it does."""
    touched = {path for change in changes for path in (change.old, change.new) if path is not None}
    differing = {path for path in before.keys() | after.keys() if _facts(before.get(path)) != _facts(after.get(path))}
    if missing := sorted(differing - touched):
        return f"{missing[0]} differs between the trees, the patch does not change it"
    for change in changes:
        for which, path, written, tree in (
            ("pre-image", change.old, change.old_id, before),
            ("post-image", change.new, change.new_id, after),
        ):
            if path is None:
                continue
            if path not in tree:
                return f"{path} {which} is not in its tree"
            if written and not tree[path].id.startswith(written):
                return f"{path} {which} {written[:7]}, tree has {tree[path].id[:7]}"
        if change.old is not None and change.new is None and change.old in after:
            return f"{change.old} is deleted by the patch, the tree after has it"
        if change.old is None and change.new in before:
            return f"{change.new} is created by the patch, the tree before has it"
        if change.announced and not (change.old_id and change.new_id):
            return f"{change.name}: a binary change without object ids"
        if not change.announced and change.old_id is None and (change.hunks or change.binary):
            return f"{change.name}: no index line"
    return ""


def _facts(file: Blob | None) -> tuple[str, str] | None:
    return (file.mode, file.id) if file else None


def joins(data: bytes, before: Tree, after: Tree, wanted: frozenset[str], read: Read) -> str:
    """Why a patch does not join a tree to the next one; empty if it does (DS-005).

    It joins if applying it gives a tree with one of the ids `wanted`. Where it only announces a binary change, its text
    changes have to give the next tree's files, and its object ids and set of paths have to be those of the two trees.
    """
    try:
        changes = parse(data)
        contained = [change for change in changes if not change.announced]
        made = apply(contained, before, read, algorithm_of(next(iter(wanted))))
    except BadPatch as bad:
        return str(bad)
    if len(contained) == len(changes):
        return "" if tree_id(made) in wanted else f"applied, it gives {tree_id(made)[:12]}"
    for change in contained:
        if change.new is not None and _facts(made[change.new]) != _facts(after.get(change.new)):
            return f"{change.new}: applied, it gives {made[change.new].id[:7]}, the tree after has another file"
    return joins_by_ids(changes, before, after)
