"""Is the harness what it is said to be, and was it measured by the declared platform? (contributions 8 and 9)"""

from collections.abc import Iterator, Mapping

from benchpipe.contributions.codes import CODES
from benchpipe.contributions.evidence import Evidence, RunEvidence
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.run_record import identity_of, plain

_ENDED_BADLY = ("refused", "interrupted")


def findings(evidence: Evidence, run: RunEvidence) -> Iterator[Finding]:
    """ID-001 to ID-007, PLT-001 to PLT-005, SUB-019 and PUB-005 to PUB-007 of one run."""
    yield from _harness(evidence, run)
    yield from _platform(evidence, run)
    yield from _how_it_ran(run)


def _harness(evidence: Evidence, run: RunEvidence) -> Iterator[Finding]:
    at, n, sha = f"/runs/{run.index}/harness_sha", run.index, run.run.harness_sha
    measured = identity_of(run.record.point(run.run.round), "harness_sha")
    if isinstance(measured, str) and measured != sha:
        where = f"{run.record.origin['curve']} round {run.run.round}"
        yield CODES["ID-001"].finding(
            at, run=n, tree="the submitted state", a=sha, where=where, b=measured, closest="another state"
        )
    if run.tree is None:
        yield CODES["ID-002"].finding(at, run=n, sha=sha)
        return
    if not run.tree.match.exact:
        yield CODES["ID-001"].finding(
            at, run=n, tree=run.tree.path, a=run.tree.match.computed, where="the submission", b=sha, closest=run.tree.match.how
        )
    manifest = run.tree.manifest or {}
    if manifest.get("role") == "control":
        yield CODES["PUB-006"].finding(run=n)
    said = f"{manifest.get('name')}@{manifest.get('version')}"
    if said != evidence.submission.task_agent.base_harness:
        yield CODES["ID-003"].finding("/task_agent/base_harness", run=n, a=said, b=evidence.submission.task_agent.base_harness)


def _platform(evidence: Evidence, run: RunEvidence) -> Iterator[Finding]:
    at, n, declared = "/platform/content_sha", run.index, evidence.submission.platform
    meta = run.record.meta
    recorded = run.record.platform_sha
    if recorded is None:
        why = "no run_meta was supplied" if meta is None and not run.record.curve else "run_meta records no platform content sha"
        yield CODES["PLT-002"].finding(at, run=n, why=why)
    elif isinstance(recorded_id := (meta or {}).get("run_id"), str) and recorded_id != run.run.run_id:
        yield CODES["PLT-002"].finding(f"/runs/{n}/run_id", run=n, why=f"run_meta is of run {recorded_id}, not {run.run.run_id}")
    elif recorded != declared.content_sha:
        yield CODES["PLT-001"].finding(at, run=n, a=declared.content_sha, b=recorded)
    if evidence.commit_known is False:
        yield CODES["SUB-019"].finding("/platform/commit", run=n, commit=declared.commit)
    if (there := evidence.platform_at_commit) is not None and there != declared.content_sha:
        yield CODES["PLT-003"].finding(at, run=n, a=declared.content_sha, commit=declared.commit, b=there)


def _how_it_ran(run: RunEvidence) -> Iterator[Finding]:
    meta, n = run.record.meta or {}, run.index
    point = run.record.point(run.run.round)
    if "mock" in (meta.get("agent_backend"), identity_of(point, "agent_backend")):
        yield CODES["PUB-005"].finding(run=n)
    if meta.get("platform_tampered") is True or meta.get("end_state") == "tampered":
        yield CODES["PUB-007"].finding(run=n)
    if (end := meta.get("end_state")) in _ENDED_BADLY:
        yield CODES["PLT-004"].finding(run=n, end=end)
    if run.record.meta is not None and end is None:
        yield CODES["PLT-005"].finding(run=n)
    conflict = identity_of(point, "agent_model_conflict") or meta.get("agent_model_conflict")
    if isinstance(conflict, Mapping):
        yield CODES["ID-005"].finding(run=n, a=plain(conflict.get("harness")), b=plain(conflict.get("platform_env")))
    improvers = (identity_of(point, "improver"), identity_of(point, "meta_agent"), meta.get("improver"))
    if any(isinstance(improver, Mapping) and improver.get("modified") is True for improver in improvers):
        yield CODES["ID-007"].finding(run=n)
