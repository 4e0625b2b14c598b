"""Every rule of `benchpipe check` as an asset check: one factory over the rule table. Findings are the check's metadata."""

from collections.abc import Iterable

import dagster as dg

from benchpipe.checks.findings import Finding, Rule, Workspace
from benchpipe.checks.guard import guard
from benchpipe.checks.rules import RULES
from benchpipe.pipeline import report
from benchpipe.pipeline.scene import SceneResource

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


CHECKS = [*(check_of(rule) for rule in RULES), guard_finds_nothing]
