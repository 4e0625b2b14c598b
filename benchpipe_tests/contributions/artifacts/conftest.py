"""Families of the dataset repository made from really measured experiments, ready to be changed and checked."""

import importlib.util
import itertools
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchpipe.contributions import identity
from benchpipe.contributions.artifacts import coverage
from benchpipe.contributions.artifacts.checking import DirectoryReport, check_directory
from benchpipe.contributions.artifacts.layout import scope_of
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.contributions.conftest import make_lab

METHOD = "deskwork/rules_clerk/none-none/first-come"


def load_tool() -> ModuleType:
    """tools/make_experiments.py, which a contributor would use."""
    spec = importlib.util.spec_from_file_location("make_experiments", REPOSITORY / "tools" / "make_experiments.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_experiments"] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class Tree:
    """An `Experiments` folder with one method directory. Changes are written at once."""

    lab: Lab
    experiments: Path
    tool: ModuleType

    @property
    def method(self) -> Path:
        return self.experiments / METHOD

    @property
    def family_file(self) -> Path:
        return self.method.parent / "family.json"

    @property
    def agent_file(self) -> Path:
        return self.method.parent.parent / "task_agent.json"

    @property
    def coverage_file(self) -> Path:
        return self.experiments / "deskwork" / "coverage.json"

    def harness(self, round_: int) -> Path:
        return self.method / "harness" / f"round-{round_}"

    def patch(self, round_: int) -> Path:
        return self.method / "patches" / f"round-{round_}.patch"

    def tasks(self, round_: int) -> Path:
        return self.method / "tasks" / f"round-{round_}.tar.gz"

    def edit(self, file: Path, change: Callable[[Any], object]) -> None:
        """Read a JSON file, change it, write it."""
        value = json.loads(file.read_text())
        change(value)
        file.write_text(json.dumps(value, indent=1))

    def curve(self, change: Callable[[list[dict[str, Any]]], object]) -> None:
        file = self.method / "curve.jsonl"
        points = [json.loads(line) for line in file.read_text().splitlines()]
        change(points)
        file.write_text("".join(json.dumps(point) + "\n" for point in points))

    def point(self, round_: int, change: Callable[[dict[str, Any]], object]) -> None:
        self.curve(lambda points: change(points[round_]))

    def cover(self) -> None:
        """Write the coverage file anew, so that a change is not found by its hash alone."""
        coverage.write(scope_of(self.experiments), "2026-11-30T08:00:00Z")

    def adopt(self) -> None:
        """Make records, baselines and patches say what the trees are now: the change was made before the measurement."""
        shas = {}
        for folder in (self.method / "harness").iterdir():
            shas[int(folder.name.removeprefix("round-"))] = identity.tree_id(identity.read_tree(folder))
        self.curve(lambda points: [point["identity"].update(harness_sha=shas[point["round"]]) for point in points])
        for file in (self.agent_file, self.family_file):
            self.edit(file, lambda value: value["baseline"].update(harness_sha=shas[0]))
        rounds = sorted(shas)
        for before, after in itertools.pairwise(rounds):
            change = self.tool.difference(self.method / "harness", f"round-{before}", f"round-{after}")
            self.patch(after).write_bytes(change)

    def check(self, path: Path | None = None) -> DirectoryReport:
        return check_directory(path or self.experiments, self.lab, load_registry(self.lab).benchmarks)

    def codes(self) -> set[str]:
        """Codes of the errors and of what could not be checked."""
        return {one.code for one in self.check().findings}


@pytest.fixture(scope="session")
def make_experiments() -> ModuleType:
    return load_tool()


@pytest.fixture(scope="session")
def families(
    tmp_path_factory: pytest.TempPathFactory, experiments: dict[int, Path], make_experiments: ModuleType
) -> dict[int, Tree]:
    """Honest trees by their number of trials, made once; tests work on copies."""
    root = tmp_path_factory.mktemp("families")
    made = {}
    for trials, out in experiments.items():
        lab = make_lab(root / f"lab{trials}")
        tree = Tree(lab, lab.contrib / "Experiments", make_experiments)
        make_experiments.family(out, tree.experiments, "first-come")
        tree.cover()
        made[trials] = tree
    return made


Grow = Callable[..., Tree]


@pytest.fixture
def grow(tmp_path: Path, families: dict[int, Tree]) -> Grow:
    """`grow()` copies the honest tree; `trials=2` the one with two trials per task."""

    def copy(trials: int = 1) -> Tree:
        source = families[trials]
        root = tmp_path / f"lab{trials}"
        shutil.copytree(source.lab.root, root)
        lab = Lab(root.resolve())
        return Tree(lab, lab.contrib / "Experiments", source.tool)

    return copy
