"""The numbers above a run's table: totals of one scope in the form that a page shows (runs-system 9.4, 12.2; C6).

The totals themselves are computed in `usage.totals`; nothing is added up here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchpipe.registry.records import Withdrawal
from benchpipe.site.data import RunData
from benchpipe.site.pills import metric_text
from benchpipe.site.states import GROUPS, LOOKS
from benchpipe.trials.records import ACTIVE
from benchpipe.usage import format as fmt
from benchpipe.usage.totals import Totals, metric_total


@dataclass(frozen=True)
class Segment:
    """One part of a state bar: `start` and `share` in per cent of the whole, as texts for SVG attributes."""

    group: str
    icon: str
    word: str
    n: int
    start: str
    share: str


@dataclass(frozen=True)
class ModeFigures:
    """One mode: solved of begun, the bar, and the rate with its interval; or the label of a withdrawn mode."""

    mode: str
    success: str
    trials: str
    done: str
    rate: str
    rate_short: str
    of: str
    interval: str
    """Of how many, and the interval: the small print of `rate_short`."""
    rate_value: str
    segments: tuple[Segment, ...]
    bar_label: str
    withdrawn: str
    note: str


@dataclass(frozen=True)
class Stat:
    """One number: what it is, its value, and of how many."""

    label: str
    value: str
    note: str
    running: str = ""
    """Starts of trials that go on (ISO UTC, a blank between them): their time is added up where somebody reads it."""


@dataclass(frozen=True)
class Figures:
    """All numbers of one scope; `empty` is a sentence where there is nothing to count."""

    empty: str
    modes: tuple[ModeFigures, ...]
    stats: tuple[Stat, ...]


def segments(states: Mapping[str, int]) -> tuple[Segment, ...]:
    """The bar of a count per view state; states that stand in no bar are left out."""
    counts = {group: 0 for group, _, _ in GROUPS}
    for state, n in states.items():
        if LOOKS[state].group in counts:
            counts[LOOKS[state].group] += n
    whole, start, parts = sum(counts.values()), 0, []
    for group, icon, word in GROUPS:
        n = counts[group]
        if n:
            parts.append(Segment(group, icon, word, n, f"{100 * start / whole:.3f}", f"{100 * n / whole:.3f}"))
            start += n
    return tuple(parts)


def bar_label(parts: Sequence[Segment]) -> str:
    """What a bar says to somebody who doesn't see it."""
    return ", ".join(f"{part.n} {part.word}" for part in parts) or "nothing yet"


def totals_of(run: RunData, scope: str) -> Totals:
    """The totals of one bench-run in a scope of 9.4: `bench`, `excluded` or `all`."""
    return run.totals(scope)


def figures(run: RunData, scope: str) -> Figures:
    """Everything above the table of one run, in one scope."""
    summed = totals_of(run, scope)
    if not run.seen.has_data:
        return Figures("", (), ())
    modes = tuple(mode_figures(summed, mode, run.bench_run.withdrawn.get(mode)) for mode in run.bench_run.modes)
    if not summed.trials and not any(mode.segments or mode.withdrawn for mode in modes):
        return Figures("Nothing here counts yet.", (), ())
    return Figures("", modes, tuple(_stats(run, summed, scope)))


def mode_figures(summed: Totals, mode: str, withdrawal: Withdrawal | None) -> ModeFigures:
    """One mode's card; a withdrawn mode shows its label and no number."""
    of = summed.modes.get(mode)
    parts = segments(of.states) if of else ()
    done = of.done if of else 0
    rate = of.rate if of else None
    return ModeFigures(
        mode=mode,
        success=str(of.success if of else 0),
        trials=str(of.trials if of else 0),
        done=str(done),
        rate=f"{fmt.percent(rate.share)} of {done} done, 95% interval {fmt.interval(rate)}"
        if rate and done
        else "nothing is done yet",
        rate_short=fmt.percent(rate.share) if rate and done else "",
        of=f"of {done} done," if rate and done else "",
        interval=fmt.interval(rate) if rate and done else "",
        rate_value=f"{rate.share:.6f}" if rate and done else "",
        segments=parts,
        bar_label=f"{mode}: {bar_label(parts)}",
        withdrawn=withdrawal.label if withdrawal else "",
        note=(withdrawal.note or "") if withdrawal else "",
    )


def _stats(run: RunData, summed: Totals, scope: str) -> Iterator[Stat]:
    if summed.progress_n:
        yield Stat("Mean progress", f"{summed.progress_sum / summed.progress_n:.0%}", f"of {summed.progress_n} with a score")
    for metric in run.bench_run.metrics:
        found = metric_total(run.counted(scope), metric)
        if found.value is not None:
            yield Stat(f"{metric.label}, {metric.summary}", metric_text(metric, found.value), f"of {found.n} done trials")
    running = " ".join(trial.record.started for trial in run.counted(scope) if trial.state in ACTIVE and trial.record.started)
    if summed.agent_s or running:
        yield Stat("Agent time", fmt.hours(summed.agent_s) if summed.agent_s else "—", f"of {summed.agent_n} done trials", running)
    if summed.tokens_n:
        yield Stat("Tokens", tokens_pair(summed), tokens_note(summed))
    yield Stat(
        "Est. cost", fmt.money(summed.est if summed.est_n else None), f"at list prices, {coverage(summed.est_n, summed.trials)}"
    )
    if summed.billed_n:
        yield Stat("Billed", fmt.money(summed.billed), f"by the provider, {coverage(summed.billed_n, summed.trials)}")
    yield from _superseded(run, scope)


def _superseded(run: RunData, scope: str) -> Iterator[Stat]:
    """What attempts cost that a later one replaced: its own number, in no other (B7)."""
    gone = [trial.cost.superseded for trial in run.counted(scope)]
    for word, sums in (("est.", [one.estimate_usd for one in gone]), ("billed", [one.billed_usd for one in gone])):
        known = [usd for usd in sums if usd is not None]
        if known:
            yield Stat(f"Replaced attempts, {word}", fmt.money(sum(known)), "in none of the other numbers")


def mean_progress(summed: Totals) -> str:
    """`45% of 12`: the mean partial credit, and over how many trials."""
    return f"{summed.progress_sum / summed.progress_n:.0%} of {summed.progress_n}"


def tokens_pair(summed: Totals) -> str:
    """`1.4M in / 39k out`."""
    return f"{fmt.tokens(summed.input)} / {fmt.tokens(summed.output)}" if summed.tokens_n else "—"


def tokens_note(summed: Totals) -> str:
    """What is behind the tokens of a total."""
    parts = [f"in / out, {coverage(summed.tokens_n, summed.trials)}"]
    parts += [f"{fmt.percent(summed.cached / summed.input)} of input cached"] if summed.input else []
    parts += [f"{fmt.percent(summed.reasoning / summed.output)} of output reasoning"] if summed.output and summed.reasoning else []
    parts += [f"{summed.calls:,} requests"] if summed.calls else []
    return ", ".join(parts)


def coverage(n: int, of: int) -> str:
    """Over how many trials something was summed: `26 of 30 trials`."""
    return f"{n} of {of} trial{'' if of == 1 else 's'}"
