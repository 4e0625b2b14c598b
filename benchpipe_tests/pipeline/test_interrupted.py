"""The runs command when it is interrupted, when somebody else builds, and when the disk is full: one line, the right exit code."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test

from benchpipe import demo
from benchpipe.lab import Lab
from benchpipe.pipeline.instance import open_instance, process_tags
from benchpipe_tests.pipeline.conftest import cycle

RUNS = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab"]


def test_ctrl_c_in_the_middle_of_a_build_ends_the_command_and_is_no_failed_try(lab: Lab) -> None:
    with subprocess.Popen([*RUNS, str(lab.root), "runs"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        lines = []
        for line in process.stderr:
            lines.append(line)
            if line.startswith("tabletop: "):
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
        assert process.wait(60) == 130, "".join(lines) + rest
    assert "Traceback" not in rest
    assert rest.splitlines()[-1] == "benchpipe: interrupted"
    with open_instance(lab) as instance:
        assert instance.get_runs_count(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE])) == 0


def test_what_another_process_builds_is_waited_for_by_nobody_and_is_no_failure(collected: Lab) -> None:
    collected.prices_file.write_text(collected.prices_file.read_text().replace("0.50", "0.60"))
    with open_instance(collected) as instance:
        tags = {"dagster/partition": "tabletop", **process_tags()}
        create_run_for_test(instance, job_name="collect", status=dg.DagsterRunStatus.STARTED, tags=tags)
        done = cycle(instance, collected)
    assert done.waiting == ["tabletop"]
    assert done.failed == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
@pytest.mark.parametrize("kilobytes", [200, 900, 3000])
def test_a_disk_that_fills_up_is_one_line_and_exit_code_2(tmp_path: Path, kilobytes: int) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(small)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount a tmpfs")
    try:
        lab = demo.make_lab(small / "lab")
        stat = os.statvfs(small)
        (small / "filler").write_bytes(bytes(max(0, stat.f_bavail * stat.f_frsize - kilobytes * 1024)))
        done = subprocess.run([*RUNS, str(lab.root), "runs"], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode in (1, 2), done.stderr
        assert "Traceback" not in done.stderr
        assert "space" in done.stderr or "full" in done.stderr
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
