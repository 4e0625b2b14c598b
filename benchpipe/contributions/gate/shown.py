"""The evidence behind each check of a run, in one sentence: what was compared with what. Decides nothing."""

from benchpipe.contributions.evidence import Evidence, RunEvidence
from benchpipe.contributions.findings import short
from benchpipe.contributions.gate.score import decimal
from benchpipe.contributions.gate.task_set import pool_of
from benchpipe.contributions.pools import list_sha256
from benchpipe.contributions.run_record import counter_of


def evidence_of(evidence: Evidence, run: RunEvidence) -> dict[str, str]:
    """Check → sentence; only for checks that had something to look at."""
    file = run.per_task_file or run.run.per_task
    said = {"schema": f"{file} holds the per-task record of {run.run.run_id}, round {run.run.round}"}
    if run.scores is not None:
        said |= {"task_set": _task_set(evidence, run), "validity": _validity(run), "score": _score(run)}
    if run.tree or run.record.meta or run.record.curve:
        said["state"] = _state(evidence, run)
    if run.record.meta or run.record.curve:
        config = evidence.submission.config
        said["config"] = (
            f"study ids {config.study_ids}, {config.rounds} rounds, {config.trials} trial(s), sampling {config.sampling}, model "
            f"{config.model}, temperature {config.temperature if config.temperature is not None else 'null'} held against "
            f"{_records(run)}{_rounds(run)}"
        )
    if trajectories := evidence.submission.trajectories:
        said["trajectories"] = f"{trajectories.bytes:,} bytes declared, sha256 {short(trajectories.sha256)}"
    return said


def _task_set(evidence: Evidence, run: RunEvidence) -> str:
    pool, scored = pool_of(evidence, run), run.scores.ids if run.scores else frozenset()
    if pool is None:
        return f"{len(scored)} ids scored; they are no declared pool"
    if pool.ids is None:
        return f"{len(scored)} ids scored; pool {pool.id} declares {pool.pool.size}"
    return f"{len(scored & pool.ids)} of {pool.pool.size} ids of pool {pool.id} scored; list sha256 {short(list_sha256(pool.ids))}"


def _validity(run: RunEvidence) -> str:
    full = run.scores.full if run.scores else None
    if full:
        return f"{len(full.invalid)} tasks not measured, {len(full.harness_failed)} without a trace, kind {full.score_kind}"
    counted, _ = counter_of(run.record.point(run.run.round), "harness_failed")
    return "the per-task file lists no counters" if counted is None else f"the curve counts {counted} tasks without a trace"


def _score(run: RunEvidence) -> str:
    if run.scores is None:
        return ""
    mean, solved = run.scores.mean, len(run.scores.solved)
    return (
        f"{mean.numerator}/{mean.denominator} = {decimal(mean)} recomputed from {len(run.scores.ids)} tasks ({solved} solved); "
        f"reported {run.run.score}"
    )


def _state(evidence: Evidence, run: RunEvidence) -> str:
    parts = []
    if run.tree and run.tree.match.exact:
        parts.append(f"{run.tree.path} hashes to {run.run.harness_sha} ({run.tree.match.how})")
    elif run.tree:
        parts.append(f"{run.tree.path} hashes to {run.tree.match.computed}, not {run.run.harness_sha}")
    if run.record.platform_sha:
        parts.append(f"platform {short(run.record.platform_sha)} in {_records(run)}")
    if evidence.platform_at_commit:
        parts.append(
            f"the platform at commit {short(evidence.submission.platform.commit)} has {short(evidence.platform_at_commit)}"
        )
    return "; ".join(parts) or f"no platform in {_records(run)}"


def _rounds(run: RunEvidence) -> str:
    """Fewer rounds may have been measured than were asked for; the run says which failed."""
    measured, failed = run.record.recorded("rounds_measured"), run.record.recorded("failed_steps")
    if not isinstance(measured, int):
        return ""
    return f"; {measured} points measured, failed steps: {len(failed) if isinstance(failed, list) else 0}"


def _records(run: RunEvidence) -> str:
    names = [run.record.origin["meta"]] if run.record.meta else []
    return " and ".join([*names, run.record.origin["curve"]] if run.record.curve else names)
