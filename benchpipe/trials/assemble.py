"""From readings to one bench-run's run file: the rules of runs-system 6.1 with B4, B7, B10, B11 and B14. Pure.

What a single trial says is decided in `rewards`, `states` and `build`; here only which trial a record shows, and since when.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import chain, takewhile

from msgspec.structs import replace

from benchpipe.registry.records import BenchRun, Billing
from benchpipe.trials.attempts import Hit, Readings, find_hits, host_state, silent, unread, why_not_begun, without_task
from benchpipe.trials.build import Context, Tried, counting, tried
from benchpipe.trials.chain import batch_of, digest, earlier_attempts, in_order, vanished
from benchpipe.trials.records import ACTIVE, Attempt, Record, RunFile
from benchpipe.trials.spent import RequestsOf


@dataclasses.dataclass(frozen=True)
class Assembled:
    """`run_file` is None where nothing was ever seen (B14)."""

    run_file: RunFile | None
    problems: tuple[str, ...] = ()
    """A sentence for each thing that could not be read or decided; the rest is unharmed by it (B11)."""


def assemble(
    bench_run: BenchRun,
    agent_label: str,
    readings: Readings,
    last: RunFile | None,
    requests_of: RequestsOf,
    now: str,
    *,
    billing: Billing,
    rerendered: Mapping[str, int] | None = None,
) -> Assembled:
    """The run file of a bench-run (runs-system 8.2).

    `readings`: of the hosts that serve it and of those no longer listed (`attempts.serving`), in the order of the hosts files.
    `last`: the stored run file. `now`: ISO UTC, becomes `generated_at`. `rerendered`: `<task>/<mode>` → bytes of a complete
    replay that was rendered later (3.8).
    """
    problems = [*without_task(bench_run, readings), *unread(bench_run, readings)]
    context = Context(bench_run, billing, requests_of, problems.append)
    hits = find_hits(bench_run, readings)
    seen = {batch for reading in readings.values() for batch in reading.seen}
    if last is None and seen.isdisjoint(bench_run.batches):
        return Assembled(None)
    tasks: dict[str, dict[str, Record]] = {}
    for task in bench_run.tasks:
        tasks[task] = {}
        for mode in bench_run.modes:
            before = last.tasks.get(task, {}).get(mode) if last else None
            try:
                record = _record(context, readings, hits.get((task, mode), ()), task, mode, before)
                record = _marked(bench_run, task, mode, record, (rerendered or {}).get(f"{task}/{mode}"))
            except Exception as error:  # whatever the files of one trial hold, the others go on (B11)
                reason = f"could not be decided: {type(error).__name__}: {error}"
                problems.append(f"{bench_run.benchmark} {bench_run.run} {task} {mode} {reason}")
                record = replace(before, reason=reason) if before else Record(state="stalled", reason=reason)
            tasks[task][mode] = record
    run_file = RunFile(
        benchmark=bench_run.benchmark,
        run=bench_run.run,
        label=agent_label,
        batches=bench_run.batches,
        hosts={name: host_state(reading) for name, reading in readings.items() if reading.asked},
        tasks=tasks,
        generated_at=now,
    )
    return Assembled(run_file, tuple(problems))


def _record(context: Context, readings: Readings, hits: Sequence[Hit], task: str, mode: str, before: Record | None) -> Record:
    """The rules of 6.1, first match wins. `before`: the stored record."""
    bench_run = context.bench_run
    kept = _kept(bench_run, mode, hits, readings, before)
    if kept:  # rules 1 and 5
        return kept
    chains = [tried(context, hit.batch, hit.best) for hit in hits]
    if chains:
        chains[-1] = [_held(attempt, before) for attempt in chains[-1]]
    loose = [attempt for hit in hits for found in hit.others for attempt in tried(context, hit.batch, found)]
    shown = counting(chains[-1]) if chains else None
    attempts = _attempts(context, mode, [*chain.from_iterable(chains), *loose], shown, readings, before)
    if shown is None:  # rule 6
        reason = why_not_begun(bench_run, task, mode, readings) or (attempts[-1].reason if attempts else None)
        return Record(state="queued", reason=reason, supersedes=digest(attempts[-1]) if attempts else None, attempts=attempts)
    stale = silent(shown.record.host, readings)
    to_redo = bench_run.rerun_all and shown.batch != bench_run.batches[-1]
    if to_redo and shown.record.state not in ACTIVE:  # rule 3
        uncounted = tuple(replace(attempt, counts=False) for attempt in attempts)
        return Record(state="queued", rerun=True, supersedes=digest(shown.attempt()), attempts=uncounted)
    return replace(  # rules 2 and 4
        shown.record,
        supersedes=None if to_redo else _supersedes(chains, attempts),
        followup=f"finishes as history; its task is done again in {bench_run.batches[-1]}" if to_redo else None,
        stale=True if stale else None,
        stale_reason=stale,
        attempts=attempts,
    )


def _kept(bench_run: BenchRun, mode: str, hits: Sequence[Hit], readings: Readings, before: Record | None) -> Record | None:
    """The stored record, stale, where its host is silent and nothing as new as its batch was found (rules 1 and 5, B10)."""
    source = before if before is None or before.job else before.supersedes
    batch = batch_of(bench_run, mode, source.job) if source else None
    if before is None or source is None or batch is None:
        return None
    why = silent(source.host, readings)
    order = bench_run.batches.index
    if why is None or any(order(hit.batch) >= order(batch) for hit in hits):
        return None
    return replace(before, stale=True, stale_reason=why)


def _held(attempt: Tried, before: Record | None) -> Tried:
    """While the runner lives, an empty or cut result is one being written: the last good reading stays (B4)."""
    if not attempt.unreadable or attempt.record.state == "stalled":
        return attempt
    good = before if before and before.trial == attempt.record.trial else attempt.record
    held = replace(
        good,
        reason="result.json is being written",
        supersedes=None, followup=None, stale=None, stale_reason=None, attempts=(),
    )  # fmt: skip
    return dataclasses.replace(attempt, record=held)


def _attempts(
    context: Context, mode: str, current: Sequence[Tried], shown: Tried | None, readings: Readings, before: Record | None
) -> tuple[Attempt, ...]:
    earlier = earlier_attempts(context.bench_run, mode, before)
    gone = vanished(earlier, current, lambda host: silent(host, readings))
    here = [attempt.attempt(counts=attempt is shown) for attempt in current if attempt.record.trial]
    return in_order(context.bench_run, [*here, *gone])


def _supersedes(chains: Sequence[Sequence[Tried]], attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt before the one that counts: what the second newest batch shows, else the one passed over or deleted."""
    if len(chains) > 1:
        return digest(counting(chains[-2]).attempt())
    passed = list(takewhile(lambda attempt: not attempt.counts, attempts))
    return digest(passed[-1]) if passed else None


def _marked(bench_run: BenchRun, task: str, mode: str, record: Record, rerendered: int | None) -> Record:
    """`record` with the follow-up that names its trial, and the size of a replay that was rendered later."""
    for remark in bench_run.followups:
        if (remark.task, remark.mode, remark.trial) == (task, mode, record.trial) and record.trial:
            record = replace(record, followup=remark.note)
    if rerendered is not None and record.logs is not None:
        record = replace(record, logs={**record.logs, "video_rerendered": rerendered})
    return record
