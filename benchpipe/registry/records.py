"""What people write in `data/`, `state/` and hosts files, as typed records. No reading, no checking here.

Every record knows its `place` (file and line), so that whatever is said about it can name where it stands. Defaults are
those of the specification's tables (runs-system 3); a value of a wrong type never gets in: the loader drops it and
leaves a `Problem`.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

import msgspec

Billing = Literal["subscription", "openrouter", "api", "none"]
DEFAULT_MODES = ("unlimited", "limited")
DEFAULT_TASK_DIR = "{benchmark}-{task_dashed}-i00"
DEFAULT_PROGRESS = "final_reward"
DEFAULT_TASK_SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "limited": ("-limited", "-standard"),
    "unlimited": ("-privileged",),
}


class Place(msgspec.Struct, frozen=True, order=True):
    """Where something is written. `file` is relative to the lab; `line` counts from 1."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Problem(msgspec.Struct, frozen=True, order=True):
    """Something wrong with a registry file, found while reading it. The rest of the lab goes on without it."""

    place: Place
    message: str
    """What is wrong and the fix, as the rest of a sentence that begins with the place."""
    rule: str = "registry-file"
    """Id of the rule of `checks` that it breaks."""
    slip: bool = False
    """A key that nobody reads and that looks misspelt: everything else was read as it stands."""


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """One run definition, `data/agents/<run>.yml` (runs-system 3.1). `id` is the file's stem."""

    id: str
    place: Place
    label: str
    short: str
    harness_id: str | None = None
    price: str | None = None
    model_id: str | None = None
    settings: Mapping[str, Any] = {}
    tag: str | None = None
    modes: tuple[str, ...] = DEFAULT_MODES
    billing: Billing = "api"
    formerly: tuple[str, ...] = ()
    sweep: str | None = None
    harness: str | None = None
    route: str | None = None
    model: str | None = None
    notes: str | None = None
    local: bool = False
    lines: Mapping[str, int] = {}
    """Line of each key, for messages."""
    raw: Mapping[str, Any] = {}
    """The file as read, with wrong values too: what the rules of `check` look at."""


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """USD per 1,000,000 tokens, exact. A missing `cached_input` or `cache_write` means "as `input`"."""

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    cache_write: Decimal | None = None


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """Rates of a request whose whole input is more than `above` tokens. Missing rates are those of the level around it."""

    above: int
    rates: Rates


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """Rates that held before `until` (UTC, ISO; a request's time is its start). The top level is the newest band."""

    until: str
    rates: Rates
    tiers: tuple[Tier, ...] = ()
    source: str | None = None
    as_of: str | None = None


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of `data/prices.yml` (runs-system 3.2, C3)."""

    key: str
    place: Place
    rates: Rates
    tiers: tuple[Tier, ...] = ()
    bands: tuple[Band, ...] = ()
    id: str | None = None
    as_of: str | None = None
    source: str | None = None


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a benchmark with its curation from `state/tasks/<benchmark>.yml` (runs-system 3.4, 3.5, G1)."""

    id: str
    title: str
    family: str | None = None
    continuous_score: str | None = None
    instruction: str | None = None
    difficulty: str = "unrated"
    status: str = "pending"
    excluded: str | None = None
    """Reason why the task is not part of the final benchmark; None = it is."""
    labels: tuple[str, ...] = ()
    owner: str | None = None
    note: str | None = None


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """A declared, fixed set of task ids of a benchmark (contributions 5.3). `file` is lab-relative or None (size only)."""

    id: str
    size: int
    sha256: str | None = None
    role: Literal["exam", "study"] = "exam"
    default: bool = False
    file: str | None = None


class Benchmark(msgspec.Struct, frozen=True, kw_only=True):
    """`data/benchmarks/<id>.yml` with its tasks. `raw` holds everything else, for people."""

    id: str
    place: Place
    name: str
    simulator: str | None = None
    status: str | None = None
    skill_vocabulary: tuple[str, ...] = ()
    scenes: tuple[str, ...] = ()
    tasks: Mapping[str, Task] = {}
    """By id, in the order of the source."""
    listed: bool = False
    """Whether anybody lists the tasks: the file itself or the importers' cache."""
    pools: Mapping[str, Pool] = {}
    raw: Mapping[str, Any] = {}


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A continuous score a benchmark declares (runs-system 3.3)."""

    key: str
    label: str
    format: str = ".2f"
    unit: str = ""
    better: Literal["higher", "lower"] = "higher"
    summary: Literal["mean", "median"] = "mean"
    help: str = ""


class PerFamily(msgspec.Struct, frozen=True):
    """A score whose meaning depends on the task's family."""

    key: str
    label: str


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """When a reward is a success (B1): `key` of it is at least `at_least`."""

    key: str
    at_least: float


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of followups, notes, not_counted or stopped. `trial` is None where the entry is not tied to one."""

    task: str
    mode: str
    note: str
    trial: str | None = None
    place: Place | None = None


class Withdrawal(msgspec.Struct, frozen=True):
    """Every result of a mode taken off the site."""

    label: str = "rerun pending"
    note: str | None = None


class BenchRun(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark's part in one run, with every value resolved (spec > benchmark > agent > default)."""

    benchmark: str
    run: str
    place: Place
    batch: str
    rerun_batches: tuple[str, ...] = ()
    rerun_all: bool = False
    """True only with at least two batches."""
    tasks: tuple[str, ...] = ()
    removed: Mapping[str, str] = {}
    others: str | None = None
    modes: tuple[str, ...] = DEFAULT_MODES
    followups: tuple[Remark, ...] = ()
    notes: tuple[Remark, ...] = ()
    not_counted: tuple[Remark, ...] = ()
    stopped: tuple[Remark, ...] = ()
    withdrawn: Mapping[str, Withdrawal] = {}
    closed: str | None = None
    hidden: bool = False
    harness: str | None = None
    task_dir: str = DEFAULT_TASK_DIR
    progress: str = DEFAULT_PROGRESS
    metrics: tuple[Metric, ...] = ()
    per_family: PerFamily | None = None
    verdict: Verdict | None = None
    """None = the default of B1: `success` with 1 where the reward has it, else `reward` with 1."""
    task_suffixes: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=lambda: dict(DEFAULT_TASK_SUFFIXES))
    local: bool = False

    @property
    def batches(self) -> tuple[str, ...]:
        """Oldest first: `batch`, then `rerun_batches`."""
        return (self.batch, *self.rerun_batches)

    def task_directory(self, task: str) -> str:
        """The harness's directory name of a task, without a mode's twin suffix."""
        return self.task_dir.format(benchmark=self.benchmark, task=task, task_dashed=task.replace("_", "-"))


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """`state/runs/<benchmark>.yml` (+ `.local.yml`). `runs` is ordered: default first, then file order."""

    benchmark: str
    place: Place
    default: str | None = None
    runs: Mapping[str, BenchRun] = {}
    raw: Mapping[str, Any] = {}
    """The committed file as read, with wrong values too: what the rules of `check` look at."""
    specs: Mapping[str, Any] = {}
    """Run → its spec as read, from whichever file counts."""
    lines: Mapping[str, int] = {}
    """Line of each key path (`runs.<run>.tasks.0`) in the file that counts for it, for messages."""

    def shown(self) -> list[BenchRun]:
        """Bench-runs that are not hidden, default first."""
        return [run for run in self.runs.values() if not run.hidden]


class Backfill(msgspec.Struct, frozen=True, kw_only=True):
    """A hand-made addition to one log page (runs-system 3.8). Paths are as written."""

    note: str | None = None
    episode: str | None = None
    """A recovered robot-call log, used only if the trial kept none."""
    video: str | None = None
    """A replay rendered later, used if it is a complete MP4."""
    video_problem: str | None = None
    """A sentence that replaces the video."""


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """One machine of a hosts file (runs-system 3.6). Without `ssh` it is this machine."""

    name: str
    place: Place
    jobs: str
    ssh: str | None = None
    transport: Literal["local", "paramiko", "openssh"] = "local"
    """`paramiko` is the default of an entry with `ssh`."""
    python: str = "python3"
    benchmarks: tuple[str, ...] | None = None
    runs: tuple[str, ...] | None = None

    def serves(self, bench_run: BenchRun) -> bool:
        """Whether this host is searched for a bench-run."""
        return (self.benchmarks is None or bench_run.benchmark in self.benchmarks) and (
            self.runs is None or bench_run.run in self.runs
        )


class Public(msgspec.Struct, frozen=True, kw_only=True):
    """`data/public.yml` (runs-system 3.7, E6). Empty strings mean "not set"."""

    link_demos: tuple[str, ...] = ()
    run_media_base: str = ""
    run_media_images: Literal["webp", ""] = ""
    hub_dataset: str = ""
    site_url: str = ""
    contact: str = ""
    trajectory_hosts: tuple[str, ...] = ()
    """Hosts that linked trajectories are downloaded from (contributions 15.3); none: any public one."""
    machine_names: tuple[str, ...] = ()
    """Patterns of machine names that must not leave the lab, besides the names of hosts files (E4)."""
    raw: Mapping[str, Any] = {}


class Registry(msgspec.Struct, frozen=True, kw_only=True):
    """Everything people wrote, once per command.

    A broken file counts as empty (its record has every default) and is named in `problems`. Every plan's benchmark is in
    `benchmarks`, and every task directory template of a plan can be filled in.
    """

    agents: Mapping[str, Agent] = {}
    prices: Mapping[str, Price] = {}
    benchmarks: Mapping[str, Benchmark] = {}
    plans: Mapping[str, Plan] = {}
    hosts: Mapping[str, Host] = {}
    public: Public = Public()
    aliases: Mapping[str, str] = {}
    """Former run id → run id."""
    unpriced: Mapping[str, str | None] = {}
    """Price key → `id` of entries whose numbers can't be read (their fault is in `problems`)."""
    problems: tuple[Problem, ...] = ()

    @property
    def faults(self) -> tuple[Problem, ...]:
        """The problems that left something out."""
        return tuple(problem for problem in self.problems if not problem.slip)

    def bench_runs(self, *, benchmarks: set[str] | None = None, runs: set[str] | None = None) -> list[BenchRun]:
        """Non-hidden bench-runs over all plans in file order, narrowed by benchmark and run ids."""
        return [
            bench_run
            for plan in self.plans.values()
            for bench_run in plan.shown()
            if (benchmarks is None or plan.benchmark in benchmarks) and (runs is None or bench_run.run in runs)
        ]

    def ids_of(self, run: str) -> tuple[str, ...]:
        """A run's id, then those that it had before."""
        return (run, *(old for old, now in self.aliases.items() if now == run))

    def price_of(self, run: str) -> Price | None:
        """The price entry a run's agent file names, if both exist."""
        agent = self.agents.get(run)
        return self.prices.get(agent.price) if agent and agent.price else None
