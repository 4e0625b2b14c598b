"""View states in their order (runs-system 7.2), slots with log pages (10.1), scopes and urgency."""

import pytest
from msgspec.structs import replace

from benchpipe.registry.records import Task, Withdrawal
from benchpipe.trials.records import URGENCY, Attempt, Record
from benchpipe.trials.view import slot_pages, urgency, view, view_record
from benchpipe_tests.trials.builders import NEW, bench_run, ended, host, job, readings, remark, run_file

DONE = Record(state="failed", host="gpu1", job="j", trial="t1")
PAIR = ("pick_cube", "limited")
TASKS = {task: Task(id=task, title=task) for task in ("pick_cube", "open_drawer", "other", "gone")}


def seen(run=None, record=DONE):
    return view_record(run or bench_run(), *PAIR, record)


def test_1_without_any_data_every_record_is_nodata() -> None:
    run = bench_run(withdrawn={"limited": Withdrawal()}, closed="over")
    assert {one.state for one in view(run, None, TASKS).records("all")} == {"nodata"}


def test_2_a_withdrawn_mode_hides_everything_else() -> None:
    run = bench_run(
        withdrawn={"limited": Withdrawal("rerun", "why")}, stopped=(remark(None),), notes=(remark("t1"),), closed="over"
    )
    shown = seen(run)
    assert (shown.state, shown.state_was, shown.withdrawn, shown.withdrawn_note) == ("withdrawn", "failed", "rerun", "why")
    assert (shown.stopped, shown.note) == (None, None)
    assert view_record(run, "pick_cube", "unlimited", Record(state="queued")).state == "notrun"


def test_3_in_a_closed_run_what_never_started_is_not_run() -> None:
    run = bench_run(closed="over")
    assert seen(run, Record(state="queued")).state == "notrun"
    assert seen(run).state == "failed"
    empty = replace(run_file(readings(host(job()))), tasks={})
    assert {one.state for one in view(run, empty, TASKS).records()} == {"notrun"}


def test_3_and_then_the_other_rules_go_on() -> None:
    shown = seen(bench_run(closed="over", stopped=(remark(None, "by us"),)), Record(state="queued"))
    assert (shown.state, shown.state_was, shown.stopped) == ("stopped", "notrun", "by us")


def test_4_stopped_is_not_tied_to_a_trial_and_goes_before_not_counted() -> None:
    shown = seen(bench_run(stopped=(remark(None, "by us"),), not_counted=(remark("t1", "bad host"),)))
    assert (shown.state, shown.state_was, shown.stopped, shown.uncounted) == ("stopped", "failed", "by us", None)


def test_5_not_counted_holds_for_its_trial_and_a_later_one_counts_again() -> None:
    run = bench_run(not_counted=(remark("t1", "bad host"),))
    assert (seen(run).state, seen(run).uncounted, seen(run).state_was) == ("uncounted", "bad host", "failed")
    later = seen(run, replace(DONE, trial="t2"))
    assert (later.state, later.uncounted) == ("failed", None)


def test_6_a_note_stands_beside_any_state() -> None:
    run = bench_run(notes=(remark("t1", "look"),), not_counted=(remark("t1"),))
    assert (seen(run).note, seen(run).state) == ("look", "uncounted")
    assert seen(run, replace(DONE, trial="t2")).note is None
    assert seen(run, Record(state="queued")).note is None


def test_7_a_follow_up_of_the_replaced_trial_is_told_with_it() -> None:
    run = bench_run(followups=(remark("t0", "redone for its camera"),))
    assert seen(run, replace(DONE, supersedes=Attempt(trial="t0"))).supersedes_followup == "redone for its camera"
    assert seen(run, replace(DONE, supersedes=Attempt(trial="t9"))).supersedes_followup is None


def test_tasks_outside_the_run_say_why() -> None:
    run = bench_run(removed={"gone": "too easy"}, others="not chosen")
    shown = view(run, None, TASKS).tasks
    assert (shown["gone"].inside, shown["gone"].removed, shown["gone"].reason) == (False, True, "too easy")
    assert (shown["other"].inside, shown["other"].removed, shown["other"].reason) == (False, False, "not chosen")
    assert view(bench_run(), None, TASKS).tasks["other"].reason == "not in this run"


def test_scopes_are_the_benchmarks_own_tasks_the_excluded_ones_and_both() -> None:
    tasks = {"pick_cube": TASKS["pick_cube"], "open_drawer": Task(id="open_drawer", title="o", excluded="broken")}
    shown = view(bench_run(tasks=("pick_cube", "open_drawer", "unheard_of")), None, tasks)
    assert {one.task for one in shown.records()} == {"pick_cube"}
    assert {one.task for one in shown.records("excluded")} == {"open_drawer"}
    assert {one.task for one in shown.records("all")} == {"pick_cube", "open_drawer"}
    assert shown.tasks["unheard_of"].known is False


@pytest.mark.parametrize(
    ("state", "counts"),
    [("success", True), ("error", True), ("stalled", True), ("setup", True), ("queued", False)],
)
def test_c7_what_has_begun_counts(state, counts) -> None:
    assert seen(record=Record(state=state)).counts is counts


def test_c7_what_is_left_out_counts_nowhere() -> None:
    for run in (
        bench_run(stopped=(remark(None),)),
        bench_run(not_counted=(remark("t1"),)),
        bench_run(withdrawn={"limited": Withdrawal()}),
    ):
        assert (seen(run).counts, seen(run).done) == (False, False)
    assert seen(bench_run(closed="over"), Record(state="queued")).counts is False


def test_a_trial_has_a_page_and_what_it_replaced_has_another() -> None:
    made = run_file(readings(host(job(ended("b-pick-cube-i00__1111111")), job(ended("b-pick-cube-i00__2222222"), batch=NEW))))
    pages = slot_pages("limited", made.tasks["pick_cube"]["limited"])
    assert [(page.slot, page.previous, page.attempt.trial, page.attempt.batch) for page in pages] == [
        ("limited", False, "b-pick-cube-i00__2222222", "x-1002"),
        ("limited-prev", True, "b-pick-cube-i00__1111111", "x-1001"),
    ]


def test_a_queued_rerun_leaves_the_replaced_attempts_page_where_it_was() -> None:
    made = run_file(readings(host(job(ended("b-pick-cube-i00__1111111")))), run=bench_run(rerun_all=True))
    pages = slot_pages("limited", made.tasks["pick_cube"]["limited"])
    assert [(page.slot, page.previous, page.attempt.trial) for page in pages] == [("limited", False, "b-pick-cube-i00__1111111")]


def test_without_a_trial_there_is_no_page() -> None:
    assert slot_pages("limited", Record(state="queued")) == ()
    assert slot_pages("limited", Record(state="setup", job="j", host="h", supersedes=Attempt(job="j0"))) == ()


def test_the_most_urgent_state_comes_first() -> None:
    assert sorted(["success", "queued", "stalled", "nodata", "error"], key=urgency) == [
        "stalled",
        "error",
        "success",
        "queued",
        "nodata",
    ]
    assert list(URGENCY) == sorted(URGENCY, key=urgency)
