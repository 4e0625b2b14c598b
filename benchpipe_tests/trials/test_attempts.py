"""Which trials belong together and which of them counts: B7, B8, both layouts, several hosts, links."""

import pytest
from msgspec.structs import replace

from benchpipe.registry.records import Host, Place
from benchpipe.trials.assemble import assemble
from benchpipe.trials.attempts import find_hits, serving, task_of
from benchpipe.trials.chain import batch_of
from benchpipe_tests.trials.builders import (
    NEW,
    NOW,
    OLD,
    SLOT,
    bench_run,
    ended,
    host,
    job,
    readings,
    record,
    request,
    run_file,
    trial,
    usage,
)  # fmt: skip

FIRST, SECOND, THIRD = "b-pick-cube-i00__1111111", "b-pick-cube-i00__2222222", "b-pick-cube-i00__3333333"


def test_both_layouts_of_the_runner_give_the_same_record_but_for_the_jobs_name() -> None:
    flat = record(readings(host(job(ended()))))
    deep = record(readings(host(job(ended(task_dir=None), task="b-pick-cube-i00"))))
    assert (flat.job, deep.job) == ("x-1001-limited", "x-1001-limited-b-pick-cube-i00")
    assert replace(flat, job=None, attempts=()) == replace(deep, job=None, attempts=())


def test_a_job_of_several_benchmarks_gives_each_its_own_tasks() -> None:
    mixed = job(ended(), ended("c-pick-cube-i00__9999999", task_dir="c-pick-cube-i00"))
    assert record(readings(host(mixed))).trial == ended().trial
    other = bench_run(benchmark="c", task_dir="c-{task_dashed}-i00")
    assert record(readings(host(mixed)), run=other).trial == "c-pick-cube-i00__9999999"


def test_b8_a_modes_twin_suffix_is_no_part_of_the_task() -> None:
    run = bench_run()
    assert task_of(run, "limited", "b-pick-cube-i00-limited") == "pick_cube"
    assert task_of(run, "limited", "b-pick-cube-i00-standard") == "pick_cube"
    assert task_of(run, "unlimited", "b-pick-cube-i00-privileged") == "pick_cube"
    assert task_of(run, "unlimited", "b-pick-cube-i00-limited") is None
    assert task_of(bench_run(task_suffixes={"limited": ("-hard",)}), "limited", "b-pick-cube-i00-hard") == "pick_cube"


def test_b8_a_trials_own_word_goes_before_the_name_of_its_job() -> None:
    stray = job(ended("b-open-drawer-i00__7777777", task_dir="b-open-drawer-i00"), task="b-pick-cube-i00")
    hits = find_hits(bench_run(), readings(host(stray)))
    assert set(hits) == {("open_drawer", "limited")}


def test_b8_a_trial_that_names_no_task_of_ours_takes_the_one_of_its_jobs_name() -> None:
    hits = find_hits(bench_run(), readings(host(job(ended(task_dir="a-copy-in-a-cache"), task="b-pick-cube-i00"))))
    assert set(hits) == {SLOT}
    assert find_hits(bench_run(), readings(host(job(ended(task_dir=None))))) == {}


def test_b7_the_first_started_trial_counts_by_its_results_own_time() -> None:
    late = ended(FIRST, created=1.0, started_at="2026-11-30T10:00:00Z")
    early = ended(SECOND, created=9.0, started_at="2026-11-30T09:00:00Z", reward=0.0)
    assert record(readings(host(job(late, early)))).trial == SECOND


def test_b7_trials_without_an_outcome_of_their_own_are_passed_over_when_a_later_one_exists() -> None:
    later = ended(THIRD, created=3.0, reward=0.0)
    for poor in (
        trial(FIRST, created=1.0, result="damaged"),
        trial(FIRST, created=1.0, result="empty"),
        trial(FIRST, created=1.0),
        ended(FIRST, created=1.0, reward=None, exception="CancelledError"),
    ):
        shown = record(readings(host(job(poor, later))))
        assert (shown.trial, shown.supersedes and shown.supersedes.trial) == (THIRD, FIRST)
        assert record(readings(host(job(poor)))).trial == FIRST


def test_b7_an_outcome_is_not_hidden_by_a_later_cancelled_trial() -> None:
    good, cut = ended(FIRST, created=1.0), ended(SECOND, created=2.0, reward=None, exception="CancelledError")
    shown = record(readings(host(job(good, cut))))
    assert (shown.trial, shown.supersedes) == (FIRST, None)
    assert [(a.trial, a.counts) for a in shown.attempts] == [(FIRST, True), (SECOND, False)]


def test_b7_the_newest_batch_that_has_the_job_counts_and_supersedes_what_the_one_before_showed() -> None:
    old = job(ended(FIRST, created=1.0, reward=0.0), ended(SECOND, created=2.0))
    new = job(ended(THIRD, created=3.0), batch=NEW)
    shown = record(readings(host(new, old)))
    assert (shown.trial, shown.supersedes and shown.supersedes.trial) == (THIRD, FIRST)
    assert [(a.batch, a.trial) for a in shown.attempts] == [(OLD, FIRST), (OLD, SECOND), (NEW, THIRD)]


def test_b7_every_attempt_keeps_its_tokens_and_its_bill() -> None:
    old = job(ended(FIRST, usage=usage("d2"), created=1.0))
    new = job(ended(SECOND, usage=usage("d1"), created=2.0), batch=NEW)
    first, second = record(readings(host(old, new))).attempts
    assert (first.tokens and first.tokens.input, first.billed_usd, first.usage_digest) == (100, 0.25, "d2")
    assert (second.tokens and second.tokens.input, second.billed_usd, second.usage_digest) == (100, None, "d1")


def test_b7_what_a_retry_deleted_stays_in_the_chain_with_what_it_cost() -> None:
    before = run_file(readings(host(job(ended(FIRST, exception="ApiRateLimitError", usage=usage("d2")), alive=True))))
    retried = trial(FIRST, created=5000.0, agent_active=True)
    after = run_file(readings(host(job(retried, alive=True))), last=before)
    shown = after.tasks[SLOT[0]][SLOT[1]]
    assert (shown.state, shown.supersedes and shown.supersedes.state) == ("running", "error")
    assert [(a.counts, a.billed_usd) for a in shown.attempts] == [(False, 0.25), (True, None)]
    assert run_file(readings(host(job(retried, alive=True))), last=after) == after


def test_b7_a_result_that_was_damaged_later_makes_no_second_attempt() -> None:
    before = run_file(readings(host(job(ended(FIRST)))))
    shown = record(readings(host(job(trial(FIRST, result="damaged")))), last=before)
    assert [(a.trial, a.state) for a in shown.attempts] == [(FIRST, "stalled")]


def test_of_several_batches_that_fit_a_jobs_name_the_longest_is_its_own() -> None:
    run = bench_run(batch="x", rerun_batches=("x-limited",))
    assert batch_of(run, "limited", "x-limited-limited") == "x-limited"
    assert batch_of(run, "limited", "x-limited-b-pick-cube-i00") == "x"
    assert batch_of(run, "limited", "x-unlimited") is None


def test_b7_an_attempt_of_a_batch_that_is_no_longer_registered_is_forgotten() -> None:
    before = run_file(readings(host(job(ended(FIRST)))))
    moved = bench_run(batch="y-1", rerun_batches=())
    shown = record(readings(host(job(batch="y-1"))), last=before, run=moved)
    assert (shown.state, shown.attempts) == ("queued", ())


def test_the_same_job_on_two_hosts_the_larger_pair_of_trials_and_activity_wins() -> None:
    small = host(job(ended(FIRST, last_activity=99.0)), name="gpu1")
    large = host(job(ended(SECOND, created=1.0, last_activity=1.0), ended(THIRD, created=2.0)), name="gpu2")
    busy = host(job(ended(SECOND, last_activity=100.0)), name="gpu2")
    assert record(readings(small, large)).host == "gpu2"
    assert record(readings(small, busy)).host == "gpu2"
    assert record(readings(busy, small)).host == "gpu2"


def test_the_same_job_on_two_hosts_ties_keep_the_first_host() -> None:
    one, two = host(job(ended()), name="gpu1"), host(job(ended()), name="gpu2")
    assert record(readings(one, two)).host == "gpu1"
    assert record(readings(two, one)).host == "gpu2"


def test_a_copy_on_a_host_that_answers_goes_before_an_equal_one_on_a_silent_host() -> None:
    silent = host(job(ended()), name="gpu1", ok=False, error="no route")
    assert record(readings(silent, host(job(ended()), name="gpu2"))).host == "gpu2"


def test_a_trial_that_a_copied_or_linked_job_shows_again_is_one_attempt() -> None:
    here = host(job(ended(FIRST, usage=usage("d2"))), name="gpu1")
    copy = host(job(ended(FIRST, usage=usage("d2"))), name="gpu2")
    assert len(record(readings(here, copy)).attempts) == 1


def test_a_later_batch_that_links_to_an_earlier_ones_job_supersedes_nothing() -> None:
    linked = record(readings(host(job(ended(FIRST)), job(ended(FIRST), batch=NEW))))
    assert (linked.job, linked.supersedes, len(linked.attempts)) == ("x-1002-limited", None, 1)


def test_different_trials_of_one_batch_on_two_hosts_are_all_in_the_chain() -> None:
    shown = record(readings(host(job(ended(FIRST, created=1.0)), name="gpu1"), host(job(ended(SECOND, created=2.0)), name="gpu2")))
    assert {a.trial for a in shown.attempts} == {FIRST, SECOND}


def test_a_host_that_is_not_searched_for_a_run_is_not_heard_about_it() -> None:
    one, two, old = (host(job(ended()), name=name) for name in ("gpu1", "gpu2", "gone"))
    hosts = {
        "gpu2": Host(name="gpu2", place=Place("h"), jobs="/j", benchmarks=("other",)),
        "gpu1": Host(name="gpu1", place=Place("h"), jobs="/j"),
    }
    assert list(serving(bench_run(), hosts, readings(two, old, one))) == ["gpu1", "gone"]


def test_counts_come_from_the_gateway_and_say_what_they_lack() -> None:
    shown = record(readings(host(job(ended(usage=usage("d2", n=3))))))
    assert (shown.calls, shown.calls_failed, shown.calls_without_usage) == (3, 1, 1)
    assert (shown.tokens_source, shown.billed_source, shown.last_call) == ("gateway", "gateway", "1970-01-01T00:18:20+00:00")


def test_a_trial_without_a_gateway_log_has_no_calls_and_harbors_tokens() -> None:
    said = record(readings(host(job(ended(harbor_tokens={"input": 7, "cached": None, "output": 2})))))
    assert (said.calls, said.tokens_source) == (None, "harbor")
    assert said.tokens is not None
    assert (said.tokens.input, said.tokens.cached, said.tokens.output, said.tokens.reasoning) == (7, None, 2, None)
    nothing = record(readings(host(job(ended(harbor_tokens={"input": None, "cached": None, "output": None})))))
    assert (nothing.tokens, nothing.tokens_source) == (None, None)


def test_requests_without_any_usage_fall_back_to_harbors_tokens_and_keep_their_number() -> None:
    rows = (request(shape=None, input=None, cached=None, output=None, reasoning=None),)
    one = ended(usage=usage("rows"), harbor_tokens={"input": 7, "cached": 1, "output": 2})
    from benchpipe_tests.trials import builders

    shown = builders.assemble(
        bench_run(), "L", readings(host(job(one))), None, lambda _: rows, builders.NOW, billing="api"
    ).run_file.tasks[SLOT[0]][SLOT[1]]
    assert (shown.calls, shown.tokens_source, shown.tokens.input) == (1, "harbor", 7)


def test_b5_the_record_carries_the_newest_growth_of_its_trial() -> None:
    assert record(readings(host(job(trial(last_activity=1200.0), alive=True)))).last_activity_at == "1970-01-01T00:20:00+00:00"


def test_times_of_the_result_go_before_the_files_and_the_wall_time_is_the_agents() -> None:
    shown = record(
        readings(
            host(
                job(
                    ended(
                        started_at="2026-11-30T09:59:59.900Z",
                        finished_at="2026-11-30T11:00:00.123456Z",
                        agent_started_at="2026-11-30T10:00:00Z",
                        agent_finished_at="2026-11-30T10:30:00.6Z",
                    )
                )
            )
        )
    )
    assert (shown.started, shown.finished) == ("2026-11-30T09:59:59+00:00", "2026-11-30T11:00:00.123456Z")
    assert shown.agent_wall_s == 1801
    zoneless = record(readings(host(job(ended(started_at="2026-11-30T09:59:59", created=1000.0)))))
    assert zoneless.started == "1970-01-01T00:16:40+00:00"


@pytest.mark.parametrize("said", ["9999-12-31T23:59:59.999999-23:59", "0001-01-01T00:00:00+23:59"])
def test_a_time_beyond_the_years_that_utc_has_is_no_time(said: str) -> None:
    shown = record(readings(host(job(ended(started_at=said, finished_at=said, created=1000.0)))))
    assert (shown.state, shown.started, shown.finished) == ("success", "1970-01-01T00:16:40+00:00", None)


def test_an_end_that_is_no_time_is_none_and_one_without_a_zone_stays_as_the_old_release_wrote_it() -> None:
    ends = [record(readings(host(job(ended(finished_at=said))))).finished for said in ("<b>today</b>", "2026-11-30T10:00:00.5")]
    assert ends == [None, "2026-11-30T10:00:00.5"]


def test_files_and_requests_from_no_year_cost_their_time_and_not_the_record() -> None:
    late = {"lost in time": (request(started_at=1e300),)}
    found = readings(host(job(ended(created=1e30, last_activity=-1e30, usage=usage("lost in time")))))
    made = assemble(bench_run(), "L", found, None, lambda found: late[found.digest], NOW, billing="api")
    assert made.problems == ()
    assert made.run_file is not None
    shown = made.run_file.tasks[SLOT[0]][SLOT[1]]
    assert (shown.state, shown.started, shown.last_activity_at, shown.last_call) == ("success", None, None, None)
    assert shown.calls == 1
