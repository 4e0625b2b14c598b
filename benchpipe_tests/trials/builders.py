"""Hand-made readings of one bench-run with two batches and two tasks: what a host would say, in one line each."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from zlib import crc32

from benchpipe.hosts.reading import HostReading, JobReading, TrialReading, Usage
from benchpipe.registry.records import BenchRun, Place, Remark
from benchpipe.trials.assemble import Assembled, assemble
from benchpipe.trials.records import Record, RunFile
from benchpipe.usage.records import Request

NOW = "2026-11-30T12:00:00+00:00"
OLD, NEW = "x-1001", "x-1002"
TASKS = ("pick_cube", "open_drawer")
SLOT = ("pick_cube", "limited")


def bench_run(**changes: Any) -> BenchRun:
    """Benchmark `b`, run `r`, batches x-1001 and x-1002, tasks pick_cube and open_drawer in both modes."""
    base: dict[str, Any] = {
        "benchmark": "b",
        "run": "r",
        "place": Place("state/runs/b.yml", 3),
        "batch": OLD,
        "rerun_batches": (NEW,),
        "tasks": TASKS,
    }
    return BenchRun(**(base | changes))


def remark(trial: str | None, note: str = "arranged", task: str = SLOT[0], mode: str = SLOT[1]) -> Remark:
    return Remark(task=task, mode=mode, note=note, trial=trial)


def trial(name: str = "b-pick-cube-i00__aaaaaaa", **facts: Any) -> TrialReading:
    """A trial of pick_cube that left nothing but its folder."""
    return TrialReading(**({"trial": name, "fingerprint": name, "task_dir": "b-pick-cube-i00", "created": 1000.0} | facts))


def ended(name: str = "b-pick-cube-i00__aaaaaaa", reward: float | None = 1.0, **facts: Any) -> TrialReading:
    """A trial with a result, and a reward unless that is None."""
    base = {
        "result": "whole",
        "finished_at": f"2026-11-30T10:00:00.{crc32(name.encode()) % 10**6:06}Z",
        "rewards": None if reward is None else {"reward": reward},
    }
    return trial(name, **(base | facts))


def job(*trials: TrialReading, batch: str = OLD, mode: str = "limited", task: str | None = None, **facts: Any) -> JobReading:
    """A job of all tasks (SEQ=0), or of one task directory (SEQ=1)."""
    name = f"{batch}-{mode}" + (f"-{task}" if task else "")
    return JobReading(**({"job": name, "batch": batch, "mode": mode, "task_dir": task, "trials": trials, "created": 900.0} | facts))


def host(*jobs: JobReading, name: str = "gpu1", **facts: Any) -> HostReading:
    """A host that answered."""
    seen = tuple(sorted({job.batch for job in jobs}))
    return HostReading(**({"host": name, "ok": True, "at": "2026-11-30T11:59:59+00:00", "jobs": jobs, "seen": seen} | facts))


def readings(*hosts: HostReading) -> dict[str, HostReading]:
    return {one.host: one for one in hosts}


def request(**fields: Any) -> Request:
    """One answered model request: 100 tokens in, 40 of them cached, 10 out."""
    base: dict[str, Any] = {
        "started_at": 1100.0, "latency_s": 1.0, "status": 200, "response_id": None, "input": 100, "cached": 40,
        "cache_write": None, "output": 10, "reasoning": 4, "charge_usd": None, "shape": "openai", "model": "m",
        "file": "agent/gateway.jsonl", "offset": 0,
    }  # fmt: skip
    return Request(**(base | fields))


def usage(digest: str = "d1", source: Any = "gateway", n: int = 1) -> Usage:
    return Usage(source=source, n=n, digest=digest)


ROWS: Mapping[str, Sequence[Request]] = {
    "d1": (request(),),
    "d2": (
        request(charge_usd=Decimal("0.25")),
        request(status=429, input=None, output=None, shape=None),
        request(shape=None, input=None),
    ),
}


def assembled(hosts: Mapping[str, HostReading], last: RunFile | None = None, run: BenchRun | None = None, **more: Any) -> Assembled:
    """`assemble` with the bench-run of this module."""
    arguments = {"billing": "api"} | more
    return assemble(run or bench_run(), "Label", hosts, last, lambda found: ROWS[found.digest], NOW, **arguments)


def run_file(hosts: Mapping[str, HostReading], last: RunFile | None = None, run: BenchRun | None = None, **more: Any) -> RunFile:
    made = assembled(hosts, last, run, **more)
    assert made.run_file is not None
    assert made.problems == ()
    return made.run_file


def record(hosts: Mapping[str, HostReading], last: RunFile | None = None, run: BenchRun | None = None, **more: Any) -> Record:
    """The record of pick_cube limited."""
    return run_file(hosts, last, run, **more).tasks[SLOT[0]][SLOT[1]]
