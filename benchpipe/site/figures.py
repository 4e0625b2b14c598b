"""The numbers above a run's table: totals of one scope in the form that a page shows (runs-system 9.4, 12.2; C6).

The totals themselves are computed in `usage.totals`; nothing is added up here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchpipe.registry.records import Withdrawal
from benchpipe.site.pills import metric_text
from benchpipe.site.states import GROUPS, LOOKS
from benchpipe.usage import format as fmt
from benchpipe.usage.totals import Rate, Totals


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
    rate: str
    rate_short: str
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
