"""A real Dagster instance per test (SQLite in a temporary folder), and a lab that was collected once and is copied."""

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test

from benchpipe import demo
from benchpipe.definitions import defs
from benchpipe.hosts.pool import Pool
from benchpipe.lab import Lab
from benchpipe.pipeline.collecting import Cycle, collect_once
from benchpipe.pipeline.instance import open_instance
from benchpipe.pipeline.scene import Scene, use_lab


def cycle(instance: dg.DagsterInstance, lab: Lab, **options: Any) -> Cycle:
    """One cycle of `benchpipe runs` on `lab`."""
    with Pool() as pool:
        return collect_once(instance, Scene(lab), defs, **{"now": datetime.now(UTC), "pool": pool, **options})


@pytest.fixture(scope="session")
def collected_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab with the shipped jobs on which one cycle has run. Read it; to change one, take `collected`."""
    root = tmp_path_factory.mktemp("collected") / "lab"
    lab = demo.make_lab(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHPIPE_LAB", str(lab.root))
        with open_instance(lab) as instance:
            done = cycle(instance, lab)
    assert not done.failed, done.failed
    return root


@pytest.fixture
def collected(collected_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A copy of its own of the collected lab, at the path where the digests of file times still hold."""
    root = tmp_path / "lab"
    shutil.copytree(collected_once, root, symlinks=True)
    monkeypatch.setenv("BENCHPIPE_LAB", str(root))
    lab = Lab(root)
    use_lab(lab)
    return lab


@pytest.fixture
def instance(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    """The instance of the `lab` fixture's lab, in which nothing was collected yet."""
    monkeypatch.setenv("BENCHPIPE_LAB", str(lab.root))
    with open_instance(lab) as instance:
        yield instance


@pytest.fixture
def run_of(instance: dg.DagsterInstance) -> Callable[..., dg.DagsterRun]:
    """`run_of("collect", "tabletop", "digest", status)` stores a run as if it had been started for these inputs."""

    def make(job: str, partition: str | None, inputs: str, status: dg.DagsterRunStatus) -> dg.DagsterRun:
        tags = {"benchpipe/inputs": inputs} | ({"dagster/partition": partition} if partition else {})
        return create_run_for_test(instance, job_name=job, status=status, tags=tags)

    return make


def materialised(instance: dg.DagsterInstance, since: int = 0) -> set[str]:
    """Assets (with their partition) that were materialised by runs newer than the first `since` runs, from the event log."""
    names = set()
    runs = list(instance.get_runs())  # newest first
    for run in runs[: len(runs) - since]:
        for record in instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION).records:
            if event := record.asset_materialization:
                names.add(event.asset_key.to_user_string() + (f"[{event.partition}]" if event.partition else ""))
    return names
