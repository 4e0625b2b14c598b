"""All trajectories of a lab, one submission after the other: for `benchpipe contrib mirror`, the gate and the assets.

`advance_submission` goes as far as it can with one; `states` is what the assets show. Nothing here talks to a network but the
steps.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime
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
from benchpipe.contributions.trajectories.trail import MirrorRecord, State, Trail, load_trail, save_trail, trail_file
from benchpipe.contributions.trajectories.writing_back import write_back
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
    policy: Policy | None = None,
    until: State | None = None,
) -> Advanced:
    """Go on with one submission's trajectories, as far as possible or to the state `until`; holds their lock.

    LockHeld if somebody else is at them.
    """
    file = trail_file(lab, declared.path)
    tools = Tools(
        work=work_folder(lab, declared),
        now=now,
        write_back=lambda record: _write_back(lab, benchmarks, declared, record, now().date()),
        mirror=mirror,
        policy=policy or Policy(),
    )
    with lock(lab.lock_file(f"trajectories-{sha256(declared.path.encode())[:16]}")):
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


def work_folder(lab: Lab, declared: Declared) -> Path:
    """Where one archive is worked on: named by its hash, never by anything a stranger wrote."""
    return lab.cache / "contrib" / "trajectories" / sha256(f"{declared.path} {declared.sha256}".encode())[:32]


def _write_back(lab: Lab, benchmarks: Benchmarks, declared: Declared, record: MirrorRecord, today: date) -> None:
    """The verdict of now, with the reference of the submission's first row above H0, into its file."""
    path = lab.root / declared.path
    dataset = path.parent.parent.name
    checked = check_submission(path, lab, benchmarks, today=today, replayed=replayed_of(lab, benchmarks, path, today))
    all_checked = check_dataset(lab, dataset, benchmarks, today=today)
    results = results_of(all_checked, benchmarks[dataset])
    rows = [row for row in (*results.verified, *results.unverified) if row.submission_path == declared.path]
    references = [row.reference for row in rows if row.reference not in (H0, NO_REFERENCE)]
    write_back(lab, declared.path, checked, record, references[0] if references else None)


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
