"""Which log of a trial counts, and each response once over all of its files."""

import json
from pathlib import Path

import pytest

from benchpipe.probe.requests import trial_requests
from benchpipe_tests.probe.test_usage_growing import Kept, request

SUMS = {"input": 4, "cached": 5, "cache_write": 6, "output": 7, "reasoning": 8}


def put(path: Path, *records: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def counted(trial: Path) -> dict:
    found = trial_requests(str(trial), Kept())
    sums = {name: sum(row[at] or 0 for row in found["rows"]) for name, at in SUMS.items()}
    return {"source": found["source"], "n": len(found["rows"]), **{k: v for k, v in sums.items() if v}}


def claude(name: str, second: int, output: int, **more: object) -> dict:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": output}
    message = {"id": name, "model": "claude-opus-5-5", "role": "assistant", "usage": usage}
    return {"type": "assistant", "timestamp": f"2026-10-01T10:00:{second:02d}.5Z", "message": message, **more}


def codex(total: int, last: int, second: int = 0) -> dict:
    def usage(n: int) -> dict:
        return {"input_tokens": n, "cached_input_tokens": n // 2, "output_tokens": 10, "reasoning_output_tokens": 4}

    info = {"total_token_usage": usage(total), "last_token_usage": usage(last), "model_context_window": 9}
    when = f"2026-10-01T10:00:{second:02d}.000Z"
    return {"timestamp": when, "type": "event_msg", "payload": {"type": "token_count", "info": info}}


def meta(name: str, **more: object) -> dict:
    return {"type": "session_meta", "payload": {"id": name, **more}}


ROLLOUT = "agent/sessions/2026/10/01/rollout-{}.jsonl"
PROJECT = "agent/sessions/projects/-app/{}.jsonl"
ATIF = {
    "agent": {"name": "x", "model_name": "m"},
    "steps": [
        {"source": "user", "message": "go"},
        {"source": "agent", "timestamp": "2026-10-01T10:00:00Z", "metrics": {
            "prompt_tokens": 100, "cached_tokens": 60, "completion_tokens": 9, "cost_usd": 3.0,
            "extra": {"reasoning_output_tokens": 4, "cache_creation_input_tokens": 11}}},
        {"source": "agent", "is_copied_context": True, "metrics": {"prompt_tokens": 1000, "completion_tokens": 9}},
    ],
    "subagent_trajectories": [{"steps": [{"source": "agent", "metrics": {"prompt_tokens": 7, "completion_tokens": 1}}]}],
}  # fmt: skip


def test_the_best_source_counts_alone(tmp_path: Path) -> None:
    put(tmp_path / "agent/trajectory.json", ATIF)
    assert counted(tmp_path) == {
        "source": "trajectory", "n": 2, "input": 107, "cached": 60, "cache_write": 11, "output": 10, "reasoning": 4,
    }  # fmt: skip
    put(tmp_path / PROJECT.format("a"), claude("m1", 1, 9))
    assert counted(tmp_path)["source"] == "sessions"
    put(tmp_path / "gateway/usage.jsonl", {"method": "POST", "status": 200, "ts": 1, "usage_raw": {"input_tokens": 3}})
    assert counted(tmp_path) == {"source": "usage_log", "n": 1, "input": 3}
    (tmp_path / "agent/gateway.jsonl").write_bytes(b"")
    assert counted(tmp_path)["source"] == "usage_log"
    (tmp_path / "agent/gateway.jsonl").write_bytes(request(1, 8))
    assert counted(tmp_path) == {"source": "gateway", "n": 1, "input": 8, "output": 1}


def test_no_log_is_no_source(tmp_path: Path) -> None:
    assert trial_requests(str(tmp_path / "gone"), Kept()) == {"source": None, "rows": [], "problems": []}


def test_steps_of_a_multi_step_trial_add_up(tmp_path: Path) -> None:
    for n, step in enumerate(("place-fork", "place-plate")):
        put(tmp_path / "steps" / step / "agent/trajectory.json", ATIF)
        log = tmp_path / "steps" / step / "agent/gateway.jsonl"
        log.write_bytes(request(n, 10))
    assert counted(tmp_path) == {"source": "gateway", "n": 2, "input": 20, "output": 1}


def test_a_response_logged_twice_counts_once_and_its_last_row_wins(tmp_path: Path) -> None:
    again = request(1, 500).replace(b"1790000001", b"1790000009")
    for lines in (request(1, 8) + request(2, 7) + again, again + request(2, 7) + request(1, 8)):
        (tmp_path / "agent").mkdir(exist_ok=True)
        (tmp_path / "agent/gateway.jsonl").write_bytes(lines)
        assert counted(tmp_path) == {"source": "gateway", "n": 2, "input": 507, "output": 3}


def test_claude_code_writes_a_response_per_block_and_forks_copy_it(tmp_path: Path) -> None:
    put(tmp_path / PROJECT.format("one"), claude("m1", 1, 1), claude("m1", 1, 40), claude("m2", 2, 8))
    put(tmp_path / PROJECT.format("two"), claude("m1", 1, 40), claude("m2", 2, 8), claude("m3", 3, 2))
    put(tmp_path / PROJECT.format("one/subagents/agent-7"), claude("m4", 2, 5, isSidechain=True))
    synthetic = claude("s", 4, 0)
    synthetic["message"]["model"] = "<synthetic>"
    put(tmp_path / PROJECT.format("three"), synthetic, {"type": "user", "message": {"content": "usage"}})
    assert counted(tmp_path) == {
        "source": "sessions", "n": 4, "input": 500, "cached": 400, "cache_write": 80, "output": 55,
    }  # fmt: skip


def test_codex_repeats_its_counts_and_a_fork_copies_them(tmp_path: Path) -> None:
    put(tmp_path / ROLLOUT.format("a"), meta("A"), codex(100, 100, 1), codex(100, 100, 2), codex(300, 200, 3))
    fork = [meta("B", forked_from_id="A"), codex(100, 100, 8), codex(300, 200, 8), codex(350, 50, 9)]
    put(tmp_path / ROLLOUT.format("b"), *fork)
    assert counted(tmp_path) == {"source": "sessions", "n": 3, "input": 350, "cached": 175, "output": 30, "reasoning": 12}


def test_codex_subagents_with_equal_numbers_are_not_each_other(tmp_path: Path) -> None:
    put(tmp_path / ROLLOUT.format("a"), meta("A"), codex(100, 100))
    put(tmp_path / ROLLOUT.format("b"), meta("B", parent_thread_id="A"), codex(100, 100))
    assert counted(tmp_path)["n"] == 2


@pytest.mark.parametrize("place", ["line", "payload"])
def test_codex_usage_records_count_and_totals_beside_them_do_not(tmp_path: Path, place: str) -> None:
    usage = {"input_tokens": 70, "cached_input_tokens": 30, "output_tokens": 5, "reasoning_output_tokens": 2}
    payload = {"usage": usage, "response_id": "resp_1"}
    line = {"type": "token_usage_record", "payload": payload}
    if place == "payload":
        line = {"type": "event_msg", "payload": {"type": "token_usage_record", **payload}}
    put(tmp_path / ROLLOUT.format("a"), meta("A"), line, codex(70, 70), line)
    assert counted(tmp_path) == {"source": "sessions", "n": 1, "input": 70, "cached": 30, "output": 5, "reasoning": 2}


def test_a_continued_trajectory_counts_per_file(tmp_path: Path) -> None:
    put(tmp_path / "agent/trajectory.json", ATIF)
    put(tmp_path / "agent/trajectory.cont-1.json", ATIF)
    put(tmp_path / "agent/trajectory.backup.json", ATIF)
    assert counted(tmp_path)["input"] == 214


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"steps": {"a": 1}}', '{"steps": [1, {"metrics": {"prompt_tokens": -1}}]}'])
def test_a_damaged_trajectory_stops_nothing(tmp_path: Path, text: str) -> None:
    put(tmp_path / "agent/trajectory.cont-1.json", ATIF)
    (tmp_path / "agent/trajectory.json").write_text(text)
    assert counted(tmp_path)["input"] == 107


def test_problems_name_their_file(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent/gateway.jsonl").write_bytes(b"junk\n" + request(1, 8) + b"junk\n")
    assert trial_requests(str(tmp_path), Kept())["problems"] == ["agent/gateway.jsonl: a line that is no JSON (2 times)"]


def test_every_row_says_where_it_was_read(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    lines = [request(n, n) for n in range(5)]
    (tmp_path / "agent/gateway.jsonl").write_bytes(b"".join(lines))
    data = (tmp_path / "agent/gateway.jsonl").read_bytes()
    for n, row in enumerate(trial_requests(str(tmp_path), Kept())["rows"]):
        assert row[12] == "agent/gateway.jsonl"
        assert data[row[13] :].startswith(lines[n])


@pytest.mark.parametrize("linked", ["agent/gateway.jsonl", "agent", "agent/sessions/a.jsonl", "agent/trajectory.json"])
def test_a_link_inside_a_trial_is_never_a_log(tmp_path: Path, linked: str) -> None:
    outside = tmp_path / "outside" / Path(linked).name
    log = outside / "gateway.jsonl" if linked == "agent" else outside
    log.parent.mkdir(parents=True)
    log.write_bytes(request(1, 7))
    link = tmp_path / "trial" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    assert trial_requests(str(tmp_path / "trial"), Kept()) == {"source": None, "rows": [], "problems": []}


def test_a_trial_that_is_itself_reached_by_a_link_is_counted(tmp_path: Path) -> None:
    (tmp_path / "there" / "agent").mkdir(parents=True)
    (tmp_path / "there" / "agent" / "gateway.jsonl").write_bytes(request(1, 7))
    (tmp_path / "here").symlink_to("there")
    assert counted(tmp_path / "here")["input"] == 7
