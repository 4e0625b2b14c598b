"""One cycle of `benchpipe runs`: ask the hosts, tell the instance, build what is due in this process.

The same polling and the same reconciling as the sensors', only that runs are executed here instead of being requested.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import dagster as dg

from benchpipe.hosts.poll import PollResult, Progress, poll_hosts
from benchpipe.hosts.pool import Pool
from benchpipe.pipeline.instance import bury_dead_runs, process_tags
from benchpipe.pipeline.partitions import register
from benchpipe.pipeline.polling import report_poll
from benchpipe.pipeline.reconcile import MAX_TRIES, Due, benchmarks_due, due_over_all, registry_due, standing, with_sums
from benchpipe.pipeline.scene import Scene
from benchpipe.transcripts.unfinished import forget

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
NEEDS_RAW_RECORDS = ("trial_logs", "site_pages", "site_overview")
"""What `--no-sync` leaves for a later cycle: log pages, and the pages that link to them."""


@dataclass
class Cycle:
    """What one cycle did."""

    poll: PollResult
    built: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Asset and partition ("run_states[tabletop]") → metadata values of its new materialisation."""
    waiting: list[str] = field(default_factory=list)
    """What another process is building right now; nothing is wrong with it."""
    failed: dict[str, str] = field(default_factory=dict)
    """Benchmark (or the job, where it is over all of them) → why its run failed."""


def collect_once(
    instance: dg.DagsterInstance,
    scene: Scene,
    definitions: dg.Definitions,
    *,
    now: datetime,
    pool: Pool,
    benchmarks: Collection[str] | None = None,
    hosts: Collection[str] | None = None,
    detail_every_s: float = 0,
    sync: bool = True,
    on_host: Progress | None = None,
    on_build: Callable[[Due], None] | None = None,
) -> Cycle:
    """Poll (LockHeld while somebody else does), then build every asset that is due: registry, benchmarks, sums over them.

    `detail_every_s`: a change that alters no state waits until the stored file is this old; 0 is a person who wants everything
    now, also log pages that failed often. Without `sync` no raw records are fetched: log pages and site pages stay as they are.
    """
    if not detail_every_s:
        forget(scene.lab, scene.registry.plans)
    register(instance, scene.lab, scene.registry)
    bury_dead_runs(instance)
    cycle = Cycle(poll_hosts(scene.lab, scene.registry, now=now, only=hosts, on_progress=on_host, pool=pool))
    scene.forget_readings()
    report_poll(instance, cycle.poll)
    if registry := registry_due(instance, scene):
        _build(instance, definitions, registry, cycle, on_build)
    for due in with_sums(benchmarks_due(instance, scene, benchmarks, detail_every_s=detail_every_s, now=now)):
        if wanted := due if sync else due.without(NEEDS_RAW_RECORDS):
            _build(instance, definitions, wanted, cycle, on_build)
    sums = due_over_all(instance, scene)
    if sums and (wanted := sums if sync else sums.without(NEEDS_RAW_RECORDS)):
        _build(instance, definitions, wanted, cycle, on_build)
    return cycle


def _build(
    instance: dg.DagsterInstance,
    definitions: dg.Definitions,
    due: Due,
    cycle: Cycle,
    on_build: Callable[[Due], None] | None,
) -> None:
    """Execute one run, without the checks of its assets (`benchpipe check` tells those), unless it may not start now."""
    if (stand := standing(instance, due)) != "startable":
        if stand == "under way":
            cycle.waiting.append(due.partition or due.job)
        else:
            cycle.failed[due.partition or due.job] = f"failed {MAX_TRIES} times; waits for other inputs"
        return
    if on_build:
        on_build(due)
    job = definitions.resolve_job_def(due.job).get_subset(asset_selection=set(due.keys()), asset_check_selection=set())
    result = job.execute_in_process(
        instance=instance,
        partition_key=due.partition,
        tags={**due.tags(), **process_tags()},
        run_config=QUIET,
        raise_on_error=False,
    )
    for event in result.get_asset_materialization_events():
        materialization = event.step_materialization_data.materialization
        name = materialization.asset_key.to_user_string() + (f"[{materialization.partition}]" if materialization.partition else "")
        cycle.built[name] = {key: value.value for key, value in materialization.metadata.items()}
    if not result.success:
        _end_if_interrupted(instance, result)
        errors = [event.step_failure_data.error for event in result.all_node_events if event.is_step_failure]
        causes = [(error.cause or error).message.strip().splitlines()[0] for error in errors if error]
        cycle.failed[due.partition or due.job] = "; ".join(causes) or "its run failed"


def _end_if_interrupted(instance: dg.DagsterInstance, result: dg.ExecuteInProcessResult) -> None:
    """Ctrl-C comes out of Dagster as a failed step. It is no failure of the partition, and it ends the command."""
    if not any("DagsterExecutionInterruptedError" in str(event.event_specific_data) for event in result.all_events):
        return
    instance.report_run_canceled(result.dagster_run, message="interrupted by its user")
    raise KeyboardInterrupt
