"""What `benchpipe runs` tells a person besides its last line."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchpipe.cli.runs import tell_problems_found
from benchpipe.lab import Lab


def test_what_could_not_be_read_is_told_on_stderr_with_its_asset(capsys: pytest.CaptureFixture[str]) -> None:
    built = {
        "run_states[b]": {"n_problems": 2, "problems": "- gpu1: j/t: result.json is empty\n- gpu1: j: cut"},
        "cost_estimates[b]": {"n": 1},
    }
    built |= {"agent_registry": {"problems": "- a.yml:1: no label"}}
    tell_problems_found(built)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "run_states[b]: gpu1: j/t: result.json is empty\nrun_states[b]: gpu1: j: cut\n"


def test_watching_goes_on_while_the_hosts_file_is_being_edited(lab: Lab, tmp_path: Path) -> None:
    hosts = lab.hosts_files()[0]
    whole = hosts.read_text()
    command = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab", str(lab.root), "runs", "--watch", "1"]
    said = tmp_path / "said"

    def lines() -> list[str]:
        return said.read_text().splitlines() if said.exists() else []

    def until(pattern: str, process: subprocess.Popen[bytes], times: int = 1) -> None:
        for _ in range(600):
            if sum(bool(re.search(pattern, line)) for line in lines()) >= times:
                return
            assert process.poll() is None, lines()[-5:]
            time.sleep(0.1)
        raise AssertionError(f"{pattern} was not said within a minute: {lines()[-5:]}")

    with said.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        until("hosts down: none", process)
        hosts.write_text("gpu1: {ssh: gp\n")
        until("no host to ask", process)
        hosts.write_text(whole)
        until("hosts down: none", process, times=sum("hosts down: none" in line for line in lines()) + 1)
        os.kill(process.pid, signal.SIGINT)
    assert process.returncode == 130


def test_plain_runs_without_a_host_end_with_what_to_do(lab: Lab) -> None:
    lab.hosts_files()[0].unlink()
    command = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab", str(lab.root), "runs"]
    for more in ([], ["--watch", "1"]):
        done = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.startswith("benchpipe: no host to ask: write data/runs/hosts.")) == (2, True)
