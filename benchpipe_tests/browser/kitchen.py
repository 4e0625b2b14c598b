"""The site of a made-up lab in a real browser: what the tests of its controls share."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe_tests.browser.log_site import served
from benchpipe_tests.site.labs import make_lab, write_logs

NOW = datetime(2026, 11, 30, tzinfo=UTC)
DEFAULT, SECOND, THIRD = "codex-gpt6_luna-low", "codex-gpt6_luna-medium", "codex-gpt6_luna-high"
PAGES = {
    "home": "",
    "overview": "runs/overview/",
    "run": "runs/kitchen/",
    "other run": f"runs/kitchen/{SECOND}/",
    "compare": f"runs/kitchen/compare/?a={DEFAULT}&b={SECOND}",
    "benchmarks": "benchmarks/",
    "benchmark": "benchmarks/kitchen/",
    "task": "benchmarks/kitchen/tasks/task_001/",
    "log": f"runs/kitchen/{DEFAULT}/task_001/unlimited/",
    "history": "history/",
    "data": "data/schema/",
    "missing": "no/such/page/",
}
"""One address per kind of page."""


def build(lab: Lab, out: Path | None = None, *, public: bool = False) -> Path:
    """The lab's site, built."""
    target = out or lab.site
    build_site(lab, load_registry(lab), target, public=public, now=NOW)
    return target


@pytest.fixture(scope="session")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the made-up lab's site."""
    root = tmp_path_factory.mktemp("kitchen")
    lab = make_lab(root, runs=4, tasks=8)
    write_logs(lab, steps=20)
    with served(build(lab)) as address:
        yield address + "/"
    shutil.rmtree(root)


@pytest.fixture
def page(browser: Any, kitchen: str) -> Iterator[Any]:
    """A page that fails its test on any console error, any exception, and any request off the site."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, base_url=kitchen)
    opened = context.new_page()
    yield watched(opened, kitchen)
    context.close()
    assert opened.faults == []


def watched(page: Any, address: str) -> Any:
    """The page with a list `faults` that grows with what must not happen."""
    page.faults = []
    expected = ("the server responded with a status of 404",)
    page.on("console", lambda m: m.type == "error" and not any(e in m.text for e in expected) and page.faults.append(m.text))
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith((address, "data:")) else page.faults.append(f"request to {r.url}"))
    return page
