"""What happened to a submission's trajectories so far: one small file each, in `state/contrib/trajectories/` (15.3).

The file is public and committed: it is why a row may be called verified on a machine that has no archive. Reading and
writing only; what may follow what is said in `steps`.
"""

import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import msgspec

from benchpipe.contributions.evidence import Replayed
from benchpipe.errors import UsageError
from benchpipe.files import write_json
from benchpipe.lab import Lab

State = Literal[
    "declared",
    "downloading",
    "downloaded",
    "hash_ok",
    "format_ok",
    "replayed",
    "mirroring",
    "mirrored",
    "unreachable",
    "too_large",
    "hash_mismatch",
    "bad_format",
    "replay_mismatch",
    "mirror_failed",
]
FAILED: frozenset[State] = frozenset({"unreachable", "too_large", "hash_mismatch", "bad_format", "replay_mismatch"})
"""Ends that only another input leaves."""
VERIFIED: frozenset[State] = frozenset({"replayed", "mirroring", "mirrored", "mirror_failed"})
"""States in which a replay was passed; a failed mirror takes nothing away."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One try that found nobody: when (UTC), and what was answered."""

    at: str
    answer: str


class MirrorRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The platform's copy, as it goes into the submission (15.4)."""

    location: str
    repository: str
    revision: str
    path: str
    sha256: str
    bytes: int
    mirrored_at: str


class Trail(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """State and recorded fields. `input` is the digest of everything that the steps depend on."""

    v: int = 1
    state: State
    input: str
    declared_at: str
    attempts: tuple[Attempt, ...] = ()
    """Tries to download that found nobody."""
    resolved_url: str | None = None
    bytes: int | None = None
    downloaded_at: str | None = None
    sha256: str | None = None
    n_files: int | None = None
    n_records: int | None = None
    replay_level: str | None = None
    replayed_at: str | None = None
    mirror_name: str | None = None
    """The store that was tried last; another one may be tried after a failure."""
    mirror: MirrorRecord | None = None
    link: tuple[Attempt, ...] = ()
    """Later looks at the original link, in a row, that found nobody."""
    code: str | None = None
    fault: str | None = None
    """Why it stands where it stands."""

    @property
    def dead_link(self) -> str | None:
        """Why a copy that was never mirrored can't be read any more, once that is certain; else None."""
        return None if self.state == "mirrored" else certain(self.link)

    def finding(self) -> Replayed | None:
        """What the gate may know; None while nothing is known (TRJ-000)."""
        if self.state in VERIFIED:
            return Replayed(False, self.dead_link) if self.dead_link else Replayed(True, level=self.replay_level)
        return Replayed(False, self.fault or "", self.code or "TRJ-001") if self.state in FAILED else None


def time_text(time: datetime) -> str:
    """A moment as trails and submissions write it."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


TRIES, HOURS = 3, 24
"""A link is dead after so many tries over at least so many hours."""


def certain(attempts: tuple[Attempt, ...]) -> str | None:
    """The message of TRJ-001 if tries in a row make it certain that nobody is there."""
    if len(attempts) < TRIES:
        return None
    first, last = attempts[0], attempts[-1]
    if datetime.fromisoformat(last.at) - datetime.fromisoformat(first.at) < timedelta(hours=HOURS):
        return None
    return f"{last.answer} on {len(attempts)} attempts between {first.at} and {last.at}."


def trail_file(lab: Lab, path: str) -> Path:
    """The trail of a submission (lab-relative path of its JSON)."""
    return lab.state_contrib / "trajectories" / path.removeprefix("contrib/results/")


def load_trail(file: Path) -> Trail | None:
    """A trail; None where there is none. UsageError if the file can't be read."""
    with contextlib.suppress(FileNotFoundError):
        try:
            return msgspec.json.decode(file.read_bytes(), type=Trail)
        except msgspec.MsgspecError as error:
            raise UsageError(f"{file}: {error}; restore it from git, or remove it to start again") from None
    return None


def save_trail(file: Path, trail: Trail) -> None:
    """Write a trail, atomically."""
    write_json(file, msgspec.to_builtins(trail))
