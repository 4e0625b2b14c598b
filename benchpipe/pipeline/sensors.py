"""Polling hosts and building what is due, as sensors. Each is a few lines around plain functions; neither keeps a cursor."""

import os
from dataclasses import replace

import dagster as dg

from benchpipe.errors import BenchpipeError
from benchpipe.hosts.poll import poll_hosts
from benchpipe.hosts.pool import open_pool
from benchpipe.pipeline import jobs
from benchpipe.pipeline.instance import bury_dead_runs
from benchpipe.pipeline.partitions import register, wanted
from benchpipe.pipeline.polling import report_poll, summary
from benchpipe.pipeline.reconcile import (
    Due,
    benchmarks_due,
    datasets_due,
    due_over_all,
    may_start,
    registry_due,
    standing,
    with_sums,
)
from benchpipe.pipeline.scene import SceneResource

TICK_S = 40.0
"""Dagster ends a tick at 60 s. A host that needs longer, for a first scan say, gets a run of its own."""
DETAIL_S = 900.0
"""What changes no state (tokens of a running trial, say) is built this often."""


@dg.sensor(
    jobs=[jobs.poll_hosts],
    minimum_interval_seconds=180,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Every 3 minutes: ask all hosts at once and report those that changed. Switch it on where the lab collects.",
)
def host_poll_sensor(context: dg.SensorEvaluationContext, scene: SceneResource) -> dg.SensorResult | dg.SkipReason:
    look = scene.scene()
    if not look.lab.hosts_files():
        return dg.SkipReason("no data/runs/hosts*.local.yml in this lab: write one that says where the jobs are (docs/hosts.md)")
    register(context.instance, look.lab, look.registry)
    with open_pool(os.environ) as pool:
        pool.limits = replace(pool.limits, probe_s=TICK_S)
        try:
            result = poll_hosts(look.lab, look.registry, now=scene.now(), pool=pool)
        except BenchpipeError as error:
            return dg.SkipReason(str(error))
    report_poll(context.instance, result)
    slow = [Due("poll_hosts", host, ("host_trials",), f"slow {result.readings[host].digest}") for host in result.slow]
    requests = [_request(due) for due in slow if may_start(context.instance, due)]
    return dg.SensorResult(run_requests=requests) if requests else dg.SkipReason(summary(result))


@dg.sensor(
    jobs=[jobs.registry, jobs.collect, jobs.sum_up, jobs.contributions],
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Every minute: what differs from what it was built from is built again, and nothing else.",
)
def reconcile_sensor(context: dg.SensorEvaluationContext, scene: SceneResource) -> dg.SensorResult | dg.SkipReason:
    look, instance = scene.scene(), context.instance
    register(instance, look.lab, look.registry)
    bury_dead_runs(instance)
    datasets = wanted(look.lab, look.registry)["datasets"]
    due = benchmarks_due(instance, look, detail_every_s=DETAIL_S, now=scene.now())
    due += datasets_due(instance, look, datasets)
    due += [one for one in (registry_due(instance, look),) if one]
    stands = {one: standing(instance, one) for one in due}
    if all(stand == "given up" for stand in stands.values()) and (sums := due_over_all(instance, look)):
        stands[sums] = standing(instance, sums)
    requests = [_request(one) for one in with_sums([one for one, stand in stands.items() if stand == "startable"])]
    if requests:
        return dg.SensorResult(run_requests=requests)
    waiting = [f"{one.partition or one.job} is {stand}" for one, stand in stands.items()]
    return dg.SkipReason("; ".join(waiting) or "everything is built")


def _request(due: Due) -> dg.RunRequest:
    return dg.RunRequest(job_name=due.job, partition_key=due.partition, asset_selection=due.keys(), tags=due.tags())


SENSORS = [host_poll_sensor, reconcile_sensor]
