"""What leaves the lab: the snapshot that the public site reads, and the media on the Hub. Only when somebody asks for it."""

from typing import Any

import dagster as dg

from benchpipe.pipeline import inputs, report
from benchpipe.pipeline.assets.runs import cost_estimates, run_states, trial_logs
from benchpipe.pipeline.partitions import BENCHMARKS
from benchpipe.pipeline.scene import SceneResource
from benchpipe.publish.media.bring import bring_media, compressed_folder
from benchpipe.publish.media.stores import HubStore
from benchpipe.publish.snapshot import publish

OWNED: dict[str, Any] = {
    "group_name": "publish",
    "owners": ["team:maintainers"],
    "code_version": "1",
    "partitions_def": BENCHMARKS,
}


@dg.asset(**OWNED, kinds={"json"}, deps=[run_states, cost_estimates, trial_logs], pool="publisher")
def published_snapshot(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """A benchmark's part of `data/published_runs/`: whitelisted, redacted, scanned, switched in as a whole.

    A trial with a finding stays home and is named with the rule, never with the value.
    """
    look, benchmark = scene.scene(), context.partition_key
    built_from = inputs.pages_inputs(look, benchmark)
    done = publish(look.lab, look.registry, [benchmark], now=scene.now(), wait=True)
    return report.result(
        built_from,
        files={"folder": look.lab.published / benchmark},
        n_quarantined=len(done.quarantined),
        n_written=done.written,
        n_removed=done.removed,
        n_unchanged=done.unchanged,
        n_bytes=done.bytes,
        redacted=report.table([{"class": name, "values": n} for name, n in sorted(done.redacted.items())], ("class", "values")),
        changes=report.table([{"change": line} for line in done.differences], ("change",)),
        **report.problems(str(one) for one in done.quarantined),
    )


@dg.asset(**OWNED, kinds={"video"}, deps=[published_snapshot], pool="publisher")
def run_media(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """The replays and images that a benchmark's snapshot names, small and without metadata, in the dataset on the Hub.

    Needs ffmpeg and the operator's own login to the Hub.
    """
    look, benchmark = scene.scene(), context.partition_key
    built_from = inputs.digest(inputs.stamps((look.lab.published / benchmark).rglob("*.json")))
    done = bring_media(look.lab, look.registry, benchmark, HubStore(look.registry.public.hub_dataset))
    return report.result(
        built_from,
        files={"folder": compressed_folder(look.lab) / benchmark},
        n_files=done.exported.files,
        n_sent=len(done.uploaded.sent),
        n_deleted=len(done.uploaded.deleted),
        **report.problems([*done.exported.missing, *done.compressed.failed]),
    )
