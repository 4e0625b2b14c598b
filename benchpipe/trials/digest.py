"""The digest of what a benchmark's records are made from: equal digest, equal records. For comparing, never for showing.

What doesn't decide anything is not in it: when a host answered, how its clock stands, how it words its error, and on which
line something is written.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from benchpipe.files import sha256
from benchpipe.hosts.reading import HostReading
from benchpipe.registry.records import BenchRun, Host
from benchpipe.trials.attempts import Readings, jobs_of, serving

PLACES = ("place", "lines")


def inputs_digest(bench_runs: Iterable[BenchRun], hosts: Mapping[str, Host], readings: Readings, *more: Any) -> str:
    """sha256 over the bench-runs of one benchmark in their order and what concerns them in the readings.

    `hosts`: those of the hosts files. `more`: further records (agents, …) or plain values that the caller's product depends on.
    """
    parts = [[plain(run), [_heard(run, one) for one in serving(run, hosts, readings).values()]] for run in bench_runs]
    return sha256(msgspec.json.encode([parts, [plain(value) for value in more]], order="deterministic"))


def _heard(bench_run: BenchRun, reading: HostReading) -> list[Any]:
    """What of a reading concerns a bench-run."""
    seen = sorted(set(reading.seen) & set(bench_run.batches))
    return [reading.host, reading.ok, reading.asked, seen, sorted(jobs_of(bench_run, reading), key=lambda job: (job.job, job.mode))]


def plain(value: Any) -> Any:
    """`value` (a record) as builtins, without the places where it was written."""
    return _without_places(msgspec.to_builtins(value))


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_places(one) for key, one in value.items() if key not in PLACES}
    return [_without_places(one) for one in value] if isinstance(value, list | tuple) else value
