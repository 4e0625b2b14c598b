"""A site of log pages alone, made by the real renderer and served by the real server, for tests and the benchmark."""

import contextlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchpipe.lab import PACKAGE_ROOT
from benchpipe.site.log_page import LogContext, log_page
from benchpipe.site.render import Chrome, Link, Renderer, write_page
from benchpipe.site.server import SiteServer
from benchpipe.transcripts.build import Facts, build_log
from benchpipe.transcripts.records import Log
from benchpipe.usage.records import Bill, Estimate, Tokens
from benchpipe_tests.transcripts import made_logs as made

TEMPLATES = PACKAGE_ROOT.parent / "site_templates"
CHROMIUM = "/usr/bin/chromium"


class LogSite:
    """Pages below `out`; each has its own address `<name>/`."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.renderer = Renderer(TEMPLATES, Chrome(public=False, nav=(Link("Runs", "runs/overview/"),)))
        shutil.copytree(TEMPLATES / "static", out / "static")

    def from_trial(self, name: str, trial: Path, **facts: Any) -> Log:
        """Build the log of a trial folder and its page."""
        given = {"benchmark": "b", "run": "codex-m-high", "task": "pour_water", "mode": "limited", "state": "failed"}
        about = Facts(**(given | {"trial": "pour__1"} | facts))
        log = build_log(trial, about, made.requests_of(trial), slot=self.out / name, now="2026-11-30T00:00:00+00:00")
        self.page(name, log, chunks=log.chunks)
        return log

    def page(self, name: str, log: Log, **context: Any) -> None:
        """Write the page of a log."""
        label = context.pop("run_label", "Codex CLI + GPT-6 Luna, xhigh")
        about = {
            "path": f"{name}/", "run_label": label, "task_title": "Pour water", "section": "runs/b/",
            "crumbs": (Link("Runs", "runs/overview/"),), "run_link": Link(label, "runs/b/"), "state": log.state,
            "local": True, "raw": f"{name}/log.json", "estimate": Estimate(), "bill": Bill(), "tokens": Tokens(),
        }  # fmt: skip
        write_page(self.out, self.renderer, log_page(log, LogContext(**(about | context))))


@contextlib.contextmanager
def served(out: Path) -> Iterator[str]:
    """The address of a server of `out`, while the block runs."""
    server = SiteServer(out, 0)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Debian's Chromium under Playwright."""
    if not Path(CHROMIUM).exists():
        pytest.skip("needs the Debian package chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
