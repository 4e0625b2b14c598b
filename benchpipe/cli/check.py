"""`benchpipe check`: every registry rule, guard, contributions, site build and link check, printed as a compiler would."""

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import rich_click as click

from benchpipe.checks.contact_data import contact_data
from benchpipe.checks.findings import Finding, Workspace
from benchpipe.checks.guard import guard
from benchpipe.checks.links import broken_links
from benchpipe.checks.rules import DECISIONS, run_rules
from benchpipe.cli.guard import MAX_SHOWN
from benchpipe.cli.main import lab_of
from benchpipe.cli.progress import progress
from benchpipe.contributions.contacts import without_contacts
from benchpipe.errors import UsageError
from benchpipe.files import json_bytes, lock
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Registry


@click.command()
@click.option("--strict", is_flag=True, help="Warnings fail the check too.")
@click.option("--quiet", is_flag=True, help="Don't print warnings (unless --strict).")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def command(ctx: click.Context, strict: bool, quiet: bool, as_json: bool) -> int:
    """Check the whole lab. Needs no collected data.

    Example: benchpipe check --strict
    """
    lab = lab_of(ctx)
    workspace = Workspace(lab, load_registry(lab))
    if workspace.registry == Registry():
        raise UsageError(f"{lab.root} holds no run and no benchmark yet: docs/registering.md shows the first ten lines")
    findings: list[Finding] = []
    with progress("check") as step:
        for number, (name, part) in enumerate(PARTS):
            step(number, len(PARTS), name)
            findings += part(workspace)
    for finding in findings if not as_json else ():
        if finding.severity == "error" or strict or not quiet:
            click.echo(str(finding))
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    failed = bool(errors or (strict and warnings))
    if as_json:
        click.echo(json_bytes({"ok": not failed, "findings": msgspec.to_builtins(findings)}), nl=False)
        return int(failed)
    click.echo(f"check: {_many(errors, 'error')}, {_many(warnings, 'warning')} in {_counted(workspace.registry)}")
    return int(failed)


def _counted(registry: Registry) -> str:
    bench_runs = sum(len(plan.runs) for plan in registry.plans.values())
    counts = ((len(registry.agents), "run"), (len(registry.benchmarks), "benchmark"), (bench_runs, "bench-run"))
    return ", ".join(_many(n, word) for n, word in counts)


def _many(n: int, word: str) -> str:
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def _guard(workspace: Workspace) -> list[Finding]:
    return guard(workspace.lab.root)[:MAX_SHOWN]


def _contributions(workspace: Workspace) -> Iterable[Finding]:
    """Faults of the decisions, and the gate's findings on submissions that are refused (errors) or wait for one (warnings).

    What is shown, verified or unverified, says its findings on its own page.
    """
    from benchpipe.contributions import misplaced
    from benchpipe.contributions.decisions import faults_of
    from benchpipe.contributions.report import once
    from benchpipe.contributions.rows import results_of
    from benchpipe.contributions.store import check_dataset, datasets

    lab, benchmarks = workspace.lab, workspace.registry.benchmarks
    today, pooled = datetime.now(UTC).date(), [name for name, benchmark in benchmarks.items() if benchmark.pools]
    found = {name: check_dataset(lab, name, benchmarks, today=today) for name in datasets(lab, pooled)}
    for name, dataset in found.items():
        for problem in faults_of(lab, name):
            severity, _ = DECISIONS[problem.rule]
            yield Finding(problem.rule, severity, problem.place.file, problem.place.line, problem.message)
        waiting = {one.path for one in results_of(dataset).open}
        for checked in dataset.checked:
            refused = checked.report.verdict == "refused"
            for said in once(checked.report.findings) if refused or checked.path in waiting else ():
                message = f"{said.message} {said.hint}".strip()
                yield Finding(said.code, said.severity if refused else "warning", said.file, said.line, message)
    for path in misplaced.misplaced(lab, found.values()):
        yield Finding("SUB-010", "error", path, None, misplaced.WHY)


def _site(workspace: Workspace) -> Iterable[Finding]:
    """Bring a site of the check's own up to date, follow its links, look for contact data in its results pages."""
    from benchpipe.site.build import build_site

    lab = workspace.lab
    with _own_site(lab) as out:
        build_site(lab, workspace.registry, out, public=False)
        for finding in (*broken_links(out), *contact_data(out, workspace.registry.public.contact, without_contacts)):
            yield msgspec.structs.replace(finding, file=f"site/{finding.file}")


@contextlib.contextmanager
def _own_site(lab: Lab) -> Iterator[Path]:
    """Where the check's site is built: below `.cache/`, cheap the second time; where that can't be written it is thrown away."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(lock(lab.lock_file("check-site"), wait=True))
        except UsageError:
            yield Path(held.enter_context(tempfile.TemporaryDirectory(prefix="benchpipe-check-"))) / "site"
        else:
            yield lab.cache / "check" / "site"


PARTS: tuple[tuple[str, Callable[[Workspace], Iterable[Finding]]], ...] = (
    ("registry", run_rules),
    ("git", _guard),
    ("contributions", _contributions),
    ("site and links", _site),
)
"""What is checked, in this order."""
