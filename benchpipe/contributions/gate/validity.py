"""Was every task really measured, by the platform, as an exam? (contributions 6)"""

from collections.abc import Iterator, Mapping

from benchpipe.contributions.codes import CODES
from benchpipe.contributions.evidence import Evidence, RunEvidence
from benchpipe.contributions.findings import Finding, listed
from benchpipe.contributions.run_record import counter_of


def findings(evidence: Evidence, run: RunEvidence) -> Iterator[Finding]:
    """VAL-001 to VAL-008, PTF-003 and PTF-004 of one run."""
    if run.scores is None:
        return
    yield from _invalid(run)
    yield from _harness_failed(run)
    yield from _standing(run)


def _invalid(run: RunEvidence) -> Iterator[Finding]:
    at, n = f"/runs/{run.index}/n_invalid", run.index
    full = run.scores.full if run.scores else None
    listed_here = full.invalid if full else {}
    counted, mapped = counter_of(run.record.point(run.run.round), "invalid")
    if full and len(listed_here) != run.run.n_invalid:
        yield CODES["VAL-004"].finding(at, run=n, name="n_invalid", said=run.run.n_invalid, map="invalid", n=len(listed_here))
    elif counted is not None and counted != run.run.n_invalid:
        yield CODES["VAL-004"].finding(at, run=n, name="n_invalid", said=run.run.n_invalid, map="curve's invalid", n=counted)
    worst = max(run.run.n_invalid, len(listed_here), counted or 0, mapped)
    if worst:
        first = next(iter(sorted(listed_here)), None)
        example = f"{first}: {listed_here[first].stage} - {listed_here[first].detail}" if first else "not listed"
        yield CODES["VAL-001"].finding(at, run=n, n=worst, example=example)
    if full and (both := full.invalid.keys() & full.tasks.keys()):
        yield CODES["PTF-003"].finding(run=n, ids=listed(both))


def _harness_failed(run: RunEvidence) -> Iterator[Finding]:
    at, n = f"/runs/{run.index}/n_harness_failed", run.index
    claimed = run.run.n_harness_failed
    full = run.scores.full if run.scores else None
    here: Mapping[str, object] = full.harness_failed if full else {}
    counted, mapped = counter_of(run.record.point(run.run.round), "harness_failed")
    if full and claimed is not None and len(here) != claimed:
        yield CODES["VAL-004"].finding(at, run=n, name="n_harness_failed", said=claimed, map="harness_failed", n=len(here))
    elif counted is not None and counted != (len(here) if full else claimed or 0):
        said = len(here) if full else claimed or 0
        yield CODES["VAL-004"].finding(at, run=n, name="n_harness_failed", said=said, map="curve's harness_failed", n=counted)
    if worst := max(claimed or 0, len(here), counted or 0, mapped):
        first = next(iter(sorted(full.harness_failed)), None) if full else None
        example = f"{first}: exit {full.harness_failed[first].exit_code}" if full and first else "not listed"
        yield CODES["VAL-002"].finding(at, run=n, n=worst, example=example)
    elif full is None and counted is None:
        yield CODES["VAL-003" if claimed is None else "VAL-008"].finding(at, run=n)
    if full and (unscored := full.harness_failed.keys() - full.tasks.keys()):
        yield CODES["PTF-004"].finding(run=n, ids=listed(unscored))


def _standing(run: RunEvidence) -> Iterator[Finding]:
    at, n = f"/runs/{run.index}", run.index
    point = run.record.point(run.run.round) or {}
    if point.get("measured_by_platform") is False or "unmeasured" in point:
        yield CODES["VAL-005"].finding(at, run=n, round=run.run.round)
    kind = run.scores.full.score_kind if run.scores and run.scores.full else None
    if "training" in (kind, point.get("score_kind")):
        yield CODES["VAL-006"].finding(at, run=n, round=run.run.round)
    sandbox = (run.record.meta or {}).get("sandbox")
    if isinstance(sandbox, Mapping) and sandbox.get("active") is False:
        yield CODES["VAL-007"].finding(at, run=n)
