"""The shipped lab on its whole way: collected, published, built for the public. Nothing of where it ran is in any byte."""

import getpass
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchpipe.demo import JOBS, make_lab
from benchpipe.lab import Lab
from benchpipe.publish.published import size_gate


def run(lab: Lab, *arguments: str) -> None:
    program = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab", str(lab.root)]
    done = subprocess.run([*program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """The shipped lab, collected and published."""
    lab = make_lab(tmp_path_factory.mktemp("demo") / "lab")
    run(lab, "runs")
    run(lab, "publish")
    return lab


def jobs(lab: Lab) -> set[str]:
    return {job.name for host in (lab.root / "jobs").iterdir() for job in host.iterdir() if job.is_dir()}


def test_the_public_site_names_no_host_path_job_or_log_check(lab: Lab, tmp_path: Path) -> None:
    run(lab, "site", "build", "--public", "--out", str(tmp_path / "public"))
    hosts = [folder.name for folder in JOBS.iterdir()]
    assert len(jobs(lab)) > 10
    hidden = [*hosts, *jobs(lab), str(lab.root), str(tmp_path), f"/home/{getpass.getuser()}", "Log checks", '"where"', '"job"']
    found = [
        (text, file.relative_to(folder).as_posix())
        for folder in (lab.published, tmp_path / "public")
        for file in folder.rglob("*")
        if file.is_file()
        for data in [file.read_bytes()]
        for text in hidden
        if text.encode() in data
    ]
    assert found == []
    assert size_gate(tmp_path / "public") > 100_000


def test_the_snapshot_has_the_money_of_the_local_records(lab: Lab) -> None:
    costs = json.loads(lab.costs_file("tabletop").read_bytes())["runs"]
    published = 0
    for run_id, tasks in costs.items():
        document = json.loads((lab.published / "tabletop" / f"{run_id}.json").read_bytes())
        for task, modes in document["tasks"].items():
            for mode, record in modes.items():
                assert record["estimate"]["usd"] == tasks[task][mode]["estimate"]["usd"]
                published += record["estimate"]["usd"] is not None
    assert published > 5
