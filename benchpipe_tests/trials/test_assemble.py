"""The rules of runs-system 6.1 by number, and what B4, B10, B11 and B14 mend in them."""

import msgspec
import pytest

from benchpipe.hosts.reading import Planned, Usage
from benchpipe.trials.records import Record
from benchpipe_tests.trials.builders import (
    NEW,
    NOW,
    OLD,
    ROWS,
    SLOT,
    TASKS,
    assemble,
    assembled,
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
BOTH = bench_run(rerun_all=True)


def down(**facts):
    return host(name="gpu1", ok=False, error="timed out", **facts)


def test_rule_1_a_known_job_on_a_silent_host_keeps_its_record_as_stale() -> None:
    before = run_file(readings(host(job(ended()), name="gpu1")))
    for silent in (readings(down()), readings(down(jobs=(job(ended()),)))):
        shown = record(silent, last=before)
        assert (shown.state, shown.trial, shown.stale) == ("success", ended().trial, True)
        assert shown.stale_reason == "gpu1 did not answer: timed out"


def test_rule_2_an_older_trial_still_at_work_finishes_as_history() -> None:
    for facts in ({}, {"agent_active": True}, {"agent_over": True}):
        shown = record(readings(host(job(trial(**facts), alive=True))), run=BOTH)
        assert shown.followup == "finishes as history; its task is done again in x-1002"
        assert shown.rerun is None


def test_rule_3_an_older_trial_that_is_over_reads_queued_for_the_rerun() -> None:
    for over in (ended(FIRST), ended(FIRST, reward=0.0), trial(FIRST)):
        shown = record(readings(host(job(over))), run=BOTH)
        assert (shown.state, shown.rerun, shown.trial) == ("queued", True, None)
        assert shown.supersedes is not None
        assert shown.supersedes.trial == FIRST
        assert [(a.trial, a.counts) for a in shown.attempts] == [(FIRST, False)]


def test_rule_3_needs_the_last_batch_to_be_without_the_job() -> None:
    shown = record(readings(host(job(ended(FIRST)), job(ended(SECOND), batch=NEW))), run=BOTH)
    assert (shown.trial, shown.rerun, shown.followup) == (SECOND, None, None)


def test_rule_4_the_newest_hit_wins_and_supersedes_the_second_newest() -> None:
    shown = record(readings(host(job(ended(FIRST, reward=0.0)), job(ended(SECOND), batch=NEW))))
    assert (shown.trial, shown.state) == (SECOND, "success")
    assert shown.supersedes is not None
    assert (shown.supersedes.trial, shown.supersedes.state, shown.supersedes.reward) == (FIRST, "failed", {"reward": 0.0})


def test_rule_4_without_rerun_all_an_older_batch_keeps_showing_until_the_newer_one_begins() -> None:
    planning = job(
        ended("b-open-drawer-i00__5555555", task_dir="b-open-drawer-i00"), batch=NEW, planned=(Planned("b-pick-cube-i00", 1),)
    )
    assert record(readings(host(job(ended(FIRST)), planning))).trial == FIRST


def test_rule_5_nothing_found_and_the_host_silent_keeps_the_record_as_stale() -> None:
    before = run_file(readings(host(job(trial(agent_active=True), alive=True))))
    shown = record(readings(down()), last=before)
    assert (shown.state, shown.stale) == ("running", True)


def test_rule_6_nothing_found_is_queued() -> None:
    made = run_file(readings(host(job(ended()))))
    assert made.tasks["open_drawer"]["limited"] == Record(state="queued")


def test_rule_6_a_job_that_a_host_which_answers_no_longer_has_is_queued_and_says_why() -> None:
    before = run_file(readings(host(job(ended(FIRST, usage=usage("d2"))))))
    shown = record(readings(host(job(mode="unlimited"))), last=before)
    assert (shown.state, shown.reason) == ("queued", "its directory is no longer on gpu1")
    assert [(a.trial, a.billed_usd, a.counts) for a in shown.attempts] == [(FIRST, 0.25, False)]


def test_a_follow_up_marks_exactly_the_trial_that_it_names() -> None:
    run = bench_run(followups=(remark(FIRST, "regrade queued"),))
    assert record(readings(host(job(ended(FIRST)))), run=run).followup == "regrade queued"
    assert record(readings(host(job(ended(SECOND)))), run=run).followup is None
    elsewhere = bench_run(followups=(remark(FIRST, mode="unlimited"),))
    assert record(readings(host(job(ended(FIRST)))), run=elsewhere).followup is None


def test_a_follow_up_without_a_trial_marks_nothing() -> None:
    assert record(readings(host(job())), run=bench_run(followups=(remark(None),))).followup is None


def test_b4_while_the_runner_lives_an_unreadable_result_keeps_the_last_good_reading() -> None:
    before = run_file(readings(host(job(trial(agent_active=True, last_activity=5.0), alive=True))))
    torn = job(trial(result="empty", agent_over=True), alive=True)
    shown = record(readings(host(torn)), last=before)
    assert (shown.state, shown.last_activity_at) == ("running", before.tasks[SLOT[0]][SLOT[1]].last_activity_at)
    assert shown.reason == "result.json is being written"
    assert record(readings(host(job(trial(result="empty", agent_over=True)))), last=before).state == "stalled"


SILENT = {
    "down": ({"gpu1": down()}, "gpu1 did not answer: timed out"),
    "down-with-last-word": ({"gpu1": down(jobs=(job(ended()),))}, "gpu1 did not answer: timed out"),
    "not-asked": ({"gpu1": host(asked=False)}, "gpu1 was not asked"),
    "not-asked-with-last-word": ({"gpu1": host(job(ended()), asked=False)}, "gpu1 was not asked"),
    "unlisted": ({}, "gpu1 was not asked"),
    "another-host-answers": ({"gpu2": host(job(mode="unlimited"), name="gpu2")}, "gpu1 was not asked"),
}


@pytest.mark.parametrize("name", SILENT)
def test_b10_a_silent_host_keeps_the_state_and_never_falls_back_to_queued(name) -> None:
    hosts, reason = SILENT[name]
    before = run_file(readings(host(job(ended()), name="gpu1")))
    shown = record(hosts, last=before)
    assert (shown.state, shown.stale, shown.stale_reason) == ("success", True, reason)


def test_b10_a_stale_record_is_fresh_again_when_its_host_answers() -> None:
    before = run_file(readings(host(job(ended()))))
    stale = run_file(readings(down()), last=before)
    shown = record(readings(host(job(ended()))), last=stale)
    assert (shown.stale, shown.stale_reason) == (None, None)


def test_b10_a_newer_batch_elsewhere_goes_before_a_stale_record() -> None:
    before = run_file(readings(host(job(ended(FIRST)), name="gpu1")))
    shown = record(readings(down(), host(job(ended(SECOND), batch=NEW), name="gpu2")), last=before)
    assert (shown.trial, shown.host, shown.stale) == (SECOND, "gpu2", None)
    assert [a.trial for a in shown.attempts] == [FIRST, SECOND]


def test_b10_an_older_batch_elsewhere_does_not_go_before_a_stale_record() -> None:
    before = run_file(readings(host(job(ended(SECOND), batch=NEW), name="gpu1")))
    shown = record(readings(down(), host(job(ended(FIRST)), name="gpu2")), last=before)
    assert (shown.trial, shown.stale) == (SECOND, True)


def test_b10_the_same_batch_found_elsewhere_goes_before_a_stale_record() -> None:
    before = run_file(readings(host(job(ended()), name="gpu1")))
    shown = record(readings(host(job(ended()), name="gpu2")), last=before)
    assert (shown.host, shown.stale) == ("gpu2", None)


def test_b10_a_queued_rerun_keeps_what_it_replaces_when_that_host_falls_silent() -> None:
    before = run_file(readings(host(job(ended(FIRST)))), run=BOTH)
    shown = record({}, last=before, run=BOTH)
    assert (shown.state, shown.rerun, shown.stale) == ("queued", True, True)
    assert shown.supersedes is not None


def test_b10_where_nothing_was_ever_seen_nothing_is_written() -> None:
    assert assembled({}).run_file is None
    assert assembled(readings(down())).run_file is None


def test_b11_one_trial_that_cannot_be_decided_leaves_the_others_alone_and_keeps_its_last_state() -> None:
    good = job(ended(), ended("b-open-drawer-i00__5555555", task_dir="b-open-drawer-i00"))
    broken = job(ended(), trial("b-open-drawer-i00__5555555", task_dir="b-open-drawer-i00", usage=usage("lost")))
    made = assembled(readings(host(broken)), last=run_file(readings(host(good))))
    assert made.run_file is not None
    kept = made.run_file.tasks["open_drawer"]["limited"]
    assert (kept.state, kept.trial) == ("success", "b-open-drawer-i00__5555555")
    assert (kept.reason or "").startswith("could not be decided: ")
    assert made.run_file.tasks[SLOT[0]][SLOT[1]].state == "success"
    assert len(made.problems) == 1
    assert "open_drawer limited" in made.problems[0]
    fresh = assembled(readings(host(broken)))
    assert fresh.run_file is not None
    assert fresh.run_file.tasks["open_drawer"]["limited"].state == "stalled"


def test_b11_a_trial_of_which_nobody_can_say_the_task_is_named() -> None:
    made = assembled(readings(host(job(ended(task_dir=None), ended(SECOND)))))
    assert made.problems == (f"gpu1: x-1001-limited/{ended().trial}: neither its files nor its job's name say which task it is",)
    assert made.run_file is not None
    assert made.run_file.tasks[SLOT[0]][SLOT[1]].trial == SECOND


def test_b11_whatever_the_probe_could_not_read_or_count_is_said_of_the_own_trials_only() -> None:
    counted = Usage(source="gateway", n=1, digest="d1", problems=("agent/gateway.jsonl: usage of an unknown shape",))
    own = job(ended(usage=counted, problems=("verifier/reward.txt holds no number",)), problems=("a trial is not listed",))
    other = job(ended(SECOND, task_dir="another-benchmark", problems=("not ours",)), batch=NEW)
    made = assembled(readings(host(own, other)))
    name = "gpu1: x-1001-limited"
    assert made.problems == (
        f"{name}: a trial is not listed",
        f"{name}/{ended().trial}: verifier/reward.txt holds no number",
        f"{name}/{ended().trial}: agent/gateway.jsonl: usage of an unknown shape",
    )


def test_b11_requests_that_cannot_be_read_cost_the_counts_and_not_the_state() -> None:
    def missing(found):
        raise FileNotFoundError("d1.json")

    made = assemble(bench_run(), "L", readings(host(job(ended(usage=usage())))), None, missing, NOW, billing="api")
    assert made.run_file is not None
    shown = made.run_file.tasks[SLOT[0]][SLOT[1]]
    assert (shown.state, shown.calls, shown.tokens) == ("success", None, None)
    assert len(made.problems) == 1


def test_b13_every_added_field_is_optional_and_absent_where_it_says_nothing() -> None:
    shown = record(readings(host(job(ended()))))
    assert (shown.reason, shown.stale_reason, shown.reward_counts, shown.calls_without_usage) == (None,) * 4


def test_b14_with_a_trace_anywhere_every_task_that_has_not_begun_reads_queued() -> None:
    by_log = run_file(readings(host(seen=(OLD,))))
    assert {task: set(modes) for task, modes in by_log.tasks.items()} == {task: {"unlimited", "limited"} for task in TASKS}
    assert {one.state for modes in by_log.tasks.values() for one in modes.values()} == {"queued"}


def test_b14_without_a_trace_nothing_is_written_whoever_else_has_one() -> None:
    assert assembled(readings(host(job(batch="other-1")))).run_file is None


def test_b14_a_trace_on_a_host_that_is_silent_by_now_is_one() -> None:
    assert run_file(readings(down(seen=(OLD,)))).tasks[SLOT[0]][SLOT[1]].state == "queued"


PLANNED = (Planned("b-pick-cube-i00", 1),)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"alive": True}, None),
        ({"alive": True, "waiting": ("b-pick-cube-i00__abcdefg",)}, "x-1001-limited is about to try it again"),
        ({"alive": True, "waiting": ("b-open-drawer-i00__abcdefg",)}, None),
        ({}, "x-1001-limited planned it, and no live process names the job"),
        ({"finished": True}, "x-1001-limited has ended and planned it, but its directory is gone"),
    ],
    ids=["waits", "is-to-be-retried", "another-is-to-be-retried", "never-begun", "gone"],
)
def test_a_planned_trial_without_a_directory_is_queued_and_says_why_where_it_does_not_simply_wait(facts, reason) -> None:
    shown = record(readings(host(job(planned=PLANNED, **facts))))
    assert (shown.state, shown.reason) == ("queued", reason)


def test_a_job_of_one_task_whose_trial_was_deleted_for_a_retry_says_so() -> None:
    one = {"task": "b-pick-cube-i00", "alive": True}
    before = run_file(readings(host(job(ended(FIRST, exception="ApiRateLimitError", usage=usage("d2")), **one))))
    shown = record(readings(host(job(waiting=(FIRST,), **one))), last=before)
    assert (shown.state, shown.trial, shown.reason) == ("setup", None, "it is about to be tried again")
    assert shown.supersedes is not None
    assert (shown.supersedes.trial, shown.attempts[0].billed_usd) == (FIRST, 0.25)


def test_hosts_of_a_run_file_are_those_that_were_asked() -> None:
    made = run_file(readings(host(job(ended())), host(name="gpu2", ok=False, error="e", at=None), host(name="gpu3", asked=False)))
    assert made.hosts == {
        "gpu1": {"ok": True, "at": "2026-11-30T11:59:59+00:00", "error": None},
        "gpu2": {"ok": False, "at": None, "error": "e"},
    }


def test_a_replay_that_was_rendered_later_is_noted_on_its_own_record() -> None:
    made = run_file(
        readings(host(job(ended(logs={"video": None})))), rerendered={"pick_cube/limited": 12, "open_drawer/limited": 3}
    )
    assert made.tasks[SLOT[0]][SLOT[1]].logs == {"video": None, "video_rerendered": 12}
    assert made.tasks["open_drawer"]["limited"] == Record(state="queued")


def test_a_subscription_is_billed_nothing_whatever_the_gateway_saw() -> None:
    shown = record(readings(host(job(ended(usage=usage("d2"))))), billing="subscription")
    assert (shown.billed_usd, shown.billed_source) == (None, None)


def test_assembling_does_not_touch_what_it_reads() -> None:
    hosts = readings(host(job(ended(usage=usage("d2"), logs={"codex": 1}))))
    before = msgspec.json.encode([hosts, ROWS])
    run_file(hosts, last=run_file(hosts))
    assert msgspec.json.encode([hosts, ROWS]) == before
