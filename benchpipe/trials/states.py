"""The collected states as one table (runs-system 7.1 with B2 to B6). The first row that holds decides; nothing else does.

`docs/states.md` prints the table, so a row's words are for readers. No times, no disk: `Facts` in, `Decision` out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from benchpipe.hosts.reading import TrialReading
from benchpipe.trials.exceptions import group_of
from benchpipe.trials.rewards import Reward


@dataclass(frozen=True)
class Facts:
    """What a state depends on."""

    alive: bool
    """A live process on the host names the job (B5)."""
    trial: bool = True
    result: Literal["absent", "unreadable", "whole"] = "absent"
    verdict: bool | None = None
    spoiled: str | None = None
    """Why the reward does not count."""
    grader_fault: str | None = None
    exception: str | None = None
    graded: Literal["no", "over", "disabled"] = "no"
    """Whether the verifier's phase is over, or was never to be."""
    regrading: bool = False
    agent_over: bool = False
    agent_active: bool = False


@dataclass(frozen=True)
class Row:
    """One line of the table. `reason` is what the record says, `{…}` filled from the facts; None where the state says it all."""

    id: str
    state: str
    when: str
    holds: Callable[[Facts], bool]
    reason: str | None = None


@dataclass(frozen=True)
class Decision:
    """A collected state, why, and by which row."""

    state: str
    reason: str | None
    row: str


ROWS: tuple[Row, ...] = (
    Row("job-begun", "setup", "job without a trial, runner lives",
        lambda f: not f.trial and f.alive, "the job has begun and has no trial yet"),
    Row("job-dead", "stalled", "job without a trial, runner gone",
        lambda f: not f.trial, "the job has no trial and no live process names it"),
    Row("regrading", "grading", "result, `verifier_regrade/` without a reward, runner lives",
        lambda f: f.result == "whole" and f.regrading and f.alive, "it is being regraded"),
    Row("spoiled", "error",
        "result with an exception of the provider, budget, login, cancelled or environment group, or `reward_valid: false` "
        "beside a reward, or a verifier's file that names another verdict than the result",
        lambda f: f.result == "whole" and bool(f.spoiled), "{spoiled}"),
    Row("success", "success", "result, verdict is success", lambda f: f.result == "whole" and f.verdict is True),
    Row("grader-fault", "error", "result, verdict is no success, `grader_error` or `missing_log` is 1",
        lambda f: f.result == "whole" and f.verdict is False and bool(f.grader_fault), "the grader says {grader_fault}"),
    Row("failed", "failed", "result, verdict is no success", lambda f: f.result == "whole" and f.verdict is False),
    Row("no-verdict-exception", "error", "result without a verdict, with an exception, also while the runner lives",
        lambda f: f.result == "whole" and bool(f.exception), "{exception}, and no verdict"),
    Row("not-graded", "error", "result without a verdict, grading was switched off",
        lambda f: f.result == "whole" and f.graded == "disabled", "grading was switched off"),
    Row("graded-without-verdict", "error", "result without a verdict, the verifier's phase is over",
        lambda f: f.result == "whole" and f.graded == "over", "the verifier ended without a verdict"),
    Row("verdict-to-come", "grading", "result without a verdict, runner lives",
        lambda f: f.result == "whole" and f.alive, "there is a result and no verdict yet"),
    Row("no-verdict", "error", "result without a verdict, runner gone",
        lambda f: f.result == "whole", "there is no verdict and no live process names the job"),
    Row("unreadable", "stalled", "empty or cut result, runner gone",
        lambda f: f.result == "unreadable" and not f.alive, "result.json is empty or cut and no live process names the job"),
    Row("dead", "stalled", "no result, runner gone",
        lambda f: not f.alive, "there is no result and no live process names the job"),
    Row("agent-over", "grading", "no result yet, runner lives, the agent is over", lambda f: f.agent_over),
    Row("agent-active", "running", "no result yet, runner lives, a non-empty file in `agent/` or a gateway log",
        lambda f: f.agent_active),
    Row("no-sign-yet", "setup", "no result yet, runner lives, no sign of the agent", lambda f: True),
)  # fmt: skip


def decide(facts: Facts) -> Decision:
    """The state of one trial, or of a job without any."""
    row = next(row for row in ROWS if row.holds(facts))
    said = {"spoiled": facts.spoiled, "grader_fault": facts.grader_fault, "exception": facts.exception}
    return Decision(row.state, row.reason.format(**said) if row.reason else None, row.id)


def facts_of(trial: TrialReading | None, alive: bool, reward: Reward) -> Facts:
    """What the table needs to know of a trial and its reward."""
    if trial is None:
        return Facts(alive=alive, trial=False)
    off = trial.verifier_disabled or trial.install_only
    return Facts(
        alive=alive,
        result="absent" if trial.result == "absent" else "whole" if trial.result == "whole" else "unreadable",
        verdict=reward.verdict,
        spoiled=reward.spoiled,
        grader_fault=reward.grader_fault,
        exception=trial.exception,
        graded="disabled" if off else "over" if trial.verifier_finished_at else "no",
        regrading=trial.regrade == "pending",
        agent_over=trial.agent_over,
        agent_active=trial.agent_active,
    )


def has_outcome(trial: TrialReading, decision: Decision) -> bool:
    """Whether a trial is an outcome of its own: not unreadable, not stalled, not cancelled (B7)."""
    cancelled = decision.state == "error" and group_of(trial.exception) == "cancelled"
    return trial.result not in ("empty", "damaged") and decision.state != "stalled" and not cancelled
