"""The exact JSON of run files (runs-system 8.1, 8.2), reading old and damaged ones, and when a cycle writes (6.2)."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from benchpipe.lab import Lab
from benchpipe.trials.records import Record
from benchpipe.trials.store import load_run_file, record_json, run_file_json, should_write, write_run_file
from benchpipe_tests.trials.builders import (
    NEW,
    SLOT,
    bench_run,
    ended,
    host,
    job,
    readings,
    record,
    remark,
    run_file,
    trial,
    usage,
)  # fmt: skip

FIRST, SECOND = "b-pick-cube-i00__1111111", "b-pick-cube-i00__2222222"
DIGEST = {"job", "state", "host", "trial", "reward", "progress", "exception", "started", "finished", "agent_wall_s", "scan"}
ALWAYS = {
    "state", "host", "job", "trial", "started", "finished", "agent_wall_s", "calls", "calls_failed", "tokens", "tokens_source",
    "billed_usd", "billed_source", "last_call", "exception", "reward", "progress", "regraded", "scan", "logs",
}  # fmt: skip


def full():
    """A run file with everything in it: two batches, tokens, a bill, a follow-up, a queued rest, a silent host."""
    run = bench_run(followups=(remark(SECOND),))
    old = job(ended(FIRST, usage=usage("d2"), logs={"codex": 3, "video_ok": None}, last_activity=1500.0))
    new = job(ended(SECOND, reward=0.0, exception="ApiRateLimitError", usage=usage("d1")), batch=NEW, scan=2)
    return run_file(readings(host(old, new), host(name="gpu2", ok=False, error="no route")), run=run)


def test_a_record_always_has_the_specifications_keys_null_included() -> None:
    said = record_json(record(readings(host(job(trial(), alive=True)))))
    assert said.keys() >= ALWAYS
    assert said.keys() - ALWAYS == {"attempts"}
    assert {key for key in ALWAYS if said[key] is not None} == {"state", "host", "job", "trial", "started", "regraded", "logs"}


def test_a_job_without_a_trial_has_them_too() -> None:
    said = record_json(record(readings(host(job(task="b-pick-cube-i00", alive=True)))))
    assert said.keys() - ALWAYS == {"reason"}
    assert (said["job"], said["trial"], said["started"]) == ("x-1001-limited-b-pick-cube-i00", None, "1970-01-01T00:15:00+00:00")


def test_a_queued_record_has_only_its_state() -> None:
    assert record_json(Record(state="queued")) == {"state": "queued"}


def test_a_queued_rerun_says_so_and_what_it_replaces() -> None:
    said = record_json(record(readings(host(job(ended(FIRST)))), run=bench_run(rerun_all=True)))
    assert said.keys() == {"state", "rerun", "supersedes", "attempts"}
    assert (said["rerun"], said["supersedes"].keys()) == (True, DIGEST)


def test_what_an_attempt_superseded_keeps_the_digests_keys_and_no_others() -> None:
    said = run_file_json(full())["tasks"][SLOT[0]][SLOT[1]]
    assert said["supersedes"].keys() == DIGEST
    assert said["attempts"][0].keys() > DIGEST | {"tokens", "billed_usd", "counts"}
    assert [attempt["counts"] for attempt in said["attempts"]] == [False, True]


def test_tokens_have_the_four_counts_and_cache_writes_only_where_known() -> None:
    said = run_file_json(full())["tasks"][SLOT[0]][SLOT[1]]
    assert said["tokens"] == {"input": 100, "cached": 40, "output": 10, "reasoning": 4}


def test_flags_are_there_only_when_they_hold() -> None:
    said = run_file_json(full())["tasks"][SLOT[0]][SLOT[1]]
    assert said["reward_counts"] is False
    assert said["reason"] == "the model's provider failed (ApiRateLimitError)"
    assert not said.keys() & {"stale", "stale_reason", "rerun", "metrics"}


def test_the_run_file_has_the_specifications_keys() -> None:
    said = run_file_json(full())
    assert said.keys() == {"v", "benchmark", "run", "label", "batches", "hosts", "tasks", "generated_at"}
    assert said["hosts"]["gpu2"] == {"ok": False, "at": "2026-11-30T11:59:59+00:00", "error": "no route"}


def test_what_was_written_is_read_back_and_equal_content_leaves_the_file_alone(tmp_path) -> None:
    lab, made = Lab(tmp_path), full()
    assert write_run_file(lab, made) is True
    assert load_run_file(lab, "b", "r") == made
    text = lab.run_file("b", "r").read_text()
    assert text == json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert write_run_file(lab, made) is False


def test_no_file_is_no_history_and_no_problem(tmp_path) -> None:
    problems: list[str] = []
    assert load_run_file(Lab(tmp_path), "b", "r", problems) is None
    assert problems == []


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"tasks"'])
def test_a_damaged_file_is_no_history_and_says_so(tmp_path, damage) -> None:
    lab, problems = Lab(tmp_path), []
    lab.run_folder("b").mkdir(parents=True)
    lab.run_file("b", "r").write_bytes(damage)
    assert load_run_file(lab, "b", "r", problems) is None
    assert len(problems) == 1
    assert problems[0].startswith("data/runs/b/r.json: ")
    assert "history is lost" in problems[0]


def test_one_damaged_record_costs_only_itself(tmp_path) -> None:
    lab, problems = Lab(tmp_path), []
    write_run_file(lab, full())
    said = json.loads(lab.run_file("b", "r").read_bytes())
    said["tasks"]["open_drawer"]["limited"] = {"state": 7}
    lab.run_file("b", "r").write_text(json.dumps(said))
    loaded = load_run_file(lab, "b", "r", problems)
    assert loaded is not None
    assert "limited" not in loaded.tasks["open_drawer"]
    assert loaded.tasks[SLOT[0]][SLOT[1]].trial == SECOND
    assert "open_drawer limited" in problems[0]


def test_a_file_of_the_original_without_hosts_and_attempts_is_read_and_its_attempt_survives_a_retry(tmp_path) -> None:
    lab = Lab(tmp_path)
    old = run_file_json(run_file(readings(host(job(ended(FIRST))))))
    old.pop("hosts")
    for modes in old["tasks"].values():
        for one in modes.values():
            one.pop("attempts", None)
    lab.run_folder("b").mkdir(parents=True)
    lab.run_file("b", "r").write_text(json.dumps(old))
    loaded = load_run_file(lab, "b", "r")
    shown = record(readings(host(job(trial(FIRST, created=4000.0), alive=True))), last=loaded)
    assert [attempt.state for attempt in shown.attempts] == ["success", "setup"]


NOW = datetime(2026, 11, 30, 12, 10, tzinfo=UTC)


def wants(new, stored, now=NOW, polling=True):
    return should_write(new, stored, polling=polling, detail_every=900, now=now)


def test_a_plain_run_writes_always_and_a_poll_what_is_new() -> None:
    made = full()
    assert wants(made, made, polling=False) is True
    assert wants(made, None) is True
    assert wants(made, made) is False


def test_a_poll_does_not_write_for_the_time_or_the_hosts_alone() -> None:
    made = full()
    assert wants(replace(made, generated_at="2026-11-30T12:09:00+00:00"), made) is False
    assert wants(replace(made, hosts={}), made) is False


def with_record(made, **changes):
    slot = {SLOT[1]: replace(made.tasks[SLOT[0]][SLOT[1]], **changes)}
    return replace(made, tasks={**made.tasks, SLOT[0]: {**made.tasks[SLOT[0]], **slot}})


SIGNATURE = {
    "state": "failed", "host": "gpu9", "trial": "t", "reward": {"reward": 9.0}, "progress": 0.5, "exception": "E", "scan": 7,
    "stale": True, "followup": "f", "rerun": True,
}  # fmt: skip


@pytest.mark.parametrize("field", SIGNATURE)
def test_a_poll_writes_at_once_what_changes_the_signature(field) -> None:
    made = full()
    assert wants(with_record(made, **{field: SIGNATURE[field]}), made) is True


def test_a_poll_writes_mere_details_when_the_file_is_old_enough() -> None:
    made = full()
    busier = with_record(made, last_activity_at="2026-11-30T12:09:00+00:00")
    assert wants(busier, made) is False
    assert wants(busier, made, now=NOW + timedelta(minutes=5)) is True
    assert wants(busier, replace(made, generated_at="")) is True
