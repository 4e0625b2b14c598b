"""`benchpipe docs`: write the files that are made from the code, or say which are out of date."""

from collections.abc import Callable

import rich_click as click

from benchpipe.checks.page import rules_page
from benchpipe.contributions.generate import PAGES as CONTRIBUTION_PAGES
from benchpipe.files import write_bytes
from benchpipe.lab import PACKAGE_ROOT
from benchpipe.trials.page import states_page
from benchpipe.usage.tables import schema_page

PAGES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("docs/data-schema.md", schema_page),
    ("docs/rules.md", rules_page),
    ("docs/states.md", states_page),
    *CONTRIBUTION_PAGES,
)
"""File (relative to the repository) and the function that gives its text."""


def stale_pages() -> list[str]:
    """Generated files that differ from what the code says."""
    return [name for name, text in PAGES if _on_disk(name) != text()]


def _on_disk(name: str) -> str | None:
    path = PACKAGE_ROOT.parent / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a page is out of date.")
def command(check: bool) -> int:
    """Write the generated files (pages of docs/, the schema and validator of contrib/) again.

    Example: benchpipe docs --check
    """
    stale = stale_pages()
    for name in stale:
        if not check:
            write_bytes(PACKAGE_ROOT.parent / name, dict(PAGES)[name]().encode())
        click.echo(f"{name}: {'is out of date; run benchpipe docs' if check else 'written'}")
    click.echo(f"docs: {len(PAGES)} generated files, {len(stale)} {'out of date' if check else 'written'}")
    return 1 if check and stale else 0
