"""What a build reads, once: for each benchmark its bench-runs with their views, money and log pages.

The local build reads what this machine collected; the public build reads only the committed snapshot, also on a machine
that has local data. Nothing is decided here: states come from `trials.view`, money from `usage`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchpipe.lab import Lab
from benchpipe.registry.records import Agent, Benchmark, BenchRun, Plan, Registry, Task
from benchpipe.site.jobs import digest_of
from benchpipe.trials.records import DONE, Record, RunFile
from benchpipe.trials.store import parse_run_file
from benchpipe.trials.view import View, ViewRecord, view
from benchpipe.usage.records import Bill, Estimate


@dataclass(frozen=True)
class Trial:
    """One task in one mode of a bench-run, as pages show it."""

    benchmark: str
    run: str
    task_title: str
    seen: ViewRecord
    estimate: Estimate = Estimate()
    bill: Bill = Bill()
    log: str = ""
    """Address of its log page, "" without one; `previous` the one of the attempt that it replaced."""
    previous: str = ""

    @property
    def task(self) -> str:
        return self.seen.task

    @property
    def mode(self) -> str:
        return self.seen.mode

    @property
    def state(self) -> str:
        """The view state (7.2)."""
        return self.seen.state

    @property
    def record(self) -> Record:
        return self.seen.record

    @property
    def credit(self) -> float | None:
        """Partial credit of a done trial: a success counts 1 whatever the grader wrote (9.4)."""
        if self.state not in DONE:
            return None
        return 1.0 if self.state == "success" else self.record.progress

    @cached_property
    def digest(self) -> str:
        """Digest of everything that pages say of this trial."""
        return digest_of(repr((self.seen, self.estimate, self.bill, self.log, self.previous)))


@dataclass(frozen=True)
class RunData:
    """One bench-run with its trials. `trials` holds the run's tasks in the benchmark's order, each in the run's modes."""

    bench_run: BenchRun
    agent: Agent
    run_file: RunFile | None
    seen: View
    trials: Sequence[Trial]
    superseded_usd: str = ""

    @property
    def id(self) -> str:
        return self.bench_run.run

    @cached_property
    def by_task(self) -> Mapping[str, list[Trial]]:
        """Task id → its trials in the run's modes."""
        grouped: dict[str, list[Trial]] = {}
        for trial in self.trials:
            grouped.setdefault(trial.task, []).append(trial)
        return grouped

    @cached_property
    def digest(self) -> str:
        """Digest of all trials and of what was written about the run."""
        about = repr((self.bench_run, self.agent, self.run_file and (self.run_file.hosts, self.run_file.generated_at)))
        return digest_of(about, *(trial.digest for trial in self.trials))


@dataclass(frozen=True)
class BenchmarkData:
    """One registered benchmark. `runs` are its shown bench-runs, the default one first."""

    benchmark: Benchmark
    plan: Plan | None
    runs: Sequence[RunData] = ()

    @property
    def id(self) -> str:
        return self.benchmark.id

    @property
    def default(self) -> RunData | None:
        return self.runs[0] if self.runs else None

    @property
    def tasks(self) -> Mapping[str, Task]:
        return self.benchmark.tasks

    @cached_property
    def digest(self) -> str:
        """Digest of what people wrote about the benchmark, without its runs."""
        return digest_of(repr(self.benchmark))
