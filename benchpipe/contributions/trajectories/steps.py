"""The state machine of trajectories: one function per step, each from a trail to the next (contributions 15.3).

A step that was cut off is simply done again: it works in a folder of its own, and what it leaves is complete or not there.
A failed step is not tried again until its input has changed; only a silent server is asked three times in a day.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from benchpipe.contributions.archives import Limits
from benchpipe.contributions.gate.score import decimal
from benchpipe.contributions.trajectories import fetching
from benchpipe.contributions.trajectories.contents import Contents, means, read_contents
from benchpipe.contributions.trajectories.declared import Declared
from benchpipe.contributions.trajectories.fetching import Forbidden, Policy, TooLarge, Unreachable
from benchpipe.contributions.trajectories.mirrors import Mirror, digest
from benchpipe.contributions.trajectories.trail import VERIFIED, Attempt, MirrorRecord, State, Trail, certain, time_text
from benchpipe.publish.media.stores import StoreError

MAX_ARCHIVE = 50 << 30
"""Bytes of an archive that is downloaded at all."""
PAUSE = timedelta(hours=12)
"""Between two tries of a server that does not answer."""
SAME = Fraction(1, 10**9)
"""Scores closer than this are one score, written with fewer digits."""


@dataclass(frozen=True)
class Tools:
    """What the steps work with. `work` is a folder for this archive alone; `write_back` enters a mirror into the submission."""

    work: Path
    now: Callable[[], datetime]
    write_back: Callable[[MirrorRecord], None]
    mirror: Mirror | None = None
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    max_archive: int = MAX_ARCHIVE

    @property
    def archive(self) -> Path:
        return self.work / "archive"

    def time(self) -> str:
        """Now, as records write it."""
        return time_text(self.now())

    def clear(self) -> None:
        """Nothing of the archive stays."""
        for path in (self.archive, self.archive.with_suffix(".part")):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.work.rmdir()


Step = Callable[[Trail, Declared, Tools], Trail]


def declare(declared: Declared, tools: Tools) -> Trail:
    """none → declared."""
    return Trail(state="declared", input=declared.input, declared_at=tools.time())


def start(trail: Trail, declared: Declared, tools: Tools) -> Trail:
    """declared → downloading, once the pause since the last silence is over."""
    if trail.attempts and tools.now() - datetime.fromisoformat(trail.attempts[-1].at) < PAUSE:
        return trail
    return replace(trail, state="downloading", code=None, fault=None)


def download(trail: Trail, declared: Declared, tools: Tools) -> Trail:
    """downloading → downloaded, too_large, unreachable, or back to declared until the third silence."""
    if declared.bytes > tools.max_archive:
        return _failed(trail, "too_large", "TRJ-002", f"{declared.bytes:,} bytes are declared; the limit is {tools.max_archive:,}.")
    limit = min(declared.bytes + declared.bytes // 20, tools.max_archive)
    tools.work.mkdir(parents=True, exist_ok=True)
    part = tools.archive.with_suffix(".part")
    try:
        got = fetching.fetch(declared.location, part, declared=declared.bytes, limit=limit, policy=tools.policy)
    except TooLarge as large:
        tools.clear()
        return _failed(trail, "too_large", "TRJ-002", f"{large}; {declared.bytes:,} are declared.")
    except Forbidden as forbidden:
        tools.clear()
        return _failed(trail, "unreachable", "TRJ-001", f"not downloaded: {forbidden}.")
    except Unreachable as silent:
        attempts = (*trail.attempts, Attempt(at=tools.time(), answer=str(silent)))
        if fault := certain(attempts):
            tools.clear()
            return replace(_failed(trail, "unreachable", "TRJ-001", fault), attempts=attempts)
        return replace(trail, state="declared", attempts=attempts, code="TRJ-001", fault=f"{silent}; it is tried again.")
    part.replace(tools.archive)
    return replace(trail, state="downloaded", resolved_url=_plain(got.resolved_url), bytes=got.bytes, downloaded_at=tools.time())


def _plain(url: str) -> str:
    """An address without its query, which may hold a signature."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def check_hash(trail: Trail, declared: Declared, tools: Tools) -> Trail:
    """downloaded → hash_ok or hash_mismatch."""
    found, n_bytes = digest(tools.archive)
    if (found, n_bytes) != (declared.sha256, declared.bytes):
        tools.clear()
        fault = (
            f"sha256 of the downloaded archive is {found}, declared {declared.sha256} (declared {declared.bytes} bytes, "
            f"received {n_bytes})."
        )
        return _failed(trail, "hash_mismatch", "TRJ-002", fault)
    return replace(trail, state="hash_ok", sha256=found)


def check_format(trail: Trail, declared: Declared, tools: Tools) -> Trail:
    """hash_ok → format_ok or bad_format: level L0."""
    contents = _contents(declared, tools, play=False)
    faults = [("TRJ-004", f"{declared.mixed_up}.")] if declared.mixed_up else contents.faults
    if faults:
        tools.clear()
        return _failed(trail, "bad_format", *faults[0])
    return replace(trail, state="format_ok", n_files=contents.n_files, n_records=contents.n_records)


def _contents(declared: Declared, tools: Tools, *, play: bool) -> Contents:
    adapter = declared.wanted.adapter if play else None
    with open(tools.archive, "rb") as stream:
        return read_contents(stream, declared.slots(), limits=tools.limits, player=adapter.player if adapter else None)


def replay(trail: Trail, declared: Declared, tools: Tools) -> Trail:
    """format_ok → replayed or replay_mismatch: levels L1 to L3, as far as the benchmark has an adapter.

    Where the level that the benchmark wants can't be reached here, the trail stays and says why.
    """
    if trail.code is not None:
        return trail
    wanted = declared.wanted
    contents = _contents(declared, tools, play=True)
    level, unsure = "L0", ""
    played = [("L1", contents.recorded)] + ([(wanted.adapter.level, contents.replayed)] if wanted.adapter else [])
    for name, verdicts in played:
        silent = None
        for run in declared.runs:
            for task, score in means(verdicts, run.round):
                if score is None:
                    silent = silent or task
                elif abs(score - run.by_task[task]) > SAME:
                    tools.clear()
                    where = "" if run.round is None else f" in round {run.round}"
                    fault = f"replay of {task}{where} gives {decimal(score)}, per-task file says {decimal(run.by_task[task])}."
                    return _failed(trail, "replay_mismatch", "TRJ-006", f"{name}: {fault}")
        if silent is None:
            level = name
        elif name <= wanted.at_least:
            unsure = f"{name}: there is no verdict for {silent}"
    if level < wanted.at_least:
        why = unsure or wanted.missing or f"there is no adapter for {wanted.at_least}"
        if unsure and not wanted.missing:
            tools.clear()
            return _failed(trail, "replay_mismatch", "TRJ-006", f"{why}.")
        return replace(trail, code="TRJ-000", fault=f"{why}; {wanted.at_least} is wanted, {level} was reached.")
    return replace(trail, state="replayed", replay_level=level, replayed_at=tools.time(), code=None, fault=None)


def offer(trail: Trail, declared: Declared, tools: Tools) -> Trail:
    """replayed → mirroring, or mirror_failed → mirroring if there is another store than the one that failed."""
    if tools.mirror is None or (trail.state == "mirror_failed" and trail.mirror_name == tools.mirror.name):
        return trail
    return replace(trail, state="mirroring", mirror_name=tools.mirror.name, code=None, fault=None)


def mirror(trail: Trail, declared: Declared, tools: Tools) -> Trail:
    """mirroring → mirrored, or mirror_failed if what was read back differs. A store that is down is asked again next time.

    The copy is recorded before it is written back, so that whatever is cut off ends with the same record.
    """
    if trail.mirror is not None:
        tools.write_back(trail.mirror)
        tools.clear()
        return replace(trail, state="mirrored", link=(), code=None, fault=None)
    if tools.mirror is None:
        return trail
    address = f"trajectories/{declared.path.removeprefix('contrib/results/').removesuffix('.json')}/{declared.sha256}.tar.gz"
    try:
        if not tools.archive.is_file():
            _fetch_again(declared, tools)
        copied = tools.mirror.copy(tools.archive, address, f"Trajectories of {declared.path}")
    except (StoreError, Unreachable, Forbidden, TooLarge) as error:
        return replace(trail, code="TRJ-007", fault=f"{error}; it is tried again.")
    if (copied.sha256, copied.bytes) != (declared.sha256, declared.bytes):
        return _failed(trail, "mirror_failed", "TRJ-007", "mirror read-back differs; the old link stays in use.")
    record = MirrorRecord(
        location=copied.location,
        repository=copied.repository,
        revision=copied.revision,
        path=address,
        sha256=copied.sha256,
        bytes=copied.bytes,
        mirrored_at=tools.time(),
    )
    return replace(trail, mirror=record, code=None, fault=None)


def _fetch_again(declared: Declared, tools: Tools) -> None:
    """The archive of what was verified on another machine. Unreachable if it is not the one any more."""
    tools.work.mkdir(parents=True, exist_ok=True)
    part = tools.archive.with_suffix(".part")
    fetching.fetch(declared.location, part, declared=declared.bytes, limit=declared.bytes, policy=tools.policy)
    if digest(part) != (declared.sha256, declared.bytes):
        part.unlink()
        raise Unreachable("the archive at the link is another one now")
    part.replace(tools.archive)


def _failed(trail: Trail, state: State, code: str, fault: str) -> Trail:
    return replace(trail, state=state, code=code, fault=fault)


STEPS: dict[State, Step] = {
    "declared": start,
    "downloading": download,
    "downloaded": check_hash,
    "hash_ok": check_format,
    "format_ok": replay,
    "replayed": offer,
    "mirror_failed": offer,
    "mirroring": mirror,
}
"""The step that leads on from a state; states without one are ends."""
NEEDS_ARCHIVE: frozenset[State] = frozenset({"downloaded", "hash_ok", "format_ok"})


WAY: tuple[State, ...] = ("declared", "downloading", "downloaded", "hash_ok", "format_ok", "replayed", "mirroring", "mirrored")
"""The states of a way without a fault, in order."""


def _reached(state: State, until: State | None) -> bool:
    """Whether a way that is to end at `until` ends here. A failed mirror is as far as its replay."""
    at = "replayed" if state == "mirror_failed" else state
    return until is not None and at in WAY and WAY.index(at) >= WAY.index(until)


def advance(
    trail: Trail | None, declared: Declared, tools: Tools, save: Callable[[Trail], None], until: State | None = None
) -> Trail:
    """Go on from a trail as far as possible, or to the state `until`; every state is saved before the next step begins.

    Another input begins anew. Before the replay, an archive that is not on this machine (any more) is downloaded again.
    """
    if trail is None or trail.input != declared.input:
        tools.clear()
        trail = declare(declared, tools)
        save(trail)
    while (step := STEPS.get(trail.state)) and not _reached(trail.state, until):
        lost = trail.state in NEEDS_ARCHIVE and not tools.archive.is_file()
        following = replace(trail, state="declared") if lost else step(trail, declared, tools)
        if following == trail:
            break
        save(following)
        stuck = following.state == trail.state and following.code is not None
        trail = following
        if stuck:
            break
    looked = look_again(trail, declared, tools)
    if looked != trail:
        save(looked)
    return looked


def look_again(trail: Trail, declared: Declared, tools: Tools) -> Trail:
    """Whether the original link of what is verified and not mirrored still answers (15.3, last sentence)."""
    if trail.state not in VERIFIED or trail.state == "mirrored" or trail.replayed_at is None:
        return trail
    last = trail.link[-1].at if trail.link else trail.replayed_at
    if tools.now() - datetime.fromisoformat(last) < PAUSE:
        return trail
    try:
        fetching.look(declared.location, tools.policy)
    except (Unreachable, Forbidden) as silent:
        known = trail.link if certain(trail.link) else (*trail.link, Attempt(at=tools.time(), answer=str(silent)))
        return replace(trail, link=known)
    return replace(trail, link=())
