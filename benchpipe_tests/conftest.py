"""Fixtures that every room's tests share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchpipe import demo
from benchpipe.lab import Lab

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = REPOSITORY.parent / "shared"


@pytest.fixture(autouse=True, scope="session")
def _probe_cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Probes of this machine keep their offsets in a temporary folder, not in the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The one browser of a session: Playwright runs once in a process."""
    from benchpipe_tests.browser.log_site import chromium

    with chromium() as running:
        yield running


@pytest.fixture
def shared() -> Path:
    """The folder of specifications and samples beside the project; tests that read it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared beside the project")
    return SHARED


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A fresh lab with the shipped registry and the shipped genuine jobs on local hosts; nothing collected yet."""
    return demo.make_lab(tmp_path / "lab")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """`write("a/b.yml", text)` makes a file below tmp_path, with its folders."""

    def make(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return make
