"""Raw records of trials for log pages: read in place on this machine, copied from remote hosts (runs-system 6.3).

Copies lie in `.cache/raw/` under made-up names, never under a host's own. Links on a host are not followed. Whatever keeps a
copy from being whole is written beside it, so that a page can say "partial copy". Deleting a copy costs one more fetch.
"""

import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from benchpipe.files import sha256, write_json
from benchpipe.hosts.pool import Pool
from benchpipe.hosts.rsync import Rsync, both_have_rsync
from benchpipe.hosts.store import load_reading
from benchpipe.hosts.transport import HostError
from benchpipe.lab import Lab
from benchpipe.registry.records import Host

if TYPE_CHECKING:
    from paramiko import SFTPAttributes, SFTPClient

RAW_FILES = (
    "agent/gateway.jsonl", "agent/sessions/**.jsonl", "agent/trajectory*.json", "agent/oracle.txt", "gateway/usage.jsonl",
    "steps/*/agent/gateway.jsonl", "steps/*/agent/sessions/**.jsonl", "steps/*/agent/trajectory*.json",
    "steps/*/gateway/usage.jsonl", "verifier*/replay.mp4", "verifier*/replay.last.png", "verifier*/reward.json",
    "verifier*/test-stdout.txt", "exception.txt", "artifacts/data/episode.jsonl", "artifacts/out/episode.jsonl",
    "artifacts/trusted-recording/**", "artifacts/app/output/gen.py",
    *(f"artifacts/app/output/**.{ending}" for ending in ("[pP][nN][gG]", "[jJ][pP][gG]", "[jJ][pP][eE][gG]")),
)  # fmt: skip
"""What log pages are made from; `*` stays within a folder, `**` doesn't."""
MAX_ENTRIES = 20_000
BLOCK = 1 << 18


@dataclass(frozen=True)
class RawLimits:
    """Per trial."""

    file_bytes: int = 2 << 30
    seconds: float = 300.0


class RawCopy(msgspec.Struct, frozen=True):
    """State of one copy, kept beside it. `problems` is empty for a whole one."""

    fingerprint: str
    """The trial's fingerprint in the reading that the copy was made for."""
    problems: tuple[str, ...] = ()
    v: int = 1


def trial_folder(lab: Lab, host: Host, job: str, trial: str) -> Path | None:
    """Where a trial's files are on this machine: its own directory, or its raw copy. None if there is neither."""
    if host.ssh:
        folder = _copy_folder(lab, host, job, trial)
    elif _plain_name(job) and _plain_name(trial):
        folder = lab.root / Path(host.jobs).expanduser() / job / trial
    else:
        return None
    return folder if folder.is_dir() else None


def copy_state(lab: Lab, host: Host, job: str, trial: str) -> RawCopy | None:
    """State of a remote trial's copy; None if it was never fetched."""
    try:
        return msgspec.json.decode(_state_file(_copy_folder(lab, host, job, trial)).read_bytes(), type=RawCopy)
    except (OSError, msgspec.DecodeError):
        return None


@dataclass
class RawCopies:
    """Fetches what is missing, for one cycle. `folder` has the signature of `trial_folder`: either serves a builder of pages."""

    lab: Lab
    pool: Pool
    limits: RawLimits = field(default_factory=RawLimits)
    _wanted: dict[str, dict[tuple[str, str], str]] = field(default_factory=dict)
    _by_rsync: dict[Host, Rsync | None] = field(default_factory=dict)

    def folder(self, lab: Lab, host: Host, job: str, trial: str) -> Path | None:
        """As `trial_folder`, after a remote trial that changed since its copy (or never had one) was fetched."""
        if host.ssh and host.name not in self._wanted:
            self._wanted[host.name] = _fingerprints(lab, host)
        fingerprint = self._wanted.get(host.name, {}).get((job, trial))
        if fingerprint is not None and copy_state(lab, host, job, trial) != RawCopy(fingerprint):
            self.fetch(host, job, trial, fingerprint)
        return trial_folder(lab, host, job, trial)

    def fetch(self, host: Host, job: str, trial: str, fingerprint: str) -> RawCopy:
        """Bring one remote trial's copy up to date; what went wrong is in the state that is returned and kept."""
        folder = _copy_folder(self.lab, host, job, trial)
        source = f"{_from_home(host.jobs)}/{job}/{trial}"
        problems: list[str] = []
        try:
            if not (_plain_name(job) and _plain_name(trial)):
                raise HostError("its name is not a directory's name")
            folder.mkdir(parents=True, exist_ok=True)
            rsync = self._rsync(host)
            if rsync is not None:
                problems += rsync.copy(source, folder, RAW_FILES, self.limits.file_bytes, self.limits.seconds)
            else:
                connection, _ = self.pool.connection(host)
                with connection.open_sftp() as session:
                    problems += _Sftp(session, self.limits).copy(source, folder)
        except (HostError, OSError, EOFError) as error:
            problems.append(f"fetching stopped: {error or type(error).__name__}"[:300])
            self.pool.drop(host)
        state = RawCopy(fingerprint, tuple(problems))
        write_json(_state_file(folder), msgspec.to_builtins(state))
        return state

    def _rsync(self, host: Host) -> Rsync | None:
        if host not in self._by_rsync:
            self._by_rsync[host] = both_have_rsync(host, self.pool)
        return self._by_rsync[host]


def _fingerprints(lab: Lab, host: Host) -> dict[tuple[str, str], str]:
    """Fingerprints of a host's trials; {} while the host is down, so that nothing is tried."""
    reading = load_reading(lab, host.name)
    if reading is None or not reading.ok:
        return {}
    return {(job.job, trial.trial): trial.fingerprint for job in reading.jobs for trial in job.trials}


def _copy_folder(lab: Lab, host: Host, job: str, trial: str) -> Path:
    readable = re.sub(r"[^A-Za-z0-9_-]", "_", trial)[:60].lstrip("-") or "trial"
    digest = sha256("\0".join((job, trial)).encode("utf-8", "replace"))
    return lab.raw_folder(host.name) / f"{readable}.{digest[:16]}"


def _state_file(folder: Path) -> Path:
    return folder.with_name(folder.name + ".json")


def _plain_name(name: str) -> bool:
    return bool(name) and "/" not in name and "\0" not in name and name not in (".", "..")


def _from_home(jobs: str) -> str:
    """The jobs directory as file transfer knows it: it starts in the home directory and knows no `~`."""
    return re.sub(r"^~/?", "./", jobs).rstrip("/") or "."


class _Sftp:
    """One trial's copy over SFTP. A file that was cut off goes on where it stopped as long as its source is the same."""

    def __init__(self, session: "SFTPClient", limits: RawLimits) -> None:
        self._session = session
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds
        self._problems: list[str] = []

    def copy(self, source: str, folder: Path) -> list[str]:
        """Copy everything that RAW_FILES names; returns the problems."""
        for name, there in self._walk(source):
            if (there.st_size or 0) > self._limits.file_bytes:
                self._problems.append(f"{name} is larger than {self._limits.file_bytes >> 20} MiB and was left out")
                continue
            try:
                self._copy_file(f"{source}/{name}", folder / name, there)
            except FileNotFoundError:  # gone since the listing (harbor-jobs 5.5)
                continue
            except PermissionError:
                self._problems.append(f"{name} may not be read")
        return self._problems

    def _walk(self, source: str) -> Iterator[tuple[str, "SFTPAttributes"]]:
        waiting, seen = [""], 0
        while waiting:
            base = waiting.pop()
            try:
                entries = self._session.listdir_attr(f"{source}/{base}")
            except FileNotFoundError:
                continue
            except PermissionError:
                self._problems.append(f"{base or 'the trial'} may not be listed")
                continue
            except UnicodeDecodeError:  # paramiko reads no other names
                self._problems.append(f"{base or 'the trial'} holds a name that is no UTF-8 and was left out")
                continue
            for entry in sorted(entries, key=lambda entry: entry.filename):
                seen += 1
                if seen > MAX_ENTRIES:
                    self._problems.append(f"more than {MAX_ENTRIES} files: the rest was left out")
                    return
                name, mode = base + entry.filename, entry.st_mode or 0
                if not _plain_name(entry.filename):
                    continue
                if stat.S_ISDIR(mode) and _may_hold(name):
                    waiting.append(name + "/")
                elif stat.S_ISREG(mode) and _WANTED.fullmatch(name):
                    yield name, entry

    def _copy_file(self, source: str, target: Path, there: "SFTPAttributes") -> None:
        size, changed = there.st_size or 0, there.st_mtime or 0
        if target.is_file() and (target.stat().st_size, int(target.stat().st_mtime)) == (size, changed):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        name = sha256(target.name.encode())[:16]  # any name of a host's is one that a pattern and a longer name can hold
        part = target.with_name(f".{name}.{size}-{changed}.part")
        for other in target.parent.glob(f".{name}.*.part"):
            if other != part:
                other.unlink()
        with self._session.open(source, "rb") as remote, part.open("ab") as local:
            remote.seek(local.tell())
            remote.prefetch(size)
            while local.tell() < size and (block := remote.read(min(BLOCK, size - local.tell()))):
                local.write(block)
                if time.monotonic() > self._deadline:
                    raise HostError(f"not done within {self._limits.seconds:.0f} s; the next fetch goes on from here")
        os.utime(part, (changed, changed))
        part.replace(target)


def _regex(pattern: str) -> str:
    parts = re.split(r"(\*\*|\*|\[\w+\])", pattern)
    return "".join({"**": ".*", "*": "[^/]*"}.get(part, part if part.startswith("[") else re.escape(part)) for part in parts)


_WANTED = re.compile("|".join(_regex(pattern) for pattern in RAW_FILES), re.DOTALL)
_FOLDERS = re.compile(
    "|".join(_regex(str(parent)) for pattern in RAW_FILES for parent in PurePosixPath(pattern.replace("**", "**/x")).parents),
    re.DOTALL,
)


def _may_hold(folder: str) -> bool:
    """Whether a file that is wanted can lie in or below `folder`."""
    return bool(_FOLDERS.fullmatch(folder))
