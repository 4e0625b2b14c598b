"""`benchpipe docs`: write the pages of docs/ that are made from the code, or say which are out of date."""

from collections.abc import Callable

import rich_click as click

from benchpipe.checks.page import rules_page
from benchpipe.files import write_bytes
from benchpipe.lab import PACKAGE_ROOT

PAGES: tuple[tuple[str, Callable[[], str]], ...] = (("docs/rules.md", rules_page),)
"""File (relative to the repository) and the function that gives its text."""


def stale_pages() -> list[str]:
    """Generated pages whose file differs from what the code says."""
    return [name for name, text in PAGES if _on_disk(name) != text()]


def _on_disk(name: str) -> str | None:
    path = PACKAGE_ROOT.parent / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a page is out of date.")
def command(check: bool) -> int:
    """Write the generated pages of docs/ again.

    Example: benchpipe docs --check
    """
    stale = stale_pages()
    for name in stale:
        if not check:
            write_bytes(PACKAGE_ROOT.parent / name, dict(PAGES)[name]().encode())
        click.echo(f"{name}: {'is out of date; run benchpipe docs' if check else 'written'}")
    click.echo(f"docs: {len(PAGES)} generated pages, {len(stale)} {'out of date' if check else 'written'}")
    return 1 if check and stale else 0
