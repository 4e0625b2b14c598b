"""The site in a real browser: every control, its address, the keyboard, both themes and widths, no scripts at all."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from benchpipe.usage.compare import mcnemar
from benchpipe_tests.browser.kitchen import DEFAULT, PAGES, SECOND, THIRD, build, watched
from benchpipe_tests.browser.log_site import served
from benchpipe_tests.site.labs import make_lab, write
from benchpipe_tests.site.test_build import hostile_lab, hostile_texts

AXE = Axe()


def shown(page: Any, selector: str) -> list[str]:
    return [one.inner_text() for one in page.query_selector_all(selector) if one.is_visible()]


def query(page: Any) -> str:
    return page.evaluate("location.search")


def title_of_run(page: Any) -> str:
    return page.get_attribute("[data-run-title]", "data-run-title")


# --- the run picker and ?run= -----------------------------------------------------------------------------------------


def test_choosing_a_run_shows_it_in_place_and_in_the_address(page: Any) -> None:
    page.goto("runs/kitchen/")
    assert title_of_run(page) == DEFAULT
    page.click(f"[data-run='{SECOND}']")
    page.wait_for_selector(f"[data-run-title='{SECOND}']")
    assert query(page) == f"?run={SECOND}"
    assert page.get_attribute(f"[data-run='{SECOND}']", "aria-current") == "true"
    page.click(f"[data-run='{DEFAULT}']")
    page.wait_for_selector(f"[data-run-title='{DEFAULT}']")
    assert query(page) == ""


@pytest.mark.parametrize("at", ["runs/kitchen/", "benchmarks/kitchen/"])
def test_of_two_choices_in_quick_succession_the_later_one_stays(page: Any, at: str) -> None:
    held: list[Any] = []
    page.route(f"**/runs/kitchen/{SECOND}/", lambda route: held.append(route))
    page.goto(at)
    page.click(f"[data-run='{SECOND}']")
    page.click(f"[data-run='{THIRD}']")
    page.wait_for_function(f"location.search === '?run={THIRD}'")
    with page.expect_response(f"**/runs/kitchen/{SECOND}/"):
        held[0].continue_()
    page.wait_for_load_state("networkidle")
    assert query(page) == f"?run={THIRD}"
    assert page.get_attribute("[data-picker] [aria-current]", "data-run") == THIRD


def test_the_address_of_a_run_shows_that_run(page: Any) -> None:
    page.goto(f"runs/kitchen/?run={SECOND}")
    page.wait_for_selector(f"[data-run-title='{SECOND}']")
    assert query(page) == f"?run={SECOND}"


def test_a_former_id_picks_its_successor_and_rewrites_the_address(page: Any) -> None:
    page.goto(f"runs/kitchen/?run={SECOND}-old")
    page.wait_for_selector(f"[data-run-title='{SECOND}']")
    assert query(page) == f"?run={SECOND}"


def test_an_unknown_id_falls_back_to_the_default_and_says_so(page: Any) -> None:
    page.goto("runs/kitchen/?run=<b>nobody</b>")
    page.wait_for_selector("[data-run-note]")
    assert title_of_run(page) == DEFAULT
    assert "<b>nobody</b>" in page.inner_text("[data-run-note]")
    assert query(page) == ""


def test_choosing_runs_fills_no_history_so_that_back_leaves_the_page(page: Any) -> None:
    page.goto("benchmarks/")
    page.goto("runs/kitchen/")
    page.click(f"[data-run='{SECOND}']")
    page.wait_for_selector(f"[data-run-title='{SECOND}']")
    page.go_back()
    assert page.url.endswith("/benchmarks/")
    page.go_forward()
    page.wait_for_selector(f"[data-run-title='{SECOND}']")


def test_links_of_a_run_shown_in_place_lead_where_they_should(page: Any) -> None:
    page.goto(f"runs/kitchen/?run={SECOND}")
    page.wait_for_selector(f"[data-run-title='{SECOND}']")
    page.click("#trial-table tbody th a >> nth=0")
    page.wait_for_url("**/benchmarks/kitchen/tasks/*/")
    page.wait_for_selector("h1")


def test_an_old_address_of_a_run_leads_on_with_its_query(page: Any) -> None:
    page.goto(f"runs/kitchen/{SECOND}-old/?only=failed#trials")
    page.wait_for_url(f"**/runs/kitchen/{SECOND}/?only=failed#trials")


# --- tables -----------------------------------------------------------------------------------------------------------


def test_the_count_switch_changes_the_numbers_and_the_address(page: Any) -> None:
    page.goto("runs/kitchen/")
    assert page.is_visible(".scope-bench")
    assert not page.is_visible(".scope-all")
    page.check("input[name=count][value=all]", force=True)
    assert page.is_visible(".scope-all")
    assert query(page) == "?count=all"
    page.reload()
    assert page.is_visible(".scope-all")


def test_a_filter_chip_shows_its_trials_and_a_second_click_all(page: Any) -> None:
    page.goto("runs/kitchen/")
    chip = page.query_selector("[data-table-controls] [data-filter='success']")
    wanted = int(chip.inner_text().split()[-1])
    everything = len(shown(page, "tbody.task"))
    chip.click()
    rows = page.query_selector_all("tbody.task:not([hidden]) tr:not(.dimmed)")
    assert len(rows) == wanted
    assert all(row.get_attribute("data-state") == "success" for row in rows)
    assert page.inner_text("[data-count]").startswith(f"{wanted} of ")
    assert query(page) == "?only=success"
    page.reload()
    assert page.get_attribute("[data-table-controls] [data-filter='success']", "aria-pressed") == "true"
    page.click("[data-table-controls] [data-filter='success']")
    assert len(shown(page, "tbody.task")) == everything
    assert query(page) == ""


def test_a_number_leads_to_its_trials(page: Any) -> None:
    page.goto("runs/kitchen/")
    number = page.query_selector(".scope-bench a[data-filter='success']")
    number.click()
    assert "only=success" in query(page)
    assert len(page.query_selector_all("tbody.task:not([hidden]) tr:not(.dimmed)")) >= int(number.inner_text())


@pytest.mark.parametrize(("key", "falling"), [("est", True), ("time", True), ("progress", False), ("m0", True)])
def test_the_sort_menu_sorts_with_unknown_last(page: Any, key: str, falling: bool) -> None:
    page.goto("runs/kitchen/")
    page.select_option("[data-table-controls] [data-sort]", key)
    values = page.eval_on_selector_all("tbody.task:not([data-last='1'])", f"all => all.map(t => t.getAttribute('data-v-{key}'))")
    known = [float(value) for value in values if value is not None]
    assert known == sorted(known, reverse=falling)
    assert None not in values[: len(known)]
    assert query(page) == f"?sort={key}{'-down' if falling else ''}"
    last = page.eval_on_selector_all("#trial-table > tbody", "all => all.slice(-2).map(t => t.dataset.last ?? 'heading')")
    assert last == ["heading", "1"]
    page.reload()
    assert page.input_value("[data-table-controls] [data-sort]") == key


def test_a_column_head_sorts_both_ways_and_says_so(page: Any) -> None:
    page.goto("runs/kitchen/")
    page.click("th[data-key=est] button")
    assert page.get_attribute("th[data-key=est]", "aria-sort") == "descending"
    page.click("th[data-key=est] button")
    assert page.get_attribute("th[data-key=est]", "aria-sort") == "ascending"
    assert query(page) == "?sort=est"


def test_the_overview_narrows_to_one_run(page: Any) -> None:
    page.goto("runs/overview/")
    assert len(shown(page, "[data-run-card]")) == 4
    page.click(f"[data-run='{SECOND}']")
    assert len(shown(page, "[data-run-card]")) == 1
    assert query(page) == f"?run={SECOND}"
    page.goto(f"runs/overview/?run={SECOND}-old")
    assert len(shown(page, "[data-run-card]")) == 1
    page.click("[data-run='']")
    assert (len(shown(page, "[data-run-card]")), query(page)) == (4, "")


# --- task list --------------------------------------------------------------------------------------------------------


def test_the_task_list_shows_another_runs_pills(page: Any) -> None:
    page.goto("benchmarks/kitchen/")
    mine = shown(page, "#task-table .pill-word")
    page.click(f"[data-run='{SECOND}']")
    page.wait_for_selector(f"#task-table[data-shown-run='{SECOND}']")
    theirs = shown(page, "#task-table .pill-word")
    assert len(theirs) == len(mine)
    assert theirs != mine
    assert query(page) == f"?run={SECOND}"
    page.click(f"[data-run='{DEFAULT}']")
    assert shown(page, "#task-table .pill-word") == mine


def test_the_task_list_finds_narrows_and_sorts_by_its_address(page: Any) -> None:
    page.goto("benchmarks/kitchen/")
    page.fill("[data-q]", "thing 3")
    assert len(shown(page, "#task-table tbody tr")) == 1
    assert query(page) == "?q=thing+3"
    page.fill("[data-q]", "")
    page.select_option("[data-facet=family]", "f1")
    assert len(shown(page, "#task-table tbody tr")) == 2
    page.goto("benchmarks/kitchen/?sort=state&runstate=success")
    rows = page.query_selector_all("#task-table tbody tr:not([hidden])")
    assert rows
    assert all("success" in row.get_attribute("data-f-runstate").split() for row in rows)
    ranks = [int(row.get_attribute("data-v-state")) for row in rows]
    assert ranks == sorted(ranks)


# --- compare ----------------------------------------------------------------------------------------------------------


def test_two_runs_side_by_side_disagreements_first(page: Any) -> None:
    page.goto(PAGES["compare"])
    page.wait_for_selector("#pair-result table")
    kinds = page.eval_on_selector_all("#pair-result tr[data-kind]", "all => all.map(row => row.dataset.kind)")
    rank = ["only A", "only B", "both", "neither", "not done in both"]
    assert [rank.index(kind) for kind in kinds] == sorted(rank.index(kind) for kind in kinds)
    page.select_option("select[name=b]", THIRD)
    page.wait_for_selector("#pair-result h2:has-text('high')")
    assert f"b={THIRD}" in query(page)


def test_the_scripts_p_is_that_of_the_statistics_library_however_many_tasks_there_are(page: Any) -> None:
    page.goto(PAGES["compare"])
    pairs = [(1, 0), (3, 9), (40, 60), (600, 600), (900, 1100), (0, 2000)]
    script = "pairs => import('/static/compare.js').then(all => pairs.map(([a, b]) => all.mcnemar(a, b)))"
    for (a, b), p in zip(pairs, page.evaluate(script, pairs), strict=True):
        assert p == pytest.approx(mcnemar(a, b), rel=1e-6), (a, b)


def test_the_pair_in_the_page_is_the_pair_of_the_table(page: Any) -> None:
    """The same counts and the same p from the script and from the build."""
    page.goto(PAGES["compare"])
    page.wait_for_selector("#pair-result table")
    script = {row.query_selector("th").inner_text(): [c.inner_text() for c in row.query_selector_all("td")][:6]
              for row in page.query_selector_all("#pair-result table >> nth=0 >> tbody tr")}  # fmt: skip
    for row in page.query_selector_all(f"main > .scroll tr[data-run='{SECOND}']"):
        mode, n, both, only_a, only_b, neither, p = [cell.inner_text() for cell in row.query_selector_all("td")]
        assert script[mode] == [n, both, only_a, only_b, neither, p]


def test_former_ids_and_unknown_ids_in_a_pair(page: Any) -> None:
    page.goto(f"runs/kitchen/compare/?a={SECOND}-old&b=nobody")
    page.wait_for_selector("#pair-result table")
    assert page.input_value("select[name=a]") == SECOND
    assert page.input_value("select[name=b]") == DEFAULT


# --- keyboard, touch, mouse -------------------------------------------------------------------------------------------


def test_a_pills_details_open_by_keyboard_and_close_by_escape(page: Any) -> None:
    page.goto("runs/kitchen/")
    page.focus(".tip-button >> nth=0")
    page.keyboard.press("Enter")
    assert len(page.query_selector_all(".tip:popover-open")) == 1
    assert "tokens" in page.inner_text(".tip:popover-open")
    page.keyboard.press("Escape")
    assert page.query_selector(".tip:popover-open") is None


def test_a_pills_details_open_by_touch(browser: Any, kitchen: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, base_url=kitchen)
    page = context.new_page()
    page.goto("runs/kitchen/")
    page.tap(".tip-button >> nth=0")
    box = page.query_selector(".tip:popover-open").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    context.close()


def test_a_mouse_that_rests_on_a_pill_sees_its_details(page: Any) -> None:
    page.goto("runs/kitchen/")
    page.hover(".pill >> nth=0")
    page.wait_for_selector(".tip:popover-open")
    page.mouse.move(0, 0)
    page.wait_for_selector(".tip:popover-open", state="detached")


def test_the_button_keeps_details_open_that_a_resting_mouse_opened(page: Any) -> None:
    page.goto("runs/kitchen/")
    page.hover(".pill >> nth=0")
    page.wait_for_selector(".tip:popover-open")
    page.click(".tip-button >> nth=0")
    page.mouse.move(0, 0)
    assert page.is_visible(".tip:popover-open")
    page.click(".tip-button >> nth=0")
    assert page.query_selector(".tip:popover-open") is None


@pytest.mark.parametrize("kind", PAGES)
def test_everything_that_can_be_clicked_can_be_reached_by_tab(page: Any, kind: str) -> None:
    page.goto(PAGES[kind])
    page.wait_for_load_state("networkidle")
    wanted = page.evaluate("""() => [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
        .filter(e => e.checkVisibility() && !e.closest('[popover]') && !e.closest('.choices-many')
                     && !(e.type === 'radio' && !e.checked)).length""")
    reached: set[str] = set()
    page.evaluate("document.body.querySelectorAll('*').forEach((e, i) => e.dataset.n = i)")
    for _ in range(wanted + 30):
        page.keyboard.press("Tab")
        n = page.evaluate("document.activeElement === document.body ? null : document.activeElement.dataset.n")
        if n is None or n in reached:
            break
        reached.add(n)
    assert len(reached) >= wanted


@pytest.mark.parametrize("kind", ["run", "log", "task"])
def test_a_printed_page_is_light_and_has_no_controls_whatever_the_theme(page: Any, kind: str) -> None:
    colours = (
        "() => ['--sunken', '--success', '--success-soft'].map(n => getComputedStyle(document.documentElement).getPropertyValue(n))"
    )
    page.goto(PAGES[kind])
    page.emulate_media(color_scheme="light")
    light = page.evaluate(colours)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colours) != light
    page.emulate_media(color_scheme="dark", media="print")
    assert page.evaluate(colours) == light
    assert shown(page, ".controls, .picker, .top, .tip-button") == []


# --- tabs -------------------------------------------------------------------------------------------------------------


def test_every_benchmarks_runs_are_one_tab_away(page: Any) -> None:
    for at, current in (("runs/overview/", "All benchmarks"), ("runs/kitchen/", "Kitchen"), (f"runs/kitchen/{SECOND}/", "Kitchen")):
        page.goto(at)
        assert shown(page, ".tabs a") == ["All benchmarks", "Kitchen"]
        assert shown(page, ".tabs [aria-current]") == [current]
    page.click("text=All benchmarks")
    assert page.url.endswith("/runs/overview/")
    page.click(".tabs >> text=Kitchen")
    assert page.url.endswith("/runs/kitchen/")


def test_on_a_phone_the_tab_of_the_shown_benchmark_is_in_view(browser: Any, tmp_path: Path) -> None:
    lab = make_lab(tmp_path, runs=1, tasks=1)
    for n in range(12):
        write(tmp_path / f"data/benchmarks/a{n}.yml", f"name: Another benchmark {n}\ntasks: [one]\n")
    with served(build(lab)) as address:
        context = browser.new_context(viewport={"width": 390, "height": 800}, base_url=address + "/")
        page = context.new_page()
        page.goto("runs/kitchen/")
        box = page.locator(".tabs [aria-current]").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        context.close()


# --- from one log page to the next ------------------------------------------------------------------------------------


def in_order_of_the_table(page: Any, run: str) -> list[str]:
    page.goto(f"runs/kitchen/{run}/")
    return [link.evaluate("link => link.href") for link in page.query_selector_all("#trial-table a.pill")]


def test_next_and_previous_go_through_a_runs_trials_in_the_order_of_its_table(page: Any) -> None:
    logs = in_order_of_the_table(page, SECOND)
    assert len(logs) == 15  # one of its sixteen trials is queued: its neighbours are each other's
    page.goto(logs[0])
    for there in logs[1:4]:
        page.click("text=Next trial")
        page.wait_for_url(there)
    page.keyboard.press("End")
    page.focus("text=Previous trial")
    page.keyboard.press("Enter")
    page.wait_for_url(logs[2])
    page.go_back()
    page.wait_for_url(logs[3])


@pytest.mark.parametrize(("at", "button", "word"), [(0, "Previous", "first"), (-1, "Next", "last")])
def test_at_its_ends_a_run_says_so(page: Any, at: int, button: str, word: str) -> None:
    page.goto(in_order_of_the_table(page, SECOND)[at])
    page.click(f"text={button} trial")
    page.wait_for_function(f"document.querySelector('#beside-note').textContent.includes('{word}')")


def test_where_the_runs_table_can_not_be_read_its_page_is_where_to_go(page: Any) -> None:
    page.goto(PAGES["log"])
    page.route("**/runs/kitchen/", lambda route: route.abort() if route.request.resource_type == "fetch" else route.continue_())
    page.click("text=Next trial")
    page.wait_for_url("**/runs/kitchen/")
    page.faults[:] = [fault for fault in page.faults if "ERR_FAILED" not in fault]


# --- every kind of page -----------------------------------------------------------------------------------------------


FIRST_NUMBERS = {
    "": "tbody td.num >> nth=1",
    "runs/overview/": ".score .stat-value >> nth=0",
    "runs/kitchen/": ".scope-bench .stat-value >> nth=0",
    f"runs/kitchen/{SECOND}/": ".scope-bench .stat-value >> nth=0",
    "benchmarks/kitchen/": "#task-table .pill >> nth=1",
}
"""Address → what its reader looks for first: the solved trials of each mode, or each task's pills."""


@pytest.mark.parametrize("scripts", [True, False])
def test_a_phones_first_screen_shows_the_first_numbers_and_one_line_of_navigation(
    browser: Any, kitchen: str, scripts: bool
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, base_url=kitchen, java_script_enabled=scripts)
    page = context.new_page()
    for path, selector in FIRST_NUMBERS.items():
        page.goto(path)
        box = page.locator(selector).bounding_box()
        assert box["x"] >= 0, path
        assert box["x"] + box["width"] <= 390, path
        assert box["y"] + box["height"] <= 700, path
        tops = {round(link.bounding_box()["y"]) for link in page.locator(".top nav a").all()}
        rights = [link.bounding_box()["x"] + link.bounding_box()["width"] for link in page.locator(".top nav a").all()]
        assert len(tops) == 1, path
        assert max(rights) <= 390, path
    context.close()


def test_on_a_phone_the_chosen_run_is_in_view_and_another_one_can_be_chosen(browser: Any, kitchen: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, base_url=kitchen)
    page = context.new_page()
    last = page.goto("runs/kitchen/") and page.get_attribute("[data-picker] li:last-child [data-run]", "data-run")
    page.goto(f"runs/kitchen/{last}/")
    box = page.locator("[data-picker] [aria-current]").bounding_box()
    assert 0 <= box["x"] < 390
    page.goto("runs/kitchen/")
    page.click(f"[data-run='{last}']")
    page.wait_for_selector(f"[data-run-title='{last}']")
    context.close()


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_has_an_accessibility_finding_or_scrolls_sideways(browser: Any, kitchen: str, theme: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, base_url=kitchen)
    page = watched(context.new_page(), kitchen)
    found = {}
    for kind, address in PAGES.items():
        page.goto(address)
        page.wait_for_load_state("networkidle")
        violations = AXE.run(page).response["violations"]
        found[kind] = [(v["id"], [node["html"][:120] for node in v["nodes"][:2]]) for v in violations]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found[kind].append(("scrolls sideways", []))
    context.close()
    assert {kind: faults for kind, faults in found.items() if faults} == {}
    assert page.faults == []


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_is_complete_without_scripts(browser: Any, kitchen: str, kind: str) -> None:
    def tables(scripts: bool) -> list[str]:
        context = browser.new_context(java_script_enabled=scripts, base_url=kitchen)
        page = context.new_page()
        page.goto(PAGES[kind])
        rows = [row.text_content().split() for row in page.query_selector_all("main > .scroll tr, #panel .scroll tr")]
        context.close()
        return [" ".join(cells[:3]) for cells in rows]

    bare = tables(False)
    assert sorted(bare) == sorted(tables(True))
    if kind in ("run", "other run", "benchmark"):
        assert len(bare) > 8


def test_without_scripts_every_other_run_is_a_link(browser: Any, kitchen: str) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=kitchen)
    page = context.new_page()
    page.goto("runs/kitchen/")
    page.click(f"[data-run='{SECOND}']")
    assert page.url.endswith(f"/runs/kitchen/{SECOND}/")
    assert title_of_run(page) == SECOND
    page.click(f"[data-run='{DEFAULT}']")
    assert page.url.endswith("/runs/kitchen/")
    context.close()


def test_nothing_is_loaded_after_the_page_without_a_click(page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for kind in ("home", "overview", "run", "benchmark", "task", "history"):
        page.goto(PAGES[kind])
        page.wait_for_load_state("networkidle")
        asked.clear()
        page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        page.wait_for_timeout(150)
        assert asked == [], kind


def test_hostile_texts_run_nothing(browser: Any, tmp_path: Path) -> None:
    lab = hostile_lab(tmp_path / "lab", hostile_texts(60))
    with served(build(lab)) as address:
        context = browser.new_context(base_url=address + "/")
        page = watched(context.new_page(), address + "/")
        for at in ("", "runs/overview/", "runs/kitchen/", f"runs/kitchen/?run={SECOND}", "benchmarks/kitchen/", "history/",
                   "benchmarks/kitchen/tasks/task_001/", f"runs/kitchen/compare/?a={DEFAULT}&b={SECOND}"):  # fmt: skip
            page.goto(at)
            page.wait_for_load_state("networkidle")
            assert page.evaluate("window.bad") is None, at
            assert page.evaluate("document.documentElement.scrollWidth") <= 1280, at
            for button in page.query_selector_all(".tip-button")[:3]:
                button.click()
        context.close()
        assert page.faults == []
