"""Playing recorded trajectories again, per benchmark: level L2 (a verifier on the final answer) and L3 (actions into the
environment). Only code of ours runs; recorded text is data to it (contributions 15.2).

A benchmark says in its file what it wants: `replay: {at_least: L1}`, with `adapter: <name>` (L3) or `answers: <file>` (L2).
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchpipe.contributions.trajectories.adapters.answers import answers_player, expected_answers
from benchpipe.contributions.trajectories.contents import Player, Slot
from benchpipe.files import sha256
from benchpipe.lab import Lab
from benchpipe.registry.records import Benchmark

LEVELS = ("L0", "L1", "L2", "L3")
L3 = {"deskwork": "benchpipe.contributions.trajectories.adapters.deskwork"}
"""Adapters by name: modules with `player(task) -> Player`, `expected() -> {task: answer}`, `digest()` and `missing() -> str`."""


@dataclass(frozen=True)
class Adapter:
    """Makes players. `digest` changes when their verdicts may."""

    level: str
    player: Callable[[Slot], Player]
    digest: str


@dataclass(frozen=True)
class Wanted:
    """What a benchmark wants of given trajectories. `missing` says why its adapter can't be used here."""

    at_least: str
    adapter: Adapter | None
    missing: str = ""

    @property
    def facts(self) -> tuple[object, ...]:
        """What a verdict of a replay depends on besides the archive."""
        return self.at_least, [self.adapter.level, self.adapter.digest] if self.adapter else self.missing


def wanted_by(benchmark: Benchmark, lab: Lab) -> Wanted:
    """The level that a benchmark asks for and the adapter that there is for it. Default: L1, no adapter."""
    said = benchmark.raw.get("replay")
    said = said if isinstance(said, Mapping) else {}
    at_least = str(said.get("at_least", "L1"))
    if at_least not in LEVELS:
        return Wanted("L1", None, f"data/benchmarks/{benchmark.id}.yml: replay.at_least {at_least} is none of {', '.join(LEVELS)}")
    if name := said.get("adapter"):
        if name not in L3:
            return Wanted(at_least, None, f"there is no adapter {name}; there are {', '.join(sorted(L3))}")
        module: Any = importlib.import_module(L3[str(name)])
        if missing := module.missing():
            return Wanted(at_least, None, missing)
        return Wanted(at_least, Adapter("L3", lambda slot: module.player(slot.task), module.digest()))
    if file := said.get("answers"):
        path = lab.root / str(file)
        if not path.is_file():
            return Wanted(at_least, None, f"the expected answers ({file}) are not on this machine")
        data = path.read_bytes()
        return Wanted(at_least, Adapter("L2", answers_player(data), sha256(data)))
    return Wanted(at_least, None)


def expected_by(benchmark: Benchmark, lab: Lab) -> Mapping[str, str]:
    """Expected answers by task, as far as this machine has them. They are the platform's own and go into no report."""
    said = benchmark.raw.get("replay")
    said = said if isinstance(said, Mapping) else {}
    if said.get("adapter") in L3:
        module: Any = importlib.import_module(L3[str(said["adapter"])])
        return {} if module.missing() else module.expected()
    path = lab.root / str(said.get("answers", ""))
    return expected_answers(path.read_bytes()) if path.is_file() else {}
