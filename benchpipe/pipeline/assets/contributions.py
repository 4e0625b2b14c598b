"""What outsiders contributed, a dataset at a time: files, the gate's reports, rows, pages."""

from collections import Counter
from typing import Any

import dagster as dg
import msgspec

from benchpipe.contributions.artifacts.store import dataset_reports as reports_of
from benchpipe.contributions.artifacts.store import report_digest
from benchpipe.contributions.rows import results_of
from benchpipe.contributions.store import Dataset, check_dataset, submission_files
from benchpipe.contributions.trajectories.fetching import Policy
from benchpipe.contributions.trajectories.known import declared_of
from benchpipe.contributions.trajectories.mirroring import advance_submission, mirror_of, restate, states_digest
from benchpipe.contributions.trajectories.trail import State
from benchpipe.pipeline import inputs, report
from benchpipe.pipeline.assets.site import build, built
from benchpipe.pipeline.partitions import DATASETS
from benchpipe.pipeline.scene import Scene, SceneResource
from benchpipe.site.parts import Shared

OWNED: dict[str, Any] = {
    "group_name": "contributions",
    "owners": ["team:maintainers"],
    "code_version": "1",
    "partitions_def": DATASETS,
}


def checked(look: Scene, scene: SceneResource, dataset: str) -> Dataset:
    """Every submission of a dataset after the gate; unchanged ones are not even opened."""
    return check_dataset(look.lab, dataset, look.registry.benchmarks, today=scene.now().date())


@dg.asset(**OWNED, kinds={"json"}, deps=["benchmark_registry"])
def submissions(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """The contributed files: `contrib/results/<dataset>/<method>/<variant>.json`."""
    look, dataset = scene.scene(), context.partition_key
    rows = [{"file": look.lab.relative(path), "bytes": path.stat().st_size} for path in submission_files(look.lab, dataset)]
    return report.result(
        inputs.submissions_inputs(look, dataset), n_submissions=len(rows), submissions=report.table(rows, ("file", "bytes"))
    )


@dg.asset(**OWNED, kinds={"json"}, deps=[submissions, "dataset_reports"])
def submission_reports(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """The gate on every submission: task set, validity, score, state, config, trajectories, with every finding's code."""
    look, dataset = scene.scene(), context.partition_key
    built_from = inputs.reports_inputs(look, dataset)
    found = checked(look, scene, dataset)
    rows = [
        {
            "submission": one.path,
            "verdict": one.report.verdict,
            **one.report.checks,
            "findings": ", ".join(sorted({finding.code for finding in one.report.findings})),
        }
        for one in found.checked
    ]
    columns = ("submission", "verdict", "schema", "task_set", "validity", "score", "state", "config", "trajectories", "findings")
    verdicts = Counter(one.report.verdict for one in found.checked)
    return report.result(
        built_from,
        found.digest[:24],
        n_checked_again=found.n_checked,
        **{f"n_{verdict}": n for verdict, n in sorted(verdicts.items())},
        reports=report.table(rows, columns),
        **report.problems([found.problem] if found.problem else []),
    )


@dg.asset(**OWNED, kinds={"json"}, deps=[submission_reports])
def result_rows(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """Rows of the dataset's page, verified and unverified apart, each in its stack with its reference."""
    look, dataset = scene.scene(), context.partition_key
    built_from = inputs.reports_inputs(look, dataset)
    results = results_of(checked(look, scene, dataset))
    return report.result(
        built_from,
        n_verified=len(results.verified),
        n_unverified=len(results.unverified),
        n_open=len(results.open),
        n_changes=len(results.changes),
    )


@dg.asset(**OWNED, kinds={"html"}, deps=[result_rows])
def contribution_pages(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """The pages of contributed results, made from the merged files alone, so that page and record can't disagree."""
    look, dataset = scene.scene(), context.partition_key
    built_from = inputs.results_inputs(look, dataset)
    result = build(look, Shared.RESULTS)
    return report.result(built_from, files={"page": look.lab.site / "results" / dataset / "index.html"}, **built(result))


@dg.asset(**OWNED, kinds={"json"}, deps=["benchmark_registry"])
def dataset_reports(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """The mechanical checks of the dataset's directories (`contrib/Experiments/<dataset>/`): trees, patches, records, coverage."""
    look, dataset = scene.scene(), context.partition_key
    built_from = inputs.reports_inputs(look, dataset)
    found = reports_of(look.lab, dataset, look.registry.benchmarks)
    if found is None:
        return report.result(built_from, n_findings=0, verdict="no directory")
    rows = [{"code": one.code, "severity": one.severity, "file": one.file, "message": one.message} for one in found.findings]
    return report.result(
        built_from,
        report_digest(found)[:24],
        verdict=found.verdict,
        n_findings=len(rows),
        findings=report.table(rows, ("code", "severity", "file", "message")),
    )


def trajectory_asset(name: str, until: State, what: str, *deps: str) -> dg.AssetsDefinition:
    """A state on the way of linked trajectories. Asks the network, so it is built only when somebody asks for it.

    A step that failed is not repeated before its input changes; one that was interrupted goes on.
    """

    @dg.asset(name=name, **OWNED, kinds={"json"}, deps=list(deps), description=what)
    def asset(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
        look, dataset = scene.scene(), context.partition_key
        benchmarks, today = look.registry.benchmarks, scene.now().date()
        rows = []
        for file in submission_files(look.lab, dataset):
            if declared := declared_of(look.lab, benchmarks, file, today):
                mirror = mirror_of(look.registry.public.hub_dataset, None, None) if until == "mirrored" else None
                policy = Policy(hosts=frozenset(look.registry.public.trajectory_hosts))
                done = advance_submission(look.lab, benchmarks, declared, mirror=mirror, now=scene.now, policy=policy, until=until)
                rows.append(msgspec.structs.asdict(done))
            if until == "mirrored":
                restate(look.lab, benchmarks, file, scene.now())
        return report.result(
            states_digest(look.lab, dataset)[:24],
            n_submissions=len(rows),
            states=report.table(rows, ("path", "before", "after", "replay_level", "fault", "link")),
        )

    return asset


TRAJECTORIES = [
    trajectory_asset("trajectory_downloads", "downloaded", "Linked archives, fetched within their declared size.", "submissions"),
    trajectory_asset("trajectory_checks", "format_ok", "Archives with the declared hash, safe and whole.", "trajectory_downloads"),
    trajectory_asset("trajectory_replays", "replayed", "Per-task records that replay to the same verdicts.", "trajectory_checks"),
    trajectory_asset("trajectory_mirrors", "mirrored", "Copies in our own dataset, read back and linked.", "trajectory_replays"),
]
"""The states of contributions 15, an asset each."""
