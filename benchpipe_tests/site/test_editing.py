"""The edit routes: who may call them, what they refuse, and that a change never lands on bytes nobody has seen."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from benchpipe.lab import Lab
from benchpipe.site.editing import APPLY, PREVIEW, Editor
from benchpipe.site.server import SiteServer
from benchpipe_tests.site.labs import make_lab, run_ids

RUN = run_ids(1)[0]
CHANGE = {"benchmark": "kitchen", "run": RUN, "kind": "stopped", "task": "task_001", "mode": "limited", "value": "out of money"}


@pytest.fixture
def kitchen(tmp_path: Path) -> Lab:
    return make_lab(tmp_path / "lab", runs=2, tasks=3)


@pytest.fixture
def port(kitchen: Lab) -> Iterator[int]:
    editor = Editor(kitchen, "the-token")
    server = SiteServer(kitchen.root, 0, routes=editor.routes())
    editor.hosts = {f"{name}:{server.server_address[1]}" for name in ("127.0.0.1", "localhost")}
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def post(port: int, path: str, order: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    given = {"Content-Type": "application/json", "X-Benchpipe-Token": "the-token"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", path, json.dumps(order), given)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


def test_a_change_is_shown_first_and_then_written(port: int, kitchen: Lab) -> None:
    file = kitchen.state_runs / "kitchen.yml"
    before = file.read_text()
    status, shown = post(port, PREVIEW, {"change": CHANGE})
    assert status == 200
    assert shown["file"] == "state/runs/kitchen.yml"
    assert "+    - {task: task_001, mode: limited, note: out of money}" in shown["diff"]
    assert file.read_text() == before
    status, _ = post(port, APPLY, {"change": CHANGE, "digest": shown["digest"]})
    assert status == 200
    assert "out of money" in file.read_text()


def test_a_file_that_changed_meanwhile_is_not_written(port: int, kitchen: Lab) -> None:
    file = kitchen.state_runs / "kitchen.yml"
    _, shown = post(port, PREVIEW, {"change": CHANGE})
    file.write_text(file.read_text() + "# somebody else was here\n")
    status, said = post(port, APPLY, {"change": CHANGE, "digest": shown["digest"]})
    assert status == 409
    assert "changed meanwhile" in said["error"]
    assert "out of money" not in file.read_text()


def test_what_check_would_call_wrong_is_refused(port: int, kitchen: Lab) -> None:
    before = (kitchen.state_runs / "kitchen.yml").read_text()
    for change in (
        CHANGE | {"task": "no_such_task"},
        CHANGE | {"mode": "no_such_mode"},
        {"benchmark": "kitchen", "kind": "status", "task": "task_001", "value": "perhaps"},
    ):
        status, said = post(port, PREVIEW, {"change": change})
        assert status == 422, change
        assert said["error"].startswith("state/")
    assert (kitchen.state_runs / "kitchen.yml").read_text() == before


def test_what_check_would_warn_of_is_shown_with_the_diff(port: int) -> None:
    note = CHANGE | {"kind": "notes", "trial": "no_such_trial"}
    status, shown = post(port, PREVIEW, {"change": note})
    assert status == 200
    assert ["no_such_trial" in said and said.startswith("state/runs/kitchen.yml: ") for said in shown["warnings"]] == [True]
    assert post(port, PREVIEW, {"change": CHANGE})[1]["warnings"] == []


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"X_Benchpipe_Token": "guess"}, "token"),
        ({"X_Benchpipe_Token": ""}, "token"),
        ({"Origin": "http://evil.example"}, "origin"),
        ({"Origin": "null"}, "origin"),
        ({"Host": "localhost:1"}, "host"),
        ({"Content_Type": "text/plain"}, "application/json"),
    ],
)
def test_strangers_are_not_heard(port: int, kitchen: Lab, headers: dict[str, str], reason: str) -> None:
    status, said = post(port, APPLY, {"change": CHANGE, "digest": "x"}, **headers)
    assert status == 403
    assert reason in said["error"]


def test_the_own_page_is_heard(port: int) -> None:
    status, _ = post(port, PREVIEW, {"change": CHANGE}, Origin=f"http://127.0.0.1:{port}")
    assert status == 200


@pytest.mark.parametrize("name", ["../../data/agents/x", "..", "a/b", ".hidden", ""])
def test_only_files_of_state_can_be_named(port: int, kitchen: Lab, name: str) -> None:
    status, _ = post(port, PREVIEW, {"change": CHANGE | {"benchmark": name}})
    assert status == 422


def test_what_is_no_order_is_said_to_be_none(port: int) -> None:
    assert post(port, PREVIEW, {"change": {"benchmark": "kitchen", "kind": "delete everything"}})[0] == 400
    assert post(port, PREVIEW, [1, 2])[0] == 400


# --- files and callers as they come ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [b"\n: [\n", b"# caf\xe9\n", b"default: x\n", b"---\na: 1\n", b"runs: [a]\n"],
    ids=["cut", "latin-1", "twice", "two", "list"],
)
def test_a_file_that_cannot_be_read_is_named_and_left_as_it_is(port: int, kitchen: Lab, text: bytes) -> None:
    file = kitchen.state_runs / "kitchen.yml"
    broken = text if text.startswith(b"runs") else file.read_bytes() + text
    file.write_bytes(broken)
    status, said = post(port, PREVIEW, {"change": CHANGE})
    assert status == 422
    assert said["error"].startswith("state/runs/kitchen.yml")
    assert "by hand" in said["error"]
    assert len(said["error"]) < 250
    assert file.read_bytes() == broken


def test_the_line_at_which_a_file_cannot_be_read_is_named(port: int, kitchen: Lab) -> None:
    file = kitchen.state_runs / "kitchen.yml"
    file.write_text("# one\nruns:\n  a: [1,\n")
    assert "state/runs/kitchen.yml: line 4 can't be read" in post(port, PREVIEW, {"change": CHANGE})[1]["error"]


def test_a_linked_file_is_neither_followed_nor_replaced(port: int, kitchen: Lab, tmp_path: Path) -> None:
    file, elsewhere = kitchen.state_runs / "kitchen.yml", tmp_path / "shared.yml"
    elsewhere.write_text(file.read_text())
    file.unlink()
    file.symlink_to(elsewhere)
    for path in (PREVIEW, APPLY):
        status, said = post(port, path, {"change": CHANGE})
        assert status == 422
        assert "state/runs/kitchen.yml is a link" in said["error"]
    assert file.is_symlink()


def test_line_ends_and_byte_order_marks_of_other_systems_stay(port: int, kitchen: Lab) -> None:
    file = kitchen.state_runs / "kitchen.yml"
    before = b"\xef\xbb\xbf# ours\r\n" + file.read_bytes().replace(b"\n", b"\r\n")
    file.write_bytes(before)
    shown = post(port, PREVIEW, {"change": CHANGE})[1]
    assert post(port, APPLY, {"change": CHANGE, "digest": shown["digest"]})[0] == 200
    after = file.read_bytes()
    assert after.count(b"\n") == after.count(b"\r\n") == before.count(b"\n") + 2
    assert [line for line in after.split(b"\r\n") if line not in before.split(b"\r\n")] == [
        b"    stopped:",
        b"    - {task: task_001, mode: limited, note: out of money}",
    ]


def test_of_many_changes_at_once_to_the_same_bytes_one_is_written(port: int, kitchen: Lab) -> None:
    changes = [{**CHANGE, "value": f"reason {n}"} for n in range(8)]
    shown = post(port, PREVIEW, {"change": CHANGE})[1]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda change: post(port, APPLY, {"change": change, "digest": shown["digest"]})[0], changes))
    assert sorted(answers) == [200, *[409] * 7]
    written = (kitchen.state_runs / "kitchen.yml").read_text()
    assert sum(f"reason {n}" in written for n in range(8)) == 1
