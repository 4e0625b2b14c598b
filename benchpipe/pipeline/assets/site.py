"""The site as assets. Rendering is incremental by itself; here it is cut into a benchmark's pages and the pages over all."""

from typing import Any

import dagster as dg

from benchpipe.pipeline import inputs, report
from benchpipe.pipeline.assets.runs import cost_estimates, run_states, trial_logs
from benchpipe.pipeline.partitions import BENCHMARKS
from benchpipe.pipeline.scene import Scene, SceneResource
from benchpipe.site.build import build_site
from benchpipe.site.jobs import BuildResult
from benchpipe.site.parts import OfBenchmark, Part, Shared

OWNED: dict[str, Any] = {"group_name": "site", "kinds": {"html"}, "owners": ["team:benchmark_owners"], "code_version": "1"}


def build(look: Scene, *parts: Part) -> BuildResult:
    """Bring parts of the lab's site up to date."""
    return build_site(look.lab, look.registry, look.lab.site, public=False, parts=parts)


def built(result: BuildResult) -> dict[str, Any]:
    """What a build did, as metadata."""
    return {
        "n_files": result.files,
        "n_rendered": result.rendered,
        "n_written": len(result.written),
        "n_linked": len(result.linked),
        "n_removed": len(result.removed),
        "written": report.table([{"page": path} for path in result.written], ("page",)),
    }


@dg.asset(**OWNED, partitions_def=BENCHMARKS, deps=[run_states, cost_estimates, trial_logs])
def site_pages(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """A benchmark's pages: runs, compare, tasks, log pages, downloads. Only what changed is rendered and written."""
    look, benchmark = scene.scene(), context.partition_key
    built_from = inputs.pages_inputs(look, benchmark)
    result = build(look, OfBenchmark(benchmark))
    page = look.lab.site / "runs" / benchmark / "index.html"
    return report.result(built_from, files={"page": page}, **built(result))


@dg.asset(**OWNED, deps=[run_states, cost_estimates, site_pages])
def site_overview(scene: SceneResource) -> dg.MaterializeResult[Any]:
    """The pages over all benchmarks: home, overview, history, feeds, the schema of the tables, style and scripts.

    The results pages come along (submissions that did not change are not even opened): every page links to them, and
    `benchpipe runs` builds no dataset.
    """
    look = scene.scene()
    built_from = inputs.overview_inputs(look)
    result = build(look, Shared.OVERALL, Shared.RESULTS)
    return report.result(built_from, files={"page": look.lab.site / "index.html"}, **built(result))
