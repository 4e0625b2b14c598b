"""Every rule of `benchpipe check` as an asset check: one factory over the rule table. Findings are the check's metadata."""

from collections.abc import Iterable

import dagster as dg

from benchpipe.checks.findings import Finding, Rule, Workspace
from benchpipe.checks.guard import guard
from benchpipe.checks.rules import RULES
from benchpipe.contributions.store import check_dataset, datasets
from benchpipe.pipeline import report
from benchpipe.pipeline.scene import SceneResource

GATE = ("schema", "task_set", "validity", "score", "state", "config", "trajectories")
SEVERITY = {"error": dg.AssetCheckSeverity.ERROR, "warning": dg.AssetCheckSeverity.WARN}


def outcome(found: Iterable[Finding], title: str, severity: str) -> dg.AssetCheckResult:
    """A check's result: its first findings in words, all of them (capped) as a table."""
    findings = list(found)
    rows = [{"place": f"{f.file}:{f.line}" if f.line else f.file, "message": f.message} for f in findings]
    return dg.AssetCheckResult(
        passed=not findings,
        severity=SEVERITY[severity],
        description="; ".join(f"{row['place']}: {row['message']}" for row in rows[:3]) or title,
        metadata={"n_findings": len(rows), "findings": report.table(rows, ("place", "message"))},
    )


def check_of(rule: Rule) -> dg.AssetChecksDefinition:
    """The asset check of one rule; its name is the rule's id with underscores."""

    @dg.asset_check(asset=rule.asset, name=rule.id.replace("-", "_"), description=rule.title)
    def check(scene: SceneResource) -> dg.AssetCheckResult:
        look = scene.scene()
        return outcome(rule.find(Workspace(look.lab, look.registry)), rule.title, rule.severity)

    return check


@dg.asset_check(asset="published_snapshot", description="Git holds no run media, no collected data and no large file")
def guard_finds_nothing(scene: SceneResource) -> dg.AssetCheckResult:
    findings = guard(scene.scene().lab.root)
    severity = "error" if any(finding.severity == "error" for finding in findings) else "warning"
    return outcome(findings, "Git holds no run media, no collected data and no large file", severity)


def gate_check_of(name: str) -> dg.AssetChecksDefinition:
    """One family of the gate over all contributed files: which of them fail it. Unverified rows are shown, so it warns."""
    title = f"Every contributed result passes the gate's check of {name.replace('_', ' ')}"

    @dg.asset_check(asset="submission_reports", name=f"gate_{name}", description=title)
    def check(scene: SceneResource) -> dg.AssetCheckResult:
        look = scene.scene()
        found = []
        for dataset in datasets(look.lab, (b.id for b in look.registry.benchmarks.values() if b.pools)):
            for one in check_dataset(look.lab, dataset, look.registry.benchmarks, today=scene.now().date()).checked:
                if one.report.checks[name] == "failed":
                    said = [finding for finding in one.report.findings if finding.check == name]
                    found += [Finding(finding.code, "warning", one.path, finding.line, finding.message) for finding in said]
        return outcome(found, title, "warning")

    return check


CHECKS = [*(check_of(rule) for rule in RULES), guard_finds_nothing, *(gate_check_of(name) for name in GATE)]
