"""The same measurement sent twice, found by content and not by name. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchpipe.contributions.codes import CODES
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.stacks import Candidate


@dataclass(frozen=True)
class Twin:
    """`row_id` has the content of `first`. `copy`: the same run was merged before, so it is the same measurement sent again."""

    row_id: str
    first: str
    copy: bool

    def finding(self, pointer: str = "", run: int | None = None) -> Finding:
        """DUP-002 for a copy, else DUP-001."""
        return CODES["DUP-002" if self.copy else "DUP-001"].finding(pointer, run=run, row=self.first)


def twins(rows: Iterable[Candidate]) -> dict[tuple[str, int], Twin]:
    """Key of a row → the row it repeats: same harness, same tasks, same scores. H0 rows are everybody's and never repeat another.

    First is the verified one, of several the one merged first, of several the one whose path comes first. A name proves
    nothing: without a written time of merge neither is the copy, and each is told of the other.
    """
    seen: dict[object, Candidate] = {}
    found = {}
    for row in sorted(rows, key=lambda row: (not row.verified, row.merged_at, row.row_id)):
        if row.round == 0:
            continue
        content = (row.stack.dataset, row.harness_sha, tuple(sorted(row.by_task.items())))
        first = seen.setdefault(content, row)
        if first.path != row.path:
            earlier = first.merged_at < row.merged_at
            found[row.key] = Twin(row.row_id, first.row_id, copy=earlier and _run_of(first.row_id) == _run_of(row.row_id))
            if not earlier:
                found.setdefault(first.key, Twin(first.row_id, row.row_id, copy=False))
    return found


def _run_of(row_id: str) -> str:
    return row_id.partition("#")[2]
