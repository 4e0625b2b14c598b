"""The chain of attempts of one task and mode, oldest first, over all batches and over time (B7, B13).

What a retry or a clean-up deleted from its host stays in the chain with what it cost, for as long as its batch is registered.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from benchpipe.registry.records import BenchRun
from benchpipe.trials.build import DIGEST, Tried, attempt_of
from benchpipe.trials.records import Attempt, Record


def batch_of(bench_run: BenchRun, mode: str, job: str | None) -> str | None:
    """The registered batch of a job's name; of several that fit the longest (harbor-jobs 1). None = not ours."""
    fitting = [batch for batch in bench_run.batches if job and f"{job}-".startswith(f"{batch}-{mode}-")]
    return max(fitting, key=len, default=None)


def digest(attempt: Attempt) -> Attempt:
    """The part of an attempt that a record keeps of the one it superseded."""
    return Attempt(**{field: getattr(attempt, field) for field in DIGEST})


def earlier_attempts(bench_run: BenchRun, mode: str, before: Record | None) -> list[Attempt]:
    """What the last record knew, less the attempts of batches that are no longer registered."""
    if before is None:
        return []
    known = before.attempts or ((attempt_of(before, batch=batch_of(bench_run, mode, before.job)),) if before.trial else ())
    return [attempt for attempt in known if attempt.batch in bench_run.batches]


def vanished(earlier: Iterable[Attempt], current: Sequence[Tried], why_silent: Callable[[str | None], str | None]) -> list[Attempt]:
    """Earlier attempts that no host shows any more: deleted, or deleted and begun anew under the same name by a retry."""
    now = {tried.record.trial: tried for tried in current}
    gone: list[Attempt] = []
    for attempt in earlier:
        same = now.get(attempt.trial)
        if same is None:
            reason = attempt.reason if why_silent(attempt.host) else f"its directory is no longer on {attempt.host}"
        elif _replaced(attempt, same):
            reason = "its directory was deleted for a retry under the same name"
        else:
            continue
        gone.append(msgspec.structs.replace(attempt, counts=False, reason=reason))
    return gone


def _replaced(attempt: Attempt, same: Tried) -> bool:
    """An ended trial has one end for ever; another one, or none, is another trial. A damaged result proves nothing."""
    return attempt.finished is not None and not same.unreadable and same.record.finished != attempt.finished


def in_order(bench_run: BenchRun, attempts: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """Oldest first: by batch, then by start, then by name."""

    def age(attempt: Attempt) -> tuple[int, str, str]:
        return (bench_run.batches.index(attempt.batch or ""), attempt.started or "", attempt.trial or "")

    return tuple(sorted(attempts, key=age))
