"""`benchpipe runs` killed at random moments: what it wrote is whole, and the next runs end where an undisturbed one does."""

import contextlib
import os
import random
import signal
import time
from pathlib import Path

import dagster as dg
import pytest

from benchpipe.lab import Lab
from benchpipe.pipeline.instance import IN_FLIGHT, open_instance
from benchpipe_tests.faults.building import check_whole, differing, outputs, run, start
from benchpipe_tests.faults.conftest import Reference


@pytest.mark.timeout(600)
def test_a_collector_killed_at_any_moment_leaves_whole_files_and_the_next_run_completes(
    reference: Reference, tmp_path: Path
) -> None:
    kill_and_finish(reference, random.Random(20261130), kills=5, log=tmp_path / "log")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_collector_killed_thirty_times_leaves_whole_files_and_the_next_run_completes(
    reference: Reference, tmp_path: Path
) -> None:
    kill_and_finish(reference, random.Random(), kills=30, log=tmp_path / "log")


def kill_and_finish(reference: Reference, dice: random.Random, *, kills: int, log: Path) -> None:
    """Kill runs, some of them in a row on the same lab; then one completes, and the lab equals one that was never killed."""
    killed, seconds = 0, reference.seconds
    for _ in range(2 * kills):
        lab = reference.fresh()
        in_a_row = min(dice.choice((1, 2, 3)), kills - killed)
        for _ in range(in_a_row):
            early = killed_early(lab, reference.clock, dice.uniform(0.1, 0.95) * seconds, log)
            killed += early
            seconds *= 1 if early else 0.5  # the reference may have run while the machine was busy with something else
            check_whole(lab)
        run(lab, reference.clock, log=log)
        check_whole(lab)
        assert differing(outputs(lab), reference.outputs) == []
        with open_instance(lab) as instance:
            assert instance.get_runs_count(dg.RunsFilter(statuses=IN_FLIGHT)) == 0, "what was killed blocks nothing"
        if killed == kills:
            return
    raise AssertionError(f"only {killed} of {2 * kills} runs lived long enough to be killed")


def killed_early(lab: Lab, clock: int, seconds: float, log: Path) -> bool:
    """Start a run and kill it after a while; False if it had ended by then."""
    process = start(lab, clock, log=log)
    time.sleep(seconds)
    alive = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for left in (f"faketime_shm_{process.pid}", f"sem.faketime_sem_{process.pid}"):
        Path("/dev/shm", left).unlink(missing_ok=True)  # a later process with this number would fail over it
    return alive
