"""`serve`, `edit` and `site build` as their users start them."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchpipe.lab import Lab
from benchpipe_tests.site.labs import make_lab, run_ids

PATIENCE_S = 60
BENCHPIPE = [sys.executable, "-c", "from benchpipe.cli.main import main; main()"]


@pytest.fixture
def kitchen(tmp_path: Path) -> Lab:
    return make_lab(tmp_path / "lab", runs=2, tasks=3)


@pytest.fixture
def start(kitchen: Lab) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """`start("serve", …)` starts the command on the lab: the process and the address it printed."""
    running: list[subprocess.Popen[str]] = []

    def begin(*arguments: str) -> tuple[subprocess.Popen[str], str]:
        command = [*BENCHPIPE, "--lab", str(kitchen.root), *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout
        return process, process.stdout.readline().strip()

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=10) as answer:
        return answer.read().decode()


def until(true: Callable[[], Any]) -> None:
    """Wait for something to come true; what never does fails."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if true():
            return
        time.sleep(0.2)
    pytest.fail("it never came true")


def test_serve_shows_what_changed_without_being_asked(start: Callable[..., Any], kitchen: Lab) -> None:
    _, address = start("serve")
    page = address + "runs/kitchen/"
    assert "Runs of Kitchen" in get(page)
    agent = kitchen.agents / f"{run_ids(1)[0]}.yml"
    agent.write_text(agent.read_text().replace("label: codex", "label: Renamed codex"))
    until(lambda: "Renamed codex" in get(page))


def test_a_second_server_takes_another_port_and_names_the_first(start: Callable[..., Any], kitchen: Lab) -> None:
    first, one = start("serve")
    second, two = start("serve")
    assert one != two
    health = json.loads(get(two + "~health"))
    assert (health["app"], health["pid"], health["lab"]) == ("benchpipe", second.pid, str(kitchen.root))
    second.send_signal(signal.SIGINT)
    assert f"an older server of this lab is at {one} (process {first.pid}" in second.communicate(timeout=20)[1]
    taken = start("serve", "--port", one.rsplit(":", 1)[1].strip("/"))[0]
    assert taken.wait(20) == 2
    assert taken.stderr is not None
    assert f"process {first.pid}" in taken.stderr.read()


@pytest.mark.parametrize("command", ["serve", "edit"])
def test_ctrl_c_ends_it_although_a_page_is_open_and_a_caller_is_slow(start: Callable[..., Any], command: str) -> None:
    process, printed = start(command)
    port = int(printed.partition("#")[0].rsplit(":", 1)[1].strip("/"))
    page, slow = (socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(2))
    page.sendall(b"GET /~events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    slow.sendall(b"POST /~health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
    assert page.recv(100).startswith(b"HTTP/1.1 200")
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert "Traceback" not in said
    page.close()
    slow.close()


def test_serve_ends_with_the_shell_that_started_it(kitchen: Lab) -> None:
    command = shlex.join([*BENCHPIPE, "--lab", str(kitchen.root), "serve"])
    shell = subprocess.Popen(
        ["sh", "-c", f"{command} & echo $!; wait"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert shell.stdout
    pid, address = int(shell.stdout.readline()), shell.stdout.readline().strip()
    assert "Kitchen" in get(address)
    shell.kill()
    shell.wait()
    until(lambda: not _alive(pid))
    shell.stdout.close()


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_edit_prints_an_address_with_a_token_that_lets_one_curate(start: Callable[..., Any], kitchen: Lab) -> None:
    _, printed = start("edit")
    address, _, token = printed.partition("#token=")
    assert len(token) > 20
    assert "/~edit.js" in get(address + "runs/kitchen/")
    change = {"benchmark": "kitchen", "kind": "excluded", "task": "task_001", "value": "its check is wrong"}
    headers = {"Content-Type": "application/json", "X-Benchpipe-Token": token}

    def post(path: str, order: Any, given: dict[str, str]) -> dict[str, Any]:
        request = urllib.request.Request(address + path, json.dumps(order).encode(), given)
        return json.loads(get_answer(request))

    with pytest.raises(urllib.error.HTTPError, match="403"):
        post("~edit/apply", {"change": change, "digest": ""}, {**headers, "X-Benchpipe-Token": "guess"})
    shown = post("~edit/preview", {"change": change}, headers)
    post("~edit/apply", {"change": change, "digest": shown["digest"]}, headers)
    assert "its check is wrong" in (kitchen.state_tasks / "kitchen.yml").read_text()
    until(lambda: "its check is wrong" in get(address + "benchmarks/kitchen/tasks/task_001/"))


def get_answer(request: urllib.request.Request) -> bytes:
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read()


def test_site_build_says_what_it_wrote_and_refuses_a_folder_with_something_else(kitchen: Lab, tmp_path: Path) -> None:
    command = [*BENCHPIPE, "--lab", str(kitchen.root), "site", "build", "--out"]
    done = subprocess.run([*command, tmp_path / "out"], capture_output=True, text=True, check=True)
    assert "files" in done.stdout
    assert (tmp_path / "out/runs/overview/index.html").is_file()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("x")
    refused = subprocess.run([*command, tmp_path / "mine"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "no site of ours" in refused.stderr
    assert os.listdir(tmp_path / "mine") == ["thesis.tex"]
