"""The gate on a thousand submissions: checked for the first time, then unchanged, then with one changed."""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

from benchpipe.contributions.store import Dataset, check_dataset
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe_tests.conftest import REPOSITORY

TITLE = "1,000 submissions of deskwork, each with per-task files, a run record and harness trees of its own"
LIMIT_S = 10


def make_lab(root: Path, n: int) -> Lab:
    """A lab with `n` copies of the shipped verified submission, every one with files of its own."""
    shutil.copytree(REPOSITORY / "data" / "benchmarks", root / "data" / "benchmarks")
    (root / "data" / "agents").mkdir()
    (root / "state" / "contrib").mkdir(parents=True)
    shipped = REPOSITORY / "contrib" / "results" / "deskwork" / "skill-search"
    trees = REPOSITORY / "contrib" / "Experiments" / "deskwork" / "rules_clerk" / "none-none" / "skill-search"
    doc = (shipped / "rules.json").read_text()
    for k in range(n):
        method, variant = f"method-{k // 10}", f"v{k}"
        folder = root / "contrib" / "results" / "deskwork" / method
        shutil.copytree(shipped / "rules", folder / variant)
        shutil.copytree(trees, root / "contrib" / "Experiments" / "deskwork" / f"copy-{k}")
        text = doc.replace("Experiments/deskwork/rules_clerk/none-none/skill-search", f"Experiments/deskwork/copy-{k}")
        text = text.replace("skill-search/rules", f"{method}/{variant}")
        value = json.loads(text)
        value["variant"], value["method"]["name"], value["improver"]["method"] = variant, method, f"{method}@0.1.0"
        value["credit"]["submitted"] = [{"dataset": "deskwork", "method": method}]
        (folder / f"{variant}.json").write_text(json.dumps(value, indent=2))
    return Lab(root.resolve())


def timed(call: Callable[[], Dataset]) -> tuple[float, Dataset]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def run(full: bool) -> Iterator[str]:
    """Seconds for a first, an unchanged and a nearly unchanged pass."""
    n = 1000 if full else 100
    with tempfile.TemporaryDirectory() as place:
        lab = make_lab(Path(place) / "lab", n)
        benchmarks = load_registry(lab).benchmarks

        def check() -> Dataset:
            return check_dataset(lab, "deskwork", benchmarks, today=date(2026, 11, 30))

        first, found = timed(check)
        verified = sum(one.report.verdict == "verified" for one in found.checked)
        n_bytes = sum(path.stat().st_size for path in lab.contrib.rglob("*") if path.is_file())
        yield f"first time   {first:7.2f} s  {n} checked, {verified} verified, {n_bytes / 1e6:.1f} MB; limit {LIMIT_S} s"
        again, found = timed(check)
        yield f"unchanged    {again:7.2f} s  {found.n_checked} checked; {first / again:.0f} times faster"
        file = next(lab.contrib_results.glob("deskwork/*/*.json"))
        file.write_text(file.read_text() + "\n")
        one, found = timed(check)
        yield f"one changed  {one:7.2f} s  {found.n_checked} checked; {first / one:.0f} times faster"
