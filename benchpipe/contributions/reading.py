"""Everything that a check reads, through one object that remembers it: what was read, and what was looked for in vain.

That memory is what makes an unchanged submission cost nothing (`store.py`). Paths of contributors are resolved here and
nowhere else: no links, nothing outside the given folders, no large files.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchpipe.contributions import strict_json
from benchpipe.contributions.file_rules import path_fault
from benchpipe.contributions.identity import file_blocks
from benchpipe.contributions.strict_json import Refused
from benchpipe.lab import Lab

Stamp = list[int]
"""Mode, size, modification and change time (ns), inode of a file; empty for a file that is not there."""
MAX_RECORD_BYTES = 32 << 20
"""Limit of run records (curve.jsonl, run_meta.json); submissions and per-task files have `strict_json.MAX_BYTES`."""


def stamp(path: Path) -> Stamp:
    """What tells cheaply whether a file is still the same. Folders count by their own times (entries added, removed)."""
    try:
        info = os.lstat(path)
    except OSError:
        return []
    return [info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino]


@dataclass
class Reader:
    """Reads files of one lab for one check. `seen` is lab-relative (or absolute) path → (stamp, sha256 or empty)."""

    lab: Lab
    seen: dict[str, tuple[Stamp, str]] = field(default_factory=dict)

    def read(self, path: Path, limit: int = strict_json.MAX_BYTES) -> bytes:
        """The bytes of a regular file. Refused if it is a link, no file, or larger than `limit`."""
        before = stamp(path)
        data = strict_json.read_limited(path, limit)
        self.seen[self.lab.relative(path)] = (before, hashlib.sha256(data).hexdigest())
        return data

    def blocks(self, path: Path) -> Iterator[bytes]:
        """The bytes of a regular file, piece by piece."""
        before, digest = stamp(path), hashlib.sha256()
        for block in file_blocks(path):
            digest.update(block)
            yield block
        self.seen[self.lab.relative(path)] = (before, digest.hexdigest())

    def read_if_there(self, path: Path, limit: int = strict_json.MAX_BYTES) -> bytes | None:
        """`read`, or None (remembered) where there is no such file."""
        if not self.exists(path):
            return None
        return self.read(path, limit)

    def exists(self, path: Path) -> bool:
        """Whether something is at `path`; the answer is remembered too."""
        found = stamp(path)
        self.seen.setdefault(self.lab.relative(path), (found, ""))
        return bool(found)

    def folders(self, folder: Path) -> None:
        """Remember a folder and every folder below it, so that an added or removed file is noticed."""
        waiting = [folder]
        while waiting:
            place = waiting.pop()
            self.seen[self.lab.relative(place)] = (stamp(place), "")
            with contextlib.suppress(OSError), os.scandir(place) as found:
                waiting += sorted((Path(entry.path) for entry in found if entry.is_dir(follow_symlinks=False)), reverse=True)

    def resolve(self, path: str, beside: Path) -> Path | None:
        """The file that a submission's path means (3.12): below contrib/, beside the JSON, below the lab; first that exists.

        Refused for a path that may leave those folders. None if there is no such file.
        """
        if fault := path_fault(path):
            raise Refused([(None, "", f"the path {fault}")])
        for base in (self.lab.contrib, beside, self.lab.root):
            if self.exists(base / path):
                self.no_links(base, path)
                return base / path
        return None

    def no_links(self, base: Path, path: str) -> None:
        """Refused if a part of `path` below `base` is a link."""
        place = base
        for part in path.split("/"):
            place = place / part
            if stat.S_ISLNK(place.lstat().st_mode):
                raise Refused([(None, "", "the path goes through a link")])
