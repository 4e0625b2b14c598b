"""What is said about states, in words and in docs/states.md, is what the code does."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchpipe.files import write_json
from benchpipe.registry.records import Withdrawal
from benchpipe.trials.page import states_page
from benchpipe.trials.records import COLLECTED_STATES, URGENCY, Record
from benchpipe.trials.states import ROWS, Facts, decide
from benchpipe.trials.store import run_file_json
from benchpipe.trials.view import view_record
from benchpipe.trials.why import OBVIOUS, why, why_shown
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.trials.builders import NEW, bench_run, ended, host, job, readings, record, remark, run_file, trial

PAGE = REPOSITORY / "docs" / "states.md"


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == states_page(), "write it again with `benchpipe docs`"


def test_the_pages_script_runs_on_a_status_file(tmp_path: Path, monkeypatch, capsys) -> None:
    script = PAGE.read_text().split("```python\n")[1].split("```")[0]
    tasks = run_file_json(run_file(readings(host(job(ended())))))["tasks"]
    status = {"hosts": {"gpu1": {"ok": True, "at": None, "error": None}}, "benchmarks": {"b": {"tasks": tasks}}}
    write_json(tmp_path / "data" / "runs" / "status.json", json.loads(json.dumps(status)))
    monkeypatch.chdir(tmp_path)
    exec(script, {})
    assert "b pick_cube limited success b-pick-cube-i00__aaaaaaa\n" in capsys.readouterr().out


def test_every_state_of_the_table_is_a_collected_one_and_every_collected_one_but_queued_is_in_it() -> None:
    assert {row.state for row in ROWS} == set(COLLECTED_STATES) - {"queued"}
    assert len({row.id for row in ROWS}) == len(ROWS)


REACH = {
    "job-begun": Facts(alive=True, trial=False),
    "job-dead": Facts(alive=False, trial=False),
    "regrading": Facts(alive=True, result="whole", verdict=False, regrading=True),
    "spoiled": Facts(alive=False, result="whole", verdict=True, spoiled="why"),
    "success": Facts(alive=False, result="whole", verdict=True, exception="E"),
    "grader-fault": Facts(alive=True, result="whole", verdict=False, grader_fault="grader_error"),
    "failed": Facts(alive=True, result="whole", verdict=False),
    "no-verdict-exception": Facts(alive=True, result="whole", exception="E"),
    "not-graded": Facts(alive=True, result="whole", graded="disabled"),
    "graded-without-verdict": Facts(alive=True, result="whole", graded="over"),
    "verdict-to-come": Facts(alive=True, result="whole"),
    "no-verdict": Facts(alive=False, result="whole"),
    "unreadable": Facts(alive=False, result="unreadable", agent_over=True),
    "dead": Facts(alive=False, agent_active=True),
    "agent-over": Facts(alive=True, agent_over=True, agent_active=True),
    "agent-active": Facts(alive=True, agent_active=True),
    "no-sign-yet": Facts(alive=True),
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_row_of_the_table_is_reached_and_gives_a_whole_sentence(row) -> None:
    decision = decide(REACH[row.id])
    assert (decision.row, decision.state) == (row.id, row.state)
    assert "{" not in (decision.reason or "")


@pytest.mark.parametrize("state", COLLECTED_STATES)
def test_why_has_words_for_every_state(state: str) -> None:
    assert why(Record(state=state)).startswith(f"{state}: ")


def test_every_state_that_people_see_has_words() -> None:
    assert set(OBVIOUS) | {"stopped", "uncounted", "withdrawn"} == set(URGENCY)


def test_why_names_the_rule_and_all_that_bears_on_it() -> None:
    run = bench_run(followups=(remark("b-pick-cube-i00__2222222", "regrade queued"),))
    old = job(ended("b-pick-cube-i00__1111111", reward=0.0))
    new = job(ended("b-pick-cube-i00__2222222", exception="ApiRateLimitError"), batch=NEW)
    shown = record(readings(host(old, new, ok=False, error="no route")), run=run)
    assert why(shown) == (
        "error: the model's provider failed (ApiRateLimitError); the reward is kept and does not count; "
        "replaces b-pick-cube-i00__1111111 (failed); arranged: regrade queued; "
        "last known state, gpu1 did not answer: no route"
    )


def test_why_tells_a_rerun_and_a_regrade() -> None:
    assert "has not begun this" in why(record(readings(host(job(ended()))), run=bench_run(rerun_all=True)))
    assert "a regrade's" in why(record(readings(host(job(ended(regrade="done", regrade_rewards={"reward": 1.0}))))))


def test_why_shown_says_what_curation_did() -> None:
    shown = record(readings(host(job(trial("t1", agent_active=True), alive=True))))
    run = bench_run(stopped=(remark(None, "paused by us"),))
    assert why_shown(view_record(run, "pick_cube", "limited", shown)).startswith("stopped: paused by us; without that running: ")
    gone = bench_run(withdrawn={"limited": Withdrawal("rerun pending")})
    assert why_shown(view_record(gone, "pick_cube", "limited", shown)).startswith("withdrawn: rerun pending; ")
    noted = bench_run(notes=(remark("t1", "look"),))
    assert why_shown(view_record(noted, "pick_cube", "limited", shown)).endswith("; note: look")
    closed = view_record(bench_run(closed="over"), "pick_cube", "limited", Record(state="queued"))
    assert why_shown(closed) == f"notrun: {OBVIOUS['notrun']}"
    assert why_shown(replace(closed, state="nodata")) == f"nodata: {OBVIOUS['nodata']}"
