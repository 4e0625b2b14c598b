"""A toy harness measured for real, once per test session, and labs with submissions made from it."""

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchpipe.contributions.checking import Checked, check_submission
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Benchmark
from benchpipe_tests.conftest import REPOSITORY

TOY = REPOSITORY / "tools" / "toy_benchmark"
TODAY = date(2026, 11, 30)
COMMIT = "c0ffee" + "0" * 34


@dataclass
class Contribution:
    """A lab with one submission in it and everything behind it. Changes are written at once."""

    lab: Lab
    file: Path

    @property
    def doc(self) -> dict[str, Any]:
        return json.loads(self.file.read_text())

    def edit(self, change: Callable[[dict[str, Any]], object], path: Path | None = None) -> None:
        """Read a JSON file (the submission by default), change it, write it."""
        path = path or self.file
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value, indent=1))

    def per_task(self, n: int) -> Path:
        return self.lab.contrib / self.doc["runs"][n]["per_task"]

    @property
    def run_meta(self) -> Path:
        return self.lab.contrib / self.doc["artifacts"]["run_meta"]

    @property
    def dataset(self) -> Path:
        return self.lab.contrib / self.doc["artifacts"]["dataset_path"]

    def tree(self, round_: int) -> Path:
        return self.dataset / "harness" / f"round-{round_}"

    def edit_curve(self, change: Callable[[list[dict[str, Any]]], object]) -> None:
        curve = self.dataset / "curve.jsonl"
        points = [json.loads(line) for line in curve.read_text().splitlines()]
        change(points)
        curve.write_text("".join(json.dumps(point) + "\n" for point in points))

    def benchmarks(self) -> dict[str, Benchmark]:
        return dict(load_registry(self.lab).benchmarks)

    def check(self, **options: Any) -> Checked:
        """The gate's answer."""
        return check_submission(self.file, self.lab, self.benchmarks(), today=TODAY, **options)


@pytest.fixture(scope="session")
def submit() -> ModuleType:
    """tools/toy_benchmark/submit.py, which a contributor would use."""
    sys.path.insert(0, str(TOY))
    try:
        spec = importlib.util.spec_from_file_location("toy_submit", TOY / "submit.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(TOY))


@pytest.fixture(scope="session")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Folders of real experiments by their number of trials: three rounds with one trial, one round with two."""
    root = tmp_path_factory.mktemp("experiments")
    for trials, rounds in ((1, 3), (2, 1)):
        command = [sys.executable, str(TOY / "run.py"), str(root / str(trials)), "--method", "first-come"]
        command += ["--rounds", str(rounds), "--trials", str(trials), "--run-id", f"toy-{trials}"]
        subprocess.run(command, check=True, capture_output=True, env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"})
    return {1: root / "1", 2: root / "2"}


def make_lab(root: Path) -> Lab:
    """A lab with the registered benchmarks and no submission."""
    for name in ("data/benchmarks", "data/agents"):
        shutil.copytree(REPOSITORY / name, root / name)
    (root / "contrib" / "results").mkdir(parents=True)
    (root / "state" / "contrib").mkdir(parents=True)
    return Lab(root.resolve())


Contribute = Callable[..., Contribution]


@pytest.fixture
def contribute(tmp_path: Path, submit: ModuleType, experiments: dict[int, Path]) -> Contribute:
    """`contribute()` makes a lab with one honest submission; `trials`, `method`, `variant`, `rounds` and `lab` vary it."""

    def make(
        *, trials: int = 1, method: str = "first-come", variant: str = "v1", rounds: list[int] | None = None, lab: Lab | None = None
    ) -> Contribution:
        out = experiments[trials]
        lab = lab or make_lab(tmp_path / "lab")
        value = submit.submission(
            out,
            method=method,
            variant=variant,
            rounds=rounds or ([0, 3] if trials == 1 else [0, 1]),
            commit=COMMIT,
            selection="last",
            artifacts=True,
        )
        value["artifacts"]["dataset_path"] += f"-{variant}"
        return Contribution(lab, submit.write_files(out, lab.contrib, value, artifacts=True))

    return make


@pytest.fixture
def honest(contribute: Contribute) -> Contribution:
    """One honest submission with H0 and round 3."""
    return contribute()
