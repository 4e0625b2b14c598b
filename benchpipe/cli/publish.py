"""`benchpipe publish`: the redacted, scanned snapshot that the public site is built from."""

from datetime import UTC, datetime

import msgspec
import rich_click as click

from benchpipe.cli.main import lab_of
from benchpipe.cli.progress import progress
from benchpipe.files import json_bytes
from benchpipe.lab import Lab
from benchpipe.publish.published import scan_published
from benchpipe.publish.snapshot import PublishReport, make_scan, publish
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Registry


@click.command
@click.option("--benchmark", "benchmarks", multiple=True, metavar="ID", help="Rewrite only this benchmark's part (repeatable).")
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would change, record by record.")
@click.option("--scan", is_flag=True, help="Only scan the present snapshot.")
@click.option("--strict", is_flag=True, help="Any finding keeps the published snapshot as it is.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def command(ctx: click.Context, benchmarks: tuple[str, ...], dry_run: bool, scan: bool, strict: bool, as_json: bool) -> int:
    """Write data/published_runs/: whitelisted, redacted, scanned. A trial with a finding stays home, the rest goes out.

    Examples: benchpipe publish --dry-run; benchpipe publish --benchmark tabletop; benchpipe publish --scan
    """
    lab = lab_of(ctx)
    registry = load_registry(lab)
    if scan:
        return _scan(lab, registry, as_json)
    with progress("publish") as step:
        report = publish(
            lab,
            registry,
            benchmarks or None,
            dry_run=dry_run,
            strict=strict,
            now=datetime.now(UTC),
            on_progress=step,
        )
    if as_json:
        click.echo(json_bytes(msgspec.to_builtins(report)), nl=False)
    else:
        _print(report, dry_run)
    return report.exit_code


def _scan(lab: Lab, registry: Registry, as_json: bool) -> int:
    findings = scan_published(lab, make_scan(lab, registry))
    if as_json:
        click.echo(json_bytes({"clean": not findings, "findings": msgspec.to_builtins(findings)}), nl=False)
    else:
        for finding in findings:
            click.echo(f"{finding.file}:{finding.line}: {finding.kind}: {finding.rule} (sha256 {finding.sha256})")
        click.echo(f"scan: {len(findings)} findings in {lab.relative(lab.published)}")
    return 1 if findings else 0


def _print(report: PublishReport, dry_run: bool) -> None:
    for difference in report.differences if dry_run else ():
        click.echo(difference)
    for line in report.lines:
        click.echo(f"{line.benchmark} {line.run}: {line.tasks} tasks, {line.logs} logs, collected {line.collected_at}")
    for one in report.quarantined:
        click.echo(f"quarantined: {one}")
    places, left_out = sum(report.redacted.values()), len(report.quarantined)
    click.echo(
        f"publish: {report.written} files written, {report.removed} removed, {report.unchanged} unchanged, "
        f"{report.bytes / 1e6:,.1f} MB; {places} places redacted; {left_out} quarantined; {_outcome(report, dry_run)}"
    )


def _outcome(report: PublishReport, dry_run: bool) -> str:
    if report.switched_in:
        return "published"
    if dry_run:
        return "dry run, nothing written"
    return "not published (--strict)" if report.strict and report.quarantined else "nothing changed"
