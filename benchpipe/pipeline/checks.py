"""Every rule of `benchpipe check` as an asset check: one factory over the rule table. Findings are the check's metadata."""

from collections.abc import Iterable, Iterator

import dagster as dg

from benchpipe.checks.contact_data import contact_data
from benchpipe.checks.findings import Finding, Workspace
from benchpipe.checks.guard import guard
from benchpipe.checks.rules import RULES
from benchpipe.contributions.contacts import without_contacts
from benchpipe.contributions.store import check_dataset, datasets
from benchpipe.pipeline import report
from benchpipe.pipeline.scene import SceneResource
from benchpipe.site import agreement

GATE = ("schema", "task_set", "validity", "score", "state", "config", "trajectories")
SEVERITY = {"error": dg.AssetCheckSeverity.ERROR, "warning": dg.AssetCheckSeverity.WARN}


def outcome(
    found: Iterable[Finding], title: str, severity: str, *, check_name: str | None = None, asset_key: str | None = None
) -> dg.AssetCheckResult:
    """A check's result: its first findings in words, all of them (capped) as a table."""
    rows = [{"place": f"{f.file}:{f.line}" if f.line else f.file, "message": f.message} for f in found]
    return dg.AssetCheckResult(
        passed=not rows,
        severity=SEVERITY[severity],
        description="; ".join(f"{row['place']}: {row['message']}" for row in rows[:3]) or title,
        metadata={"n_findings": len(rows), "findings": report.table(rows, ("place", "message"))} if rows else {},
        check_name=check_name,
        asset_key=asset_key,
    )


def checks_of(asset: str) -> dg.AssetChecksDefinition:
    """The checks of an asset's rules: a check per rule, named by its id with underscores, in one step (a step each is slow)."""
    rules = {rule.id.replace("-", "_"): rule for rule in RULES if rule.asset == asset}
    specs = [dg.AssetCheckSpec(name, asset=asset, description=rule.title) for name, rule in rules.items()]

    @dg.multi_asset_check(name=f"rules_of_{asset}", specs=specs, can_subset=True)
    def check(context: dg.AssetCheckExecutionContext, scene: SceneResource) -> Iterator[dg.AssetCheckResult]:
        look = scene.scene()
        workspace = Workspace(look.lab, look.registry)
        wanted = {key.name for key in context.selected_asset_check_keys}
        for name, rule in rules.items():
            if name in wanted:
                yield outcome(rule.find(workspace), rule.title, rule.severity, check_name=name, asset_key=asset)

    return check


@dg.asset_check(asset="published_snapshot", description="Git holds no run media, no collected data and no large file")
def guard_finds_nothing(scene: SceneResource) -> dg.AssetCheckResult:
    findings = guard(scene.scene().lab.root)
    severity = "error" if any(finding.severity == "error" for finding in findings) else "warning"
    return outcome(findings, "Git holds no run media, no collected data and no large file", severity)


def _gate_title(name: str) -> str:
    return f"Every contributed result passes the gate's check of {name.replace('_', ' ')}"


@dg.multi_asset_check(
    name="gate",
    specs=[dg.AssetCheckSpec(f"gate_{name}", asset="submission_reports", description=_gate_title(name)) for name in GATE],
    can_subset=True,
)
def gate(context: dg.AssetCheckExecutionContext, scene: SceneResource) -> Iterator[dg.AssetCheckResult]:
    """The gate's families over all contributed files: which of them fail one. Unverified rows are shown, so it warns."""
    look = scene.scene()
    pooled = (benchmark.id for benchmark in look.registry.benchmarks.values() if benchmark.pools)
    found: dict[str, list[Finding]] = {key.name: [] for key in sorted(context.selected_asset_check_keys)}
    for dataset in datasets(look.lab, pooled):
        for one in check_dataset(look.lab, dataset, look.registry.benchmarks, today=scene.now().date()).checked:
            for said in one.report.findings:
                name = f"gate_{said.check}"
                if name in found and one.report.checks[said.check] == "failed":
                    found[name].append(Finding(said.code, "warning", one.path, said.line, said.message))
    for name, findings in found.items():
        title = _gate_title(name.removeprefix("gate_"))
        yield outcome(findings, title, "warning", check_name=name, asset_key="submission_reports")


@dg.asset_check(asset="contribution_pages", description="Results pages and row files hold the rows of the merged files")
def page_and_record_agree(scene: SceneResource) -> dg.AssetCheckResult:
    """Compares a built site with rows that are made afresh from contrib/, remembering nothing; finds contact data in it."""
    look = scene.scene()
    findings = agreement.disagreements(look.lab, look.registry, look.lab.site, today=scene.now().date())
    findings += contact_data(look.lab.site, look.registry.public.contact, without_contacts)
    return outcome(findings, "Results pages and row files hold the rows of the merged files", "error")


CHECKS = [*(checks_of(asset) for asset in sorted({rule.asset for rule in RULES})), guard_finds_nothing, gate, page_and_record_agree]
