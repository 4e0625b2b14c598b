"""Mirroring into a dataset on the Hub: a real client against a server on loopback; read back from the commit, and compared."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.contributions.hub import DATASET, ReadableHub, readable_hub
from benchpipe_tests.contributions.trajectories.conftest import World


@pytest.fixture
def hub() -> Iterator[ReadableHub]:
    with readable_hub() as server:
        yield server


def mirror(world: World, hub: ReadableHub) -> str:
    lab = world.contribution.lab.root
    place = [str(lab), str(world.file), f"hub:{DATASET}", str(world.server.server_port), str(world.server.certificate)]
    environment = {
        **os.environ, "HF_ENDPOINT": hub.endpoint, "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": "any", "HF_HOME": str(lab / ".hf"),
        "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }  # fmt: skip
    command = [sys.executable, "-m", "benchpipe_tests.contributions.trajectories.mirror_process", *place]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


def test_the_copy_lies_in_a_commit_that_the_submission_names(world: World, hub: ReadableHub) -> None:
    assert mirror(world, hub) == "mirrored"
    record = world.doc["trajectories"]["mirror"]
    assert hub.files[record["path"]] == world.archive
    assert record["repository"] == DATASET
    assert record["revision"] == hub.head
    assert hub.read == [record["path"]]
    assert f"/datasets/{DATASET}/resolve/{hub.head}/" in record["location"]
    n_commits = len(hub.commits)
    assert mirror(world, hub) == "mirrored"
    assert len(hub.commits) == n_commits


def test_a_copy_that_reads_back_differently_is_no_mirror(world: World, hub: ReadableHub) -> None:
    address = f"trajectories/deskwork/first-come/v1/{world.declared.sha256}.tar.gz"
    hub.damage.add(address)
    before = world.file.read_bytes()
    assert mirror(world, hub) == "mirror_failed"
    assert world.file.read_bytes() == before
    assert world.report().verdict == "verified"


def test_a_commit_that_was_stored_and_not_answered_is_not_sent_again(world: World, hub: ReadableHub) -> None:
    hub.faults = ["500"]
    first = mirror(world, hub)
    assert first in ("mirroring", "mirrored")
    if first == "mirroring":
        assert "500" in (world.trail.fault or "")
        assert mirror(world, hub) == "mirrored"
    assert len([commit for commit in hub.commits if commit[1]]) == 1
