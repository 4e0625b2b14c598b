"""Texts and pages: nothing that a host or a YAML file says becomes markup or hides itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from benchpipe.site.render import MAX_TEXT, Chrome, Page, Renderer, content_policy, cut, relative, shown


@dataclass(frozen=True, kw_only=True)
class OneText(Page):
    template: ClassVar[str] = "one.html"
    text: str | None


def rendered(folder: Path, text: str | None) -> str:
    (folder / "one.html").write_text('<p title="{{ page.text }}">{{ page.text }}</p>')
    return Renderer(folder, Chrome(public=False)).render(OneText(path="x/", title="t", text=text)).decode()


def test_markup_is_shown_and_not_made(tmp_path: Path) -> None:
    text = """<script>alert('1')</script>" onmouseover="x"""
    out = rendered(tmp_path, text)
    assert "<script" not in out
    assert '" onmouseover' not in out
    assert "&lt;script&gt;" in out


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("a\x00b\x07", "a␀b␇"),
        ("abc\u202edcb", "abc⟨U+202E⟩dcb"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("\ud800 lone", "� lone"),
        ("line\nand\ttab stay", "line\nand\ttab stay"),
        ("e\u0301", "e\u0301"),
        ("e" + "\u0301" * 50, "e" + "\u0301" * 4),
        ("carriage\rreturn", "carriage␍return"),
    ],
)
def test_what_hides_or_moves_is_made_visible(text: str, visible: str) -> None:
    assert shown(text) == visible


def test_an_endless_text_is_cut_with_a_word_about_it(tmp_path: Path) -> None:
    out = rendered(tmp_path, "x" * 1_000_000)
    assert len(out) < 3 * MAX_TEXT
    assert "1,000,000 characters" in out


def test_cut_says_how_much_there_was() -> None:
    assert cut("short", 10) == "short"
    assert cut("x" * 20, 10) == "x" * 10 + "… (20 characters)"


def test_a_page_that_lacks_a_value_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="printed None"):
        rendered(tmp_path, None)


@pytest.mark.parametrize(
    ("here", "there", "link"),
    [
        ("", "runs/overview/", "runs/overview/"),
        ("", "", "./"),
        ("runs/overview/", "", "../../"),
        ("runs/b/r/t/unlimited/", "benchmarks/b/tasks/t/", "../../../../../benchmarks/b/tasks/t/"),
        ("404.html", "runs/overview/", "/runs/overview/"),
        ("feed.atom", "runs/", "runs/"),
    ],
)
def test_links_are_relative_so_that_a_site_may_lie_anywhere(here: str, there: str, link: str) -> None:
    assert relative(here, there) == link


def test_the_policy_names_only_the_site_and_the_media_base() -> None:
    assert "unsafe" not in content_policy("")
    assert content_policy("").count("http") == 0
    assert content_policy("https://m.example/").count("https://m.example/") == 2


def test_no_template_calls_a_text_safe_or_has_inline_code() -> None:
    templates = Path(__file__).parents[2] / "site_templates"
    for file in [*templates.rglob("*.html"), *templates.rglob("*.atom")]:
        text = file.read_text()
        assert "|safe" not in text.replace(" ", ""), file
        assert " style=" not in text, file
        assert " onclick=" not in text, file
        assert "<style" not in text, file
        assert "autoescape" not in text, file
