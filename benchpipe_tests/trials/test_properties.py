"""What holds for any readings: order doesn't matter, assembling is idempotent, JSON keeps everything."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from benchpipe.hosts.reading import HostReading, JobReading, TrialReading
from benchpipe.trials.records import COLLECTED_STATES, RunFile
from benchpipe.trials.store import parse_run_file, run_file_json
from benchpipe.trials.view import view
from benchpipe_tests.trials.builders import NEW, OLD, TASKS, bench_run, host, job, run_file, trial, usage

numbers = st.floats(0, 2, width=16)
rewards = st.none() | st.dictionaries(st.sampled_from(["reward", "success", "grader_error", "iou"]), numbers, min_size=1)
exceptions = st.none() | st.sampled_from(
    ["AgentTimeoutError", "ApiRateLimitError", "CancelledError", "VerifierTimeoutError", "Odd"]
)
runs = st.sampled_from([bench_run(), bench_run(rerun_all=True), bench_run(progress="q_score")])


@st.composite
def trials(draw: st.DrawFn, number: int) -> TrialReading:
    """Every trial has a name and a last activity of its own: ties between hosts are another test's."""
    finished = draw(st.booleans())
    return trial(
        f"b-t__{number:07}",
        task_dir=draw(st.sampled_from(["b-pick-cube-i00", "b-open-drawer-i00-limited", "c-else-i00"])),
        created=draw(st.integers(1, 10**6)),
        result="whole" if finished else draw(st.sampled_from(["absent", "empty", "damaged"])),
        finished_at="2026-11-30T10:00:00.5Z" if finished else None,
        rewards=draw(rewards) if finished else None,
        reward_file=draw(rewards),
        exception=draw(exceptions) if finished else None,
        reward_valid=draw(st.none() | st.booleans()) if finished else None,
        regrade=draw(st.sampled_from(["absent", "pending", "done"])),
        regrade_rewards=draw(rewards),
        agent_active=draw(st.booleans()),
        agent_over=draw(st.booleans()),
        last_activity=float(number),
        usage=draw(st.none() | st.sampled_from([usage("d1"), usage("d2")])),
    )


@st.composite
def readings(draw: st.DrawFn) -> dict[str, HostReading]:
    """Two hosts with jobs of both batches; trial names, and so trials, are all different."""
    count = iter(range(100))
    found = {}
    for name in ("gpu1", "gpu2"):
        jobs: list[JobReading] = []
        for batch, mode in draw(
            st.lists(st.tuples(st.sampled_from([OLD, NEW]), st.sampled_from(["limited", "unlimited"])), unique=True)
        ):
            own = [draw(trials(next(count))) for _ in range(draw(st.integers(0, 3)))]
            jobs.append(job(*own, batch=batch, mode=mode, alive=draw(st.booleans())))
        found[name] = host(*jobs, name=name, ok=draw(st.booleans()), asked=draw(st.booleans()), seen=(OLD,))
    return found


def mixed(found: dict[str, HostReading]) -> dict[str, HostReading]:
    """The same readings with hosts, jobs and trials the other way round."""
    return {
        name: replace(one, jobs=tuple(replace(j, trials=j.trials[::-1]) for j in one.jobs[::-1]))
        for name, one in reversed(found.items())
    }


def tasks_of(made: RunFile) -> dict[str, object]:
    return run_file_json(made)["tasks"]


def some(examples: int):
    return settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def check(found: dict[str, HostReading], run) -> None:
    made = run_file(found, run=run)
    assert tasks_of(run_file(mixed(found), run=run)) == tasks_of(made)
    assert tasks_of(run_file(found, made, run=run)) == tasks_of(made)
    text = json.dumps(run_file_json(made)).encode()
    assert parse_run_file(text, "b", "r", "r.json") == made
    records = [one for modes in made.tasks.values() for one in modes.values()]
    assert {one.state for one in records} <= set(COLLECTED_STATES)
    assert len(records) == len(TASKS) * 2
    for one in records:
        names = [attempt.trial for attempt in one.attempts]
        assert len(names) == len(set(names))
        assert [attempt.trial for attempt in one.attempts if attempt.counts] == ([one.trial] if one.trial else [])
        assert one.supersedes is None or one.supersedes.trial != one.trial or one.trial is None
    assert len(list(view(run, made, {}).tasks)) == len(TASKS)


@given(readings(), runs)
@some(60)
def test_order_idempotence_and_round_trip(found: dict[str, HostReading], run) -> None:
    check(found, run)


@pytest.mark.long
@given(readings(), runs)
@some(1000)
def test_order_idempotence_and_round_trip_at_length(found: dict[str, HostReading], run) -> None:
    check(found, run)


@given(readings(), readings(), runs)
@some(60)
def test_no_attempt_is_ever_lost_whatever_hosts_say_next(first: dict[str, HostReading], then: dict[str, HostReading], run) -> None:
    before = run_file(first, run=run)
    after = run_file(then, before, run=run)
    for task, modes in before.tasks.items():
        for mode, record in modes.items():
            kept = {attempt.trial for attempt in after.tasks[task][mode].attempts}
            assert {attempt.trial for attempt in record.attempts} <= kept


@given(readings(), runs)
@some(60)
def test_silence_changes_no_state(found: dict[str, HostReading], run) -> None:
    before = run_file(found, run=run)
    silenced = {name: replace(one, ok=False, error="gone") for name, one in found.items()}
    for hosts in (silenced, {}):
        after = run_file(hosts, before, run=run)
        for task, modes in before.tasks.items():
            for mode, record in modes.items():
                assert after.tasks[task][mode].state == record.state
