"""Curation in a real browser: from a trial's details to a line in state/, and nothing without the printed address."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from benchpipe.lab import Lab
from benchpipe.site.editing import SCRIPT, Editor
from benchpipe.site.server import SiteServer
from benchpipe_tests.browser.kitchen import build, watched
from benchpipe_tests.site.labs import make_lab, write_logs


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    made = make_lab(tmp_path / "lab", runs=2, tasks=3)
    build(made)
    return made


@pytest.fixture
def server(lab: Lab) -> Iterator[SiteServer]:
    editor = Editor(lab, "secret")
    server = SiteServer(lab.site, 0, routes=editor.routes(), scripts=(SCRIPT,))
    editor.hosts = {f"127.0.0.1:{server.server_address[1]}"}
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def address(server: SiteServer) -> str:
    return server.address


@pytest.fixture
def editing(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(base_url=address)
    page = watched(context.new_page(), address)
    yield page
    context.close()
    assert [fault for fault in page.faults if "422" not in fault and "409" not in fault] == []


def open_trial(page: Any) -> None:
    page.goto("runs/kitchen/#token=secret")
    page.click("tr[data-state='success'] .tip-button >> nth=0")
    page.click(".tip:popover-open [data-curate-trial]")


def test_a_trial_is_taken_out_of_the_count_from_its_details(editing: Any, lab: Lab) -> None:
    open_trial(editing)
    assert "token" not in editing.evaluate("location.href")
    assert editing.input_value("#edit-trial").startswith("kitchen-task-")
    editing.select_option("#edit-kind", "not_counted")
    editing.fill("#edit-value", "wrong robot")
    assert editing.is_disabled("dialog button:has-text('Write it')")
    editing.click("dialog button:has-text('Show the change')")
    editing.wait_for_selector("dialog pre:has-text('wrong robot')")
    assert "wrong robot" not in (lab.state_runs / "kitchen.yml").read_text()
    editing.click("dialog button:has-text('Write it')")
    editing.wait_for_selector("dialog .note-good:has-text('state/runs/kitchen.yml is written')")
    assert "wrong robot" in (lab.state_runs / "kitchen.yml").read_text()


def test_a_refusal_and_a_change_by_somebody_else_are_shown(editing: Any, lab: Lab) -> None:
    open_trial(editing)
    editing.fill("#edit-task", "no_such_task")
    editing.fill("#edit-value", "x")
    editing.click("dialog button:has-text('Show the change')")
    editing.wait_for_selector("dialog .note-bad")
    editing.fill("#edit-task", "task_001")
    editing.select_option("#edit-kind", "stopped")
    editing.click("dialog button:has-text('Show the change')")
    editing.wait_for_selector("dialog pre:has-text('task_001')")
    file = lab.state_runs / "kitchen.yml"
    file.write_text(file.read_text() + "# hello\n")
    editing.click("dialog button:has-text('Write it')")
    editing.wait_for_selector("dialog .note-bad:has-text('changed meanwhile')")


def test_a_page_that_is_rebuilt_waits_with_its_reload_until_the_dialog_is_closed(editing: Any, server: SiteServer) -> None:
    open_trial(editing)
    editing.fill("#edit-value", "half a sentence")
    editing.evaluate("""() => new Promise((opened) => {
        const events = new EventSource('/~events');
        window.heard = new Promise((done) => { events.onmessage = done; });
        events.onopen = () => opened(1);
    })""")
    server.bulletin.tell(["runs/kitchen/index.html"])
    editing.evaluate("window.heard.then(() => 1)")
    assert editing.input_value("#edit-value") == "half a sentence"
    with editing.expect_navigation():
        editing.keyboard.press("Escape")


def test_a_trial_is_curated_from_its_log_page(editing: Any, lab: Lab) -> None:
    write_logs(lab, steps=4)
    build(lab)
    editing.goto("runs/kitchen/#token=secret")
    editing.click("tr[data-state='success'] a.pill >> nth=0")
    _, _, run, task, mode, _ = editing.evaluate("location.pathname.slice(1)").split("/")
    editing.click("[data-curate]")
    assert [editing.input_value(f"#edit-{name}") for name in ("task", "mode")] == [task, mode]
    assert editing.input_value("#edit-trial") == editing.inner_text(".facts dt:text-is('trial') + dd")
    assert run in editing.inner_text("#edit-title")


def test_what_check_warns_of_is_shown_before_it_is_written(editing: Any) -> None:
    open_trial(editing)
    editing.fill("#edit-trial", "no_such_trial")
    editing.fill("#edit-value", "x")
    editing.click("dialog button:has-text('Show the change')")
    editing.wait_for_selector("dialog .note-warn:has-text('no collected record is the trial no_such_trial')")
    assert editing.is_enabled("dialog button:has-text('Write it')")


def test_the_dialog_is_accessible_and_closes_by_escape(editing: Any) -> None:
    open_trial(editing)
    violations = Axe().run(editing).response["violations"]
    assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in violations] == []
    editing.keyboard.press("Escape")
    editing.wait_for_selector("dialog", state="detached")


def test_a_task_is_excluded_from_its_page(editing: Any, lab: Lab) -> None:
    editing.goto("benchmarks/kitchen/tasks/task_001/#token=secret")
    editing.click("[data-curate]")
    assert editing.input_value("#edit-task") == "task_001"
    editing.fill("#edit-value", "its check is wrong")
    editing.click("dialog button:has-text('Show the change')")
    editing.click("dialog button:has-text('Write it'):not([disabled])")
    editing.wait_for_selector("dialog .note-good")
    assert "its check is wrong" in (lab.state_tasks / "kitchen.yml").read_text()


def test_without_the_printed_address_there_is_nothing_to_edit(editing: Any) -> None:
    editing.goto("runs/kitchen/")
    editing.wait_for_load_state("domcontentloaded")
    assert editing.query_selector("[data-curate]") is None
