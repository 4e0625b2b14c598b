"""`benchpipe site build`: the site as plain files."""

from datetime import UTC, datetime
from pathlib import Path

import rich_click as click

from benchpipe.cli.main import lab_of, public_build
from benchpipe.cli.progress import progress


@click.group("site")
def command() -> None:
    """The site as plain files, for any web server.

    Example: benchpipe site build
    """


@command.command("build")
@click.option("--public", is_flag=True, help="Only what the committed snapshot and registry hold.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to build into; default: site/ (public/ with --public).")
@click.pass_context
def build(ctx: click.Context, public: bool, out: Path | None) -> int:
    """Build every page, feed and download; files whose bytes would be equal are left untouched.

    RB_PUBLIC=1 in the environment means --public. The public site may have at most 1,000,000,000 bytes, and each of its links
    has to lead somewhere: a broken one is printed and makes the exit code 1.

    Example: benchpipe site build --public --out /tmp/site
    """
    from benchpipe.registry.load import load_registry
    from benchpipe.site.build import build_site, default_out

    lab, public = lab_of(ctx), public_build(public)
    target = (out or default_out(lab, public=public)).absolute()
    registry = load_registry(lab)
    with progress("site", lines=False) as step:
        result = build_site(
            lab,
            registry,
            target,
            public=public,
            now=datetime.now(UTC),
            on_made=lambda n: step(n, None, f"{n:,} files made"),
        )
    changes = f"{len(result.written)} written, {len(result.linked)} linked, {len(result.removed)} removed"
    click.echo(f"{target}: {result.files} files, {changes}")
    return _gates(target, registry.public.contact) if public else 0


def _gates(site: Path, contact: str) -> int:
    """What a site has to pass before it is shown to everybody: the exit code."""
    from benchpipe.checks.contact_data import contact_data
    from benchpipe.checks.links import broken_links
    from benchpipe.contributions.contacts import without_contacts
    from benchpipe.publish.published import size_gate

    click.echo(f"{size_gate(site):,} bytes in all")
    findings = [*broken_links(site), *contact_data(site, contact, without_contacts)]
    for finding in findings:
        click.echo(str(finding))
    return int(bool(findings))
