"""docs/operating.md says what is true: its commands run, its settings are Dagster's, its numbers are the code's."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from dagster._core.instance.config import dagster_instance_config

from benchpipe.pipeline.retention import KEEP_RUNS
from benchpipe.pipeline.sensors import SENSORS
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.faults.building import small_lab

PAGE = (REPOSITORY / "docs" / "operating.md").read_text(encoding="utf-8")


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.timeout(600)
def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    lab = small_lab(tmp_path / "lab")
    (lab.root / "workspace.yaml").write_bytes((REPOSITORY / "workspace.yaml").read_bytes())
    script = "\n".join(["set -eu", "benchpipe runs --no-sync", "export DAGSTER_HOME=$PWD/.dagster", *examples("sh")])
    script = script.replace("--partition gpu1", "--partition gpu3")  # the small lab has two of the hosts
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "BENCHPIPE_LAB": str(lab.root)}
    done = subprocess.run(["bash", "-c", script], cwd=lab.root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Started sensor host_poll_sensor" in done.stdout
    assert "Stopped sensor host_poll_sensor" in done.stdout


def test_the_settings_of_the_page_are_dagsters(tmp_path: Path) -> None:
    (example,) = examples("yaml")
    shipped = (REPOSITORY / "benchpipe/pipeline/dagster.yaml").read_text()
    (tmp_path / "dagster.yaml").write_text(example + shipped)
    settings, _ = dagster_instance_config(str(tmp_path))
    assert settings["storage"] == yaml.safe_load(example)["storage"]


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    assert {10: "ten"}[KEEP_RUNS] + " newest runs" in PAGE
    for sensor in SENSORS:
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{sensor.name}`"))
        every = {180: "3 min", 60: "1 min"}[sensor.minimum_interval_seconds or 0]
        assert f"| {every} | {'on' if sensor.default_status.value == 'RUNNING' else 'off'} |" in row
