"""What git must not hold: collected data, run media, contributed archives, huge files (runs-system 13).

Looks at the index, staged files included.
Git is called so that nothing of the repository's own configuration is run: no hook, alias, pager, monitor or filter.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from benchpipe.checks.findings import Finding

MAX_BYTES = 50 * 1024 * 1024
MAX_RESULT_BYTES, MAX_RECORD_BYTES = 1 << 20, 32 << 20
"""As large as `contributions` reads a result and a run record."""
TITLES = {
    "guard-run-data": "Git holds nothing of data/runs/ and no run assets",
    "guard-snapshot": "The published snapshot holds JSON only",
    "guard-video": "Git holds no video but the benchmarks' own demos",
    "guard-results": "contrib/results/ holds small JSON only: .json of at most 1 MiB, run records of at most 32 MiB",
    "guard-size": "No file in git is larger than 50 MiB",
    "guard-git": "The folder is a git repository (else nothing can be guarded)",
}
"""Rule id → what holds in a healthy repository. All are errors but the last, a warning."""

_RUN_DATA = re.compile(r"data/runs/.|docs/assets/[^/]+/runs/.")
_DEMO = re.compile(r"docs/assets/[^/]+/demos/[^/]+")
_RUN_RECORD = re.compile(r".+\.jsonl|(?:.+/)?run_meta[^/]*\.json")
_BESIDES = {".gitattributes", ".gitignore", ".gitkeep", "README.md"}
"""What may lie beside submissions in any folder."""
_VIDEOS = {".mp4", ".webm", ".mov", ".mkv", ".avi"}


class Tracked(NamedTuple):
    """One file of git's index. `size` is that of what is staged, in bytes."""

    path: str
    size: int


def guard(root: Path) -> list[Finding]:
    """Every tracked file that must not be there. Without git, or outside a repository: one warning."""
    try:
        files = tracked_files(root)
    except (OSError, subprocess.CalledProcessError) as error:
        said = (
            (error.stderr or b"").decode("utf-8", "replace").strip().splitlines()
            if isinstance(error, subprocess.CalledProcessError)
            else []
        )
        reason = said[0][:200] if said else "git is not installed"
        return [Finding("guard-git", "warning", ".", None, f"nothing was guarded: {reason}")]
    return list(findings_of(files))


def findings_of(files: Iterable[Tracked]) -> Iterator[Finding]:
    """The rule on each file; a file may break several."""
    for file in files:
        suffix = PurePosixPath(file.path).suffix.lower()
        if _RUN_DATA.match(file.path):
            yield _finding("guard-run-data", file, "collected data stays out of git")
        if file.path.startswith("data/published_runs/") and suffix != ".json":
            yield _finding("guard-snapshot", file, "the snapshot holds JSON only; media belong on the Hub dataset")
        if file.path.startswith("contrib/results/") and (why := _too_much(file, suffix)):
            yield _finding("guard-results", file, why)
        if suffix in _VIDEOS and not _DEMO.fullmatch(file.path):
            yield _finding("guard-video", file, "videos belong on the Hub dataset")
        if file.size > MAX_BYTES:
            yield _finding("guard-size", file, f"{file.size / 1024 / 1024:.0f} MiB are more than 50")


def _too_much(file: Tracked, suffix: str) -> str:
    """Why a file is none that a submission may bring; empty if it is one."""
    if suffix not in (".json", ".jsonl") and PurePosixPath(file.path).name not in _BESIDES:
        return "submissions are JSON; archives are linked or go to the dataset"
    limit = MAX_RECORD_BYTES if _RUN_RECORD.fullmatch(file.path) else MAX_RESULT_BYTES
    return f"{file.size:,} bytes are more than {limit:,}; large files are linked" if file.size > limit else ""


def _finding(rule: str, file: Tracked, why: str) -> Finding:
    return Finding(rule, "error", file.path, None, f"must not be in git ({why}): git rm --cached it")


def tracked_files(root: Path) -> list[Tracked]:
    """The index of the repository around `root`, paths relative to `root`. Raises OSError or CalledProcessError."""
    listed = _git(root, "ls-files", "-z", "--stage", "--cached", "--", ".")
    entries = []
    for line in listed.split(b"\0"):
        head, _, path = line.partition(b"\t")
        mode, _, rest = head.partition(b" ")
        if path and mode != b"160000":  # a submodule has no blob
            entries.append((rest.split(b" ")[0], path.decode("utf-8", "replace")))
    sizes = _git(root, "cat-file", "--batch-check=%(objectsize)", text=b"".join(blob + b"\n" for blob, _ in entries))
    return [Tracked(path, int(size) if size.isdigit() else 0) for (_, path), size in zip(entries, sizes.splitlines(), strict=True)]


def _git(root: Path, *arguments: str, text: bytes = b"") -> bytes:
    harmless = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "protocol.allow=never", "safe.directory=*")
    options = [part for setting in harmless for part in ("-c", setting)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    command = ["git", *options, "-C", str(root), *arguments]
    return subprocess.run(command, input=text, capture_output=True, check=True, env=environment).stdout
