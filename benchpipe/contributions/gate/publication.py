"""What is never published, and what the trajectories say (contributions 15 and 18)."""

from collections.abc import Iterator

from benchpipe.contributions.codes import CODES
from benchpipe.contributions.evidence import Evidence, RunEvidence
from benchpipe.contributions.file_rules import field
from benchpipe.contributions.findings import Finding


def run_findings(evidence: Evidence, run: RunEvidence) -> Iterator[Finding]:
    """PUB-001: a total without a per-task record."""
    if run.scores is None:
        yield CODES["PUB-001"].finding(f"/runs/{run.index}", run=run.index, n=run.index)


def file_findings(evidence: Evidence) -> Iterator[Finding]:
    """PUB-003, and what the linked trajectories are worth; a dead link answers no request for them (PUB-004)."""
    submission = evidence.submission
    owner = evidence.decisions.methods.get(submission.method.name)
    agreed = field(evidence.doc, "x_agreement")
    if owner and owner.author != submission.credit.name and not (isinstance(agreed, str) and agreed.startswith("https://")):
        yield CODES["PUB-003"].finding("/credit/name", method=submission.method.name, author=owner.author)
    linked, replayed = submission.trajectories is not None, evidence.replayed
    gone = linked and replayed is not None and not replayed.fine and replayed.code == "TRJ-001"
    if evidence.trajectories_overdue and (gone or not linked):
        yield CODES["PUB-004"].finding("/trajectories", asked=evidence.trajectories_overdue)
    if linked and replayed is None:
        yield CODES["TRJ-000"].finding("/trajectories")
    elif linked and replayed is not None and not replayed.fine:
        yield CODES[replayed.code].finding("/trajectories", fault=replayed.fault)
