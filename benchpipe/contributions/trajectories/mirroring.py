"""All trajectories of a lab, one submission after the other: for `benchpipe contrib mirror`, the gate and the assets.

`advance_submission` goes as far as it can with one; `states` is what the assets show. Nothing here talks to a network but the
steps.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchpipe.contributions.checking import check_submission
from benchpipe.contributions.rows import H0, NO_REFERENCE, results_of
from benchpipe.contributions.store import check_dataset, submission_files
from benchpipe.contributions.trajectories.declared import Declared
from benchpipe.contributions.trajectories.fetching import Policy
from benchpipe.contributions.trajectories.known import Benchmarks, replayed_of
from benchpipe.contributions.trajectories.mirrors import FolderMirror, HubMirror, Mirror
from benchpipe.contributions.trajectories.steps import STEPS, Tools, advance
from benchpipe.contributions.trajectories.trail import MirrorRecord, State, Trail, load_trail, save_trail, time_text, trail_file
from benchpipe.contributions.trajectories.writing_back import entered, write
from benchpipe.files import json_bytes, lock, sha256
from benchpipe.lab import Lab


class Advanced(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to one submission's trajectories now. `before` and `after` are states; "none" without a block or a trail."""

    path: str
    before: str
    after: str
    replay_level: str | None = None
    fault: str | None = None
    link: str | None = None
    """Why the original link is given up, if it is."""


def advance_submission(
    lab: Lab,
    benchmarks: Benchmarks,
    declared: Declared,
    *,
    mirror: Mirror | None,
    now: Callable[[], datetime],
    policy: Policy,
    until: State | None = None,
) -> Advanced:
    """Go on with one submission's trajectories, as far as possible or to the state `until`; holds their lock.

    LockHeld if somebody else is at them.
    """
    file = trail_file(lab, declared.path)
    tools = Tools(
        work=work_folder(lab, declared),
        now=now,
        write_back=lambda record: write(lab, declared.path, _entered(lab, benchmarks, lab.root / declared.path, record, now())),
        mirror=mirror,
        policy=policy,
    )
    with _held(lab, declared.path):
        before = load_trail(file)
        after = advance(before, declared, tools, lambda trail: save_trail(file, trail), until)
    return Advanced(
        path=declared.path,
        before=before.state if before else "none",
        after=after.state,
        replay_level=after.replay_level,
        fault=after.fault,
        link=after.dead_link,
    )


def planned(lab: Lab, declared: Declared) -> str:
    """What `advance_submission` would do first; empty if nothing. Asks nobody."""
    trail = load_trail(trail_file(lab, declared.path))
    if trail is None or trail.input != declared.input:
        return f"download {declared.bytes:,} bytes from {declared.location}"
    step = STEPS.get(trail.state)
    return "" if step is None else f"go on from {trail.state} ({step.__name__.replace('_', ' ')})"


def outdated(lab: Lab, benchmarks: Benchmarks, file: Path, now: datetime) -> bytes | None:
    """A submission's bytes with the verdict of now and the mirror that there is of its archive, if its file says otherwise.

    None if it does not, and for a submission that was never mirrored: only then is there anything that the platform says in it.
    """
    if not file.is_relative_to(lab.contrib_results):
        return None
    doc = check_submission(file, lab, benchmarks, today=now.date()).doc or {}
    trail = load_trail(trail_file(lab, lab.relative(file)))
    copy = trail.mirror if trail and trail.state == "mirrored" else None
    mirror = copy if copy and (doc.get("trajectories") or {}).get("sha256") == copy.sha256 else None
    if mirror is None and "status" not in doc:
        return None
    new = _entered(lab, benchmarks, file, mirror, now)
    return new if new != file.read_bytes() else None


def restate(lab: Lab, benchmarks: Benchmarks, file: Path, now: datetime) -> bool:
    """Bring what the platform writes into a mirrored submission up to date; whether anything was written. LockHeld as above."""
    with _held(lab, lab.relative(file)):
        new = outdated(lab, benchmarks, file, now)
        if new is not None:
            write(lab, lab.relative(file), new)
    return new is not None


def _held(lab: Lab, path: str) -> AbstractContextManager[None]:
    return lock(lab.lock_file(f"trajectories-{sha256(path.encode())[:16]}"))


def work_folder(lab: Lab, declared: Declared) -> Path:
    """Where one archive is worked on: named by its hash, never by anything a stranger wrote."""
    return lab.cache / "contrib" / "trajectories" / sha256(f"{declared.path} {declared.sha256}".encode())[:32]


def _entered(lab: Lab, benchmarks: Benchmarks, path: Path, record: MirrorRecord | None, now: datetime) -> bytes:
    """A submission with the verdict of now, the reference of its first row above H0, and a mirror."""
    dataset, today = path.parent.parent.name, now.date()
    checked = check_submission(path, lab, benchmarks, today=today, replayed=replayed_of(lab, benchmarks, path, today))
    all_checked = check_dataset(lab, dataset, benchmarks, today=today)
    results = results_of(all_checked)
    rows = [row for row in (*results.verified, *results.unverified) if row.submission_path == checked.path]
    references = [row.reference for row in rows if row.reference not in (H0, NO_REFERENCE)]
    return entered(path.read_bytes(), checked, record, references[0] if references else None, time_text(now))


def states(lab: Lab, dataset: str) -> dict[str, Trail]:
    """Submission path → trail, of a dataset's submissions that have one."""
    paths = [lab.relative(file) for file in submission_files(lab, dataset)]
    trails = {path: load_trail(trail_file(lab, path)) for path in paths}
    return {path: trail for path, trail in trails.items() if trail is not None}


def states_digest(lab: Lab, dataset: str) -> str:
    """Digest of all trails of a dataset: what an asset of their states is built from."""
    return sha256(json_bytes({path: msgspec.to_builtins(trail) for path, trail in states(lab, dataset).items()}))


def mirror_of(hub_dataset: str, folder: Path | None, base: str | None) -> Mirror:
    """The store of copies: a folder with its address, else the Hub dataset. UsageError if neither can be used."""
    return FolderMirror(folder, base) if folder and base else HubMirror(hub_dataset)


def utc_now() -> datetime:
    """The clock of commands."""
    return datetime.now(UTC)
