"""Sums, rates and means over trials, with how many of how many stand behind each (runs-system 9.4 and 9.5, C6, C7).

Takes trials as they are shown, in any order; which ones belong to a scope is said by `trials.view`. An estimate and a bill
are two sums here too.
"""

import functools
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import msgspec

from benchpipe.registry.records import Metric, Task
from benchpipe.usage.shown import Trial

DONE = ("success", "failed", "error")
ACTIVE = ("setup", "running", "grading")
LEFT_OUT = ("stopped", "uncounted", "withdrawn")
NOT_BEGUN = ("queued", "notrun", "nodata")
CENSUS = (
    ("success", ("success",)),
    ("failed", ("failed",)),
    ("error", ("error",)),
    ("active", ACTIVE),
    ("stalled", ("stalled",)),
    ("queued", ("queued",)),
    ("not run", ("notrun",)),
    ("left out", LEFT_OUT),
    ("no data", ("nodata",)),
)
"""Word → view states. Every view state stands in exactly one line, so the census adds up to what is expected."""


class Rate(msgspec.Struct, frozen=True):
    """`k` of `n` as a share of 1, with its 95 % Wilson interval."""

    k: int
    n: int
    share: float
    low: float
    high: float


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Totals over a set of trials. Money is exact; `x_n` trials stand behind the sum `x`."""

    expected: int = 0
    """Tasks × modes of the set, whatever became of them."""
    trials: int = 0
    """`n` of C7: those that have begun and are not left out."""
    states: Mapping[str, int] = {}
    """View state → count, over all expected ones."""
    done: int = 0
    success: int = 0
    rate: Rate | None = None
    """success / done; None while nothing is done."""
    progress_sum: float = 0.0
    progress_n: int = 0
    """Done trials with a progress value; a success counts 1 whatever the grader wrote."""
    agent_s: int = 0
    agent_n: int = 0
    calls: int = 0
    calls_without_usage: int = 0
    input: int = 0
    cached: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    tokens_n: int = 0
    est: Decimal = Decimal(0)
    est_n: int = 0
    billed: Decimal = Decimal(0)
    billed_n: int = 0
    billed_complete_n: int = 0
    """Trials whose every answered request carried its charge."""
    reruns: int = 0
    followups: int = 0
    stale: int = 0
    modes: Mapping[str, "Totals"] = {}
    """The same per mode; empty in the totals of a mode."""

    def census(self) -> tuple[tuple[str, int], ...]:
        """Word and count of every group of states that occurs. The counts add up to `expected`."""
        counts = ((word, sum(self.states.get(state, 0) for state in states)) for word, states in CENSUS)
        return tuple((word, n) for word, n in counts if n)


def totals(trials: Iterable[Trial]) -> Totals:
    """Totals of the trials and, inside, of each mode. No running time: what goes on is timed where somebody reads it."""
    listed = list(trials)
    modes = dict.fromkeys(trial.mode for trial in listed)
    of_modes = {mode: _totals([trial for trial in listed if trial.mode == mode]) for mode in modes}
    return msgspec.structs.replace(_totals(listed), modes=of_modes)


def _totals(trials: Sequence[Trial]) -> Totals:
    states = Counter(trial.state for trial in trials)
    kept = [trial for trial in trials if trial.state not in LEFT_OUT and trial.state != "nodata"]
    begun = [trial for trial in kept if trial.state not in NOT_BEGUN]
    done = [trial for trial in begun if trial.state in DONE]
    success = states["success"]
    tokens = [t for trial in begun if (t := trial.record.tokens) and t.input is not None]
    progress = [value for trial in done if (value := credit(trial)) is not None]
    agent = [s for trial in done if (s := trial.record.agent_wall_s) is not None]
    estimates = [usd for trial in begun if (usd := trial.estimate.usd) is not None]
    bills = [trial.bill for trial in begun if trial.bill.usd is not None]
    return Totals(
        expected=len(trials),
        trials=len(begun),
        states=dict(states),
        done=len(done),
        success=success,
        rate=wilson(success, len(done)),
        progress_sum=sum(progress),
        progress_n=len(progress),
        agent_s=sum(agent),
        agent_n=len(agent),
        calls=sum(trial.record.calls or 0 for trial in begun),
        calls_without_usage=sum(trial.record.calls_without_usage or 0 for trial in begun),
        input=sum(t.input or 0 for t in tokens),
        cached=sum(t.cached or 0 for t in tokens),
        cache_write=sum(t.cache_write or 0 for t in tokens),
        output=sum(t.output or 0 for t in tokens),
        reasoning=sum(t.reasoning or 0 for t in tokens),
        tokens_n=len(tokens),
        est=sum(estimates, Decimal(0)),
        est_n=len(estimates),
        billed=sum((b.usd for b in bills if b.usd is not None), Decimal(0)),
        billed_n=len(bills),
        billed_complete_n=sum(b.coverage == "complete" for b in bills),
        reruns=sum(trial.state == "queued" and bool(trial.record.rerun) for trial in kept),
        followups=sum(trial.record.followup is not None for trial in kept),
        stale=sum(bool(trial.record.stale) for trial in kept),
    )


def credit(trial: Trial) -> float | None:
    """Progress of a done trial that has one: a success counts 1 whatever the grader wrote."""
    value = trial.record.progress if trial.state in DONE else None
    return None if value is None else 1.0 if trial.state == "success" else value


@functools.lru_cache(4096)
def wilson(k: int, n: int) -> Rate | None:
    """`k` of `n` with the 95 % Wilson interval; None without a denominator."""
    if n == 0:
        return None
    from scipy.stats import binomtest  # half a second to import, and only pages with rates need it

    interval = binomtest(k, n).proportion_ci(confidence_level=0.95, method="wilson")
    return Rate(k=k, n=n, share=k / n, low=float(interval.low), high=float(interval.high))


class MetricTotal(msgspec.Struct, frozen=True, kw_only=True):
    """A declared metric over the done trials that have it."""

    key: str
    summary: str
    value: float | None = None
    n: int = 0


def metric_total(trials: Iterable[Trial], metric: Metric) -> MetricTotal:
    """Mean or median of a metric, as it is declared (9.5); blank without a value."""
    values = [v for t in trials if t.state in DONE and (v := (t.record.metrics or {}).get(metric.key)) is not None]
    value = (statistics.median if metric.summary == "median" else statistics.fmean)(values) if values else None
    return MetricTotal(key=metric.key, summary=metric.summary, value=value, n=len(values))


class FamilyMode(msgspec.Struct, frozen=True, kw_only=True):
    """One mode of a family: done, success, and the plain mean of the raw metric over the done trials that have it."""

    done: int = 0
    success: int = 0
    mean: float | None = None
    n: int = 0


class FamilyTotal(msgspec.Struct, frozen=True, kw_only=True):
    """A family of tasks (9.5). `scores` are the names in its tasks' `continuous_score`."""

    family: str
    tasks: int
    excluded: bool
    """True if every task of it is excluded from the benchmark."""
    scores: tuple[str, ...]
    modes: Mapping[str, FamilyMode]


def family_totals(
    trials: Iterable[Trial], tasks: Mapping[str, Task], key: str, order: Sequence[str] = ()
) -> tuple[FamilyTotal, ...]:
    """Families of the trials' tasks: those of excluded tasks last, else in `order` (the benchmark's scenes), then by name."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.task in tasks and trial.state not in LEFT_OUT:
            groups.setdefault(tasks[trial.task].family or "other", []).append(trial)
    found = [_family(name, group, tasks, key) for name, group in groups.items()]
    place = {name: at for at, name in enumerate(order)}
    return tuple(sorted(found, key=lambda f: (f.excluded, place.get(f.family, len(place)), f.family)))


def _family(name: str, trials: Sequence[Trial], tasks: Mapping[str, Task], key: str) -> FamilyTotal:
    members = [tasks[task] for task in dict.fromkeys(trial.task for trial in trials)]
    modes = {}
    for mode in dict.fromkeys(trial.mode for trial in trials):
        done = [trial for trial in trials if trial.mode == mode and trial.state in DONE]
        values = [v for trial in done if (v := (trial.record.metrics or {}).get(key)) is not None]
        modes[mode] = FamilyMode(
            done=len(done),
            success=sum(trial.state == "success" for trial in done),
            mean=statistics.fmean(values) if values else None,
            n=len(values),
        )
    return FamilyTotal(
        family=name,
        tasks=len(members),
        excluded=all(task.excluded for task in members),
        scores=tuple(sorted({task.continuous_score for task in members if task.continuous_score})),
        modes=modes,
    )
