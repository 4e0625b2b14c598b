"""Which reward counts and what it says: B1, B2, B9, progress and metrics."""

import pytest

from benchpipe.registry.records import Metric, PerFamily, Verdict
from benchpipe.trials.exceptions import GROUPS, SPOILING
from benchpipe_tests.trials.builders import bench_run, ended, host, job, readings, record


def shown(run=None, **facts):
    return record(readings(host(job(ended(**facts)))), run=run)


def test_b1_without_a_rule_success_is_the_key_where_the_reward_has_it() -> None:
    assert shown(rewards={"success": 0.0, "reward": 1.0}).state == "failed"
    assert shown(rewards={"success": 1.0, "reward": 0.0}).state == "success"


def test_b1_without_success_the_key_reward_decides_at_one() -> None:
    assert shown(rewards={"reward": 1.0}).state == "success"
    assert shown(rewards={"reward": 0.99}).state == "failed"
    assert shown(rewards={"iou": 0.9}).state == "error"


def test_b1_a_benchmarks_own_rule_goes_before_both() -> None:
    run = bench_run(verdict=Verdict(key="iou", at_least=0.5))
    assert shown(run, rewards={"success": 0.0, "iou": 0.5}).state == "success"
    assert shown(run, rewards={"success": 1.0, "iou": 0.49}).state == "failed"
    assert shown(run, rewards={"success": 1.0}).state == "error"


def test_b2_a_regrade_goes_before_the_result_and_the_result_before_the_file() -> None:
    regraded = shown(reward=0.0, regrade="done", regrade_rewards={"reward": 1.0}, reward_file={"reward": 0.0})
    assert (regraded.state, regraded.regraded) == ("success", True)
    assert shown(reward=0.0, reward_file={"reward": 0.25}).reward == {"reward": 0.0}
    assert shown(reward=None, reward_file={"reward": 1.0}).state == "success"


def test_b2_a_regrade_that_gives_no_reward_leaves_no_verdict() -> None:
    assert shown(reward=1.0, regrade="done", regrade_rewards=None).state == "error"


def test_b2_all_finite_numbers_of_the_reward_are_kept() -> None:
    values = {"reward": 0.75, "iou": 0.7, "my_own_key": -3.5}
    assert shown(rewards=values).reward == values


SPOILED = [(group, name) for group in SPOILING for name in GROUPS[group]]


@pytest.mark.parametrize(("group", "name"), SPOILED, ids=[name for _, name in SPOILED])
def test_b2_an_exception_that_is_not_the_agents_spoils_the_reward_and_keeps_it(group, name) -> None:
    spoiled = shown(reward=1.0, exception=name)
    assert (spoiled.state, spoiled.reward, spoiled.reward_counts) == ("error", {"reward": 1.0}, False)
    assert spoiled.reason == f"{SPOILING[group]} ({name})"


@pytest.mark.parametrize("name", [*GROUPS["agent"], *GROUPS["limit"], "RuntimeError", "mine.OwnError"])
@pytest.mark.parametrize("reward_valid", [None, True], ids=["until-0.24", "since-0.25"])
def test_b2_an_exception_of_the_agent_leaves_the_reward_counting(name, reward_valid) -> None:
    counted = shown(reward=0.0, exception=name, reward_valid=reward_valid)
    assert (counted.state, counted.reward_counts) == ("failed", None)


def test_b2_since_025_an_invalid_reward_is_an_error_whatever_the_exception_is_called() -> None:
    invalid = shown(reward=0.0, exception="OwnProviderError", reward_valid=False)
    assert (invalid.state, invalid.reward_counts) == ("error", False)


def test_b2_reward_valid_false_without_a_reward_says_nothing_about_the_verifiers_file() -> None:
    timed_out = shown(reward=None, exception="VerifierTimeoutError", reward_valid=False, reward_file={"success": 1.0})
    assert (timed_out.state, timed_out.reward_counts) == ("success", None)


def test_b2_a_module_in_front_of_the_class_name_changes_nothing() -> None:
    assert shown(reward=1.0, exception="litellm.exceptions.RateLimitError").state == "error"


def test_b2_result_and_file_with_different_verdicts_disagree_unless_regraded() -> None:
    torn = shown(reward=1.0, reward_file={"reward": 0.0})
    assert (torn.state, torn.reward_counts) == ("error", False)
    assert "verdicts disagree" in (torn.reason or "")
    settled = shown(reward=1.0, reward_file={"reward": 0.0}, regrade="done", regrade_rewards={"reward": 1.0})
    assert settled.state == "success"
    assert shown(reward=0.2, reward_file={"reward": 0.3}).state == "failed"


def test_b9_a_steps_exception_is_the_trials() -> None:
    step = shown(reward=0.0, exception="ApiRateLimitError", exception_step="clear")
    assert (step.state, step.exception) == ("error", "ApiRateLimitError")


def test_progress_is_the_configured_key() -> None:
    assert shown(rewards={"reward": 0.0, "final_reward": 0.4}).progress == 0.4
    assert shown(bench_run(progress="none"), rewards={"reward": 0.0, "final_reward": 0.4}).progress is None


@pytest.mark.parametrize(
    ("facts", "progress"),
    [
        ({"progress_q_score": 0.5, "rewards": {"success": 0.0, "q_score": 0.2}}, 0.5),
        ({"rewards": {"success": 0.0, "q_score": 0.2}}, 0.2),
        ({"rewards": {"success": 0.0, "missing_trajectory": 1.0}}, 0.0),
        ({"rewards": {"success": 0.0, "n_actions": 0.0}}, 0.0),
        ({"rewards": {"success": 0.0, "n_actions": 7.0}}, None),
    ],
)
def test_progress_by_q_score_has_its_own_file_and_its_own_zero(facts, progress) -> None:
    assert shown(bench_run(progress="q_score"), **facts).progress == progress


def test_two_benchmarks_that_share_a_batch_keep_their_own_progress_keys() -> None:
    values = {"reward": 0.0, "final_reward": 0.4, "q_score": 0.9}
    assert shown(bench_run(), rewards=values).progress == 0.4
    assert shown(bench_run(benchmark="c", task_dir="b-{task_dashed}-i00", progress="q_score"), rewards=values).progress == 0.9


def test_metrics_are_the_declared_ones_and_the_score_per_family() -> None:
    run = bench_run(
        metrics=(Metric(key="iou", label="IoU"), Metric(key="resets", label="resets")), per_family=PerFamily("goals", "Goals")
    )
    assert shown(run, rewards={"reward": 0.0, "iou": 0.5, "goals": 3.0, "other": 1.0}).metrics == {"goals": 3.0, "iou": 0.5}
    assert shown(run, rewards={"reward": 0.0}).metrics is None
