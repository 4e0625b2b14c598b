"""Where things lie below `Experiments/`: method directories from any level, and everything that does not belong there (17.1).

Looks at names, kinds and sizes only; opens nothing, follows no link.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchpipe.contributions import identity
from benchpipe.errors import UsageError

ROOT = "Experiments"
LEVELS = ("benchmark", "task-agent", "family", "method")
README = "README.md"
"""Allowed in every directory above a harness tree."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]*")
_ROUND = re.compile(r"round-(0|[1-9]\d{0,5})")
MIB = 1 << 20
MAX_TREE, MAX_PATCH, MAX_ARCHIVE, MAX_OTHER = identity.MAX_BYTES, 256 * MIB, 20 << 30, 32 * MIB
"""Bytes of one round's harness, one patch, one task archive, any other file."""


@dataclass(frozen=True, order=True)
class Method:
    """One method directory. `root` is the `Experiments` folder."""

    root: Path
    benchmark: str
    agent: str
    family: str
    method: str

    @property
    def agent_folder(self) -> Path:
        return self.root / self.benchmark / self.agent

    @property
    def family_folder(self) -> Path:
        return self.agent_folder / self.family

    @property
    def folder(self) -> Path:
        return self.family_folder / self.method

    @property
    def name(self) -> str:
        """Its path in the dataset repository."""
        return f"{ROOT}/{self.benchmark}/{self.agent}/{self.family}/{self.method}"

    @property
    def curve(self) -> Path:
        return self.folder / "curve.jsonl"

    def harness(self, round_: int) -> Path:
        return self.folder / "harness" / f"round-{round_}"

    def patch(self, round_: int) -> Path:
        return self.folder / "patches" / f"round-{round_}.patch"

    def tasks(self, round_: int) -> Path:
        return self.folder / "tasks" / f"round-{round_}.tar.gz"

    def rounds(self) -> list[int]:
        """Rounds of which any file is there."""
        found = set()
        for folder, ending in (("harness", ""), ("patches", ".patch"), ("tasks", ".tar.gz")):
            if is_folder(self.folder / folder):
                for name in os.listdir(self.folder / folder):
                    if match := _ROUND.fullmatch(name.removesuffix(ending)):
                        found.add(int(match[1]))
        return sorted(found)


@dataclass(frozen=True)
class Scope:
    """What a path below `Experiments/` covers: `parts` are the names from the benchmark down to it."""

    root: Path
    parts: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return self.root.joinpath(*self.parts)

    def methods(self) -> list[Method]:
        """Every method directory, in name order."""
        found = [self.parts]
        for _ in range(len(LEVELS) - len(self.parts)):
            found = [(*parts, name) for parts in found for name in folders(self.root.joinpath(*parts))]
        return [Method(self.root, *parts) for parts in found]

    def covers(self, agent: str, family: str, method: str) -> bool:
        """Whether an entry of the benchmark's coverage file speaks of this scope."""
        return (agent, family, method)[: max(len(self.parts) - 1, 0)] == self.parts[1:]


def scope_of(path: Path) -> Scope:
    """The scope of a directory at any level from the one that holds `Experiments/` down to a method. UsageError if it is none."""
    path = path.absolute()
    if not path.is_dir():
        raise UsageError(f"{path}: no such directory")
    if ROOT not in path.parts and is_folder(path / ROOT):
        path = path / ROOT
    if ROOT not in path.parts:
        raise UsageError(f"{path}: give {ROOT}/ or a directory below it, {ROOT}/<benchmark>/<task-agent>/<family>/<method>")
    depth = len(path.parts) - path.parts[::-1].index(ROOT)
    parts = path.parts[depth:]
    if len(parts) > len(LEVELS):
        raise UsageError(f"{path}: lies inside a method directory; give {Path(*path.parts[: depth + len(LEVELS)])}")
    return Scope(Path(*path.parts[:depth]), parts)


def is_folder(path: Path) -> bool:
    """A real directory, no link to one."""
    return path.is_dir() and not path.is_symlink()


def folders(folder: Path) -> list[str]:
    """Names of the real directories in it, sorted."""
    return sorted(name for name in os.listdir(folder) if is_folder(folder / name))


def strays(scope: Scope) -> Iterator[tuple[str, str]]:
    """(path below the root's parent, what is wrong) of everything in a scope that does not belong there."""
    yield from _above(scope.folder, "/".join((ROOT, *scope.parts)), len(scope.parts))


def _above(folder: Path, name: str, depth: int) -> Iterator[tuple[str, str]]:
    """One of the levels above a method, then what is below."""
    if depth == len(LEVELS):
        yield from _inside(folder, name)
        return
    manifests = {1: ("coverage.json",), 2: ("task_agent.json",), 3: ("family.json",)}.get(depth, ())
    n_folders = 0
    for entry, kind, size in entries(folder):
        place = f"{name}/{entry}"
        if kind == "folder" and _NAME.fullmatch(entry):
            n_folders += 1
            yield from _named(place, entry, depth)
            yield from _above(folder / entry, place, depth + 1)
        elif kind != "file" or entry not in (*manifests, README):
            yield place, _unexpected(place, kind)
        elif size > MAX_OTHER:
            yield place, f"{place} has {size:,} bytes; the limit is {MAX_OTHER:,}"
    if not n_folders:
        yield name, f"{name} holds no {LEVELS[depth]} directory"


def _named(place: str, entry: str, depth: int) -> Iterator[tuple[str, str]]:
    if LEVELS[depth] == "task-agent" and "_" not in entry:
        yield place, f"{place}: a task agent's directory is named <agent model>_<base harness>"
    if LEVELS[depth] == "family" and "-" not in entry:
        yield place, f"{place}: a family's directory is named <improver harness>-<improver model>"


def _inside(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """A method directory."""
    kinds = {
        "harness": ("", "folder", MAX_TREE),
        "patches": (".patch", "file", MAX_PATCH),
        "tasks": (".tar.gz", "file", MAX_ARCHIVE),
    }
    present = dict[str, str]()
    for entry, kind, size in entries(folder):
        present[entry] = kind
        place = f"{name}/{entry}"
        if kind == "folder" and entry in kinds:
            yield from _rounds(folder / entry, place, *kinds[entry])
        elif kind != "file" or entry not in ("curve.jsonl", "run_meta.json", README):
            yield place, _unexpected(place, kind)
        elif size > MAX_OTHER:
            yield place, f"{place} has {size:,} bytes; the limit is {MAX_OTHER:,}"
    if present.get("curve.jsonl") != "file":
        yield name, f"{name}/curve.jsonl is missing"


def _rounds(folder: Path, name: str, ending: str, wanted: str, limit: int) -> Iterator[tuple[str, str]]:
    for entry, kind, size in entries(folder):
        place = f"{name}/{entry}"
        stem = entry.removesuffix(ending)
        if kind != wanted or not entry.endswith(ending) or not _ROUND.fullmatch(stem):
            yield place, _unexpected(place, kind)
        elif ending == ".patch" and stem == "round-0":
            yield place, f"{place}: round 0 has no patch, it is the baseline"
        elif fault := tree_fault(folder / entry) if wanted == "folder" else _too_large(size, limit):
            yield place, f"{place} {fault}"


def _too_large(size: int, limit: int) -> str:
    return f"has {size:,} bytes; the limit is {limit:,}" if size > limit else ""


def tree_fault(folder: Path) -> str:
    """Why a harness tree is not read at all: too large, too deep; empty if it is."""
    try:
        return _too_large(tree_bytes(folder), MAX_TREE)
    except TooDeep:
        return f"is nested deeper than {identity.MAX_DEPTH} directories"


def _unexpected(place: str, kind: str) -> str:
    return f"unexpected file {place}" if kind == "file" else f"unexpected {kind} {place}"


def entries(folder: Path) -> Iterator[tuple[str, str, int]]:
    """(name, kind, bytes) of a directory in name order; kind is file, folder, link or device."""
    with os.scandir(folder) as found:
        for entry in sorted(found, key=lambda entry: entry.name):
            info = entry.stat(follow_symlinks=False)
            kinds = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "folder"), (stat.S_ISLNK, "link"))
            yield entry.name, next((kind for test, kind in kinds if test(info.st_mode)), "device"), info.st_size


def tree_bytes(folder: Path) -> int:
    """Bytes of the plain files below a directory."""
    size = 0
    for _, kind, bytes_, _path in walk(folder):
        size += bytes_ if kind == "file" else 0
    return size


class TooDeep(Exception):
    """Directories inside directories without end."""


def walk(folder: Path, depth: int = 0) -> Iterator[tuple[str, str, int, Path]]:
    """(path below it, kind, bytes, path) of everything below a directory but the directories, in path order per level.

    TooDeep below identity.MAX_DEPTH directories.
    """
    if depth > identity.MAX_DEPTH:
        raise TooDeep(str(folder))
    for name, kind, size in entries(folder):
        if kind == "folder":
            for below, its_kind, its_size, path in walk(folder / name, depth + 1):
                yield f"{name}/{below}", its_kind, its_size, path
        else:
            yield name, kind, size, folder / name
