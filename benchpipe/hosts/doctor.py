"""What works on each host and what to do where something doesn't: one line per check. Changes nothing but the offset cache."""

import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import msgspec

from benchpipe.errors import UsageError
from benchpipe.hosts import store
from benchpipe.hosts.answers import batches_of, clock_offset, known_digests
from benchpipe.hosts.poll import Asked, ask_host, jobs_directory
from benchpipe.hosts.pool import Pool
from benchpipe.hosts.reading import HostReading, TrialReading
from benchpipe.hosts.resolve import Target, resolve
from benchpipe.hosts.transport import HostError, run
from benchpipe.lab import Lab
from benchpipe.probe import protocol
from benchpipe.registry.records import BenchRun, Host, Registry
from benchpipe.usage.records import Request

MOST_CLOCK_S = 60
MOST_PROBE_S = 60
NOT_BILLED = ("subscription", "none")
FIX = "docs/hosts.md, Troubleshooting, has this message and what to do"


class Checked(msgspec.Struct, frozen=True):
    """One line of the report."""

    subject: str
    """A host, a file with its line, or a run."""
    check: str
    ok: bool
    says: str
    fix: str | None = None
    """What to do; None where nothing is wrong."""


def examine(lab: Lab, registry: Registry, pool: Pool) -> Iterator[Checked]:
    """Every line: the registry's faults, then each host in file order (all are asked at once), then charges."""
    for problem in registry.faults:
        yield Checked(str(problem.place), "file", False, problem.message, "correct the file; `benchpipe check` shows all rules")
    if not registry.faults:
        yield Checked(
            "registry", "files", True, f"{len(registry.agents)} runs, {len(registry.plans)} plans, {len(registry.prices)} prices"
        )
    hosts = list(registry.hosts.values())
    with ThreadPoolExecutor(max(1, len(hosts))) as threads:
        for lines in threads.map(lambda host: examine_host(lab, host, batches_of(registry, host), pool), hosts):
            yield from lines
    yield from uncounted_charges(lab, registry, store.load_readings(lab, registry))


def examine_host(lab: Lab, host: Host, batches: dict[str, list[str]], pool: Pool) -> list[Checked]:
    """The lines of one host, up to the first check that everything after it depends on."""
    lines: list[Checked] = []
    try:
        if host.ssh:
            target = resolve(host.ssh, pool.ssh_config)
            lines.append(_name(host, target))
            connection, _ = pool.connection(host)
            if host.transport == "openssh":
                run(connection, "true", seconds=3 * pool.limits.connect_s)
            known = "its host key is known, a key of ours is accepted"
            lines.append(Checked(host.name, "login", True, f"{host.transport} as {target.user}: {known}"))
        last = store.load_reading(lab, host.name)
        digests = known_digests(last)
        digests.pop(protocol.LISTING)  # so that the answer is never empty and says what it holds
        asked = ask_host(lab, host, batches, digests, pool)
    except HostError as error:
        return [
            *lines,
            Checked(host.name, "login" if host.ssh and len(lines) < 2 else "probe", False, str(error), FIX),
        ]
    return lines + _answer_lines(lab, host, batches, asked)


def _name(host: Host, target: Target) -> Checked:
    says = f"{host.ssh} is {target.host} port {target.port}"
    if target.jumps or target.proxy_command:
        return Checked(host.name, "name", True, f"{says}, through {', '.join(target.jumps) or target.proxy_command}")
    try:
        socket.getaddrinfo(target.host, target.port)
    except OSError as error:
        fix = f"check HostName of `{host.ssh}` in the ssh configuration, or the network"
        return Checked(host.name, "name", False, f"{says}: {error.strerror or error}", fix)
    return Checked(host.name, "name", True, says)


def _answer_lines(lab: Lab, host: Host, batches: Mapping[str, object], asked: Asked) -> list[Checked]:
    answer, name = asked.answer, host.name
    offset = clock_offset(answer, asked.sent_at, asked.received_at)
    seconds = asked.received_at - asked.sent_at
    seen = f"{jobs_directory(lab, host)}: {len(answer.seen)} of {len(batches)} batches left a trace"
    lines = [
        Checked(name, "python", True, f"Python {answer.python}"),
        _graded(name, "jobs", bool(answer.seen or not batches), seen, "is `jobs:` the directory that holds the job directories?"),
        _graded(
            name, "clock", abs(offset) <= MOST_CLOCK_S, f"{offset:+.0f} s", "set the host's clock (chrony, ntpd): ages are wrong"
        ),
        _graded(
            name,
            "time",
            seconds <= MOST_PROBE_S,
            f"the probe took {seconds:.2f} s",
            "a first scan is slow; run `benchpipe runs` once",
        ),
        Checked(name, "cache", True, f"{(answer.cache_bytes or 0) / 1e6:.1f} MB in ~/.cache/benchpipe there"),
    ]
    if answer.strangers:
        some = ", ".join(answer.strangers[:3])
        fix = "register their batches in state/runs/, or leave them: they are not read"
        lines.append(
            Checked(name, "others", True, f"{len(answer.strangers)} directories with trials of no batch of ours: {some}", fix)
        )
    return lines


def _graded(subject: str, check: str, ok: bool, says: str, fix: str) -> Checked:
    return Checked(subject, check, ok, says, None if ok else fix)


def uncounted_charges(lab: Lab, registry: Registry, readings: Mapping[str, HostReading]) -> Iterator[Checked]:
    """Charges in logs of runs whose billing says that there are none: they are left out of every bill (C4)."""
    for bench_run in registry.bench_runs():
        agent = registry.agents.get(bench_run.run)
        if agent is None or agent.billing not in NOT_BILLED:
            continue
        charges = [charge for trial in _trials(bench_run, readings.values()) if (charge := _charge(lab, trial))]
        if charges:
            says = f"{bench_run.benchmark}: {sum(charges):f} USD charged in {len(charges)} trials, and billing is {agent.billing}"
            yield Checked(bench_run.run, "billing", False, says, f"if it was paid, set `billing:` in {agent.place.file}")


def _trials(bench_run: BenchRun, readings: Iterable[HostReading]) -> Iterator[TrialReading]:
    for reading in readings:
        for job in reading.jobs:
            if job.batch in bench_run.batches and job.mode in bench_run.modes:
                yield from job.trials


def _charge(lab: Lab, trial: TrialReading) -> Decimal:
    if trial.costs_file_usd:
        return Decimal(trial.costs_file_usd)
    return sum((row.charge_usd for row in _rows(lab, trial) if row.charge_usd), Decimal(0))


def _rows(lab: Lab, trial: TrialReading) -> Sequence[Request]:
    try:
        return store.load_requests(lab, trial.usage.digest) if trial.usage else ()
    except UsageError:  # the next poll fetches them again
        return ()
