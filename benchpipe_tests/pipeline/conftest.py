"""A real Dagster instance per test (SQLite in a temporary folder), and runs written into it as the daemon would."""

from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test

from benchpipe.lab import Lab
from benchpipe.pipeline.instance import open_instance
from benchpipe.pipeline.scene import use_lab


@pytest.fixture
def instance(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    """The instance of the `lab` fixture's lab."""
    monkeypatch.setenv("BENCHPIPE_LAB", str(lab.root))
    use_lab(lab)
    with open_instance(lab) as instance:
        yield instance


@pytest.fixture
def run_of(instance: dg.DagsterInstance) -> Callable[..., dg.DagsterRun]:
    """`run_of("collect", "tabletop", "digest", status)` stores a run as if it had been started for these inputs."""

    def make(job: str, partition: str | None, inputs: str, status: dg.DagsterRunStatus) -> dg.DagsterRun:
        tags = {"benchpipe/inputs": inputs} | ({"dagster/partition": partition} if partition else {})
        return create_run_for_test(instance, job_name=job, status=status, tags=tags)

    return make


@pytest.fixture
def home(lab: Lab) -> Path:
    return lab.dagster_home
