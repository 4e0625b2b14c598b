"""Every row of the table of states (runs-system 7.1), and what B3, B4 and B6 mend in it."""

import pytest

from benchpipe_tests.trials.builders import ended, host, job, readings, record, trial

SPEC = [
    # (trials of the job, runner lives, state): the rows of runs-system 7.1 from top to bottom
    ((), True, "setup"),
    ((), False, "stalled"),
    ((ended(rewards={"success": 1.0}),), True, "success"),
    ((ended(rewards={"success": 1.0}),), False, "success"),
    ((ended(rewards={"success": 0.0, "grader_error": 1.0}),), True, "error"),
    ((ended(rewards={"success": 0.0, "missing_log": 1.0}),), False, "error"),
    ((ended(rewards={"success": 0.0, "grader_error": 0.0}),), False, "failed"),
    ((ended(reward=None),), True, "grading"),
    ((ended(reward=None),), False, "error"),
    ((trial(agent_over=True),), False, "stalled"),
    ((trial(agent_over=True, agent_active=True),), True, "grading"),
    ((trial(agent_active=True),), True, "running"),
    ((trial(),), True, "setup"),
]


@pytest.mark.parametrize(("trials", "alive", "state"), SPEC, ids=[f"row{number}-{row[2]}" for number, row in enumerate(SPEC, 1)])
def test_each_row_of_the_specifications_table(trials, alive, state) -> None:
    assert record(readings(host(job(*trials, task="b-pick-cube-i00", alive=alive)))).state == state


def test_no_job_found_is_queued() -> None:
    assert record(readings(host(job(mode="unlimited")))).state == "queued"


def test_an_agent_time_out_beside_a_failed_verdict_stays_failed() -> None:
    assert record(readings(host(job(ended(reward=0.0, exception="AgentTimeoutError"))))).state == "failed"


def test_a_verifier_time_out_beside_a_success_stays_success() -> None:
    assert record(readings(host(job(ended(reward=1.0, exception="VerifierTimeoutError"))))).state == "success"


def test_a_grader_error_beside_a_success_stays_success() -> None:
    assert record(readings(host(job(ended(rewards={"success": 1.0, "grader_error": 1.0}))))).state == "success"


def test_a_missing_trajectory_without_success_is_failed() -> None:
    assert record(readings(host(job(ended(rewards={"success": 0.0, "missing_trajectory": 1.0}))))).state == "failed"


def test_a_reward_without_a_result_is_ignored_until_the_result_exists() -> None:
    shown = record(readings(host(job(trial(reward_file={"reward": 1.0}, agent_over=True), alive=True))))
    assert (shown.state, shown.reward) == ("grading", None)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"exception": "RewardFileNotFoundError"}, "RewardFileNotFoundError, and no verdict"),
        ({"verifier_finished_at": "2026-11-30T10:00:00Z"}, "the verifier ended without a verdict"),
        ({"verifier_disabled": True}, "grading was switched off"),
        ({"install_only": True}, "grading was switched off"),
    ],
)
def test_b3_a_final_result_without_a_verdict_is_an_error_while_the_job_lives(facts, reason) -> None:
    shown = record(readings(host(job(ended(reward=None, **facts), alive=True))))
    assert (shown.state, shown.reason) == ("error", reason)


def test_b3_a_regrade_without_a_reward_reads_grading_only_while_the_runner_lives() -> None:
    old = ended(reward=0.0, regrade="pending")
    assert record(readings(host(job(old, alive=True)))).state == "grading"
    assert record(readings(host(job(old, alive=False)))).state == "failed"


@pytest.mark.parametrize("damage", ["empty", "damaged"])
def test_b4_an_unreadable_result_counts_as_none_while_nothing_is_known_and_stalls_when_the_runner_is_gone(damage) -> None:
    assert record(readings(host(job(trial(result=damage, agent_active=True), alive=True)))).state == "running"
    dead = record(readings(host(job(trial(result=damage, agent_active=True)))))
    assert (dead.state, dead.reason) == ("stalled", "result.json is empty or cut and no live process names the job")


def test_b6_any_agent_file_or_gateway_log_means_running() -> None:
    shown = record(readings(host(job(trial(agent_active=True, logs={"codex": None, "gateway": 10}), alive=True))))
    assert shown.state == "running"
