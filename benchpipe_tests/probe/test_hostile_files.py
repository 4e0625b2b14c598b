"""Files that are broken, huge, or traps: each is named and costs nobody else anything."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchpipe.probe import documents
from benchpipe.probe.documents import numbers
from benchpipe.probe.harbor import complete_mp4, read_trial
from benchpipe.probe.listing import Job, Trial
from benchpipe_tests.probe.test_listing import read, trial

JOB = "x-1001-limited"


def only(tmp_path: Path) -> dict[str, Any]:
    return next(one for one in read(tmp_path)["trials"] if one["trial"] == "bad__1234567")


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    trial(tmp_path / "jobs" / JOB, "good__1234567", result={"started_at": "2026-01-01T00:00:00Z"})
    return trial(tmp_path / "jobs" / JOB, "bad__1234567")


@pytest.mark.parametrize(
    ("content", "condition"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ('{"id": "x', "damaged"),
        ("[1]", "damaged"),
        ("[" * 200_000, "damaged"),
        ('{"id": 1}', "whole"),
    ],
    ids=["empty", "blank", "cut", "a list", "too deep", "wrong types"],
)
def test_a_result_that_is_no_result_is_named(tmp_path: Path, bad: Path, content: str, condition: str) -> None:
    (bad / "result.json").write_text(content)
    os.utime(bad / "result.json", (1, 1))
    found = only(tmp_path)
    assert found["result"] == condition
    assert bool(found["problems"]) == (condition != "whole")


def test_a_pipe_or_a_link_in_place_of_a_file_neither_blocks_nor_leads_away(tmp_path: Path, bad: Path) -> None:
    os.mkfifo(bad / "result.json")
    (bad / "verifier").mkdir()
    (tmp_path / "secret").write_text('{"reward": 1}')
    (bad / "verifier" / "reward.json").symlink_to(tmp_path / "secret")
    (bad / "artifacts").symlink_to("/etc")
    found = only(tmp_path)
    assert found["result"] == "absent"
    assert found["reward_file"] is None
    assert not found["agent_over"]


def test_a_json_file_over_the_limit_is_a_problem_and_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = trial(tmp_path, "big__1234567", result={"id": "x" * 5000})
    monkeypatch.setattr(documents.read_small, "__defaults__", (1000,))
    one = Trial(JOB, folder.name, str(folder), None)
    one.look()
    found = read_trial(one, Job(JOB, str(tmp_path), "x", "limited", None), [])
    assert found["result"] == "damaged"
    assert "is not read" in found["problems"][0]


def test_a_sparse_result_of_a_hundred_mebibytes_is_not_read(tmp_path: Path, bad: Path) -> None:
    with (bad / "result.json").open("wb") as file:
        file.truncate(100 << 20)
    assert "larger than 64 MiB" in only(tmp_path)["problems"][0]


def test_only_finite_numbers_are_rewards() -> None:
    said = json.loads('{"a": 1, "b": true, "c": NaN, "d": "1", "e": 1e999, "f": 0.5, "g": null, "h": ' + "9" * 400 + "}")
    assert numbers(said) == {"a": 1.0, "f": 0.5}
    assert numbers([1]) is None
    assert numbers({}) is None


def test_a_moving_step_leaves_no_false_verdict(tmp_path: Path, bad: Path) -> None:
    """A multi-step trial between two steps: the root's verifier folder holds the last step's verdict (harbor-jobs 2.4)."""
    for name in ("steps/one/agent", "verifier"):
        (bad / name).mkdir(parents=True)
    (bad / "verifier" / "reward.txt").write_text("1")
    (bad / "steps/one/agent/gateway.jsonl").write_text("{}\n")
    found = only(tmp_path)
    assert found.get("reward_file") is None
    assert found["agent_active"]
    assert found["logs"]["gateway"] == 3


def test_tokens_and_exceptions_of_steps_are_the_trials(tmp_path: Path, bad: Path) -> None:
    def step(name: str, tokens: int | None, error: str | None = None) -> dict[str, Any]:
        return {
            "step_name": name,
            "agent_result": {"n_input_tokens": tokens, "n_cache_tokens": None, "n_output_tokens": 1},
            "exception_info": {"exception_type": error} if error else None,
            "agent_execution": {"started_at": f"{name}-start", "finished_at": f"{name}-end"},
        }

    result = {"agent_result": None, "step_results": [step("a", 5), step("b", None, "Oops"), step("c", 7, "Late")]}
    (bad / "result.json").write_text(json.dumps(result))
    found = only(tmp_path)
    assert found["harbor_tokens"] == {"input": 12, "cached": None, "output": 3}
    assert (found["exception"], found["exception_step"]) == ("Oops", "b")
    assert (found["agent_started_at"], found["agent_finished_at"]) == ("a-start", "c-end")


def test_a_regrade_is_pending_until_its_reward_is_there(tmp_path: Path, bad: Path) -> None:
    (bad / "verifier_regrade").mkdir()
    assert only(tmp_path)["regrade"] == "pending"
    (bad / "verifier_regrade" / "reward.json").write_text('{"success": 1}')
    found = only(tmp_path)
    assert (found["regrade"], found["regrade_rewards"]) == ("done", {"success": 1.0})


def test_charges_of_a_cost_file_are_summed_exactly(tmp_path: Path, bad: Path) -> None:
    costs = (
        '{"g1": {"total_cost": 0.1}, "g2": {"total_cost": 0.2}, "g3": {"total_cost": "x"}, "g4": {"total_cost": 1e400}, "g5": 7}'
    )
    (bad / "agent" / "openrouter_costs.json").write_text(costs)
    found = only(tmp_path)
    assert (found["costs_file_usd"], found["costs_file_n"]) == ("0.3", 2)


@pytest.mark.parametrize(
    ("boxes", "whole"),
    [
        ([(16, b"ftyp"), (24, b"moov"), (32, b"mdat")], True),
        ([(16, b"ftyp"), (24, b"moov"), (0, b"mdat")], True),
        ([(16, b"ftyp"), (32, b"mdat")], False),
        ([(16, b"ftyp"), (24, b"moov"), (999, b"mdat")], False),
        ([(4, b"ftyp")], False),
        ([], False),
    ],
    ids=["whole", "last box to the end", "no moov", "cut off", "broken size", "empty"],
)
def test_a_replay_is_complete_only_if_its_boxes_are(tmp_path: Path, boxes: list[tuple[int, bytes]], whole: bool) -> None:
    path = tmp_path / "replay.mp4"
    path.write_bytes(b"".join((size.to_bytes(4, "big") + kind).ljust(min(max(size, 16), 64), b"\0") for size, kind in boxes))
    assert complete_mp4(str(path)) is whole
