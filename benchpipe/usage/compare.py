"""Comparing two runs task by task (C6): only within one benchmark, mode and task version, with an exact paired test."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

import msgspec


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs over the tasks that are done in both. `p` is exact McNemar, two-sided; None where no task tells them apart."""

    both: int
    only_a: int
    only_b: int
    neither: int
    p: float | None

    @property
    def n(self) -> int:
        """Tasks compared."""
        return self.both + self.only_a + self.only_b + self.neither


def paired(a: Mapping[str, bool], b: Mapping[str, bool]) -> Paired:
    """Task → solved, of each run, over its done trials of one mode."""
    common = [(a[task], b[task]) for task in a.keys() & b.keys()]
    only_a, only_b = common.count((True, False)), common.count((False, True))
    return Paired(
        both=common.count((True, True)),
        only_a=only_a,
        only_b=only_b,
        neither=common.count((False, False)),
        p=mcnemar(only_a, only_b),
    )


def mcnemar(only_a: int, only_b: int) -> float | None:
    """Two-sided p of exact McNemar: a binomial test of the tasks that only one run solved."""
    if only_a + only_b == 0:
        return None
    from scipy.stats import binomtest

    return float(binomtest(only_a, only_a + only_b).pvalue)


def frontier(points: Sequence[tuple[Decimal, float]]) -> tuple[int, ...]:
    """Places of the points (cost, score) that no other one beats: none is as cheap and better, or cheaper and as good."""
    return tuple(
        i
        for i, (cost, score) in enumerate(points)
        if not any((c <= cost and s > score) or (c < cost and s >= score) for c, s in points)
    )
