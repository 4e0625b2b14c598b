"""Contact data in the built results pages: whatever it came from, it must not go out (contributions 16.2)."""

from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

from benchpipe.checks.findings import Finding

TITLES = {"contact-data": "No results page and no row file holds an address, a messenger id or a telephone number"}
_FOLDERS = ("results", "data/results")
_TEXTS = {".html", ".json", ".csv"}


def contact_data(site: Path, contact: str, cleaned: Callable[[str], str]) -> Iterator[Finding]:
    """Lines of results pages and row files below `site` with contact data; `contact` is the maintainers' own, which may stand.

    `cleaned` takes contact data out of a text, as `contributions.contacts` does for everything that outsiders send.
    """
    for folder in _FOLDERS:
        for file in sorted((site / folder).rglob("*")):
            if file.suffix in _TEXTS:
                yield from _lines(file, file.relative_to(site).as_posix(), contact, cleaned)


def _lines(file: Path, name: str, contact: str, cleaned: Callable[[str], str]) -> Iterator[Finding]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        text = unescape(line)
        text = text.replace(contact, "") if contact else text
        if cleaned(text) != text:
            message = "holds an address, a messenger id or a telephone number. Take it out of the file that it comes from"
            yield Finding("contact-data", "error", name, number, message)
