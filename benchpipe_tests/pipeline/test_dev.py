"""`benchpipe dev` as a newcomer meets it: the UI answers, the sensor builds everything, the command line shares the instance."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchpipe.lab import Lab
from benchpipe_tests.faults.building import small_lab

BIN = Path(sys.executable).parent


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait(what: str, true: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds:.0f} s in vain until {what}"
        time.sleep(0.5)


def get(url: str, query: str | None = None) -> dict[str, Any]:
    """A JSON document; {} while nobody answers."""
    body = json.dumps({"query": query}).encode() if query else None
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"}), timeout=20) as answer:
            return dict(json.load(answer))
    except (OSError, ValueError):
        return {}


def processes(group: int) -> list[int]:
    """Live processes of a process group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, of = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(of) == group and state != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[tuple[Lab, str, int, Path]]:
    """A small lab with `benchpipe dev` on it: the lab, the UI's address, the process id, and what the process says."""
    lab, port, said = small_lab(tmp_path / "lab"), free_port(), tmp_path / "said"
    with said.open("wb") as log:
        process = subprocess.Popen(
            [BIN / "benchpipe", "--lab", lab.root, "dev", "--port", str(port)],
            stdout=log,
            stderr=log,
            cwd=tmp_path,
            start_new_session=True,
        )
    try:
        yield lab, f"http://127.0.0.1:{port}", process.pid, said
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)
        for left in processes(process.pid):
            os.kill(left, signal.SIGKILL)


@pytest.mark.timeout(400)
def test_the_ui_opens_the_sensor_builds_everything_and_the_command_line_shares_the_instance(
    dev: tuple[Lab, str, int, Path], tmp_path: Path
) -> None:
    lab, url, pid, said = dev
    wait("the UI answers", lambda: "dagster_webserver_version" in get(f"{url}/server_info"))
    assets = get(f"{url}/graphql", "{assetsOrError{... on AssetConnection{nodes{key{path} definition{groupName}}}}}")
    nodes = assets["data"]["assetsOrError"]["nodes"]
    assert {(node["key"]["path"][0], node["definition"]["groupName"]) for node in nodes} >= {
        ("run_states", "runs"),
        ("status_json", "runs"),
        ("host_trials", "hosts"),
    }
    places = {"DAGSTER_HOME": str(lab.dagster_home), "BENCHPIPE_LAB": str(lab.root)}
    wait("the sensor has built the site", lambda: (lab.site / "runs" / "tabletop" / "index.html").is_file())
    command = [BIN / "dagster", "asset", "materialize", "--select", "run_states", "--partition", "tabletop"]
    done = subprocess.run(
        [*command, "-m", "benchpipe.definitions"],
        cwd=tmp_path,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    runs = get(f"{url}/graphql", "{runsOrError(filter:{statuses:[SUCCESS]}){... on Runs{results{jobName tags{key value}}}}}")
    by_hand = [run for run in runs["data"]["runsOrError"]["results"] if run["jobName"] == "__ASSET_JOB"]
    assert {"key": "dagster/partition", "value": "tabletop"} in by_hand[0]["tags"], "the UI shows what the command did"
    text = said.read_text(errors="replace")
    assert "benchpipe/" not in "".join(line for line in text.splitlines() if "Warning" in line), "no warning of ours"
    os.kill(pid, signal.SIGTERM)
    wait("every process of it is gone", lambda: processes(pid) == [], 60)
