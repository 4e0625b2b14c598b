"""What a build reads, once: for each benchmark its bench-runs with their views, money and log pages.

The local build reads what this machine collected; the public build reads only the committed snapshot, also on a machine
that has local data. Nothing is decided here: states come from `trials.view`, money from `usage`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchpipe.registry.records import Agent, Benchmark, BenchRun, Plan, Task
from benchpipe.site.jobs import digest_of
from benchpipe.site.money import Cost
from benchpipe.trials.records import Record, RunFile
from benchpipe.trials.view import SlotPage, View, ViewRecord
from benchpipe.usage.records import Bill, Estimate
from benchpipe.usage.totals import Totals, credit, totals


@dataclass(frozen=True)
class Trial:
    """One task in one mode of a bench-run, as pages show it."""

    benchmark: str
    run: str
    task_title: str
    seen: ViewRecord
    cost: Cost
    log: str = ""
    """Address of its log page, "" without one; `previous` the one of the attempt that it replaced."""
    previous: str = ""
    missing: tuple[str, ...] = ()
    """Log records that its harness should have left and that are not there (runs-system 11); the public build knows of none."""

    @property
    def estimate(self) -> Estimate:
        return self.cost.estimate

    @property
    def bill(self) -> Bill:
        return self.cost.bill

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
        """As collected or published; of a withdrawn mode no result, since those are off the site."""
        return Record(state=self.seen.record.state) if self.state == "withdrawn" else self.seen.record

    @property
    def note(self) -> str | None:
        return self.seen.note

    @property
    def credit(self) -> float | None:
        """Partial credit of a done trial (9.4)."""
        return credit(self)

    @property
    def pages(self) -> tuple[SlotPage, ...]:
        """Its log pages, whether or not there is data for them."""
        return self.seen.pages

    @cached_property
    def digest(self) -> str:
        """Digest of everything that pages say of this trial."""
        return digest_of(repr((self.task_title, self.seen, self.cost, self.log, self.previous, self.missing)))


@dataclass(frozen=True)
class RunData:
    """One bench-run with its trials. `trials` holds the run's tasks in the benchmark's order, each in the run's modes."""

    bench_run: BenchRun
    agent: Agent
    run_file: RunFile | None
    seen: View
    trials: Sequence[Trial]
    stored: str
    """The id that its data lies under: its own, or in a snapshot of before it was renamed a former one."""

    @property
    def id(self) -> str:
        return self.bench_run.run

    def counted(self, scope: str) -> list[Trial]:
        """Trials of the tasks of a scope of 9.4 (`bench`, `excluded`, `all`); unknown tasks are in none."""
        wanted = {(record.task, record.mode) for record in self.seen.records(scope)}
        return [trial for trial in self.trials if (trial.task, trial.mode) in wanted]

    @cached_property
    def _totals(self) -> dict[str, Totals]:
        return {}

    def totals(self, scope: str) -> Totals:
        """Totals of a scope, computed when first asked for."""
        if scope not in self._totals:
            self._totals[scope] = totals(self.counted(scope))
        return self._totals[scope]

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

    @cached_property
    def whole_digest(self) -> str:
        """Digest of the benchmark with all its runs."""
        return digest_of(self.digest, *(run.digest for run in self.runs))
