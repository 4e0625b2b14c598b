"""Log pages as files of the site: one job per page, and one per file that a page fetches (chunks, images, replay).

The local build takes the slots that the collector wrote; the public build takes the snapshot's logs and makes chunks of
the long ones. A page is only rendered when something that it shows has changed.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import msgspec

from benchpipe.lab import Lab, path_part
from benchpipe.registry.records import Public
from benchpipe.site import addresses
from benchpipe.site.data import BenchmarkData, RunData, Trial
from benchpipe.site.jobs import Job, digest_of
from benchpipe.site.log_page import Banner, LogContext, LogPage, log_page
from benchpipe.site.log_tables import attempt_rows
from benchpipe.site.money import Cost
from benchpipe.site.render import Link, Renderer
from benchpipe.transcripts.build import STAMP_FILE
from benchpipe.transcripts.checks import log_checks
from benchpipe.transcripts.chunks import TEXT_FIELDS, ChunkWriter
from benchpipe.transcripts.records import LOG_FILE, Chunk, Log, Step, load_log
from benchpipe.transcripts.texts import plain
from benchpipe.trials.view import SlotPage
from benchpipe.usage.collect import load_costs
from benchpipe.usage.costs import AttemptCosts
from benchpipe.usage.records import Tokens

LARGE = 400_000
"""Bytes of a published log that gets chunks; a shorter one stands in its page as a whole."""


@dataclass(frozen=True)
class LogSource:
    """Where logs are read and how their media are reached."""

    lab: Lab
    public: bool
    settings: Public

    def log_file(self, benchmark: str, run: str, task: str, slot: str) -> str:
        """The path of the data of a log page; the page exists if this file does."""
        folder = f"{_run_folder(self.lab, self.public, benchmark, run)}/{path_part(task)}/{path_part(slot)}"
        return f"{folder}.json" if self.public else f"{folder}/{LOG_FILE}"

    def media(self, place: str) -> str | None:
        """What is put before the names of media files; None where they are not published."""
        if not self.public:
            return ""
        base = self.settings.run_media_base
        return f"{base}{place}" if base else None


@lru_cache(maxsize=2)
def _run_folder(lab: Lab, public: bool, benchmark: str, run: str) -> Path:
    """What the paths of a run's logs begin with: made once, there may be tens of thousands."""
    return (lab.published if public else lab.runs) / path_part(benchmark) / path_part(run)


def log_pages(source: LogSource, data: BenchmarkData, run: RunData, renderer: Renderer) -> Iterator[Job]:
    """Jobs of all log pages of one bench-run."""
    costs = _attempt_costs(source, data.id)
    of_run = digest_of(data.benchmark.name, repr(run.agent), addresses.run_page(data, run.id), run.stored)
    for trial in run.trials:
        if not trial.log:
            continue
        money = {name: costs[name] for name in _attempts(trial) if name in costs}
        said = (of_run, trial.digest, repr(money))  # all that `_context` reads
        for page in trial.pages:
            file = source.log_file(trial.benchmark, run.stored, trial.task, page.slot)
            stamps = _stamps(source, file)
            if stamps.get(file):
                path = addresses.log_page(trial.benchmark, trial.run, trial.task, page.slot)
                context = partial(_context, source, data, run, trial, page, money)
                yield Job(f"{path}index.html", (stamps[file], *said), _page_maker(source, file, context, renderer))
                yield from _files(source, file, path, stamps)


def _page_maker(source: LogSource, file: str, context: Callable[[], LogContext], renderer: Renderer) -> Callable[[], bytes]:
    return lambda: renderer.render(page_of(source, Path(file), context()))


def _attempts(trial: Trial) -> list[str]:
    """The names of the attempts that the trial's log pages tell of, its own first."""
    named = (*(page.attempt.trial for page in trial.pages), *(attempt.trial for attempt in trial.seen.record.attempts))
    return [name for name in dict.fromkeys(named) if name]


def page_of(source: LogSource, file: Path, context: LogContext) -> LogPage:
    """Read one log and make its page. A log that can't be read has a page that says so (B11)."""
    try:
        published = published_log(file, file.stat().st_mtime_ns) if source.public else None
        log = published.log if published else load_log(file)
    except (OSError, ValueError):
        banner = Banner("bad", "The data of this page can't be read.", "Collecting again makes them anew.")
        log = Log(benchmark="", run=context.run_label, task="", mode="", state=context.state, trial=None)
        return log_page(log, replace(context, banners=(banner, *context.banners)))
    return log_page(log, replace(context, chunks=tuple(published.chunks if published else log.chunks)))


def _files(source: LogSource, file: str, page: str, stamps: Mapping[str, str]) -> Iterator[Job]:
    """The files that the page at the address `page` fetches or links."""
    if not source.public:
        folder = file.removesuffix(LOG_FILE)
        for path, stamp in stamps.items():
            yield Job(page + path.removeprefix(folder), (stamp,), Path(path))
        return
    published = Path(file)
    yield Job(_raw(source, page), (stamps[file],), published.read_bytes)
    if published.stat().st_size > LARGE:
        with contextlib.suppress(ValueError):  # its page says it
            for name in published_log(published, published.stat().st_mtime_ns).files:
                yield Job(page + name, (name,), _piece_maker(published, name))


def _raw(source: LogSource, page: str) -> str:
    """The address of a page's data; that of a published one lies outside of the pages."""
    return f"runs-data/{page.removeprefix('runs/')}{LOG_FILE}" if source.public else page + LOG_FILE


def _stamps(source: LogSource, file: str) -> dict[str, str]:
    """Path → stamp of every file that a log page is made of: in its slot, or the one in the snapshot."""
    paths = [file] if source.public else _slot_files(os.path.dirname(file))
    return {path: stamp for path in sorted(paths) if (stamp := _stamp(path))}


def _slot_files(folder: str) -> Iterator[str]:
    """The files of a slot that pages are made of or link to: no stamp, nothing hidden. None without the folder."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir():
                yield from _slot_files(entry.path)
            elif entry.is_file() and entry.name != STAMP_FILE and not entry.name.startswith("."):
                yield entry.path


def _piece_maker(file: Path, name: str) -> Callable[[], bytes]:
    return lambda: published_log(file, file.stat().st_mtime_ns).files[name]


@dataclass(frozen=True)
class PublishedLog:
    """A log of the snapshot. `files`: name → bytes of its chunks, none for a short one."""

    log: Log
    chunks: list[Chunk]
    files: Mapping[str, bytes]


@lru_cache(maxsize=2)
def published_log(file: Path, mtime_ns: int) -> PublishedLog:
    """Read a log of the snapshot and cut a long one into chunks. `mtime_ns` only tells versions of the file apart."""
    log = load_log(file)
    log.steps = [_plain(step) for step in log.steps]
    files: dict[str, bytes] = {}
    writer = ChunkWriter(files.__setitem__)
    if file.stat().st_size > LARGE:
        for step in log.steps:
            writer.add(step)
    return PublishedLog(log, writer.close(), files)


def _plain(step: Step) -> Step:
    """Texts of another builder without colour codes."""
    changed = {name: cleaned for name in TEXT_FIELDS if (text := getattr(step, name)) and (cleaned := plain(text)) != text}
    return msgspec.structs.replace(step, **changed) if changed else step


def _stamp(file: Path | str) -> str | None:
    """What tells that a file is another one than last time; None if it isn't there."""
    try:
        stat = os.stat(file)
    except OSError:
        return None
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def _attempt_costs(source: LogSource, benchmark: str) -> Mapping[str, AttemptCosts]:
    """Money of every attempt by trial name; the snapshot tells only that of the attempts that count."""
    stamp = None if source.public else _stamp(source.lab.costs_file(benchmark))
    return _costs_of(source.lab, benchmark, stamp) if stamp else {}


@lru_cache(maxsize=2)
def _costs_of(lab: Lab, benchmark: str, stamp: str) -> Mapping[str, AttemptCosts]:
    """Read once for all runs of a benchmark; `stamp` only tells versions of the file apart."""
    costs = load_costs(lab, benchmark)
    slots = [slot for tasks in costs.runs.values() for modes in tasks.values() for slot in modes.values()] if costs else []
    return {attempt.trial: attempt for slot in slots for attempt in slot.attempts if attempt.trial}


def _context(
    source: LogSource,
    data: BenchmarkData,
    run: RunData,
    trial: Trial,
    page: SlotPage,
    money: Mapping[str, AttemptCosts],
) -> LogContext:
    """What stands on a log page besides its log. `money`: of the attempts that it tells of."""
    record = trial.seen.record
    own = not page.previous and page.attempt.trial == record.trial
    place = f"{trial.benchmark}/{run.stored}/{trial.task}/{page.slot}/"
    path = addresses.log_page(trial.benchmark, trial.run, trial.task, page.slot)
    costs = {name: Cost(one.estimate, one.bill) for name, one in money.items()}
    if record.trial and trial.state != "withdrawn":  # a withdrawn trial has money here and in no number of the site
        costs[record.trial] = trial.cost
    cost = costs.get(page.attempt.trial or "", Cost())
    slots = {
        other.attempt.trial or "": addresses.log_page(trial.benchmark, trial.run, trial.task, other.slot) for other in trial.pages
    }
    pages = {name: address for name, address in slots.items() if address in (trial.log, trial.previous)}
    run_link = Link(run.agent.label, addresses.run_page(data, trial.run))
    return LogContext(
        path=path,
        run_label=run.agent.label,
        task_title=trial.task_title,
        section=addresses.OVERVIEW,
        crumbs=(
            Link("Runs", addresses.OVERVIEW),
            Link(data.benchmark.name, addresses.runs_page(trial.benchmark)),
            Link(run.agent.short, run_link.href),
            Link(trial.task_title, addresses.task_page(trial.benchmark, trial.task)),
        ),
        run_link=run_link,
        state=trial.state if own else page.attempt.state or "nodata",
        local=not source.public,
        media=source.media(place),
        raw=_raw(source, path),
        banners=tuple(_banners(trial, page, own, pages)),
        checks=tuple(log_checks(record, trial.mode, run.agent.harness_id)) if own and not source.public else (),
        attempts=attempt_rows(record.attempts, {name: one.estimate for name, one in costs.items()}, page.attempt.trial, pages),
        estimate=cost.estimate,
        bill=cost.bill,
        tokens=page.attempt.tokens or Tokens(),
    )


def _banners(trial: Trial, page: SlotPage, own: bool, pages: Mapping[str, str]) -> Iterator[Banner]:
    """What to know before reading on, the gravest first (12.7)."""
    seen, record = trial.seen, trial.seen.record
    if seen.stopped:
        yield Banner("warn", "Stopped by us.", seen.stopped)
    if seen.withdrawn:
        yield Banner("warn", f"Withdrawn: {seen.withdrawn}.", seen.withdrawn_note or "")
    if own and seen.uncounted:
        yield Banner("warn", "Not counted.", seen.uncounted)
    if page.previous:
        newer = pages.get(record.trial or "")
        link = Link("The attempt that counts now", newer) if newer else None
        yield Banner("warn", "Replaced by a later attempt.", seen.supersedes_followup or "", link)
    elif not own:
        yield Banner("warn", "Queued to run again.", "This is the attempt before; its rerun has not begun.")
    elif record.supersedes and record.supersedes.trial:
        older = pages.get(record.supersedes.trial)
        link = Link("The attempt before", older) if older else None
        yield Banner("note", "This replaces an earlier attempt.", seen.supersedes_followup or "", link)
    if own and record.reason:
        yield Banner("note", "Why this state:", record.reason)
    if own and record.reward_counts is False:
        yield Banner("warn", "The reward below does not count.", "")
    if own and record.followup:
        yield Banner("note", "Follow-up:", record.followup)
    if own and seen.note:
        yield Banner("note", "Note:", seen.note)
    if own and record.stale:
        yield Banner("warn", "Last known state.", record.stale_reason or "Its host is silent.")
