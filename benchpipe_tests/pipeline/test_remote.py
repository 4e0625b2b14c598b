"""One trial's whole way from a machine behind SSH to its log page, by the command that people type."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchpipe.cli.main import cli
from benchpipe.lab import Lab
from benchpipe_tests.hosts import sshd


def test_trials_of_a_remote_host_come_with_their_states_money_and_log_pages(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing := sshd.missing_package():
        pytest.skip(f"needs the Debian package {missing}")
    far = shutil.move(lab.root / "jobs" / "gpu3", tmp_path / "far away")
    with sshd.start(tmp_path / "sshd", "mybox") as box:
        monkeypatch.setenv("BENCHPIPE_SSH_CONFIG", str(box.config))
        (lab.runs / "hosts.demo.local.yml").unlink()
        (lab.runs / "hosts.me.local.yml").write_text(f"mybox: {{ssh: mybox, jobs: {far}}}\n")
        done = CliRunner().invoke(cli, ["--lab", str(lab.root), "runs"])
    assert done.exception is None, done.output
    assert done.output.splitlines()[-1].endswith("8 log pages; hosts down: none")
    page = lab.site / "runs/tabletop/bench_scripted-scripted-default/stack_blocks/unlimited/index.html"
    text = page.read_text()
    assert "I look at the folder and at the table before I change anything." in text
    assert "partial copy" not in text
