"""The daily job that keeps the instance small."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from benchpipe.pipeline.retention import clean
from benchpipe.pipeline.scene import SceneResource


@dg.op(description="Delete runs, idle ticks and reports of polls that nothing needs any more, and give back their space.")
def delete_old_runs(context: dg.OpExecutionContext, scene: SceneResource) -> None:
    instance = context.instance
    graph: Any = context.repository_def.asset_graph
    assets: dict[dg.AssetKey, Sequence[str] | None] = {}
    for key in graph.materializable_asset_keys:
        partitions = graph.get(key).partitions_def
        assets[key] = list(instance.get_dynamic_partitions(partitions.name)) if partitions else None
    deleted = clean(instance, assets, scene.now())
    context.log.info("deleted %d runs", deleted)


@dg.job(description="Keep the instance small: what is old goes, the newest word on every partition stays.")
def clean_instance() -> None:
    delete_old_runs()


daily = dg.ScheduleDefinition(
    job=clean_instance,
    cron_schedule="17 4 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Every night.",
)

SCHEDULES = [daily]
