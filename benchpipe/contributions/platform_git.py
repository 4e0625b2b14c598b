"""Looks a declared commit up in the lab's own git repository: is it there, and what was the platform at it? (SUB-019, PLT-003)

Only git's reading commands, on our own repository, with nobody's configuration; nothing contributed is passed to git but a
checked hex id.
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchpipe.contributions.identity import content_sha
from benchpipe.contributions.models import Platform
from benchpipe.registry.records import Benchmark

_HEX = re.compile(r"[0-9a-f]{7,40}")


@dataclass(frozen=True)
class PlatformLook:
    """A repository that holds the platforms of benchmarks; a benchmark names its folders under `platform: {paths: […]}`."""

    repository: Path

    def known(self, commit: str) -> bool | None:
        """Whether a commit is reachable from any branch; None without git or a repository."""
        if not _HEX.fullmatch(commit) or self._git("rev-parse", "--git-dir") is None:
            return None
        branches = self._git(
            "for-each-ref", "--contains", commit, "--count=1", "--format=x", "refs/heads", "refs/remotes", "refs/tags"
        )
        return bool(branches)

    def content_sha(self, benchmark: Benchmark, declared: Platform) -> str | None:
        """Identity of the platform at the declared commit, in the declared form; None if the commit is not there.

        40 hex characters are the git tree of the whole checkout (contributions 9); 64 the content of the folders that the
        benchmark names, None if it names none.
        """
        commit = declared.commit
        if len(declared.content_sha) == 40:
            tree = self._git("rev-parse", f"{commit}^{{tree}}") if self.known(commit) else None
            return tree.decode().strip() if tree else None
        platform = benchmark.raw.get("platform")
        paths = platform.get("paths") if isinstance(platform, Mapping) else None
        if not isinstance(paths, Sequence) or isinstance(paths, str) or not self.known(commit):
            return None
        names = self._git("ls-tree", "-r", "-z", "--name-only", commit, "--", *map(str, paths))
        files = {}
        for name in filter(None, (names or b"").split(b"\0")):
            data = self._git("cat-file", "blob", f"{commit}:{os.fsdecode(name)}")
            if data is not None:
                files[os.fsdecode(name)] = data
        return content_sha(files)

    def _git(self, *arguments: str) -> bytes | None:
        """Output of one git command, None if it fails or git is missing."""
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "LC_ALL": "C",
        }
        command = ["git", "-c", f"safe.directory={self.repository}", "-C", str(self.repository), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, env=environment, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout if done.returncode == 0 else None
