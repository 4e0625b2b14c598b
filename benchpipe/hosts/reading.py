"""What a host said: the probe's answer as typed records, the content of `data/runs/hosts/<host>.json`.

A reading holds facts of files, no decision: states, attempts and money are decided from it in `trials` and `usage`.
All text in it comes from a machine and is data, never a path or markup (B12).
"""

from collections.abc import Mapping
from typing import Literal

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Which requests of a trial were counted and where their rows are. The rows lie in `Lab.requests_file(digest)`."""

    source: Literal["gateway", "usage_log", "sessions", "trajectory"]
    n: int
    digest: str
    """sha256 of the stored rows."""
    problems: tuple[str, ...] = ()


class TrialReading(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One trial directory. Times with a name in `_at` are Harbor's own strings unless they are numbers (epoch seconds)."""

    trial: str
    fingerprint: str
    """Digest of what tells that nothing changed (sizes, times, inodes)."""
    task_dir: str | None = None
    """The task's directory name, twin suffix included, by the order of harbor-jobs 2.5; None = nobody can say."""
    task_from: Literal["config", "lock", "result", "job", "name"] | None = None
    created: float | None = None
    """Modification time of config.json, else of the directory."""
    result: Literal["absent", "empty", "damaged", "whole"] = "absent"
    trial_id: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    agent_started_at: str | None = None
    agent_finished_at: str | None = None
    verifier_started_at: str | None = None
    verifier_finished_at: str | None = None
    agent_name: str | None = None
    agent_version: str | None = None
    model_name: str | None = None
    exception: str | None = None
    """Type name, of the trial or else of a step (B9)."""
    exception_step: str | None = None
    reward_valid: bool | None = None
    rewards: Mapping[str, float] | None = None
    """Finite numbers of `verifier_result.rewards`; None = no result or no rewards in it."""
    reward_file: Mapping[str, float] | None = None
    """Of `verifier/reward.json`, else `verifier/reward.txt` (key `reward`)."""
    regrade: Literal["absent", "pending", "done"] = "absent"
    regrade_rewards: Mapping[str, float] | None = None
    progress_q_score: float | None = None
    verifier_disabled: bool = False
    install_only: bool = False
    source_trial: str | None = None
    harbor_tokens: Mapping[str, int | None] | None = None
    """`input, cached, output` of agent_result, summed over steps; None = nothing was reported."""
    usage: Usage | None = None
    costs_file_usd: str | None = None
    """Sum of `total_cost` in agent/openrouter_costs.json, a decimal string."""
    costs_file_n: int = 0
    agent_active: bool = False
    """A non-empty file in agent/ or a gateway log (B6)."""
    agent_over: bool = False
    """artifacts/manifest.json, agent/trajectory.json, exception.txt or verifier output exists."""
    last_activity: float | None = None
    """Newest growth of any file of the trial, epoch seconds (B5)."""
    logs: Mapping[str, int | bool | str | None] = {}
    """Sizes and facts of runs-system 5.4 `logs`, plus `trajectory`, `usage_log` sizes."""
    problems: tuple[str, ...] = ()
    """One sentence per file that couldn't be read."""


class Planned(msgspec.Struct, frozen=True):
    """Trials that a job's lock.json plans for one task directory."""

    task_dir: str
    n: int


class JobReading(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One job directory that belongs to a registered batch and mode."""

    job: str
    batch: str
    mode: str
    task_dir: str | None = None
    """Of the job's name (SEQ=1); None = SEQ=0."""
    alive: bool = False
    """A live process on the host names the job (B5)."""
    created: float | None = None
    harbor: str | None = None
    planned: tuple[Planned, ...] = ()
    waiting: tuple[str, ...] = ()
    """Trials that the job's exception_stats name and that have no directory (about to be retried)."""
    finished: bool = False
    """The job's own `finished_at` is set."""
    scan: int | None = None
    """Key-scan count from the batch log; last line wins."""
    trials: tuple[TrialReading, ...] = ()
    """Ordered by start: result's `started_at`, else `created`."""
    problems: tuple[str, ...] = ()
    fingerprint: str = ""
    """Digest of what tells that nothing of the job itself changed."""


class HostReading(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last word of one host. After a failed poll the jobs are the ones of the last good answer."""

    host: str
    ok: bool
    at: str | None = None
    """The host's own clock at the last good answer, ISO UTC."""
    error: str | None = None
    clock_offset_s: float | None = None
    asked: bool = True
    """False: the last poll had nothing to ask it, or it is no longer listed."""
    seen: tuple[str, ...] = ()
    """Batches with a trace (a batch log or a job directory)."""
    jobs: tuple[JobReading, ...] = ()
    strangers: tuple[str, ...] = ()
    """Directories with trials that fit no registered batch and mode (at most 50 names)."""
    digest: str = ""
    """Digest of the jobs: what decides whether anything changed."""
    v: int = 1
