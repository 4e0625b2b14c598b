"""Is the reported score the exact mean of the per-task scores, and could a verifier have given them? (contributions 7)"""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from benchpipe.contributions.codes import CODES
from benchpipe.contributions.evidence import Evidence, RunEvidence
from benchpipe.contributions.file_rules import MIN_DECIMALS, agrees, decimals_of, tolerance
from benchpipe.contributions.findings import Finding, listed
from benchpipe.contributions.per_task import Scores
from benchpipe.contributions.pools import is_binary
from benchpipe.contributions.run_record import scores_of

MAX_NAMED = 10
"""Tasks that one kind of finding names; the rest is the same fault again."""


def findings(evidence: Evidence, run: RunEvidence) -> Iterator[Finding]:
    """SCO-001 to SCO-007 and PTF-002 of one run."""
    if run.scores is None:
        return
    yield from _same_run(evidence, run)
    outside = sorted(task for task, score in run.scores.by_task.items() if not 0 <= score <= 1)
    for task in outside[:MAX_NAMED]:
        yield CODES["SCO-002"].finding(file=run.run.per_task, run=run.index, task=task, score=decimal(run.scores.by_task[task]))
    if not agrees(run.run.score, run.scores.mean):
        yield CODES["SCO-001"].finding(
            f"/runs/{run.index}/score",
            run=run.index,
            reported=run.run.score,
            exact=decimal(run.scores.mean),
            n=len(run.scores.ids),
            solved=f"{len(run.scores.solved)} solved",
            difference=f"{float(abs(run.scores.mean - Fraction(run.run.score))):.1e}",
            rule=_rule(run.run.score),
        )
    trials = evidence.submission.config.trials
    yield from _trials(run, run.scores, trials)
    if is_binary(evidence.benchmark) and not outside:
        yield from _possible(run, run.scores, trials)
    curve = scores_of(run.record.point(run.run.round))
    differing = sorted(task for task, score in curve.items() if run.scores.by_task.get(task) != score)
    for task in differing[:MAX_NAMED]:
        a = run.scores.by_task.get(task)
        said = {"a": "nothing" if a is None else decimal(a), "b": decimal(curve[task])}
        yield CODES["SCO-004"].finding(file=run.run.per_task, run=run.index, task=task, **said)


def _rule(reported: Decimal) -> str:
    """What a difference breaks (7.2): the end of a sentence."""
    if decimals_of(reported) < MIN_DECIMALS:
        return f", but a score with fewer than {MIN_DECIMALS} decimals has to be exact"
    return f" exceeds {float(tolerance(reported)):.0e}"


def _same_run(evidence: Evidence, run: RunEvidence) -> Iterator[Finding]:
    """The canonical per-task file repeats whose it is."""
    full = run.scores.full if run.scores else None
    if full is None:
        return
    said = {
        "dataset": evidence.submission.dataset,
        "pool": run.run.pool or full.pool,
        "run_id": run.run.run_id,
        "harness_sha": run.run.harness_sha,
        "round": run.run.round,
        "trials": evidence.submission.config.trials,
    }
    for name, value in said.items():
        if getattr(full, name) != value:
            yield CODES["PTF-002"].finding(
                f"/{name}", file=run.run.per_task, run=run.index, name=name, a=getattr(full, name), b=value
            )


def _trials(run: RunEvidence, scores: Scores, trials: int) -> Iterator[Finding]:
    if scores.full is None:
        return
    entries = scores.full.tasks
    for task in sorted(entries):
        numbers = [Fraction(number) for number in entries[task].trials or ()]
        mean = sum(numbers, Fraction(0)) / len(numbers) if numbers else scores.by_task[task]
        if mean != scores.by_task[task] and not agrees(entries[task].score, mean):
            yield CODES["SCO-003"].finding(file=run.run.per_task, run=run.index, task=task, a=decimal(mean), b=entries[task].score)
    if trials == 1:
        return
    if without := [task for task, entry in entries.items() if not entry.trials]:
        yield CODES["SCO-007"].finding(file=run.run.per_task, run=run.index, n=len(without), trials=trials, ids=listed(without))
    if short := [task for task, entry in entries.items() if entry.trials and len(entry.trials) < trials]:
        yield CODES["SCO-006"].finding(file=run.run.per_task, run=run.index, n=len(short), trials=trials, ids=listed(short))


def _possible(run: RunEvidence, scores: Scores, trials: int) -> Iterator[Finding]:
    """A pass/fail verifier gives 0 or 1 per trial: every trial, and every mean over at most `trials` of them."""
    named = 0
    for task in sorted(scores.by_task):
        entry = scores.full.tasks[task] if scores.full else None
        numbers = [Fraction(score) for score in entry.trials] if entry and entry.trials else None
        if numbers is None and scores.by_task[task] in (0, 1):
            continue
        if numbers is not None:
            fine = all(number in (0, 1) for number in numbers) and len(numbers) <= trials
        else:
            score = scores.by_task[task]
            fine = any(
                agrees_loosely(score, k, n) for n in range(1, min(trials, 100) + 1) for k in (int(score * n), int(score * n) + 1)
            )
        if not fine and (named := named + 1) <= MAX_NAMED:
            said = {"task": task, "score": decimal(scores.by_task[task])}
            yield CODES["SCO-005"].finding(file=run.run.per_task, run=run.index, trials=trials, **said)


def agrees_loosely(score: Fraction, k: int, n: int) -> bool:
    """Whether a task's score is k of n, written with at least six digits."""
    return k <= n and abs(score - Fraction(k, n)) <= Fraction(1, 10**6)


def decimal(number: Fraction) -> str:
    """A fraction to at most 12 digits, for messages and tables."""
    return f"{float(number):.12g}"
