"""What the overview, the home page and a run's page say about the same trials is the same."""

import re
from pathlib import Path

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.site.addresses import runs_page
from benchpipe.site.overview_page import OverviewPage, overview
from benchpipe.site.reading import read_benchmarks
from benchpipe.site.run_panel import run_page_of
from benchpipe_tests.browser.kitchen import build
from benchpipe_tests.site.labs import make_lab, run_ids, write, write_run_file

FIRST, SECOND = run_ids(2)


def lab_of(root: Path, states: dict[str, str], plan: str = "") -> Lab:
    """Two runs of three tasks of which the last is excluded; the first run's trials are in `states`, by task."""
    lab = make_lab(root, runs=2, tasks=3, modes=("limited",))
    write_run_file(lab, FIRST, {task: {"limited": {"state": state, "trial": f"{task}__1"}} for task, state in states.items()})
    file = lab.state_runs / "kitchen.yml"
    write(file, file.read_text().replace(f"  {FIRST}:\n", f"  {FIRST}:\n{plan}", 1))
    return lab


def overview_of(lab: Lab) -> OverviewPage:
    return overview(read_benchmarks(lab, load_registry(lab), public=False), None, ())


def test_what_goes_on_is_counted_alike_in_the_sentence_and_in_the_chip(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, {"task_000": "running", "task_001": "error", "task_002": "running"})
    lab.run_file("kitchen", SECOND).unlink()
    page = overview_of(lab)
    assert page.lede.endswith("1 going on.")
    assert [notice.text.partition(":")[0] for notice in page.warnings][:2] == ["1 going on", "1 without a grade"]


def test_a_silent_host_leads_to_a_page_that_says_why(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, {"task_000": "success"})
    (silent,) = [notice for notice in overview_of(lab).warnings if "did not answer" in notice.text]
    registry = load_registry(lab)
    (data,) = read_benchmarks(lab, registry, public=False)
    shown = run_page_of(data, data.default, registry, None, (), public=False)
    assert silent.href == shown.path
    assert shown.run is not None
    assert [banner.text for banner in shown.run.banners] == ["gpu2 did not answer: no route to host"]


def test_a_withdrawn_mode_has_its_label_and_no_number_on_a_card(tmp_path: Path) -> None:
    withdrawn = "    withdrawn: {limited: {label: rerun pending, note: the camera was off}}\n"
    page = overview_of(lab_of(tmp_path, {"task_000": "success"}, withdrawn))
    (mode,) = page.groups[0].cards[0].modes
    assert (mode.withdrawn, mode.rate_short) == ("rerun pending", "")


def test_a_withdrawn_trial_keeps_no_result_in_its_row_nor_in_its_details(tmp_path: Path) -> None:
    lab = make_lab(tmp_path, runs=1, tasks=6, modes=("limited",))
    file = lab.state_runs / "kitchen.yml"
    write(file, file.read_text() + "    withdrawn: {limited: {label: rerun pending, note: the camera was off}}\n")
    registry = load_registry(lab)
    (data,) = read_benchmarks(lab, registry, public=False)
    panel = run_page_of(data, data.default, registry, None, (), public=False).run
    assert panel is not None
    for row in (row for group in panel.groups for task in group.tasks for row in task.rows):
        assert {cell.text for cell in row.cells} == {"—"}
        assert [line.key for line in row.pill.details] == ["run", "state", "withdrawn"]
        assert (row.est_value, row.billed_value) == ("", "")


def test_every_rate_of_a_card_says_of_how_many_and_its_interval(tmp_path: Path) -> None:
    page = overview_of(lab_of(tmp_path, {"task_000": "success", "task_001": "failed"}))
    (mode,) = page.groups[0].cards[0].modes
    assert f"{mode.rate_short} {mode.of} {mode.interval}" == "50% of 2 done, 9–91%"


def test_a_run_of_excluded_tasks_only_says_so_and_offers_to_count_them(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, {"task_002": "success"})
    file = lab.state_runs / "kitchen.yml"
    write(file, file.read_text().replace("tasks: [task_000, task_001, task_002]", "tasks: [task_002]\n    others: broken ones", 1))
    assert overview_of(lab).groups[0].cards[0].empty == "Every task of this run is excluded."
    html = (build(lab) / "runs/kitchen/index.html").read_text()
    assert re.search(r"Every task of this run is excluded[^<]*<label[^>]* for=\"count-all\"", html)


def test_a_warning_says_how_many_of_its_trials_count_nowhere(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, {"task_000": "error", "task_001": "success", "task_002": "error"})
    registry = load_registry(lab)
    (data,) = read_benchmarks(lab, registry, public=False)
    panel = run_page_of(data, data.default, registry, None, (), public=False).run
    assert panel is not None
    assert panel.warnings[0].text == "2 ended without a grade, 1 of them in excluded tasks"


def test_a_benchmark_with_one_run_offers_no_comparison(tmp_path: Path) -> None:
    lab = make_lab(tmp_path, runs=1, tasks=2)
    registry = load_registry(lab)
    (data,) = read_benchmarks(lab, registry, public=False)
    page = run_page_of(data, data.default, registry, None, (), public=False)
    assert [link.text for link in page.links] == ["Task list"]


def test_follow_ups_have_a_chip_that_leads_to_their_trials(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, {})
    record = {"state": "failed", "trial": "task_000__1", "followup": "regrade queued"}
    write_run_file(lab, FIRST, {"task_000": {"limited": record}})
    page = overview_of(lab)
    (chip,) = [notice for notice in page.warnings if notice.icon == "↻"]
    assert (chip.text, chip.bad) == ("1 with a follow-up: Kitchen", False)
    assert chip.href == f"{runs_page('kitchen')}?only=followup#trials"


def test_a_card_has_the_numbers_of_the_runs_page(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, {})
    tokens = {"input": 2_000_000, "cached": 1_000_000, "output": 40_000, "reasoning": 10_000}
    record = {"state": "failed", "trial": "task_000__1", "progress": 0.4, "tokens": tokens, "calls": 1_200, "agent_wall_s": 7200}
    write_run_file(lab, FIRST, {"task_000": {"limited": record}, "task_001": {"limited": {"state": "success", "trial": "x"}}})
    registry = load_registry(lab)
    (data,) = read_benchmarks(lab, registry, public=False)
    panel = run_page_of(data, data.default, registry, None, (), public=False).run
    assert panel is not None
    costs = overview_of(lab).groups[0].cards[0].costs
    stats = {stat.label: stat for stat in panel.bench.stats}
    assert f"mean progress {stats['Mean progress'].value} {stats['Mean progress'].note}" in costs
    assert f"tokens {stats['Tokens'].value} ({stats['Tokens'].note})" in costs
    assert f"{stats['Agent time'].value} agent time {stats['Agent time'].note}" in costs
