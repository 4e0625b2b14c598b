"""Brings the log pages' data of a lab up to date: which slots there are, which of them are stale, and building those.

A slot's stamp (the file `stamp` in its folder) is a digest of everything the page is made from: the record, the request
rows, the hand-made additions, and size and time of every file of the trial that is read (runs-system 10.1, with the
session logs, the trajectory and the regrade's reward that the original forgets).
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchpipe.files import json_bytes, sha256, write_bytes
from benchpipe.hosts.raw import copy_state, trial_folder
from benchpipe.hosts.store import load_requests
from benchpipe.lab import Lab
from benchpipe.registry.public import read_backfill
from benchpipe.registry.records import Backfill, Host, Registry
from benchpipe.transcripts.build import BUILDER_VERSION, STAMP_FILE, Facts, agent_folders, build_log
from benchpipe.transcripts.records import LOG_FILE
from benchpipe.trials.records import Attempt, RunFile
from benchpipe.trials.view import slot_pages
from benchpipe.usage.records import Request

PREVIOUS = "-prev"
_READ = ("agent", "steps", "verifier", "verifier_regrade", "artifacts", "exception.txt")
"""Parts of a trial that `build_log` reads from."""


@dataclass(frozen=True)
class Slot:
    """One log page: where it goes and the attempt that it shows."""

    benchmark: str
    run: str
    task: str
    slot: str
    mode: str
    previous: bool
    attempt: Attempt
    logs: Mapping[str, object] = field(default_factory=dict)
    """What the probe said about the trial's files; empty for an earlier attempt."""

    def __str__(self) -> str:
        return f"{self.benchmark}/{self.run}/{self.task}/{self.slot}"


@dataclass
class LogsReport:
    """What one update did; slots by their address."""

    built: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    """Built from a copy that holds less than the host does."""
    failed: list[str] = field(default_factory=list)
    """`slot: reason`."""
    unfinished: dict[str, str] = field(default_factory=dict)
    """Slot → host of each that failed or shows less than the host has: worth another try when that answers anew."""


def slots_of(run_file: RunFile) -> Iterator[Slot]:
    """Every slot of a run that has a trial (10.1)."""
    for task, modes in run_file.tasks.items():
        for mode, record in modes.items():
            for page in slot_pages(mode, record):
                logs = record.logs if page.attempt.trial == record.trial else None
                yield Slot(run_file.benchmark, run_file.run, task, page.slot, mode, page.previous, page.attempt, logs or {})


def update_logs(
    lab: Lab,
    registry: Registry,
    run_files: Iterable[RunFile],
    *,
    now: str,
    folder_of: Callable[[Lab, Host, str, str], Path | None] = trial_folder,
    requests_of: Callable[[Lab, str], Sequence[Request]] = load_requests,
    on_progress: Callable[[str], None] | None = None,
) -> LogsReport:
    """Build every stale slot of these run files. One that fails is named in the report and stops no other.

    `folder_of`: where a trial's files are on this machine; `RawCopies.folder` fetches remote ones first.
    """
    update = _Update(lab, now, folder_of, requests_of)
    for run_file in run_files:
        backfills = read_backfill(lab, run_file.benchmark, run_file.run)
        wanted = list(slots_of(run_file))
        for slot in wanted:
            host = registry.hosts.get(slot.attempt.host or "")
            if host is None or not slot.attempt.job:
                continue
            try:
                update.slot(slot, host, backfills.get(f"{slot.task}/{slot.slot}", Backfill()))
            except Exception as error:  # whatever the files of one trial hold, the others go on (B11)
                update.report.failed.append(f"{slot}: {error or type(error).__name__}")
                update.report.unfinished[str(slot)] = host.name
            if on_progress:
                on_progress(str(slot))
        update.report.removed += _remove_previous(lab, run_file, {str(slot) for slot in wanted})
    return update.report


@dataclass(frozen=True)
class _Update:
    """One update of a lab's log pages."""

    lab: Lab
    now: str
    folder_of: Callable[[Lab, Host, str, str], Path | None]
    requests_of: Callable[[Lab, str], Sequence[Request]]
    report: LogsReport = field(default_factory=LogsReport)

    def slot(self, slot: Slot, host: Host, backfill: Backfill) -> None:
        """Build one slot if its stamp differs from what it would be made from now."""
        attempt = slot.attempt
        folder = self.folder_of(self.lab, host, attempt.job or "", attempt.trial or "")
        into = self.lab.slot_folder(slot.benchmark, slot.run, slot.task, slot.slot)
        facts = _facts(self.lab, slot, host, folder, backfill)
        if facts.partial and host.ssh:
            self.report.unfinished[str(slot)] = host.name
        stamp = f"{_digest(facts, folder, attempt.usage_digest)} {facts.trial}\n"
        have = _stamp(into)
        # what was read while the folder was here is better than nothing
        if have == stamp or (folder is None and have.endswith(f" {facts.trial}\n")):
            self.report.unchanged += 1
            return
        requests = self.requests_of(self.lab, attempt.usage_digest) if attempt.usage_digest else ()
        build_log(folder or into / "absent", facts, requests, slot=into, now=self.now)
        write_bytes(into / STAMP_FILE, stamp.encode())
        self.report.built.append(str(slot))
        if facts.partial:
            self.report.partial.append(str(slot))


def _facts(lab: Lab, slot: Slot, host: Host, folder: Path | None, backfill: Backfill) -> Facts:
    attempt = slot.attempt
    place = f"{host.jobs.rstrip('/')}/{attempt.job}/{attempt.trial}"
    return Facts(
        benchmark=slot.benchmark, run=slot.run, task=slot.task, mode=slot.mode, state=attempt.state or "",
        trial=attempt.trial or "", previous=slot.previous, host=attempt.host, job=attempt.job,
        started=attempt.started, finished=attempt.finished, agent_wall_s=attempt.agent_wall_s,
        exception=attempt.exception, reward=dict(attempt.reward) if attempt.reward else None, scan=attempt.scan,
        where=f"{host.ssh}:{place}" if host.ssh else place, partial=_partial(lab, host, slot, folder), backfill=backfill,
        backfill_video=lab.root / backfill.video if backfill.video else None,
        backfill_episode=lab.root / backfill.episode if backfill.episode else None,
    )  # fmt: skip


def _partial(lab: Lab, host: Host, slot: Slot, folder: Path | None) -> str | None:
    """Why a folder is not the whole trial: what stopped the copying, or sizes that the probe saw on the host."""
    if folder is None:
        return "the trial's files are not on this machine"
    if host.ssh is None:
        return None
    state = copy_state(lab, host, slot.attempt.job or "", slot.attempt.trial or "")
    if state and state.problems:
        return "partial copy: " + "; ".join(state.problems)
    for name, file in (("gateway", "gateway.jsonl"), ("trajectory", "trajectory.json")):
        there, here = slot.logs.get(name), sum(_size(agent / file) for agent in agent_folders(folder))
        if isinstance(there, int) and here < there:
            return f"partial copy: {here:,} of {there:,} bytes of {file}"
    return None


def _digest(facts: Facts, folder: Path | None, usage_digest: str | None) -> str:
    """Digest of everything that a slot is made from."""
    files = sorted(_files(folder)) if folder else []
    files += [str(path) for path in (facts.backfill_video, facts.backfill_episode) if path]
    seen = [(file, stat.st_size, stat.st_mtime_ns) for file in files if (stat := _stat(file))]
    return sha256(json_bytes([BUILDER_VERSION, repr(facts), usage_digest, seen]))[:24]


def _files(folder: Path) -> Iterator[str]:
    for part in _READ:
        yield str(folder / part)
        for place, _, names in os.walk(folder / part):
            yield from (os.path.join(place, name) for name in names)


def _stamp(into: Path) -> str:
    """The stamp of a built slot; "" if there is none or its log.json is missing."""
    try:
        return (into / STAMP_FILE).read_text() if (into / LOG_FILE).is_file() else ""
    except (OSError, ValueError):
        return ""


def _stat(path: str | Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _size(path: Path) -> int:
    stat = _stat(path)
    return stat.st_size if stat else 0


def _remove_previous(lab: Lab, run_file: RunFile, wanted: set[str]) -> list[str]:
    """Take away pages of earlier attempts that no record supersedes any more, so that none is published."""
    removed = []
    for task, modes in run_file.tasks.items():
        for mode in modes:
            slot = f"{run_file.benchmark}/{run_file.run}/{task}/{mode}{PREVIOUS}"
            folder = lab.slot_folder(run_file.benchmark, run_file.run, task, mode + PREVIOUS)
            if slot not in wanted and folder.is_dir():
                shutil.rmtree(folder)
                removed.append(slot)
    return removed
