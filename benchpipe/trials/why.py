"""Why a record shows what it shows, in words: for `benchpipe explain` and for pages. Says what was decided, decides nothing."""

from benchpipe.trials.records import Record
from benchpipe.trials.view import ViewRecord

OBVIOUS = {
    "queued": "nothing of it was found on a host yet",
    "setup": "its trial has begun, its runner lives, and the agent has left no sign yet",
    "running": "its runner lives and the agent or the gateway writes a log",
    "grading": "its runner lives and the agent is over",
    "stalled": "there is no result and no live process names its job",
    "success": "it has a result and the verdict is success",
    "failed": "it has a result and the verdict is no success",
    "error": "it has a result and no verdict that counts",
    "notrun": "the run is closed and this never began",
    "nodata": "nothing of this run was collected or published here",
}
"""By state: what is meant where the record gives no reason of its own."""


def why(record: Record) -> str:
    """One line: the rule that made the state, and what else bears on it (runs-system 6.1, 7.1)."""
    parts = [f"{record.state}: {record.reason or OBVIOUS[record.state]}"]
    if record.reward_counts is False:
        parts.append("the reward is kept and does not count")
    if record.regraded:
        parts.append("the verdict is a regrade's")
    if record.rerun:
        parts.append("the last batch does everything again and has not begun this")
    if record.supersedes and record.supersedes.trial:
        parts.append(f"replaces {record.supersedes.trial} ({record.supersedes.state})")
    if record.followup:
        parts.append(f"arranged: {record.followup}")
    if record.stale:
        parts.append(f"last known state, {record.stale_reason or 'its host is silent'}")
    return "; ".join(parts)


def why_shown(viewed: ViewRecord) -> str:
    """`why` with the curation that changes what is shown (runs-system 7.2)."""
    curated = {
        "withdrawn": viewed.withdrawn_note or viewed.withdrawn,
        "stopped": viewed.stopped,
        "uncounted": viewed.uncounted,
    }
    if viewed.state in curated:
        return f"{viewed.state}: {curated[viewed.state]}; without that {why(viewed.record)}"
    if viewed.state != viewed.record.state:
        return f"{viewed.state}: {OBVIOUS[viewed.state]}"
    return why(viewed.record) + (f"; note: {viewed.note}" if viewed.note else "")
