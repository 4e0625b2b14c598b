"""One log page's data from one trial folder: `log.json` and the files beside it (runs-system 10.2, 10.3).

Everything that isn't in the folder comes in as facts: the record, the request rows (already parsed by the probe, so that the
page, the tables and the totals show the same numbers), the hand-made additions and the time. The folder is only read.
"""

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchpipe.files import write_bytes
from benchpipe.registry.records import Backfill
from benchpipe.transcripts import gateway, sessions, trajectory
from benchpipe.transcripts.chunks import ChunkWriter
from benchpipe.transcripts.files import end_of, files_below, inside
from benchpipe.transcripts.media import copy_replay, copy_snapshots
from benchpipe.transcripts.records import LOG_FILE, CallRow, Ended, Event, Kept, Log, Problems, RobotEvent, Source, log_bytes
from benchpipe.transcripts.robot import read_robot, robot_log
from benchpipe.transcripts.steps import ImageFiles, Transcript
from benchpipe.transcripts.texts import plain
from benchpipe.usage.records import Request

STAMP_FILE = "stamp"
BUILDER_VERSION = 1
"""Raised when the same trial would give another log.json, so that every page is built again."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the record says about the trial, and what was found by hand."""

    benchmark: str
    run: str
    task: str
    mode: str
    state: str
    trial: str
    previous: bool = False
    host: str | None = None
    job: str | None = None
    started: str | None = None
    finished: str | None = None
    agent_wall_s: int | None = None
    exception: str | None = None
    reward: dict[str, float] | None = None
    scan: int | None = None
    where: str | None = None
    partial: str | None = None
    """Why the folder is not the whole trial, if it isn't."""
    backfill: Backfill = field(default_factory=Backfill)
    backfill_video: Path | None = None
    backfill_episode: Path | None = None


KEPT_TEXTS = ("exception.txt", "verifier_regrade/test-stdout.txt", "verifier/test-stdout.txt", "agent/oracle.txt")
KEPT_BYTES = 8_000


def kept_texts(trial: Path) -> list[Kept]:
    """The ends of the trial's own text files that say how it went."""
    paths = [(name, path) for name in KEPT_TEXTS if (path := inside(trial, name))]
    return [
        Kept(name=name, text=plain(end_of(path, KEPT_BYTES)), n=path.stat().st_size) for name, path in paths if path.stat().st_size
    ]


def agent_folders(trial: Path) -> list[Path]:
    """Where agents left their logs: `agent/`, and one per step of a multi-step trial."""
    steps = [path for path in sorted(trial.glob("steps/*/agent")) if path.is_dir() and not path.is_symlink()]
    return [*steps, trial / "agent"]


@dataclass(frozen=True)
class Told:
    """What one agent folder tells: `first` is its first event, `rest` yields the others."""

    source: Source
    first: Event
    rest: Iterator[Event]


def told_by(agent: Path, problems: Problems) -> Told | None:
    """The events of one agent folder from the best log that has any: gateway, native sessions, trajectory."""
    candidates: list[tuple[Source, Iterator[Event]]] = []
    if path := inside(agent, "gateway.jsonl"):
        candidates.append(("gateway", gateway.events(path, problems)))
    if files := files_below(agent, "sessions/**/*.jsonl"):
        candidates.append(("sessions", sessions.events(files, problems)))
    if files := trajectory.trajectory_files(agent):
        candidates.append(("trajectory", trajectory.events(files, problems)))
    for source, events in candidates:
        for first in events:
            return Told(source, first, events)
    return None


def call_rows(requests: Sequence[Request], t0: float) -> list[CallRow]:
    """Requests as rows relative to `t0`; one without a time stands at 0."""
    rows: list[CallRow] = []
    for request in requests:
        start = round((request.started_at if request.started_at is not None else t0) - t0, 1)
        charge = None if request.charge_usd is None else format(request.charge_usd, "f")
        tokens = [request.input, request.cached, request.output, request.reasoning, request.cache_write]
        rows.append([start, round(start + (request.latency_s or 0.0), 1), request.status, *tokens, charge])
    return rows


def build_log(trial: Path, facts: Facts, requests: Sequence[Request], *, slot: Path, now: str) -> Log:
    """Read a trial folder and write its slot: images, chunks, media, then `log.json`, each atomically.

    Whatever is damaged is passed over and named in `problems`. A file of an earlier build that is no longer named goes
    last, so that a reader of the old `log.json` finds its files until the new one stands. Raises OSError or UsageError
    if the slot can't be written.
    """
    problems = Problems()
    written: set[str] = {LOG_FILE, STAMP_FILE}

    def write(name: str, data: bytes) -> None:
        write_bytes(slot / name, data)
        written.add(name)

    with tempfile.TemporaryFile() as spool:
        images = ImageFiles(write, problems)
        transcript = Transcript(images, spool)
        told = [one for folder in agent_folders(trial) if (one := told_by(folder, problems))]
        for one in sorted(told, key=lambda one: one.first.t):  # the steps of a task ran in the order of their times
            transcript.add(one.first)
            for event in one.rest:
                transcript.add(event)
        times = [step.t for step in transcript.steps] + [r.started_at for r in requests if r.started_at is not None]
        t0 = min(times, default=0.0) or None
        transcript.shift(t0 or 0.0)
        chunks = ChunkWriter(write)
        for step in transcript.whole_steps():
            chunks.add(step)
        chunks.close()
    steps = transcript.steps
    media = copy_replay(trial, slot, facts.backfill, facts.backfill_video)
    snapshots, gen = ([], None) if media.video else copy_snapshots(trial, slot)
    robot, ended = _robot(trial, facts, t0, problems)
    written.update(name for name in (media.video, media.last, *(snap.src for snap in snapshots)) if name)

    log = Log(
        benchmark=facts.benchmark, run=facts.run, task=facts.task, mode=facts.mode, previous=facts.previous,
        state=facts.state, host=facts.host, job=facts.job, trial=facts.trial, started=facts.started,
        finished=facts.finished, agent_wall_s=facts.agent_wall_s, exception=facts.exception, reward=facts.reward,
        scan=facts.scan, where=facts.where, built=now, start=t0,
        calls=call_rows(requests, t0 or 0.0), steps=steps, robot=robot, media=media, snapshots=snapshots, gen=gen,
        ended=ended, note=facts.backfill.note, source=told[0].source if told else None,
        problems=([facts.partial] if facts.partial else []) + problems.sentences(), chunks=chunks.chunks, kept=kept_texts(trial),
        files=(files := sorted({request.file for request in requests})),
        lines=[(files.index(request.file), request.offset) for request in requests],
    )  # fmt: skip
    _sum_up(log, n_images=len(images.names))
    write(LOG_FILE, log_bytes(log))
    _remove_others(slot, written)
    return log


def _robot(trial: Path, facts: Facts, t0: float | None, problems: Problems) -> tuple[list[RobotEvent], Ended]:
    """The trial's own robot log, else the recovered one; nothing without a time to count from."""
    path = robot_log(trial) or facts.backfill_episode
    return read_robot(path, t0, problems) if path and t0 is not None else ([], Ended())


def _sum_up(log: Log, n_images: int) -> None:
    """Fill `totals` and `span` from the rest."""

    def total(column: int) -> int:
        return sum(value for row in log.calls if isinstance(value := row[column], int))

    totals = log.totals
    totals.calls = len(log.calls)
    totals.failed = sum(row[2] != 200 for row in log.calls)
    totals.input, totals.cached, totals.output, totals.reasoning = (total(column) for column in (3, 4, 5, 6))
    totals.runs = sum(step.k == "run" for step in log.steps)
    totals.said = sum(step.k == "say" and step.by is None for step in log.steps)
    totals.images = n_images
    totals.robot = sum(event.call is not None for event in log.robot)
    ends = [row[1] for row in log.calls] + [step.te or step.t for step in log.steps] + [event.te or event.t for event in log.robot]
    log.span = max((end for end in ends if isinstance(end, int | float)), default=0.0)


def _remove_others(slot: Path, written: set[str]) -> None:
    """Remove what an earlier build left and the new log doesn't name."""
    for path in sorted(slot.rglob("*"), reverse=True):
        if path.is_dir():
            with contextlib.suppress(OSError):
                path.rmdir()
        elif path.relative_to(slot).as_posix() not in written:
            path.unlink(missing_ok=True)
