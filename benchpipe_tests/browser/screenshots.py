"""`python -m benchpipe_tests.browser.screenshots`: the first screen of each kind of page, both themes, into docs/screenshots/.

The site is that of the shipped genuine jobs, freshly collected.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchpipe import demo
from benchpipe_tests.browser.log_site import chromium, served

TARGET: Final = demo.REPOSITORY / "docs" / "screenshots"
SIZE: Final = {"width": 1200, "height": 820}
RUN: Final = "bench_literal-gpt6_luna-xhigh"
PAGES: Final = {
    "home": "",
    "overview": "runs/overview/",
    "run": "runs/tabletop/",
    "trials": "runs/tabletop/#trials",
    "compare": f"runs/tabletop/compare/?a={RUN}&b={RUN}-harbor024",
    "benchmark": "benchmarks/tabletop/",
    "task": "benchmarks/tabletop/tasks/stack_blocks/",
    "log": f"runs/tabletop/{RUN}/stack_blocks/unlimited/",
    "results": "results/",
    "dataset": "results/deskwork/",
    "history": "history/",
    "data": "data/schema/",
}
"""Name of the picture → address."""


def main() -> int:
    """Collect, build, photograph."""
    with tempfile.TemporaryDirectory() as folder:
        lab = demo.make_lab(Path(folder) / "lab")
        command = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab", str(lab.root), "runs", "--once"]
        subprocess.run(command, check=True)
        TARGET.mkdir(parents=True, exist_ok=True)
        with served(lab.site) as address, chromium() as browser:
            for theme in ("light", "dark"):
                context = browser.new_context(viewport=SIZE, color_scheme=theme)
                page = context.new_page()
                for name, path in PAGES.items():
                    page.goto(f"{address}/{path}", wait_until="networkidle")
                    page.screenshot(path=TARGET / f"{name}.{theme}.png")
                context.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
