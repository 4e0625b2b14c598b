"""Two builds of the same inputs are the same bytes: elsewhere, in another time zone and locale, folders listed in another order."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchpipe.lab import Lab
from benchpipe_tests.faults.building import TIMES, differing, outputs, run, shuffled_copy, without
from benchpipe_tests.faults.conftest import Reference

MEMORY = Path("/dev/shm")
ELSEWHERE = {"TZ": "Pacific/Chatham", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "7"}


@pytest.fixture
def elsewhere(reference: Reference) -> Iterator[Lab]:
    """A copy of the lab at another path, on a file system that lists a folder by when its files were made."""
    if not MEMORY.is_dir():
        pytest.skip(f"needs a tmpfs at {MEMORY}")
    root = Path(tempfile.mkdtemp(dir=MEMORY, prefix="benchpipe-"))
    shuffled_copy(reference.pristine, root, seed=20261130)
    yield Lab(root)
    shutil.rmtree(root)


def test_a_build_elsewhere_gives_the_same_bytes(reference: Reference, elsewhere: Lab, tmp_path: Path) -> None:
    names = [path.relative_to(reference.pristine) for path in reference.pristine.rglob("*")]
    assert names != [path.relative_to(elsewhere.root) for path in elsewhere.root.rglob("*")]
    run(elsewhere, reference.clock, ELSEWHERE, log=tmp_path / "log")
    assert differing(outputs(elsewhere), reference.outputs) == []


def test_a_later_build_differs_in_the_named_times_alone(reference: Reference, tmp_path: Path) -> None:
    lab = reference.fresh()
    run(lab, reference.clock + 86_400, log=tmp_path / "log")
    found = outputs(lab)
    assert found.keys() == reference.outputs.keys()
    data = [name for name in differing(found, reference.outputs) if name.startswith("data/")]
    assert "data/runs/status.json" in data
    for name in data:
        assert lasting(found[name]) == lasting(reference.outputs[name]), name


def lasting(data: Any) -> list[Any]:
    """The documents of a JSON or JSON Lines file without the times of the clock."""
    if isinstance(data, dict):
        documents = [data]
    else:
        documents = [json.loads(data)] if data.startswith(b"{\n") else [json.loads(line) for line in data.splitlines()]
    return [without(document, TIMES) for document in documents]
