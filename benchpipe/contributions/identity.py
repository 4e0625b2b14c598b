"""What a harness is: the git tree id of its directory, computed without git and without anybody's settings (contributions 8).

Nothing here runs, unpacks or trusts a harness: bytes are read and hashed. `stage` repeats what the platform does to a
directory before it measures it; `explain` finds out why a tree has another id than the one reported.
"""

import fnmatch
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

RULES = ("_harnessgrad/", "__pycache__/", "*.pyc", ".state/")
"""Ignore rules that staging adds to the top-level .gitignore (8.1, step 4)."""
FILE, EXECUTABLE = "100644", "100755"
MAX_FILES, MAX_BYTES, MAX_DEPTH = 20_000, 256 << 20, 64
"""Limits of one harness tree; the last is of directories inside each other."""
_KEPT, _BLOCK = 1 << 20, 1 << 20
"""Bytes of the largest file whose text is kept, for what explains a mismatch, and of one read."""


class BadTree(Exception):
    """A directory that has no identity: nested repository, unreadable name, device, or larger than the limits."""

    def __init__(self, code: str, path: str, fault: str) -> None:
        super().__init__(f"{path}: {fault}")
        self.code, self.path, self.fault = code, path, fault


@dataclass(frozen=True)
class Blob:
    """One file: its mode (100644 or 100755) and the id of its bytes. `data` is kept for small texts only."""

    mode: str
    id: str
    data: bytes | None = None


Tree = Mapping[str, Blob]
"""Posix path below the harness directory → file."""


def blob_id(data: bytes, algorithm: str = "sha1") -> str:
    """Git's id of a file's bytes; `algorithm` is sha1 or, for repositories of that kind, sha256."""
    return hashlib.new(algorithm, b"blob %d\0" % len(data) + data).hexdigest()


def blob(data: bytes, mode: str = FILE, algorithm: str = "sha1") -> Blob:
    """A file in memory."""
    return Blob(mode, blob_id(data, algorithm), data)


def algorithm_of(sha: str) -> str:
    """The hash that made an id: sha1 (40 hex characters) or sha256 (64)."""
    return "sha256" if len(sha) == 64 else "sha1"


def _algorithm(files: Tree) -> str:
    return next((algorithm_of(file.id) for file in files.values()), "sha1")


def tree_id(files: Tree) -> str:
    """Git's id of a tree, as long as its files' ids. An empty mapping has the (sha1) id of the empty tree."""
    entries: dict[bytes, tuple[bytes, str]] = {}
    folders: dict[str, dict[str, Blob]] = {}
    for path, file in files.items():
        name, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(name, {})[rest] = file
        else:
            entries[os.fsencode(name)] = (b"%s %s" % (file.mode.encode(), os.fsencode(name)), file.id)
    for name, inside in folders.items():
        entries[os.fsencode(name) + b"/"] = (b"40000 " + os.fsencode(name), tree_id(inside))
    body = b"".join(head + b"\0" + bytes.fromhex(id_) for _, (head, id_) in sorted(entries.items()))
    return hashlib.new(_algorithm(files), b"tree %d\0" % len(body) + body).hexdigest()


def file_blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, piece by piece; a link is not followed. OSError if it can't be read."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        while block := file.read(_BLOCK):
            yield block


def read_tree(folder: Path, algorithm: str = "sha1", blocks: Callable[[Path], Iterable[bytes]] = file_blocks) -> dict[str, Blob]:
    """Every file below a directory as git would add it with no ignore rules. BadTree if it can't have an identity.

    Symbolic links are not followed here: a contributed tree may not point outside itself (ID-006). `blocks` gives
    a file's bytes; of a large one only a piece at a time is in memory.
    """
    files: dict[str, Blob] = {}
    size = 0
    for path, name in _walk(folder, ""):
        info = path.lstat()
        if not stat.S_ISREG(info.st_mode):
            raise BadTree("ID-006", name, "is a link or a device")
        size += info.st_size
        if len(files) >= MAX_FILES or size > MAX_BYTES:
            raise BadTree("ID-006", name, f"the tree is larger than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB")
        digest, kept, length = hashlib.new(algorithm, b"blob %d\0" % info.st_size), bytearray(), 0
        for block in blocks(path):
            digest.update(block)
            length += len(block)
            if info.st_size <= _KEPT:
                kept += block
            if length > info.st_size:
                break
        if length != info.st_size:
            raise BadTree("ID-006", name, "changed while it was read")
        mode = EXECUTABLE if info.st_mode & stat.S_IXUSR else FILE
        files[name] = Blob(mode, digest.hexdigest(), bytes(kept) if length <= _KEPT else None)
    return files


def _walk(folder: Path, below: str) -> Iterator[tuple[Path, str]]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        name = f"{below}{entry.name}"
        try:
            entry.name.encode("utf-8")
        except UnicodeEncodeError:
            raise BadTree("ID-006", repr(name), "has a name that is not UTF-8") from None
        if entry.name.lower() == ".git":
            raise BadTree("ID-004", name, "nested repository")
        if entry.is_dir(follow_symlinks=False):
            if name.count("/") >= MAX_DEPTH:
                raise BadTree("ID-006", f"{name[:100]}…", f"is nested deeper than {MAX_DEPTH} directories")
            yield from _walk(Path(entry.path), name + "/")
        else:
            yield Path(entry.path), name


def normalised_ignore(text: str) -> str:
    """The top-level .gitignore as staging leaves it. The test for a rule is a substring test, as the platform's is."""
    for rule in RULES:
        if rule not in text:
            text = text.rstrip("\n") + f"\n{rule}\n"
    return text


def stage(files: Tree) -> dict[str, Blob]:
    """The files that the platform commits for a harness directory: normalised .gitignore, ignored files left out (8.1)."""
    present = files.get(".gitignore")
    before = present.data.decode("utf-8", "surrogateescape") if present and present.data is not None else ""
    ignore = normalised_ignore(before).encode("utf-8", "surrogateescape")
    staged = {**files, ".gitignore": blob(ignore, present.mode if present else FILE, _algorithm(files))}
    return without_ignored(staged)


def without_ignored(files: Tree) -> dict[str, Blob]:
    """The files that no .gitignore among them excludes, decided as git does: deepest file and last rule win."""
    rules: dict[str, list[tuple[re.Pattern[str], bool, bool]]] = {}
    for path, file in files.items():
        folder, _, name = path.rpartition("/")
        if name == ".gitignore" and file.data is not None:
            rules[folder] = [
                rule
                for line in file.data.decode("utf-8-sig", "surrogateescape").split("\n")
                if (rule := _rule(line.removesuffix("\r")))
            ]
    return {path: file for path, file in files.items() if not _ignored(path, rules)}


def _ignored(path: str, rules: Mapping[str, list[tuple[re.Pattern[str], bool, bool]]]) -> bool:
    """A file is out if it, or a folder above it, is excluded; an excluded folder is never looked into."""
    parts = path.split("/")
    for end in range(1, len(parts) + 1):
        is_folder = end < len(parts)
        for depth in range(end - 1, -1, -1):
            verdict = None
            below = "/".join(parts[depth:end])
            for pattern, keep, folders_only in rules.get("/".join(parts[:depth]), ()):
                if (is_folder or not folders_only) and pattern.fullmatch(below):
                    verdict = keep
            if verdict is not None:
                if not verdict:
                    return True
                break
    return False


def _rule(line: str) -> tuple[re.Pattern[str], bool, bool] | None:
    """(pattern for the path below the rule's folder, does it keep, folders only) of one line of a .gitignore."""
    line = re.sub(r"(?<!\\) +$", "", line)
    if not line or line.startswith("#"):
        return None
    keep = line.startswith("!")
    line = line[1:] if keep else line.removeprefix("\\") if line[:2] in ("\\#", "\\!") else line
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    if not line:
        return None
    anchored = "/" in line
    translated = _translated(line.removeprefix("/"))
    if translated is None:
        return None
    return re.compile(translated if anchored else f"(?:.*/)?{translated}", re.DOTALL), keep, folders_only


def _translated(glob: str) -> str | None:
    """A .gitignore pattern as a regular expression; None for one that git can't match (a bracket that never closes)."""
    out, i = "", 0
    while i < len(glob):
        char = glob[i]
        if glob.startswith("**/", i) and (i == 0 or glob[i - 1] == "/"):
            out, i = out + "(?:.*/)?", i + 3
        elif glob.startswith("/**", i) and i + 3 == len(glob):
            out, i = out + "/.+", i + 3
        elif char == "*":
            while i < len(glob) and glob[i] == "*":
                i += 1
            out += "[^/]*"
        elif char == "?":
            out, i = out + "[^/]", i + 1
        elif char == "[":
            end = glob.find("]", i + 2 if glob[i + 1 : i + 2] not in ("!", "^") else i + 3)
            if end < 0:
                return None
            inside = glob[i + 1 : end]
            inside = ("!" + inside[1:]) if inside[:1] == "^" else inside
            out, i = out + "(?!/)" + fnmatch.translate(f"[{inside}]")[len("(?s:") : -len(")\\Z")], end + 1
        elif char == "\\" and i + 1 < len(glob):
            out, i = out + re.escape(glob[i + 1]), i + 2
        else:
            out, i = out + re.escape(char), i + 1
    return out


@dataclass(frozen=True)
class Match:
    """How a tree relates to a reported id: `exact` if it has it `as is` or `staged`; else the closest explanation."""

    exact: bool
    how: str
    computed: str


def identify(files: Tree, reported: str) -> Match:
    """Whether a tree has a reported identity: as it is, then staged, then by the hypotheses of 8.3 (never accepted)."""
    as_is = tree_id(files)
    if as_is == reported:
        return Match(True, "as is", as_is)
    staged = tree_id(stage(files))
    if staged == reported:
        return Match(True, "staged", staged)
    for how, changed in hypotheses(files):
        if reported in (tree_id(changed), tree_id(stage(changed))):
            return Match(False, how, as_is)
    return Match(False, "no simple change of modes or line ends explains it", as_is)


def hypotheses(files: Tree) -> Iterator[tuple[str, dict[str, Blob]]]:
    """Trees that the same files may have been before an upload, each with its name: executable bits, line ends."""
    plain = {path: Blob(FILE, file.id, file.data) for path, file in files.items()}
    lost = sorted(path for path, file in files.items() if file.mode == EXECUTABLE)
    yield f"same files, executable bit of {', '.join(lost) or 'no file'} differs", plain
    scripts = {path: Blob(EXECUTABLE, file.id, file.data) if _is_script(file) else file for path, file in plain.items()}
    changed = sorted(path for path, file in scripts.items() if file.mode != files[path].mode)
    yield f"same files, executable bit of {', '.join(changed) or 'no file'} differs", scripts
    for name, ends in (("LF", b"\n"), ("CRLF", b"\r\n")):
        for modes in (files, scripts):
            yield f"same texts with {name} line ends", {path: _with_ends(file, ends) for path, file in modes.items()}


def _is_script(file: Blob) -> bool:
    return file.data is not None and file.data.startswith(b"#!")


def _with_ends(file: Blob, ends: bytes) -> Blob:
    if file.data is None or b"\0" in file.data:
        return file
    return blob(file.data.replace(b"\r\n", b"\n").replace(b"\n", ends), file.mode, algorithm_of(file.id))


def content_sha(files: Mapping[str, bytes]) -> str:
    """Identity of the platform's own files (contributions 9): sha256 over `<sha256>  <path>` lines, sorted by path bytes.

    Leave `.env` and ignored files out before calling. 64 hex characters.
    """
    lines = [
        f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in sorted(files.items(), key=lambda item: item[0].encode())
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
