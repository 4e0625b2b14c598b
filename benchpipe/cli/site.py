"""`benchpipe site build`: the site as plain files."""

from datetime import UTC, datetime
from pathlib import Path

import rich_click as click

from benchpipe.cli.main import lab_of


@click.group("site")
def command() -> None:
    """The site as plain files, for any web server."""


@command.command("build")
@click.option("--public", is_flag=True, help="Only what the committed snapshot and registry hold.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to build into; default: site/ (public/ with --public).")
@click.pass_context
def build(ctx: click.Context, public: bool, out: Path | None) -> None:
    """Build every page, feed and download; files whose bytes would be equal are left untouched.

    Example: benchpipe site build --public --out /tmp/site
    """
    from benchpipe.registry.load import load_registry
    from benchpipe.site.build import build_site, default_out

    lab = lab_of(ctx)
    target = (out or default_out(lab, public=public)).absolute()
    result = build_site(lab, load_registry(lab), target, public=public, now=datetime.now(UTC))
    click.echo(f"{target}: {result.files} files, {len(result.written)} written, {len(result.removed)} removed")
