"""Every relative link of a built site has to lead to a file or to a folder with an index."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchpipe.checks.links import broken_links

Write = Callable[[str, str], Path]


@pytest.fixture
def site(write: Write, tmp_path: Path) -> Path:
    write("site/index.html", "<h1>home</h1>")
    write("site/runs/overview/index.html", "<h1>runs</h1>")
    write("site/static/style.css", "a {}")
    write("site/a b/ä.html", "<p>")
    (tmp_path / "site/empty").mkdir()
    (tmp_path / "outside.html").write_text("<p>")
    return tmp_path / "site"


@pytest.mark.parametrize(
    "link",
    [
        "../overview/", "../overview", "../../static/style.css", "index.html", ".", "../../", "?run=x", "#part", "?q#f", "",
        "../../static/style.css?v=1#x", "../../a%20b/%C3%A4.html", "../../a b/ä.html", "/static/style.css", "/",
        "https://elsewhere.example/x", "//elsewhere.example/x", "mailto:a@b.example", "data:image/png;base64,AA",
        "javascript:void(0)", "  ../overview/  ", "../overview/index.html#x",
    ],
)  # fmt: skip
def test_a_link_that_leads_somewhere_is_fine(site: Path, write: Write, link: str) -> None:
    write("site/runs/overview/index.html", f'<a href="{link}">x</a><img src="{link}">')
    assert broken_links(site) == []


@pytest.mark.parametrize(
    "link",
    ["gone", "gone/", "../../static", "../../empty/", "../../static/style.css/", "../../../outside.html", "/gone.css", "style.css",
     "a%00b", "../../static/STYLE.css", "http://[broken"],
)  # fmt: skip
def test_a_link_that_leads_nowhere_is_named_with_page_and_line(site: Path, write: Write, link: str) -> None:
    write("site/runs/overview/index.html", f'<h1>x</h1>\n\n<link rel="stylesheet"\n href="{link}">')
    (finding,) = broken_links(site)
    assert (finding.rule, finding.severity, finding.file, finding.line) == ("link-broken", "error", "runs/overview/index.html", 3)
    assert finding.message.startswith(repr(link))


def test_scripts_media_and_every_occurrence_are_followed(site: Path, write: Write) -> None:
    write("site/index.html", '<script src="a.js"></script>\n<video src="b.mp4"></video>\n<a href="a.js">x</a>')
    assert [(finding.line, finding.message.split("'")[1]) for finding in broken_links(site)] == [
        (1, "a.js"),
        (2, "b.mp4"),
        (3, "a.js"),
    ]


def test_what_only_looks_like_a_link_is_none(site: Path, write: Write) -> None:
    write(
        "site/index.html",
        '<p data-href="x" title="href=y">src=z</p><!-- <a href="no"> -->'
        '<script type="application/json">{"a": "<a href=\\"no\\">"}</script>',
    )
    assert broken_links(site) == []


def test_the_not_found_page_is_shown_anywhere_and_left_out(site: Path, write: Write) -> None:
    write("site/404.html", '<a href="gone">x</a>')
    assert broken_links(site) == []


def test_a_link_on_the_border_of_two_blocks_is_read_whole(site: Path, write: Write) -> None:
    for shift in range(0, 40, 7):
        write("site/index.html", "<p>" + "x" * ((1 << 20) - 20 + shift) + '</p><a href="gone/of/some/length">x</a>')
        assert [finding.message.split("'")[1] for finding in broken_links(site)] == ["gone/of/some/length"]
