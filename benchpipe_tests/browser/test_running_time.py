"""The time of trials that go on: the site has no clock, the reader's browser has."""

from pathlib import Path
from typing import Any

from benchpipe_tests.browser.kitchen import DEFAULT, build, watched
from benchpipe_tests.browser.log_site import served
from benchpipe_tests.site.labs import make_lab, write_run_file


def test_running_time_stands_apart_beside_the_agent_time(browser: Any, tmp_path: Path) -> None:
    lab = make_lab(tmp_path, runs=1, tasks=4, modes=("limited",))
    records = {
        "task_000": {"state": "success", "trial": "a", "agent_wall_s": 7200, "started": "2026-11-29T00:00:00Z"},
        "task_001": {"state": "running", "trial": "b", "started": "2026-11-30T10:30:00Z"},
        "task_002": {"state": "grading", "trial": "c", "started": "2026-11-30T11:15:00Z"},
        "task_003": {"state": "running", "trial": "of an excluded task", "started": "2026-11-01T00:00:00Z"},
    }
    write_run_file(lab, DEFAULT, {task: {"limited": record} for task, record in records.items()})
    with served(build(lab)) as address:
        page = watched(browser.new_page(base_url=address + "/"), address)
        page.clock.set_fixed_time("2026-11-30T12:00:00Z")
        page.goto("runs/kitchen/")
        (shown,) = [one for one in page.query_selector_all(".strip .stat") if one.is_visible() and "Agent time" in one.inner_text()]
        assert " ".join(shown.inner_text().split()) == "Agent time 2.0 h of 1 done trials and 2h 15m of 2 going on"
        assert page.faults == []
        page.close()
