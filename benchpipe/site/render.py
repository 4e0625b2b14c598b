"""From typed pages to bytes: the one Jinja environment, addresses between pages, and texts made safe to look at.

A page is a frozen dataclass (`Page`); its template reads fields and computes nothing. No module of the site writes
markup by hand, marks a text as safe, or knows where the lab lies.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import jinja2
from markupsafe import Markup

from benchpipe.files import write_bytes
from benchpipe.site import states
from benchpipe.usage import format as fmt

MAX_TEXT = 64_000
"""Characters of one text on a page; more is cut, with a word about it. Pages cut most texts much shorter themselves."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)  # ␛ for ESC, ␍ for CR, …
    return "�" if 0xD800 <= code <= 0xDFFF else f"⟨U+{code:04X}⟩"


def shown(text: str) -> str:
    """`text` as a page may show it: control, bidi and invisible characters made visible, combining piles cut, not endless.

    Line feeds and tabs stay. Markup needs no care here, since every template escapes.
    """
    if text.isascii() and text.isprintable() and len(text) <= MAX_TEXT:
        return text  # nearly all: a build prints millions of them
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}… ({len(text):,} characters)"
    text = _CONTROL.sub(_visible, text)
    return text if text.isascii() else _without_piles(text)


def _without_piles(text: str) -> str:
    """At most four combining marks in a row, so that no text paints over its neighbours."""
    if not any(unicodedata.combining(char) for char in text):
        return text
    kept, row = [], 0
    for char in text:
        row = row + 1 if unicodedata.combining(char) else 0
        if row <= 4:
            kept.append(char)
    return "".join(kept)


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, with a mark that says how many there were."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def relative(from_page: str, to: str) -> str:
    """The address of `to` as a link on `from_page`; both below the site root, "" is the home page.

    `relative("runs/overview/", "benchmarks/b/") == "../../benchmarks/b/"`. 404.html is shown at any address: from it
    links start at the root.
    """
    if from_page == "404.html":
        return "/" + to
    return "../" * from_page.count("/") + to or "./"


@dataclass(frozen=True)
class Link:
    """A text and the address below the site root that it leads to."""

    text: str
    href: str


@dataclass(frozen=True, kw_only=True)
class Page:
    """What every page has. A subclass adds the fields of its template, each with its meaning and unit."""

    template: ClassVar[str]
    """File name below `site_templates/`."""
    path: str
    """Address below the site root: "", "runs/overview/", "404.html"."""
    title: str
    """Of the document; the site's name is added."""
    section: str = ""
    """Address of the navigation entry that this page belongs to."""
    crumbs: tuple[Link, ...] = ()
    """The way here, without the page itself."""
    tabs: tuple[Link, ...] = ()
    """The pages that this one, or one above it, stands among."""
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Chrome:
    """What surrounds every page of one build."""

    public: bool
    nav: tuple[Link, ...] = ()
    media_base: str = ""
    """Address that images and videos may come from besides the site itself; ends with "/" or is empty."""
    name: str = "benchpipe"
    contact: str = ""
    """Whom to ask about contributed results, as `data/public.yml` says."""


@lru_cache(maxsize=2)
def renderer_of(templates: Path, chrome: Chrome) -> "Renderer":
    """The renderer of a build like the last one: templates are compiled once, and again only when their files change."""
    return Renderer(templates, chrome)


class Renderer:
    """Renders pages from one folder of templates."""

    def __init__(self, templates: Path, chrome: Chrome) -> None:
        self.chrome = chrome
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(templates),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            finalize=_finalize,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(FILTERS)
        self._environment.globals.update(chrome=chrome, csp=content_policy(chrome.media_base), states=states.LOOKS)

    def render(self, page: Page) -> bytes:
        """The bytes of one page. A field that the template needs and the page lacks is an error of ours."""

        def url(to: str) -> str:
            return relative(page.path, to)

        return self._environment.get_template(page.template).render(page=page, url=url).encode()


def _finalize(value: Any) -> Any:
    if type(value) is str:
        return shown(value)
    if value is None:
        raise TypeError("a template printed None: decide in the page's dataclass what an unknown value looks like")
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def content_policy(media_base: str) -> str:
    """The page's content-security policy: nothing from elsewhere, but media from the configured base."""
    media = f" {media_base}" if media_base else ""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' data:{media}; media-src 'self'{media}; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'"
    )


def file_of(path: str) -> str:
    """The file below the output folder of the page at address `path`: a directory address is its index.html."""
    return path + "index.html" if path == "" or path.endswith("/") else path


def write_page(out: Path, renderer: Renderer, page: Page) -> bool:
    """Render and write one page; True if its bytes changed."""
    return write_bytes(out / file_of(page.path), renderer.render(page))


FILTERS: dict[str, Callable[..., Any]] = {"cut": cut, "when": fmt.moment}
