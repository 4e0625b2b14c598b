"""The three partition sets and the one function that fills them from the lab's files (A3)."""

from collections.abc import Iterable

import dagster as dg

from benchpipe.lab import Lab
from benchpipe.pipeline.instance import IN_FLIGHT
from benchpipe.registry.records import Registry

HOSTS = dg.DynamicPartitionsDefinition(name="hosts")
BENCHMARKS = dg.DynamicPartitionsDefinition(name="benchmarks")
DATASETS = dg.DynamicPartitionsDefinition(name="datasets")


def wanted(lab: Lab, registry: Registry) -> dict[str, set[str]]:
    """Keys of each set as the files say: hosts, registered benchmarks or such with runs, datasets with pools or results."""
    results = {folder.name for folder in lab.contrib_results.glob("*") if folder.is_dir()}
    pooled = {benchmark.id for benchmark in registry.benchmarks.values() if benchmark.pools}
    return {
        "hosts": set(registry.hosts),
        "benchmarks": set(registry.benchmarks) | set(registry.plans),
        "datasets": results | pooled,
    }


def changes(wanted: set[str], present: Iterable[str], busy: set[str], *, readable: bool) -> tuple[set[str], set[str]]:
    """Keys to add and keys to delete.

    A key goes only when its files could really be read (an unreadable folder is not an empty one) and no run works on it:
    Dagster fails a run whose partition is deleted under it.
    """
    present = set(present)
    gone = present - wanted - busy if readable else set()
    return wanted - present, gone


def register(instance: dg.DagsterInstance, lab: Lab, registry: Registry) -> None:
    """Bring the instance's partition sets in line with the files. Called by sensors, registry assets and commands alike."""
    runs = instance.get_runs(dg.RunsFilter(statuses=IN_FLIGHT))
    busy = {run.tags["dagster/partition"] for run in runs if "dagster/partition" in run.tags}
    readable = lab.state_runs.is_dir() and lab.benchmarks.is_dir() and not registry.faults
    for name, keys in wanted(lab, registry).items():
        add, delete = changes(keys, instance.get_dynamic_partitions(name), busy, readable=readable)
        if add:
            instance.add_dynamic_partitions(name, sorted(add))
        for key in sorted(delete):
            instance.delete_dynamic_partition(name, key)
