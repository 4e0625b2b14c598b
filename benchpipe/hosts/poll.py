"""Ask every host once, all at the same time, and store what they say (A4, runs-system 5 and 6).

A host's failure, silence or garbage is its own: it keeps its last good jobs with `ok` false and the reason. Nothing is
decided about trials here, and the same job seen on two hosts is left to `trials`.
"""

import contextlib
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchpipe.files import lock
from benchpipe.hosts import store
from benchpipe.hosts.answers import (
    Answer,
    NewTrial,
    batches_of,
    clock_offset,
    iso,
    jobs_digest,
    known_digests,
    merge_jobs,
    new_trials,
    read_answer,
)
from benchpipe.hosts.frames import BadAnswer, answered, unframe
from benchpipe.hosts.pool import Pool
from benchpipe.hosts.reading import HostReading, TrialReading, Usage
from benchpipe.hosts.transport import ConnectionLost, HostError, Output, TooSlow
from benchpipe.lab import Lab
from benchpipe.probe import program
from benchpipe.registry.records import Host, Registry

MAX_THREADS = 32
MAX_ERROR = 300
REFRESH_S = 900.0
"""A reading in which only the time of the answer is new is written again when the stored time is this old."""
NOT_FOUND = 127
"""Exit status by which a shell says that there is no such program."""

Progress = Callable[[HostReading, float], None]
"""Called with each host's new reading as it arrives, and the seconds it took."""


class PollResult(msgspec.Struct, frozen=True):
    """What a poll brought."""

    readings: dict[str, HostReading]
    """Every host's reading, also of hosts that were not asked this time."""
    changed: list[str]
    """Hosts whose jobs differ from what was stored, or that went away or came back."""
    resting: list[str] = []
    """Hosts that failed lately and were left alone this time."""
    slow: list[str] = []
    """Hosts that were reached and did not answer within the time they had: more time may help."""


class Polled(NamedTuple):
    """One host's new reading, and how the asking went."""

    reading: HostReading
    seconds: float
    slow: bool = False


class Asked(msgspec.Struct, frozen=True):
    """A whole answer of a host, with our own clock around it (epoch seconds)."""

    answer: Answer
    sent_at: float
    received_at: float


def poll_hosts(
    lab: Lab,
    registry: Registry,
    *,
    now: datetime,
    only: Collection[str] | None = None,
    on_progress: Progress | None = None,
    pool: Pool | None = None,
    wait: bool = False,
) -> PollResult:
    """Ask the hosts of `registry` (or those named in `only`) and store their readings.

    `now` tells which stored requests are old enough to go; readings carry the hosts' own times. A `pool` keeps connections
    from poll to poll and leaves failing hosts alone for a while. Raises LockHeld while another poll runs, unless `wait`;
    UsageError if the lab can't be written.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock(lab.lock_file("poll"), wait=wait))
        if pool is None:
            pool = stack.enter_context(Pool())
        wanted = [host for host in registry.hosts.values() if (only is None or host.name in only) and batches_of(registry, host)]
        resting = [host.name for host in wanted if pool.resting(host.name)]
        asked = sorted((host for host in wanted if host.name not in resting), key=lambda host: pool.doubtful(host.name))
        before = store.load_readings(lab, registry)
        readings = dict(before)
        slow = []
        for reading, seconds, late in _ask_all(lab, registry, asked, before, pool):
            slow += [reading.host] if late else []
            readings[reading.host] = reading
            if _worth_writing(before.get(reading.host), reading):
                store.save_reading(lab, reading)
            if on_progress:
                on_progress(reading, seconds)
        changed = sorted(name for name, reading in readings.items() if _state(reading) != _state(before.get(name)))
        if changed:
            store.prune_requests(lab, now)
        return PollResult(readings, changed, resting, sorted(slow))


def _state(reading: HostReading | None) -> object:
    return reading and (reading.digest, reading.ok)


def _ask_all(lab: Lab, registry: Registry, hosts: list[Host], before: dict[str, HostReading], pool: Pool) -> Iterator[Polled]:
    """Each host's outcome in the order of arrival. Whatever ends the loop ends the remote programs too."""
    with ThreadPoolExecutor(max_workers=max(1, min(MAX_THREADS, len(hosts)))) as threads:
        try:
            tasks = [threads.submit(_poll_host, lab, registry, host, before.get(host.name), pool) for host in hosts]
            for task in as_completed(tasks):
                yield task.result()
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            pool.close()
            raise


def _poll_host(lab: Lab, registry: Registry, host: Host, last: HostReading | None, pool: Pool) -> Polled:
    """The new reading of one host, never an exception but for a lab that can't be written."""
    started = time.monotonic()
    try:
        missing = store.missing_requests(lab, last) if last else set()
        asked = ask_host(lab, host, batches_of(registry, host), known_digests(last, missing), pool)
        reading = _good_reading(lab, host, last, asked)
        pool.worked(host.name, time.monotonic() - started)
    except HostError as error:
        pool.failed(host.name)
        pool.drop(host)
        last = last or HostReading(host=host.name, ok=False, digest=jobs_digest((), ()))
        reading = msgspec.structs.replace(last, ok=False, error=str(error)[:MAX_ERROR], asked=True)
        return Polled(reading, time.monotonic() - started, slow=isinstance(error, TooSlow))
    return Polled(reading, time.monotonic() - started)


def ask_host(lab: Lab, host: Host, batches: dict[str, list[str]], known: dict[str, str], pool: Pool) -> Asked:
    """Have the probe on `host` answer; one that still runs there from the last time is asked again. HostError."""
    seconds = pool.patience(host.name)
    call = program.call(
        {
            "jobs": jobs_directory(lab, host),
            "batches": batches,
            "known": known,
            "salt": program.salt(),
            "seconds": seconds,
        }
    )
    running = pool.running(host)
    if running is not None:
        with contextlib.suppress(ConnectionLost):
            sent_at = time.time()
            output = running.talk(call, answered, seconds=seconds)
            if answered(output):
                return _asked(host, output, sent_at)
        pool.drop(host)
    running = pool.start(host, f"{interpreter(host)} -I -S -c '{program.BOOT}'")
    sent_at = time.time()
    output = running.talk(program.start() + call, answered, seconds=seconds)
    return _asked(host, output, sent_at)


def _asked(host: Host, output: Output, sent_at: float) -> Asked:
    received_at = time.time()
    return Asked(read_answer(_answer_text(host, output)), sent_at, received_at)


def jobs_directory(lab: Lab, host: Host) -> str:
    """The jobs directory as the host's own file system knows it; a local one is relative to the lab."""
    return host.jobs if host.ssh else str(lab.root / Path(host.jobs).expanduser())


def interpreter(host: Host) -> str:
    """The command that starts Python there: as its shell sees it, and on this machine the interpreter we run on."""
    return host.python if host.ssh or host.python != "python3" else shlex.quote(sys.executable)


def _answer_text(host: Host, output: Output) -> bytes:
    try:
        return unframe(bytes(output.stdout))
    except BadAnswer as error:
        said = output.words()
        if output.status == NOT_FOUND:
            raise HostError(
                f"no `{host.python}` there ({said}); install Python 3.8 or newer or name one with `python:` in the hosts file"
            ) from error
        status = "no exit status" if output.status is None else f"exit status {output.status}"
        raise HostError(f"{error} ({status}); it said: {said or 'nothing'}") from error


def _good_reading(lab: Lab, host: Host, last: HostReading | None, asked: Asked) -> HostReading:
    answer = asked.answer
    told = msgspec.structs.replace(
        last or HostReading(host=host.name, ok=True),
        ok=True,
        error=None,
        asked=True,
        at=iso(answer.now),
        clock_offset_s=clock_offset(answer, asked.sent_at, asked.received_at),
    )
    if not answer.changed:
        return told
    trials: dict[str, list[TrialReading]] = {}
    for trial in new_trials(answer):
        trials.setdefault(trial.job, []).append(_with_usage(lab, trial))
    jobs = merge_jobs(last, answer, trials)
    digest = jobs_digest(jobs, answer.seen)
    reading = msgspec.structs.replace(told, seen=answer.seen, jobs=jobs, strangers=answer.strangers, digest=digest)
    if not store.storable(reading):
        raise HostError("its answer holds numbers or text that no file can hold")
    return reading


def _with_usage(lab: Lab, trial: NewTrial) -> TrialReading:
    """The trial's facts with the digest of its stored requests."""
    reading = trial.reading
    if trial.source is None:
        return msgspec.structs.replace(reading, problems=reading.problems + trial.problems)
    digest = store.save_requests(lab, trial.requests)
    try:
        usage = msgspec.convert(
            {"source": trial.source, "n": len(trial.requests), "digest": digest, "problems": trial.problems}, Usage
        )
    except msgspec.ValidationError as error:
        return msgspec.structs.replace(reading, problems=(*reading.problems, f"its requests are unusable: {error}"))
    return msgspec.structs.replace(reading, usage=usage)


def _worth_writing(before: HostReading | None, after: HostReading) -> bool:
    """False when nothing but the time of the answer is new and, by the host's own clock, the stored one is young enough."""
    if before is None or msgspec.structs.replace(before, at=after.at) != after:
        return True
    if before.at is None or after.at is None:
        return False
    return abs((datetime.fromisoformat(after.at) - datetime.fromisoformat(before.at)).total_seconds()) > REFRESH_S
