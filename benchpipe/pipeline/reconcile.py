"""State wanted against state built: which assets are due, for whom, and whether to try (again). Level-triggered.

One set of functions, two callers: `reconcile_sensor` requests runs of what is due, `benchpipe runs` executes it itself.
No cursor anywhere, so nothing can be remembered as done that was not done.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import dagster as dg

from benchpipe.pipeline.inputs import BY_BENCHMARK, BY_DATASET, OF_REGISTRY, OVER_ALL, digest
from benchpipe.pipeline.instance import IN_FLIGHT
from benchpipe.pipeline.scene import Scene
from benchpipe.trials.collect import anything_to_tell, assemble_runs

INPUTS_TAG = "benchpipe/inputs"
MAX_TRIES = 3

DOWNSTREAM: Mapping[str, tuple[str, ...]] = {
    "run_states": ("cost_estimates", "trial_logs", "site_pages", "status_json"),
    "cost_estimates": ("site_pages",),
    "trial_logs": ("site_pages",),
    "dataset_reports": ("submission_reports", "result_rows", "contribution_pages"),
    "submissions": ("submission_reports", "result_rows", "contribution_pages"),
    "submission_reports": ("result_rows", "contribution_pages"),
    "result_rows": ("contribution_pages",),
}
"""What has to follow an asset in the same run, since it reads what that asset writes."""


@dataclass(frozen=True)
class Due:
    """Assets to materialise in one run of `job` for one partition (None: unpartitioned), and what they would be built from."""

    job: str
    partition: str | None
    assets: tuple[str, ...]
    inputs: str

    def tags(self) -> dict[str, str]:
        """Run tags by which attempts at the same inputs are told."""
        return {INPUTS_TAG: self.inputs}

    def keys(self) -> list[dg.AssetKey]:
        return [dg.AssetKey(name) for name in self.assets]

    def without(self, assets: Collection[str]) -> "Due | None":
        """The same without some assets; None when nothing is left."""
        left = tuple(name for name in self.assets if name not in assets)
        return replace(self, assets=left) if left else None


def built_from(instance: dg.DagsterInstance, asset: str, partition: str | None) -> str | None:
    """The inputs digest that the newest materialisation was built from; None = never built."""
    wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[partition] if partition else None)
    records = instance.fetch_materializations(wanted, limit=1).records
    if not records or not (materialization := records[0].asset_materialization):
        return None
    value = materialization.metadata.get("inputs")
    return str(value.value) if value else None


def _due(instance: dg.DagsterInstance, job: str, now: Mapping[str, str], partition: str | None = None) -> Due | None:
    """Assets whose inputs of `now` differ from what they were built from, with all that must follow them."""
    differ = [asset for asset in now if built_from(instance, asset, partition) != now[asset]]
    assets = dict.fromkeys(name for asset in differ for name in (asset, *DOWNSTREAM.get(asset, ())))
    return Due(job, partition, tuple(assets), digest([now[asset] for asset in differ])) if differ else None


def benchmarks_due(
    instance: dg.DagsterInstance,
    scene: Scene,
    only: Collection[str] | None = None,
    *,
    detail_every_s: float = 0,
    now: datetime | None = None,
) -> list[Due]:
    """What is due for each benchmark that is registered or has runs, in name order, narrowed to `only`.

    With `detail_every_s` (and `now`), a change of readings that alters no state waits until the run file is that old.
    """
    found = []
    for name in sorted({*scene.registry.benchmarks, *scene.registry.plans}):
        if only is not None and name not in only:
            continue
        wanted = {asset: inputs(scene, name) for asset, inputs in BY_BENCHMARK.items()}
        due = _due(instance, "collect", wanted, name)
        if due and "run_states" in due.assets and detail_every_s and now and built_from(instance, "run_states", name):
            made = assemble_runs(scene.lab, scene.registry, scene.readings, name, now.isoformat())
            if not anything_to_tell(made, detail_every=detail_every_s, now=now):
                del wanted["run_states"]
                due = _due(instance, "collect", wanted, name)
        if due:
            found.append(due)
    return found


def datasets_due(instance: dg.DagsterInstance, scene: Scene, datasets: Collection[str]) -> list[Due]:
    """What is due for each dataset that outsiders contribute to."""
    found = []
    for name in sorted(datasets):
        wanted = {asset: inputs(scene, name) for asset, inputs in BY_DATASET.items()}
        if due := _due(instance, "contributions", wanted, name):
            found.append(due)
    return found


def registry_due(instance: dg.DagsterInstance, scene: Scene) -> Due | None:
    """Registry assets whose files say something new."""
    return _due(instance, "registry", {asset: inputs(scene) for asset, inputs in OF_REGISTRY.items()})


def due_over_all(instance: dg.DagsterInstance, scene: Scene) -> Due | None:
    """Sums over all benchmarks that were built from something else than what is there."""
    return _due(instance, "sum_up", {asset: inputs(scene) for asset, inputs in OVER_ALL.items()})


def with_sums(due: Sequence[Due]) -> list[Due]:
    """The same, the last benchmark's run taking the pages over all along: a run of their own would weigh as much again.

    Should another benchmark's run end later, they are due again by themselves.
    """
    last = max((number for number, one in enumerate(due) if one.job == "collect"), default=None)
    return [replace(one, assets=(*one.assets, "site_overview")) if number == last else one for number, one in enumerate(due)]


Standing = Literal["startable", "under way", "given up"]


def standing(instance: dg.DagsterInstance, due: Due) -> Standing:
    """Whether a run may start now: none of the partition is under way, and its last MAX_TRIES runs did not all fail at this.

    Tries are counted from the runs themselves. A run key would not do: Dagster remembers one for ever, so inputs that
    return to an earlier state would never be built again.
    """
    partition = {"dagster/partition": due.partition} if due.partition else {}
    if instance.get_runs_count(dg.RunsFilter(job_name=None if partition else due.job, statuses=IN_FLIGHT, tags=partition)):
        return "under way"
    last = instance.get_runs(dg.RunsFilter(job_name=due.job, tags=partition), limit=MAX_TRIES)
    tries = [run for run in last if run.status == dg.DagsterRunStatus.FAILURE and run.tags.get(INPUTS_TAG) == due.inputs]
    return "startable" if len(tries) < MAX_TRIES else "given up"


def may_start(instance: dg.DagsterInstance, due: Due) -> bool:
    """Whether to start a run now."""
    return standing(instance, due) == "startable"
