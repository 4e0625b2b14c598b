"""From one trial as its host keeps it to a record, and from a record to its entry in the chain of attempts (runs-system 8.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from benchpipe.hosts.reading import JobReading, TrialReading
from benchpipe.registry.records import BenchRun, Billing
from benchpipe.times import as_said, iso, seconds_between
from benchpipe.trials.attempts import Found, started
from benchpipe.trials.records import Attempt, Record
from benchpipe.trials.rewards import Reward, metrics_of, progress_of, reward_of
from benchpipe.trials.spent import RequestsOf, costs_file_of, spent_of
from benchpipe.trials.states import decide, facts_of, has_outcome
from benchpipe.usage.records import CostsFile

DIGEST = (
    "job", "state", "host", "trial", "reward", "progress", "exception", "started", "finished", "agent_wall_s", "scan",
)  # fmt: skip
"""What is kept of an attempt that another one replaced (runs-system 6.1)."""


@dataclass(frozen=True)
class Context:
    """What building a record needs besides the trial."""

    bench_run: BenchRun
    billing: Billing
    requests_of: RequestsOf
    report: Callable[[str], None]
    """Takes problems that don't stop the record."""


@dataclass(frozen=True)
class Tried:
    """One attempt and the record it would be if it counted. `record.trial` is None for a job without trials."""

    batch: str
    record: Record
    outcome: bool
    """False: unreadable, stalled or cancelled, passed over for a later one (B7)."""
    unreadable: bool
    usage_digest: str | None
    costs_file: CostsFile | None = None

    def attempt(self, *, counts: bool = False) -> Attempt:
        """Its entry in the chain."""
        own = attempt_of(self.record, batch=self.batch)
        return msgspec.structs.replace(own, usage_digest=self.usage_digest, costs_file=self.costs_file, counts=counts)


def tried(context: Context, batch: str, found: Found) -> list[Tried]:
    """Every trial of a task in one job, first started first; one entry without a trial for an empty job."""
    if not found.trials:
        decision = decide(facts_of(None, found.job.alive, Reward()))
        record = Record(
            state=decision.state,
            reason="it is about to be tried again" if found.job.alive and found.job.waiting else decision.reason,
            host=found.host,
            job=found.job.job,
            started=iso(found.job.created),
            regraded=False,
            scan=found.job.scan,
        )
        return [Tried(batch, record, outcome=False, unreadable=False, usage_digest=None)]
    return [_tried(context, batch, found.host, found.job, trial) for trial in found.trials]


def _tried(context: Context, batch: str, host: str, job: JobReading, trial: TrialReading) -> Tried:
    reward = reward_of(trial, context.bench_run.verdict)
    decision = decide(facts_of(trial, job.alive, reward))
    spent = spent_of(trial, context.requests_of, context.billing)
    if spent.problem:
        context.report(spent.problem)
    record = Record(
        state=decision.state,
        reason=decision.reason,
        host=host,
        job=job.job,
        trial=trial.trial,
        started=iso(started(trial)[0] or None),
        finished=as_said(trial.finished_at),
        agent_wall_s=seconds_between(trial.agent_started_at, trial.agent_finished_at),
        calls=spent.calls,
        calls_failed=spent.calls_failed,
        calls_without_usage=spent.calls_without_usage,
        tokens=spent.tokens,
        tokens_source=spent.tokens_source,
        billed_usd=None if spent.bill.usd is None else float(spent.bill.usd),
        billed_source=spent.bill.source,
        last_call=spent.last_call,
        exception=trial.exception,
        reward=reward.values,
        reward_counts=False if reward.values and reward.spoiled else None,
        progress=progress_of(trial, reward.values, context.bench_run.progress) if trial.result == "whole" else None,
        metrics=metrics_of(reward.values, context.bench_run),
        regraded=reward.regraded,
        scan=job.scan,
        logs=dict(trial.logs),
        last_activity_at=iso(trial.last_activity),
    )
    return Tried(
        batch,
        record,
        outcome=has_outcome(trial, decision),
        unreadable=trial.result in ("empty", "damaged"),
        usage_digest=trial.usage.digest if trial.usage else None,
        costs_file=costs_file_of(trial),
    )


def counting(chain: Sequence[Tried]) -> Tried:
    """The attempt of one job that counts: the first started one with an outcome of its own, else the last (B7)."""
    return next((attempt for attempt in chain if attempt.outcome), chain[-1])


def attempt_of(record: Record, *, batch: str | None) -> Attempt:
    """A record's entry in the chain, as far as the record says it."""
    return Attempt(
        **{field: getattr(record, field) for field in DIGEST},
        batch=batch,
        tokens=record.tokens,
        tokens_source=record.tokens_source,
        billed_usd=record.billed_usd,
        billed_source=record.billed_source,
        reason=record.reason,
    )
