"""The same measurement sent twice, found by content and not by name. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchpipe.contributions.stacks import Candidate


@dataclass(frozen=True)
class Twin:
    """`row_id` has the content of `first`. `copy`: even the run id is the same, so it is the same measurement."""

    row_id: str
    first: str
    copy: bool


def twins(rows: Iterable[Candidate]) -> dict[str, Twin]:
    """Row id → the row it repeats: same harness, same tasks, same scores. H0 rows are everybody's and never repeat another.

    First is the verified one, of several the one merged first, of several the one whose path comes first.
    """
    seen: dict[object, Candidate] = {}
    found = {}
    for row in sorted(rows, key=lambda row: (not row.verified, row.merged_at, row.row_id)):
        if row.round == 0:
            continue
        content = (row.stack.dataset, row.harness_sha, tuple(sorted(row.by_task.items())))
        first = seen.setdefault(content, row)
        if first.path != row.path:
            found[row.row_id] = Twin(row.row_id, first.row_id, _run_of(first.row_id) == _run_of(row.row_id))
    return found


def _run_of(row_id: str) -> str:
    return row_id.partition("#")[2]
