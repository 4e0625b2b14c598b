"""From a probe's answer to a reading: what is asked, what came, and how the new merges with what was known.

No clock, disk or network here. Whatever a host sends is checked against the record types, item by item, so that one bad
item never spoils the others (B11).
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation

import msgspec

from benchpipe import times
from benchpipe.files import sha256
from benchpipe.hosts.reading import HostReading, JobReading, TrialReading
from benchpipe.hosts.transport import HostError
from benchpipe.probe import protocol
from benchpipe.probe.lenient import MAX_EPOCH
from benchpipe.probe.usage_shapes import MAX_CHARGE
from benchpipe.registry.records import Host, Registry
from benchpipe.times import parse_time
from benchpipe.usage.records import Request


class Answer(msgspec.Struct, kw_only=True):
    """The probe's answer (`probe.main`). Times are epoch seconds by the host's clock."""

    v: int
    now: float
    started: float
    python: str = ""
    error: str | None = None
    seen: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    jobs: tuple[msgspec.Raw, ...] = ()
    trials: tuple[msgspec.Raw, ...] = ()
    cache_bytes: int | None = None


class SaidRequests(msgspec.Struct):
    """Rows of requests as the probe sends them with a trial."""

    source: str | None = None
    rows: tuple[msgspec.Raw, ...] = ()
    problems: tuple[str, ...] = ()


class _Addressed(msgspec.Struct):
    job: str
    trial: str
    fingerprint: str
    requests: SaidRequests = msgspec.field(default_factory=SaidRequests)


class NewTrial(msgspec.Struct):
    """A trial that came with an answer: its facts, and its requests still to be stored."""

    job: str
    reading: TrialReading
    source: str | None
    requests: tuple[Request, ...]
    problems: tuple[str, ...]


def batches_of(registry: Registry, host: Host) -> dict[str, list[str]]:
    """Batch → modes that `host` is searched for: the union over the bench-runs it serves (runs-system 5.1)."""
    found: dict[str, set[str]] = {}
    for bench_run in registry.bench_runs():
        if host.serves(bench_run):
            for batch in bench_run.batches:
                found.setdefault(batch, set()).update(bench_run.modes)
    return {batch: sorted(modes) for batch, modes in sorted(found.items())}


def known_digests(last: HostReading | None, missing: Iterable[str] = ()) -> dict[str, str]:
    """Digest per bucket of what is known already. Trials whose stored requests are `missing` count as unknown."""
    lost = set(missing)
    entries = []
    for job in last.jobs if last else ():
        entries.append((job.job, "", job.fingerprint))
        for trial in job.trials:
            entries.append((job.job, trial.trial, "" if trial.usage and trial.usage.digest in lost else trial.fingerprint))
    return protocol.bucket_digests(entries, last.seen if last else (), last.strangers if last else ())


def read_answer(text: bytes) -> Answer:
    """The answer as a record. HostError if it is none, or one of another version, or says itself what is wrong."""
    try:
        answer = msgspec.json.decode(text, type=Answer)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HostError(f"its answer is not one of our probe: {error}") from error
    if answer.v != protocol.VERSION:
        raise HostError(f"its answer has version {answer.v}, not {protocol.VERSION}")
    if answer.error:
        raise HostError(answer.error)
    return answer


def new_trials(answer: Answer) -> list[NewTrial]:
    """Every trial that came, typed. One that doesn't fit its type becomes a trial with a problem, asked again next time."""
    found = []
    for raw in answer.trials:
        try:
            said = msgspec.json.decode(raw, type=_Addressed)
        except msgspec.DecodeError:
            continue  # without a name it can't be shown
        try:
            reading = msgspec.json.decode(raw, type=TrialReading)
            Decimal(reading.costs_file_usd or 0)
        except (msgspec.DecodeError, InvalidOperation) as error:
            reading = TrialReading(trial=said.trial, fingerprint="", problems=(f"its record is wrong: {error}",))
        requests, bad = _requests(said.requests.rows)
        problems = said.requests.problems + ((f"{bad} requests have a wrong form",) if bad else ())
        found.append(NewTrial(said.job, reading, said.requests.source, requests, problems))
    return found


def _requests(rows: Iterable[msgspec.Raw]) -> tuple[tuple[Request, ...], int]:
    good, bad = [], 0
    for row in rows:
        try:
            request = msgspec.json.decode(row, type=Request)
        except msgspec.DecodeError:
            bad += 1
            continue
        if _sound(request):
            good.append(request)
        else:
            bad += 1
    return tuple(good), bad


def _sound(request: Request) -> bool:
    """Whether its numbers are in the range of what they mean: a host may send any, and one of them must not stop the tables."""
    counts = (request.input, request.cached, request.cache_write, request.output, request.reasoning, request.offset)
    return (
        (request.charge_usd is None or (request.charge_usd.is_finite() and 0 <= request.charge_usd <= MAX_CHARGE))
        and (request.started_at is None or 0 <= request.started_at < MAX_EPOCH)
        and all(count is None or 0 <= count < 1 << 53 for count in counts)
    )


def merge_jobs(last: HostReading | None, answer: Answer, trials: Mapping[str, list[TrialReading]]) -> tuple[JobReading, ...]:
    """Jobs of `last` with everything in the changed buckets replaced by what came. `trials`: the new ones by job."""
    changed = set(answer.changed)
    jobs: dict[str, JobReading] = {}
    kept: dict[str, list[TrialReading]] = {}
    for job in last.jobs if last else ():
        if protocol.bucket(job.job, "") not in changed:
            jobs[job.job] = job
        kept[job.job] = [trial for trial in job.trials if protocol.bucket(job.job, trial.trial) not in changed]
    for raw in answer.jobs:
        try:
            job = msgspec.json.decode(raw, type=JobReading)
        except msgspec.DecodeError as error:
            raise HostError(f"its record of a job is wrong: {error}") from error
        jobs[job.job] = job
    return tuple(
        msgspec.structs.replace(
            jobs[name],
            trials=tuple(sorted([*kept.get(name, ()), *trials.get(name, ())], key=_start)),
        )
        for name in sorted(jobs)
    )


def _start(trial: TrialReading) -> tuple[float, str]:
    """When a trial began: by its result where that names a zone, else by `created` (runs-system 21.11)."""
    said = parse_time(trial.started_at)
    return said.timestamp() if said else trial.created or 0.0, trial.trial


def jobs_digest(jobs: Iterable[JobReading], seen: Iterable[str]) -> str:
    """Digest of every fact of `jobs` and `seen`; fingerprints are none, so that touching a file changes nothing."""
    facts = [
        msgspec.structs.replace(
            job, fingerprint="", trials=tuple(msgspec.structs.replace(trial, fingerprint="") for trial in job.trials)
        )
        for job in jobs
    ]
    return sha256(msgspec.json.encode([facts, sorted(seen)], order="deterministic"))


def clock_offset(answer: Answer, sent_at: float, received_at: float) -> float:
    """Seconds the host's clock is ahead of ours, the way there and back taken as equally long; whole seconds."""
    return float(round(((answer.started - sent_at) + (answer.now - received_at)) / 2))


def iso(seconds: float) -> str:
    """Epoch seconds as ISO UTC without fractions. HostError if no calendar has that day."""
    at = times.iso(seconds)
    if at is None:
        raise HostError(f"its clock says {seconds}")
    return at
