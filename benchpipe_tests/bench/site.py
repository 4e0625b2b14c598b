"""The site: building it, changing one trial, and the first rows of its largest pages in a browser.

Beside it: the same trials as one table by `pandas.DataFrame.to_html`, the shortest way to a page.
"""

import gzip
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe.site.jobs import BuildResult
from benchpipe_tests.browser.log_site import chromium, served
from benchpipe_tests.site.labs import make_lab, run_ids, write_logs, write_run_file

TITLE = "build, one-trial rebuild and first rows of the site, beside pandas.DataFrame.to_html"
MODES = ("unlimited",)
STEPS = 60
SLOWEST_MS = 300_000
"""The other way's page of 60,000 rows takes a browser minutes."""
LOG_DEPTH = 5
"""Slashes in the address of a log page's file: runs/<benchmark>/<run>/<task>/<slot>/index.html."""
FIRST_PAINT = """() => new Promise(done => new PerformanceObserver(list => {
    const paint = list.getEntriesByName("first-contentful-paint")[0];
    if (paint) done(paint.startTime);
}).observe({type: "paint", buffered: true}))"""


def run(full: bool) -> Iterator[str]:
    """10,000 trials: build and rebuild. 60,000 trials (300 runs × 200 tasks): sizes and first rows. Quick: 400 of each."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _building(Path(folder) / "ten", *((50, 200) if full else (4, 100)), logs=False)
        yield from _building(Path(folder) / "logs", *((50, 200) if full else (4, 25)), logs=True)
        yield from _reading(Path(folder) / "sixty", *((300, 200) if full else (4, 100)))


def _timed(act: Callable[[], BuildResult]) -> tuple[str, BuildResult]:
    """Seconds on the clock and of computing: on a machine with other work the second tells more."""
    began, computing = time.perf_counter(), time.process_time()
    result = act()
    return f"{time.perf_counter() - began:.2f} s ({time.process_time() - computing:.2f} s CPU)", result


def _build(lab: Lab) -> BuildResult:
    return build_site(lab, load_registry(lab), lab.site, public=False)


def _building(root: Path, runs: int, tasks: int, *, logs: bool) -> Iterator[str]:
    lab = make_lab(root, runs=runs, tasks=tasks, modes=MODES)
    n_logs = write_logs(lab, steps=STEPS) if logs else 0
    seconds, result = _timed(lambda: _build(lab))
    yield f"{runs * tasks:,} trials, {n_logs:,} log pages: full build {seconds}, {result.files:,} files"
    seconds, result = _timed(lambda: _build(lab))
    yield f"  nothing changed: {seconds}, {len(result.written)} files written"
    for number, whose in ((1, ""), (0, " of the default run")):
        change(lab, run_ids(runs)[number])
        seconds, result = _timed(lambda: _build(lab))
        files = f"{len(result.written)} files written, {len(result.linked)} linked"
        yield f"  one changed trial{whose}: {seconds}, {files}: {_kinds(result.written)}"
    if not logs:
        took, size = _pandas(lab, root / "pandas.html")
        yield f"  pandas to_html, which is also its rebuild: {took:.2f} s, one page of {size / 1e6:.1f} MB"


def _kinds(written: list[str]) -> str:
    """What was written: the tables' forms and the pages one by one, log pages counted."""
    logs = [path for path in written if path.startswith("runs/") and path.count("/") == LOG_DEPTH]
    others = [path.removesuffix("index.html") or "home" for path in sorted(written) if path not in logs]
    return ", ".join([*others, f"{len(logs)} log pages"])


def change(lab: Lab, run: str) -> None:
    """One trial of the run that was graded fails, or one that failed is solved by a regrading."""
    said = json.loads(lab.run_file("kitchen", run).read_text())
    record = next(modes[MODES[0]] for modes in said["tasks"].values() if modes[MODES[0]]["state"] in ("success", "failed"))
    record["state"] = "failed" if record["state"] == "success" else "success"
    write_run_file(lab, run, said["tasks"])


def _pandas(lab: Lab, page: Path) -> tuple[float, int]:
    """All records of all runs as one HTML table."""
    import pandas

    began = time.perf_counter()
    rows = [
        {"run": file.stem, "task": task, "mode": mode, **record}
        for file in sorted(lab.run_folder("kitchen").glob("*-*.json"))
        for task, modes in json.loads(file.read_text())["tasks"].items()
        for mode, record in modes.items()
    ]
    pandas.DataFrame(rows).to_html(page)
    return time.perf_counter() - began, page.stat().st_size


def _reading(root: Path, runs: int, tasks: int) -> Iterator[str]:
    lab = make_lab(root, runs=runs, tasks=tasks, modes=MODES)
    seconds, result = _timed(lambda: _build(lab))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield f"{runs * tasks:,} trials: full build {seconds}, {result.files:,} files, peak {peak:.0f} MB"
    _, naive = _pandas(lab, lab.site / "pandas.html")
    pages = {
        "overview": "runs/overview/",
        "run": "runs/kitchen/",
        "other run": f"runs/kitchen/{run_ids(runs)[1]}/",
        "benchmark": "benchmarks/kitchen/",
        "task": "benchmarks/kitchen/tasks/task_001/",
        "compare": "runs/kitchen/compare/",
        "home": "",
        "history": "history/",
    }
    with served(lab.site) as address, chromium() as browser:
        for name, path in pages.items():
            size = len(gzip.compress((lab.site / path / "index.html").read_bytes()))
            yield f"  {name}: first rows {_first_rows(browser, f'{address}/{path}'):.0f} ms, {size / 1000:.0f} kB compressed"
        yield f"  pandas to_html: first rows {_first_rows(browser, f'{address}/pandas.html'):.0f} ms, {naive / 1e6:.1f} MB"


def _first_rows(browser: Any, address: str) -> float:
    """Milliseconds from the click to the first contentful paint; the best of three."""
    found = []
    for _ in range(3):
        page = browser.new_page()
        page.set_default_timeout(SLOWEST_MS)
        page.goto(address, wait_until="load")
        found.append(page.evaluate(FIRST_PAINT))
        page.close()
    return min(found)
