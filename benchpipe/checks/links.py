"""Broken links of a built site: every relative `href` and `src` has to lead to a file or to a folder with an index."""

import os
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchpipe.checks.findings import Finding
from benchpipe.registry.quoting import short

TITLES = {"link-broken": "Every relative link of the built site leads somewhere"}
_BLOCK = 1 << 20
_ATTRIBUTES = {"href", "src"}


class _Links(HTMLParser):
    """Collects (line, target) of every link while a page is fed in pieces."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(self.getpos()[0], value) for name, value in attrs if name in _ATTRIBUTES and value is not None]


def broken_links(site: Path) -> list[Finding]:
    """Links of every page below `site` that lead nowhere; files named relative to it, pages in name order.

    Left out: `404.html` (it is shown at any address), addresses with a scheme or host, fragments of a page.
    """
    findings = []
    known: dict[str, bool] = {}
    for page in _pages(site):
        for line, target in _links_of(page):
            path = _local_path(site, page, target)
            if path is None:
                continue
            if path not in known:
                known[path] = _leads_somewhere(site, path)
            if not known[path]:
                name = page.relative_to(site).as_posix()
                message = f"'{short(target, 200)}' leads nowhere: correct the link or build what it names"
                findings.append(Finding("link-broken", "error", name, line, message))
    return findings


def _pages(site: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(site):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".html") and name != "404.html":
                yield Path(folder, name)


def _links_of(page: Path) -> list[tuple[int, str]]:
    parser = _Links()
    with open(page, encoding="utf-8", errors="replace") as file:
        while block := file.read(_BLOCK):
            parser.feed(block)
    parser.close()
    return parser.found


def _local_path(site: Path, page: Path, target: str) -> str | None:
    """The absolute path that a link means; None for what lies elsewhere or in the page itself."""
    try:
        parts = urlsplit(target.strip())
    except ValueError:
        return ""
    if parts.scheme or parts.netloc or not parts.path:
        return None
    base = site if parts.path.startswith("/") else page.parent
    path = os.path.normpath(os.path.join(base, unquote(parts.path).lstrip("/")))
    return path + os.sep if parts.path.endswith("/") else path


def _leads_somewhere(site: Path, path: str) -> bool:
    inside = path == str(site) or path.startswith(f"{site}{os.sep}")
    if not inside or "\0" in path:
        return False
    return os.path.isfile(os.path.join(path, "index.html")) if os.path.isdir(path) else os.path.isfile(path)
