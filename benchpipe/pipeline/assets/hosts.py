"""What each host holds. Polls report it; the asset asks one host now, and takes long first scans."""

import os
from typing import Any

import dagster as dg

from benchpipe.hosts.poll import poll_hosts
from benchpipe.hosts.pool import open_pool
from benchpipe.pipeline import report
from benchpipe.pipeline.partitions import HOSTS
from benchpipe.pipeline.polling import reading_metadata
from benchpipe.pipeline.scene import SceneResource


@dg.asset(
    partitions_def=HOSTS,
    deps=["benchmark_registry"],
    group_name="hosts",
    kinds={"json"},
    owners=["team:benchmark_owners"],
    code_version="1",
)
def host_trials(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """A host's reading: the facts of every job and trial directory of the registered batches, asked read-only over SSH.

    Polls report changed hosts here without a run (`host_poll_sensor`, `benchpipe runs`); materialising asks one host now.
    """
    look = scene.scene()
    host = context.partition_key
    with open_pool(os.environ) as pool:
        result = poll_hosts(look.lab, look.registry, now=scene.now(), only=[host], pool=pool, wait=True)
    reading = result.readings.get(host)
    if reading is None:
        raise dg.Failure(f"{host} serves no registered batch, or no hosts file lists it", allow_retries=False)
    context.log.info("%s answered" if reading.ok else "%s did not answer", host)
    metadata = reading_metadata(reading)
    return report.result(metadata.pop("inputs"), files={"reading": look.lab.reading_file(host)}, **metadata)
