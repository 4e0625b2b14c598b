"""A job is alive if a live process names it, by any of the ways of B5 (a made-up /proc)."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchpipe.probe.liveness import find_runners

Process = Callable[..., None]


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    for name in ("b-limited", "b-unlimited"):
        (tmp_path / "jobs" / name).mkdir(parents=True)
    return tmp_path / "jobs"


def alive(tmp_path: Path, job: Path, *arguments: str, cwd: Path | str = "/") -> bool:
    folder = tmp_path / "proc" / "4242"
    folder.mkdir(parents=True)
    (folder / "cmdline").write_bytes(b"\0".join(os.fsencode(argument) for argument in arguments) + b"\0")
    (folder / "cwd").symlink_to(cwd)
    (tmp_path / "proc" / "not-a-pid").mkdir()
    (tmp_path / "proc" / "7").mkdir()  # one whose files are gone already
    return find_runners(str(tmp_path / "proc")).alive(str(job))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["python", "/bin/harbor", "run", "--job-name", "b-limited"], True),
        (["harbor", "run", "--job-name=b-limited"], True),
        (["harbor", "run", "--job-name", "b-unlimited"], False),
        (["harbor", "run", "--job-name"], False),
        (["harbor", "job", "resume", "-p", "/data/jobs/b-limited"], True),
        (["harbor", "job", "resume", "-p", "jobs/b-limited/"], True),
        (["harbor", "job", "resume", "--job-path=b-limited"], True),
        (["harbor", "run", "-p", "/tasks/limited"], False),
        (["harbor", "run", "-c", "/data/jobs/b-limited/config.json"], True),
        (["harbor", "run", "--config", "/data/jobs/config.json"], False),
        (["sh", "-c", "tail -f /data/jobs/b-limited/job.log"], False),
        (["grep", "b-limited"], False),
    ],
)
def test_a_process_that_names_the_job_keeps_it_alive(tmp_path: Path, jobs: Path, arguments: list[str], expected: bool) -> None:
    assert alive(tmp_path, jobs / "b-limited", *arguments) is expected


@pytest.mark.parametrize(("program", "expected"), [("harbor", True), ("/usr/bin/python3", True), ("-bash", False), ("less", False)])
def test_a_runner_that_works_in_the_job_counts_and_somebody_who_looks_does_not(
    tmp_path: Path, jobs: Path, program: str, expected: bool
) -> None:
    assert alive(tmp_path, jobs / "b-limited", program, cwd=jobs / "b-limited") is expected


def test_links_are_resolved_both_ways(tmp_path: Path, jobs: Path) -> None:
    (jobs / "site-limited").symlink_to("b-limited")
    assert alive(tmp_path, jobs / "site-limited", "harbor", "--job-name", "b-limited")


def test_without_proc_nothing_is_alive(tmp_path: Path, jobs: Path) -> None:
    assert not find_runners(str(tmp_path / "nowhere")).alive(str(jobs / "b-limited"))


def test_a_real_process_is_found_and_lost(jobs: Path) -> None:
    command = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()", "harbor", "run", "--job-name", "b-limited"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert find_runners().alive(str(jobs / "b-limited"))
        process.communicate()
    assert not find_runners().alive(str(jobs / "b-limited"))
