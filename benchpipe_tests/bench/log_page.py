"""A log page in the browser: the gateway log of a long trial against the same page with every step in it.

Beside them `inspect view` on the same tool runs, where it is installed. What the alternative shows is why the transcript is
fetched by parts: it is the same page, the same log, the same browser.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchpipe.site import log_steps
from benchpipe_tests.bench import _inspect
from benchpipe_tests.browser.log_site import LogSite, chromium, served
from benchpipe_tests.transcripts import made_logs as made

TITLE = "a long log: time until it can be read, jump, find, JS heap; by parts against all of it in one page"
MB = 1_000_000
JUMPS = 5


def run(full: bool) -> Iterator[str]:
    """130 MB of gateway log, or 10 MB."""
    n = 7_200 if full else 550
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        root = Path(folder)
        site = LogSite(root / "site")
        path = made.write_lines(root / "trial/agent/gateway.jsonl", made.gateway_lines(n, output_chars=16_000, image_every=50))
        began = time.perf_counter()
        log = site.from_trial("parts", path.parent.parent)
        took = time.perf_counter() - began
        size = path.stat().st_size
        speed = f"{took:.1f} s ({size / MB / took:.0f} MB/s)"
        yield f"gateway log {size / MB:.0f} MB, {len(log.steps):,} steps, {len(log.chunks)} parts: built in {speed}"
        limit, log_steps.COMPLETE = log_steps.COMPLETE, 10**12
        try:
            site.page("whole", log, chunks=log.chunks, path="whole/")
        finally:
            log_steps.COMPLETE = limit
        for part in ("chunks", "img"):
            (site.out / "whole" / part).symlink_to(site.out / "parts" / part)
        with served(site.out) as address:
            for name, what in (("parts", "by parts"), ("whole", "all in one page")):
                yield from (f"{what:16} {line}" for line in _measure(browser, f"{address}/{name}/", len(log.steps), n))
        yield f"{'inspect view':16} {_inspect_view(browser, path, root / 'inspect')}"


def _inspect_view(browser: Any, gateway: Path, folder: Path) -> str:
    """The same tool runs in another viewer."""
    if (inspect := _inspect.command()) is None:
        return "not installed: put `inspect` (inspect_ai) on PATH or name it by INSPECT to compare"
    folder.mkdir()
    with gateway.open() as lines, (folder / "pairs").open("w") as pairs:
        for n, line in enumerate(lines):
            for item in json.loads(line)["tail"]:
                if "output" in item:
                    pairs.write(json.dumps([f"python check.py --step {n - 1}", _text(item["output"])]) + "\n")
    began = time.perf_counter()
    with _inspect.viewer(inspect, folder / "pairs", folder) as address:
        written = time.perf_counter() - began
        return f"{_inspect.measure(browser, address, 'result 0', _heap)} (its log written and served in {written:.1f} s)"


def _text(output: Any) -> str:
    """A tool's output without its images."""
    return output if isinstance(output, str) else "\n".join(part.get("text", "") for part in output)


def _measure(browser: Any, address: str, n_steps: int, n_requests: int) -> Iterator[str]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(120_000)
    began = time.perf_counter()
    page.goto(address, wait_until="domcontentloaded")
    ready = time.perf_counter() - began
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
    weight = page.evaluate("performance.getEntriesByType('navigation')[0].encodedBodySize")
    heap = _heap(context, page)
    yield f"readable after {ready:.2f} s (first paint {painted / 1000:.2f} s), page {weight / MB:.2f} MB, JS heap {heap:.1f} MB"
    slowest = max(_jump(page, 1 + k * (n_steps - 1) // JUMPS) for k in range(JUMPS, 0, -1))
    heap, n_drawn = _heap(context, page), page.locator(".step").count()
    yield f"slowest of {JUMPS} jumps {slowest:.2f} s, JS heap {heap:.1f} MB, {n_drawn:,} steps in the page"
    began = time.perf_counter()
    page.fill("#find", f"result {n_requests * 2 // 3}")
    page.press("#find", "Enter")
    while not page.inner_text(".found").endswith("”."):
        page.wait_for_timeout(20)
    took, found, heap = time.perf_counter() - began, page.locator(".found-list li").count(), _heap(context, page)
    yield f"find in every step {took:.2f} s ({found} found), JS heap {heap:.1f} MB"
    context.close()


def _jump(page: Any, n: int) -> float:
    """Seconds from the key press until the step is on the screen."""
    page.fill("#jump", str(n))
    began = time.perf_counter()
    page.press("#jump", "Enter")
    while not page.evaluate(f"(b => b && b.top >= 0 && b.top < 1000)(document.querySelector('#s{n}')?.getBoundingClientRect())"):
        page.wait_for_timeout(5)
    return time.perf_counter() - began


def _heap(context: Any, page: Any) -> float:
    """MB of the page's JS heap after a collection."""
    session = context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / MB
