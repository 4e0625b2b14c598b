"""The parts a site can be built in: one benchmark's pages, the contributed results, and everything over all benchmarks.

Every file of the site belongs to exactly one part, told by its address alone, so parts can be built one by one, in any
order, by several processes in turn, and together they are the whole site.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import Final

FOLDERS: Final = ("runs", "runs-data", "benchmarks", "data")
"""Folders that hold one folder per benchmark."""


@dataclass(frozen=True)
class OfBenchmark:
    """One benchmark's runs, tasks, log pages and downloads."""

    id: str


class Shared(Enum):
    """What belongs to no single benchmark. OVERALL also owns what earlier builds left of benchmarks that are gone."""

    OVERALL = "overall"
    RESULTS = "results"


Part = OfBenchmark | Shared


def all_parts(benchmarks: Collection[str]) -> frozenset[Part]:
    """The parts of a whole site."""
    return frozenset([*Shared, *map(OfBenchmark, benchmarks)])


def part_of(path: str, benchmarks: Collection[str]) -> Part:
    """The part that the file at `path` (below the output folder) belongs to, on a site of these benchmarks."""
    first, _, rest = path.partition("/")
    second, slash, _ = rest.partition("/")
    if first == "results" or (first == "data" and second == "results"):
        return Shared.RESULTS
    if first in FOLDERS and slash and second in benchmarks:
        return OfBenchmark(second)
    return Shared.OVERALL
