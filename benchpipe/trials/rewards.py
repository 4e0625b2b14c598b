"""What a trial's files say about its outcome: reward, verdict, progress and metrics (B1, B2, runs-system 4.5 and 5.5).

Facts only: which state follows from them is `states.py`.
"""

from collections.abc import Mapping

import msgspec

from benchpipe.hosts.reading import TrialReading
from benchpipe.registry.records import BenchRun, Verdict
from benchpipe.trials.exceptions import SPOILING, group_of

GRADER_FAULTS = ("grader_error", "missing_log")


class Reward(msgspec.Struct, frozen=True, kw_only=True):
    """The reward of a trial and what it is worth."""

    values: Mapping[str, float] | None = None
    """All finite numbers; None = no reward."""
    verdict: bool | None = None
    """Success or not; None = the reward (if any) has no verdict key."""
    spoiled: str | None = None
    """Why a reward does not count."""
    regraded: bool = False

    @property
    def grader_fault(self) -> str | None:
        """The key by which the grader says that it failed itself."""
        return next((key for key in GRADER_FAULTS if (self.values or {}).get(key) == 1), None)


def verdict_of(values: Mapping[str, float] | None, rule: Verdict | None) -> bool | None:
    """Success by the benchmark's rule, else by `success`, else by `reward` (B1); None without the key."""
    if not values:
        return None
    key = rule.key if rule else "success" if "success" in values else "reward"
    return values[key] >= (rule.at_least if rule else 1) if key in values else None


def reward_of(trial: TrialReading, rule: Verdict | None) -> Reward:
    """The first reward that exists: regrade, result, files of the verifier (B2). Nothing before there is a result."""
    if trial.result != "whole":
        return Reward()
    regraded = trial.regrade == "done"
    values = trial.regrade_rewards if regraded else trial.rewards or trial.reward_file
    return Reward(
        values=dict(values) if values else None,
        verdict=verdict_of(values, rule),
        spoiled=_spoiled(trial) or (None if regraded else _disagreement(trial, rule)),
        regraded=regraded,
    )


def _spoiled(trial: TrialReading) -> str | None:
    words = SPOILING.get(group_of(trial.exception) or "other")
    if words:
        return f"{words} ({trial.exception})"
    if trial.reward_valid is False and trial.rewards:
        return "Harbor marks the reward as not valid"
    return None


def _disagreement(trial: TrialReading, rule: Verdict | None) -> str | None:
    said = {verdict_of(trial.rewards, rule), verdict_of(trial.reward_file, rule)}
    return "verdicts disagree: result.json and the verifier's file" if said == {True, False} else None


def progress_of(trial: TrialReading, values: Mapping[str, float] | None, key: str) -> float | None:
    """The partial credit by the bench-run's own key; `q_score` has its own file and its own zero (5.5)."""
    values = values or {}
    if key != "q_score":
        return values.get(key)
    if trial.progress_q_score is not None:
        return trial.progress_q_score
    nothing_done = values.get("missing_trajectory") == 1 or values.get("n_actions") == 0
    return values.get(key, 0.0 if nothing_done else None)


def metrics_of(values: Mapping[str, float] | None, bench_run: BenchRun) -> dict[str, float] | None:
    """The declared metrics that the reward has, and the score per family; None when it has none."""
    keys = {metric.key for metric in bench_run.metrics}
    if bench_run.per_family:
        keys.add(bench_run.per_family.key)
    return {key: values[key] for key in sorted(keys) if key in values} or None if values else None
