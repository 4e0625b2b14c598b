"""Small parts of pages: the picker, the order of tasks, pills by state, bars."""

import pytest

from benchpipe.registry.records import Agent, Metric, Place, Task
from benchpipe.site.data import Trial
from benchpipe.site.figures import bar_label, segments
from benchpipe.site.money import Cost
from benchpipe.site.order import default_order, natural, state_rank, states_of
from benchpipe.site.picker import Option, picker
from benchpipe.site.pills import metric_text, pill, progress_text
from benchpipe.site.states import GROUPS, LOOKS
from benchpipe.trials.records import COLLECTED_STATES, URGENCY, VIEW_STATES, Attempt, Record
from benchpipe.trials.view import ViewRecord, ViewTask


def agent(id: str, short: str) -> Agent:
    return Agent(id=id, place=Place("data/agents/x.yml"), label=id, short=short)


def trial(
    state: str, *, seen: str | None = None, mode: str = "limited", task: str = "pour", log: str = "", **record: object
) -> Trial:
    stored = Record(state=state, **record)  # type: ignore[arg-type]
    return Trial("b", "r", "Pour water", ViewRecord(task=task, mode=mode, state=seen or state, record=stored), Cost(), log)


# --- picker -----------------------------------------------------------------------------------------------------------


def test_the_picker_emphasises_the_parts_in_which_runs_differ_and_says_which() -> None:
    options = [Option(agent("a", "Codex 1 · Luna · high · login"), "a/"), Option(agent("b", "Codex 1 · Sol · high · Azure"), "b/")]
    made = picker(options, default="a", current="b")
    assert [[part.text for part in choice.parts if part.differs] for choice in made.choices] == [
        ["Luna", "login"],
        ["Sol", "Azure"],
    ]
    assert made.hint == "differ in model and access"
    assert [choice.current for choice in made.choices] == [False, True]


@pytest.mark.parametrize("shorts", [("a · b", "a · b · c"), ("one", "one")])
def test_runs_with_other_or_equal_parts_are_emphasised_nowhere(shorts: tuple[str, str]) -> None:
    made = picker([Option(agent(str(i), short), "x/") for i, short in enumerate(shorts)], default="0", current="0")
    assert not any(part.differs for choice in made.choices for part in choice.parts)
    assert made.hint == ""


def test_three_parts_have_no_names_to_hint_at() -> None:
    made = picker([Option(agent("a", "x · y · z"), ""), Option(agent("b", "x · y · w"), "")], default="a", current="a")
    assert (made.hint, made.choices[1].parts[2].differs) == ("", True)


# --- order ------------------------------------------------------------------------------------------------------------


def test_the_default_order_is_that_of_the_specification() -> None:
    inside, outside = ViewTask(task="x", inside=True), ViewTask(task="x", inside=False)
    removed = ViewTask(task="x", inside=False, removed=True)
    done, busy, waiting = trial("success"), trial("running"), trial("queued")
    tasks = [
        ("more modes done", Task(id="x", title="z"), inside, [done, trial("failed", mode="unlimited")]),
        ("one mode done", Task(id="x", title="a"), inside, [done, waiting]),
        ("one busy", Task(id="x", title="a"), inside, [busy, waiting]),
        ("easy", Task(id="x", title="z", difficulty="easy"), inside, [waiting]),
        ("unrated a", Task(id="x", title="Task 9"), inside, [waiting]),
        ("unrated b", Task(id="x", title="task 10"), inside, [waiting]),
        ("outside", Task(id="x", title="a", difficulty="easy"), outside, []),
        ("removed", Task(id="x", title="a", difficulty="easy"), removed, []),
        ("excluded", Task(id="x", title="a", excluded="why"), inside, [done, done]),
    ]
    keys = [default_order(task, seen, trials) for _, task, seen, trials in tasks]
    assert keys == sorted(keys)


def test_without_a_run_curation_decides() -> None:
    keys = [default_order(Task(id="x", title="a", status=status), None, ()) for status in ("keep", "pending", "drop")]
    assert keys == sorted(keys)
    assert len(set(keys)) == 3


def test_the_state_facet_and_sort_know_tasks_outside_the_run() -> None:
    outside = ViewTask(task="x", inside=False)
    assert states_of(outside, ()) == "outside"
    assert states_of(ViewTask(task="x", inside=False, removed=True), ()) == "removed"
    assert states_of(None, [trial("failed"), trial("failed"), trial("error")]) == "failed error"
    assert state_rank(None, [trial("success"), trial("stalled")]) < state_rank(None, [trial("success")]) < state_rank(outside, ())
    assert natural("Task 9") < natural("task 10")


# --- pills ------------------------------------------------------------------------------------------------------------


def test_every_state_has_an_icon_a_word_and_a_meaning() -> None:
    assert set(LOOKS) == {*COLLECTED_STATES, *VIEW_STATES} == set(URGENCY)
    assert len({look.icon for look in LOOKS.values()}) == len(LOOKS)
    assert all(look.word and look.help for look in LOOKS.values())


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (trial("success", agent_wall_s=2520), "42m"),
        (trial("failed", agent_wall_s=3900, progress=0.37), "1h 05m 37%"),
        (trial("queued", rerun=True), "rerun queued"),
        (trial("queued"), "queued"),
        (trial("queued", seen="notrun"), "not run"),
        (trial("failed", seen="stopped"), "stopped by us"),
        (trial("failed", seen="uncounted"), "not counted"),
        (trial("error"), "error"),
        (trial("setup"), "setting up"),
        (trial("queued", seen="nodata"), "no data"),
    ],
)
def test_a_pill_says_what_the_specification_asks(given: Trial, text: str) -> None:
    assert pill(given, "Codex").text == text


def test_only_a_live_trial_counts_minutes_and_only_a_log_is_a_link() -> None:
    assert pill(trial("running", started="2026-10-01T09:00:00+00:00"), "Codex").since == "2026-10-01T09:00:00+00:00"
    assert pill(trial("failed", started="2026-10-01T09:00:00+00:00"), "Codex").since == ""
    assert pill(trial("failed"), "Codex").href == ""
    assert pill(trial("failed", log="runs/x/"), "Codex").href == "runs/x/"


def test_the_details_say_why_a_success_overrides_its_progress_and_what_it_replaces() -> None:
    earlier = Attempt(trial="pour__1", state="error")
    made = pill(trial("success", progress=0.25, supersedes=earlier, regraded=True), "Codex")
    said = {detail.key: detail.value for detail in made.details}
    assert said["progress"] == "100% (the grader wrote 0.25; a success counts 100%)"
    assert said["replaces"] == "pour__1 (error)"
    assert "regrade" in said["regraded"]
    assert said["run"] == "Codex"


def test_progress_outside_zero_to_one_is_the_plain_number() -> None:
    assert progress_text(trial("failed", progress=12.5)) == "12.5"
    assert progress_text(trial("running", progress=0.5)) == ""


def test_a_metric_with_a_format_that_fails_is_shown_plainly() -> None:
    assert metric_text(Metric(key="k", label="k", format=".3f", unit="mm"), 1.23456) == "1.235 mm"
    assert metric_text(Metric(key="k", label="k", format="no such"), 1.5) == "1.5"
    assert metric_text(Metric(key="k", label="k"), None) == ""


# --- bars -------------------------------------------------------------------------------------------------------------


def test_a_bar_holds_every_trial_once_and_leaves_out_what_counts_nowhere() -> None:
    parts = segments({"success": 3, "error": 1, "stalled": 1, "setup": 1, "running": 1, "stopped": 9, "nodata": 9})
    assert [(part.group, part.n) for part in parts] == [("success", 3), ("error", 2), ("running", 2)]
    assert sum(float(part.share) for part in parts) == pytest.approx(100, abs=0.01)
    assert bar_label(parts) == "3 success, 2 no grade, 2 running"
    assert segments({}) == ()
    assert {group for group, _, _ in GROUPS} <= {look.group for look in LOOKS.values()}
