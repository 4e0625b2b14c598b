"""history.jsonl tells every change once, whatever crash lies in between."""

import json

import pytest

from benchpipe.errors import UsageError
from benchpipe.trials.history import Event, append, changes, read
from benchpipe_tests.trials.builders import NOW, ended, host, job, readings, run_file, trial

WAITING = run_file(readings(host(seen=("x-1001",))))
RUNNING = run_file(readings(host(job(trial(agent_active=True), alive=True))))
OVER = run_file(readings(host(job(ended()))))
OTHER = run_file(readings(host(job(ended("b-pick-cube-i00__2222222")))))
NAME = "b-pick-cube-i00__aaaaaaa"


def event(was: str | None, became: str, trial: str | None = NAME) -> Event:
    return Event(at=NOW, run="r", task="pick_cube", mode="limited", was=was, became=became, trial=trial)


def test_a_change_of_state_is_an_event() -> None:
    assert changes(WAITING, RUNNING) == [event("queued", "running")]
    assert changes(RUNNING, OVER) == [event("running", "success")]


def test_another_trial_in_the_same_state_is_an_event() -> None:
    assert changes(OVER, OTHER) == [event("success", "success", "b-pick-cube-i00__2222222")]


def test_what_waits_from_the_first_is_none_and_what_runs_already_is_one() -> None:
    assert changes(None, WAITING) == []
    assert changes(None, RUNNING) == [event(None, "running")]
    assert changes(RUNNING, RUNNING) == []


def test_events_are_lines_with_from_and_to(tmp_path) -> None:
    path = tmp_path / "b" / "history.jsonl"
    assert append(path, changes(WAITING, RUNNING)) == 1
    assert json.loads(path.read_text()) == {
        "at": NOW, "run": "r", "task": "pick_cube", "mode": "limited", "from": "queued", "to": "running", "trial": NAME,
    }  # fmt: skip
    assert read(path) == ([event("queued", "running")], [])


def test_the_file_only_grows(tmp_path) -> None:
    path = tmp_path / "history.jsonl"
    append(path, changes(WAITING, RUNNING))
    first = path.read_bytes()
    append(path, changes(RUNNING, OVER))
    assert path.read_bytes().startswith(first)
    assert [one.became for one in read(path)[0]] == ["running", "success"]


def test_the_same_change_found_again_after_a_crash_is_not_told_twice(tmp_path) -> None:
    path = tmp_path / "history.jsonl"
    append(path, changes(WAITING, RUNNING))
    assert append(path, changes(WAITING, RUNNING)) == 0
    append(path, changes(RUNNING, WAITING))
    assert append(path, changes(WAITING, RUNNING)) == 1


def test_a_torn_last_line_is_said_and_does_not_spoil_the_next_event(tmp_path) -> None:
    path = tmp_path / "history.jsonl"
    append(path, changes(WAITING, RUNNING))
    whole = path.read_bytes()
    for cut in range(1, len(whole)):
        path.write_bytes(whole + whole[:cut])
        append(path, changes(RUNNING, OVER))
        events, problems = read(path)
        assert [one.became for one in events][-1] == "success"
        assert len(events) + len(problems) == 3


def test_a_file_that_can_be_neither_read_nor_written_is_a_plain_message(tmp_path) -> None:
    path = tmp_path / "history.jsonl"
    path.mkdir()
    assert read(path) == ([], ["history.jsonl: can't be read (Is a directory)"])
    with pytest.raises(UsageError, match=r"history\.jsonl: can't be written \(Is a directory\)"):
        append(path, changes(WAITING, RUNNING))


def test_no_file_is_no_history(tmp_path) -> None:
    assert read(tmp_path / "history.jsonl") == ([], [])
    assert append(tmp_path / "history.jsonl", []) == 0
    assert not (tmp_path / "history.jsonl").exists()
