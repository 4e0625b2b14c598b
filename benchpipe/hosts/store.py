"""Readings and rows of requests on disk: `data/runs/hosts/`. One writer at a time (the poll); anybody may read.

Rows of one trial lie in a file named by the sha256 of its bytes, written before the reading that names it, so that a
reader never finds a name without its file.
"""

import contextlib
import os
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from benchpipe.errors import UsageError
from benchpipe.files import json_bytes, sha256, write_bytes, write_json
from benchpipe.hosts.answers import batches_of
from benchpipe.hosts.reading import HostReading
from benchpipe.lab import Lab
from benchpipe.registry.records import Registry
from benchpipe.usage.records import Request

KEEP_S = 7 * 86400
"""Rows that nothing names stay this long: somebody may just be about to name them."""
_DIGEST = re.compile(rb"\b[0-9a-f]{64}\b")


class _Rows(msgspec.Struct):
    rows: tuple[Request, ...]
    v: int = 1


def load_reading(lab: Lab, host: str) -> HostReading | None:
    """The last stored reading of `host`; None if there is none or it is damaged (then everything is asked anew)."""
    try:
        return _read(lab.reading_file(host))
    except UsageError:  # a host whose name is no file name has no reading
        return None


def load_readings(lab: Lab, registry: Registry) -> dict[str, HostReading]:
    """Every stored reading by host name. `asked` is False for hosts that are no longer listed or serve nothing (B10)."""
    found = {}
    for path in sorted(lab.readings.glob("*.json")):
        reading = _read(path)
        if reading is not None:
            host = registry.hosts.get(reading.host)
            found[reading.host] = msgspec.structs.replace(reading, asked=bool(host and batches_of(registry, host)))
    return found


def storable(reading: HostReading) -> bool:
    """Whether JSON can hold it: no infinite number, no broken text. Our probe sends neither, but a host may send anything."""
    try:
        json_bytes(msgspec.to_builtins(reading))
    except ValueError:
        return False
    return True


def save_reading(lab: Lab, reading: HostReading) -> bool:
    """Write `reading`; True if its file changed."""
    return write_json(lab.reading_file(reading.host), msgspec.to_builtins(reading))


def _read(path: Path) -> HostReading | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=HostReading)
    except (OSError, msgspec.DecodeError):
        return None


def save_requests(lab: Lab, requests: Iterable[Request]) -> str:
    """Store rows and return their digest. Rows that are there already become young again, so that no pruning takes them."""
    data = msgspec.json.encode(_Rows(tuple(requests)))
    digest = sha256(data)
    path = lab.requests_file(digest)
    if not write_bytes(path, data):
        os.utime(path)
    return digest


def load_requests(lab: Lab, digest: str) -> tuple[Request, ...]:
    """The stored rows. UsageError if they are missing or damaged; the next poll of their host brings them back."""
    path = lab.requests_file(digest)
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Rows).rows
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"{lab.relative(path)}: can't be read ({error}); run `benchpipe runs` to fetch it again") from error


def missing_requests(lab: Lab, reading: HostReading) -> set[str]:
    """Digests that the reading names and that have no file."""
    named = {trial.usage.digest for job in reading.jobs for trial in job.trials if trial.usage}
    return {digest for digest in named if not lab.requests_file(digest).exists()}


def prune_requests(lab: Lab, now: datetime) -> int:
    """Delete rows that neither a reading nor a run file names and that are older than KEEP_S; returns how many.

    Looks at most once a day. Run files count because they keep attempts whose directories are gone (B7).
    """
    folder = lab.readings / "requests"
    stamp = folder / ".pruned"
    if not folder.is_dir() or (stamp.exists() and now.timestamp() - stamp.stat().st_mtime < 86400):
        return 0
    stamp.touch()
    named = {match for path in lab.runs.glob("*/*.json") for match in _digests(path)}
    removed = 0
    for path in folder.glob("*/*.json"):
        with contextlib.suppress(FileNotFoundError):
            if path.stem.encode() not in named and now.timestamp() - path.stat().st_mtime > KEEP_S:
                path.unlink()
                removed += 1
    return removed


def _digests(path: Path) -> Iterable[Any]:
    try:
        return _DIGEST.findall(path.read_bytes())
    except OSError:
        return ()
