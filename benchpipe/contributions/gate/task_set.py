"""Were exactly the declared tasks of a pool measured? (contributions 5.4)"""

from collections.abc import Iterator

from benchpipe.contributions.codes import CODES
from benchpipe.contributions.evidence import Evidence, RunEvidence
from benchpipe.contributions.findings import Finding, listed
from benchpipe.contributions.per_task import Scores
from benchpipe.contributions.pools import TaskSet, exact_pools, nearest, study_set


def findings(evidence: Evidence, run: RunEvidence) -> Iterator[Finding]:
    """SET-001 to SET-010 and PUB-002 of one run."""
    if run.scores is None:
        return
    if run.run.n_tasks != len(run.scores.ids):
        yield CODES["SET-004"].finding(f"/runs/{run.index}/n_tasks", run=run.index, said=run.run.n_tasks, there=len(run.scores.ids))
    pool = pool_of(evidence, run)
    found = list(_against(evidence, run, run.scores, pool))
    yield from found
    if any(finding.code in ("SET-001", "SET-002", "SET-003") for finding in found):
        yield CODES["PUB-002"].finding(f"/runs/{run.index}", run=run.index, n=run.index)
    if pool:
        yield from _roles(evidence, run, pool)


def pool_of(evidence: Evidence, run: RunEvidence) -> TaskSet | None:
    """The pool a run speaks of: the one it names, else the only one whose ids it scored."""
    if run.run.pool is not None:
        return evidence.pools.get(run.run.pool)
    exact = exact_pools(evidence.pools, run.scores.ids) if run.scores else []
    return exact[0] if len(exact) == 1 else None


def _against(evidence: Evidence, run: RunEvidence, scores: Scores, pool: TaskSet | None) -> Iterator[Finding]:
    at, n = f"/runs/{run.index}/pool", run.index
    if pool is None and run.run.pool is not None:
        yield CODES["SET-007"].finding(
            at, run=n, dataset=evidence.benchmark.id, pool=run.run.pool, pools=listed(evidence.pools) or "none"
        )
    elif pool is None:
        near = nearest(evidence.pools, scores.ids)
        missing, extra = near.differs_by(scores.ids) if near else (frozenset(), scores.ids)
        short = near.pool.size - len(scores.ids) if near and near.ids is None else 0
        yield CODES["SET-003"].finding(
            at,
            run=n,
            dataset=evidence.benchmark.id,
            pool=near.id if near else "none",
            missing=len(missing) or max(short, 0),
            extra=len(extra) or max(-short, 0),
        )
    elif pool.fault:
        yield CODES["SET-010"].finding(at, run=n, pool=pool.id, fault=pool.fault, dataset=evidence.benchmark.id)
    else:
        missing, extra = pool.differs_by(scores.ids)
        count = len(scores.ids)
        if missing or (pool.ids is None and count < pool.pool.size):
            ids = listed(missing) or "not registered here"
            yield CODES["SET-001"].finding(at, run=n, pool=pool.id, size=pool.pool.size, scored=len(scores.ids - extra), ids=ids)
        if extra or (pool.ids is None and count > pool.pool.size):
            ids = listed(extra) or "ids not registered here"
            yield CODES["SET-002"].finding(at, run=n, n=len(extra) or count - pool.pool.size, pool=pool.id, ids=ids)
        if pool.ids is None and count == pool.pool.size:
            yield CODES["SET-008"].finding(at, run=n, pool=pool.id, size=count, dataset=evidence.benchmark.id)


def _roles(evidence: Evidence, run: RunEvidence, pool: TaskSet) -> Iterator[Finding]:
    if pool.pool.role == "study":
        yield CODES["SET-006"].finding(f"/runs/{run.index}/pool", run=run.index, pool=pool.id)
        return
    config = evidence.submission.config
    study = study_set(evidence.pools, config.study_ids, config.study_ids_sha256)
    if study and study.ids and pool.ids and (both := study.ids & pool.ids):
        yield CODES["SET-005"].finding("/config/study_ids", run=run.index, n=len(both), pool=pool.id, ids=listed(both))
