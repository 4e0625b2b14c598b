"""The daily job that keeps the instance small."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from benchpipe.pipeline.retention import clean


@dg.op(description="Delete runs that nothing needs any more, their files, and the space they took.")
def delete_old_runs(context: dg.OpExecutionContext) -> None:
    instance = context.instance
    graph: Any = context.repository_def.asset_graph
    assets: dict[dg.AssetKey, Sequence[str] | None] = {}
    for key in graph.materializable_asset_keys:
        partitions = graph.get(key).partitions_def
        assets[key] = list(instance.get_dynamic_partitions(partitions.name)) if partitions else None
    deleted = clean(instance, assets)
    context.log.info("deleted %d runs", deleted)


@dg.job(description="Keep the instance small: old runs go, the newest word on every partition stays.")
def clean_instance() -> None:
    delete_old_runs()


daily = dg.ScheduleDefinition(
    job=clean_instance,
    cron_schedule="17 4 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Every night.",
)

SCHEDULES = [daily]
