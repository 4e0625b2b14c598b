"""What the collector stores for one (task, mode), and the run file around it: the contract of runs-system 8 and B13.

Field names and their JSON form are relied upon by outsiders; new fields are optional and go to the end.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from benchpipe.usage.records import CostsFile, Tokens

ACTIVE = ("setup", "running", "grading")
DONE = ("success", "failed", "error")
COLLECTED_STATES = ("queued", *ACTIVE, "stalled", *DONE)
VIEW_STATES = ("notrun", "stopped", "uncounted", "withdrawn", "nodata")
URGENCY = (
    "stalled", "error", "running", "grading", "setup", "failed", "success", "queued", "notrun", "stopped", "uncounted",
    "withdrawn", "nodata",
)  # fmt: skip
"""Sort by run state, most urgent first (runs-system 7.2)."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One trial of a (task, mode) as the chain of attempts keeps it: digest fields plus tokens and bill (B7, B13)."""

    job: str | None = None
    state: str | None = None
    host: str | None = None
    trial: str | None = None
    batch: str | None = None
    reward: Mapping[str, float] | None = None
    progress: float | None = None
    exception: str | None = None
    started: str | None = None
    finished: str | None = None
    agent_wall_s: int | None = None
    scan: int | None = None
    tokens: Tokens | None = None
    tokens_source: str | None = None
    billed_usd: float | None = None
    reason: str | None = None
    counts: bool = False
    """True for the one attempt that the record shows."""
    usage_digest: str | None = None
    """Where its request rows are stored."""
    billed_source: str | None = None
    costs_file: CostsFile | None = None


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The record of runs-system 8.1 with the additions of B13. A queued record has only `state` (and `rerun`/`supersedes`).

    `store.record_json` gives its JSON form: keys that the specification always has are there, null included.
    """

    state: str
    host: str | None = None
    job: str | None = None
    trial: str | None = None
    started: str | None = None
    finished: str | None = None
    agent_wall_s: int | None = None
    calls: int | None = None
    calls_failed: int | None = None
    calls_without_usage: int | None = None
    tokens: Tokens | None = None
    tokens_source: str | None = None
    billed_usd: float | None = None
    billed_source: str | None = None
    last_call: str | None = None
    exception: str | None = None
    reward: Mapping[str, float] | None = None
    reward_counts: bool | None = None
    """False where a reward is kept that doesn't count (B2); else None."""
    progress: float | None = None
    metrics: Mapping[str, float] | None = None
    regraded: bool = False
    scan: int | None = None
    logs: Mapping[str, Any] | None = None
    supersedes: Attempt | None = None
    followup: str | None = None
    stale: bool | None = None
    stale_reason: str | None = None
    rerun: bool | None = None
    reason: str | None = None
    last_activity_at: str | None = None
    attempts: tuple[Attempt, ...] = ()
    """Oldest first; the one with `counts` is this record's own."""


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """`data/runs/<benchmark>/<run>.json` (runs-system 8.2)."""

    benchmark: str
    run: str
    label: str
    batches: tuple[str, ...]
    hosts: Mapping[str, Mapping[str, Any]]
    """host → `ok, at, error`."""
    tasks: Mapping[str, Mapping[str, Record]]
    """task → mode → record."""
    generated_at: str
    v: int = 1
