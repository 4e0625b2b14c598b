"""Every page's context is its contract: the template reads every field, and nothing else of the page."""

import dataclasses
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import benchpipe.site
from benchpipe.site.render import Page

TEMPLATES = Path(__file__).parents[2] / "site_templates"
for module in pkgutil.iter_modules(benchpipe.site.__path__):
    importlib.import_module(f"benchpipe.site.{module.name}")
PAGES = [cls for cls in Page.__subclasses__() if cls.__module__.startswith("benchpipe.")]


def source(template: str, known: frozenset[str] = frozenset()) -> str:
    """A template with everything it includes, imports and extends."""
    text = (TEMPLATES / template).read_text()
    others = set(re.findall(r'{%-? *(?:include|extends|from|import) "([^"]+)"', text)) - known - {template}
    return text + "".join(source(other, known | {template}) for other in others)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__)
def test_a_template_reads_every_field_of_its_page_and_no_other(page: type[Page]) -> None:
    read = set(re.findall(r"\bpage\.(\w+)", source(page.template)))
    own = {field.name for field in dataclasses.fields(page)}
    common = {field.name for field in dataclasses.fields(Page)}
    assert read - own == set()
    assert own - common - read == set()
