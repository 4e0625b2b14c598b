"""What makes a rebuild small: every file of the site is a job with the digests of what it is made from.

A job whose digest and file are as the manifest remembers them is not even rendered. Files that no job names any more
are removed. The manifest is a speed-up only: without it everything is rendered, and equal bytes are left untouched.
"""

import contextlib
import hashlib
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchpipe.errors import UsageError
from benchpipe.files import link_or_copy, write_bytes

WRITERS: Final = 8
MARKS: Final = ("runs/overview/index.html", "runs/*/compare/index.html", "results/credits/index.html")
"""Pages that tell a site of ours: every part of one has its own."""


@dataclass(frozen=True)
class Job:
    """One file of the site. It is made only if `inputs` differ from last time."""

    path: str
    """File below the output folder: "runs/overview/index.html"."""
    inputs: tuple[str, ...]
    """Digests (or short texts) of everything that `make` reads besides the code and the templates."""
    make: Callable[[], bytes] | Path
    """What makes its bytes, or the collected file that it is: linked, not written (a copy where links can't be made)."""


@dataclass
class BuildResult:
    """What one build did. Paths are below the output folder."""

    files: int = 0
    """Files of the parts that were built, changed or not."""
    written: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    """Files that are the collected ones themselves."""
    removed: list[str] = field(default_factory=list)
    rendered: int = 0


def digest_of(*parts: bytes | str) -> str:
    """One digest of several parts, each with its border."""
    data = [part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts]
    return hashlib.sha256(b"".join([piece for one in data for piece in (len(one).to_bytes(8, "little"), one)])).hexdigest()


def digest_of_files(files: Iterable[Path]) -> str:
    """One digest of the names and bytes of files; missing ones count as absent."""
    parts: list[bytes | str] = []
    for file in files:
        with contextlib.suppress(OSError):
            parts += [file.name, file.read_bytes()]
    return digest_of(*parts)


def run_jobs(
    jobs: Iterable[Job],
    out: Path,
    manifest_file: Path,
    always: str,
    owns: Callable[[str], bool] = lambda path: True,
    on_made: Callable[[int], None] = lambda n: None,
) -> BuildResult:
    """Bring `out` up to date: write what changed, remove what an earlier build wrote and no job names any more.

    `always` is the digest of what every page depends on (code, templates, navigation). Files that `owns` denies belong to
    another part of the site: they are neither made nor removed, and stay remembered. `on_made` is told the count of files made.
    Raises UsageError for a folder that holds something else than a site, so that a mistyped `--out` never costs a file.
    """
    known = _known(manifest_file, out)
    if not known:
        _begin(manifest_file, out)
    now = {path: digest for path, digest in known.items() if not owns(path)}
    result, of_others, folder = BuildResult(), len(now), str(out)
    with _Writers(out, result) as writers:
        for job in jobs:
            now[job.path] = digest = digest_of(always, *job.inputs)
            if known.get(job.path) == digest and os.path.isfile(os.path.join(folder, job.path)):
                continue
            result.rendered += 1
            on_made(result.rendered)
            writers.put(job.path, job.make if isinstance(job.make, Path) else job.make())
    result.files = len(now) - of_others
    for path in sorted(known.keys() - now.keys()):
        if _remove(out, path):
            result.removed.append(path)
    if now != known:
        _remember(manifest_file, out, now)
    return result


class _Writers:
    """Writes files in the background, a few at a time: each waits for its disk, which a build of thousands can't afford."""

    def __init__(self, out: Path, result: BuildResult) -> None:
        self._out, self._result = out, result
        self._threads = ThreadPoolExecutor(WRITERS)
        self._pending: deque[tuple[str, list[str], Future[bool]]] = deque()

    def __enter__(self) -> "_Writers":
        return self

    def put(self, path: str, what: bytes | Path) -> None:
        """Write or link one file soon. Waits when too many are under way; raises what an earlier one raised."""
        target = self._out / path
        if isinstance(what, Path):
            self._pending.append((path, self._result.linked, self._threads.submit(link_or_copy, what, target)))
        else:
            self._pending.append((path, self._result.written, self._threads.submit(write_bytes, target, what)))
        if len(self._pending) > 4 * WRITERS:
            self._settle()

    def _settle(self) -> None:
        path, done, changed = self._pending.popleft()
        if changed.result():
            done.append(path)

    def __exit__(self, *error: object) -> None:
        try:
            while self._pending:
                self._settle()
        finally:
            self._threads.shutdown(cancel_futures=True)


def _known(manifest_file: Path, out: Path) -> Mapping[str, str]:
    """Path → digest of the last build into `out`; where it was killed or its manifest is lost, the files with no digest."""
    try:
        files = dict(json.loads(manifest_file.read_bytes())["files"])
    except (OSError, ValueError, KeyError, TypeError):
        files = None
    if files:
        return files
    if not out.is_dir() or not any(out.iterdir()):
        return {}
    if files is None and not any(any(out.glob(page)) for page in MARKS):
        raise UsageError(f"{out}: holds something that is no site of ours; give --out an empty or a new folder")
    return {file.relative_to(out).as_posix(): "" for file in out.rglob("*") if file.is_file()}


def _begin(manifest_file: Path, out: Path) -> None:
    """Say that the folder is ours before the first file lies in it: what a killed first build leaves is no stranger's."""
    with contextlib.suppress(OSError):
        out.mkdir(parents=True, exist_ok=True)
    _remember(manifest_file, out, {})


def _remember(manifest_file: Path, out: Path, now: Mapping[str, str]) -> None:
    """Write the manifest, and forget those of folders that are gone. Where it can't be written the next build is slower."""
    with contextlib.suppress(UsageError, OSError):
        write_bytes(manifest_file, json.dumps({"out": str(out), "files": now}).encode())
    for other in manifest_file.parent.glob("*.json"):
        if other == manifest_file:
            continue
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            if not Path(json.loads(other.read_bytes())["out"]).is_dir():
                other.unlink()


def _remove(out: Path, path: str) -> bool:
    """Remove a file of an earlier build and the folders that it leaves empty."""
    file = out / path
    try:
        file.unlink()
    except OSError:
        return False
    with contextlib.suppress(OSError):
        for folder in file.relative_to(out).parents:
            (out / folder).rmdir()
    return True
