"""Log checks by harness (runs-system 11)."""

from typing import Any

import pytest

from benchpipe.transcripts.checks import EXPECTED, ITEMS, log_checks, summary
from benchpipe.trials.records import Record

WHOLE = {
    "codex": 10, "gateway": 20, "mirror_codex": 10, "mirror_gateway": 20, "sessions": 1, "trajectory": 5, "episode": 7,
    "reward": 30, "grade_log": 0, "video": 900, "video_ok": True,
}  # fmt: skip


def record(state: str = "success", reward: dict[str, float] | None = None, scan: int | None = None, **logs: Any) -> Record:
    return Record(state=state, trial="t__1", reward=reward or {"success": 1.0}, scan=scan, logs={**WHOLE, **logs})


def verdicts(of: Record, mode: str = "limited", harness: str = "codex") -> dict[str, str]:
    return {check.item: check.verdict for check in log_checks(of, mode, harness)}


def test_a_whole_record_of_codex_is_ok_and_an_empty_grade_log_is_fine() -> None:
    checks = log_checks(record(), "limited", "codex")
    assert {check.verdict for check in checks} == {"ok"}
    assert summary(checks) == "ok"


@pytest.mark.parametrize(
    ("changed", "item", "verdict"),
    [
        ({"codex": 0}, "agent stream", "missing"),
        ({"gateway": None}, "model exchanges", "missing"),
        ({"mirror_gateway": 19}, "append-only mirror", "missing"),
        ({"sessions": 0}, "Codex session", "missing"),
        ({"episode": None}, "robot call log", "missing"),
        ({"grade_log": None}, "grade", "missing"),
        ({"video": None}, "replay video", "missing"),
        ({"video_ok": False}, "replay video", "missing"),
        ({"video_ok": False, "video_rerendered": 5}, "replay video", "ok"),
        ({"video": None, "episode_end": "error"}, "replay video", "not due"),
    ],
)
def test_one_missing_file_is_one_missing_item(changed: dict[str, Any], item: str, verdict: str) -> None:
    assert verdicts(record(**changed))[item] == verdict


def test_a_robot_that_never_moved_owes_neither_calls_nor_a_replay() -> None:
    idle = record("failed", {"success": 0, "n_actions": 0}, episode=None, video=None)
    assert (verdicts(idle)["robot call log"], verdicts(idle)["replay video"]) == ("not due", "not due")
    assert verdicts(record(reward={"missing_trajectory": 1}, video=None))["replay video"] == "not due"


def test_robot_calls_are_due_in_mode_limited_only() -> None:
    assert verdicts(record(episode=None), mode="unlimited")["robot call log"] == "not due"


def test_while_the_agent_works_only_its_own_streams_are_due_and_a_mirror_may_lag() -> None:
    running = verdicts(record("running", mirror_gateway=19, trajectory=None))
    assert running == {
        **dict.fromkeys(running, "not due"),
        "agent stream": "ok",
        "model exchanges": "ok",
        "append-only mirror": "ok",
    }
    assert set(verdicts(record("setup", codex=0)).values()) == {"not due"}


def test_key_scans_are_never_missing() -> None:
    details = [log_checks(record(scan=scan), "limited", "codex")[-1].detail for scan in (None, 0, 3)]
    assert details == ["pending", "clean", "3 files redacted"]


def test_another_harness_is_asked_only_for_what_it_leaves() -> None:
    bare = Record(state="success", trial="t__1", reward={"reward": 1.0}, logs={"reward": 3})
    assert summary(log_checks(bare, "unlimited", "oracle")) == "ok"
    assert summary(log_checks(bare, "unlimited", "codex")) == "missing"
    assert verdicts(bare, harness="nobody knows it") == {"transcript": "missing", "reward": "ok"}
    claude = record("success", codex=None, gateway=None, mirror_codex=None, mirror_gateway=None)
    assert summary(log_checks(claude, "limited", "claude_code")) == "ok"


def test_nothing_is_asked_of_what_has_not_run() -> None:
    assert log_checks(Record(state="queued"), "limited", "codex") == []
    assert summary([]) == "n/a"


def test_every_name_in_the_table_is_an_item() -> None:
    assert {name for names in EXPECTED.values() for name in names} <= set(ITEMS)
