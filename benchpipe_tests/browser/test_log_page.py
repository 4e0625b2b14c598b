"""The log page in a real browser: what is there without scripts, every control, hostile texts, both themes and widths."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchpipe.site.log_page import Banner
from benchpipe.site.log_tables import AttemptRow, attempt_rows
from benchpipe.site.render import Link, shown
from benchpipe.transcripts.checks import Check
from benchpipe.transcripts.records import Ended, Kept, Log, Media, RobotEvent, Step, load_log
from benchpipe.trials.records import Attempt
from benchpipe_tests.browser.log_site import LogSite, served
from benchpipe_tests.transcripts import made_logs as made

N_LONG = 700
HOSTILE = [
    "<script>window.pwned=1</script>", "<img src=x onerror=window.pwned=1>", '"><svg/onload=window.pwned=1>',
    "javascript:window.pwned=1", "</pre></li></ol><h1>out</h1>", "${{7*7}}{{% raw %}}", "'\"`\\", "&lt;b&gt;&amp;",
    "<!-- comment", "]]>", "\x1b[31mred\x1b[0m", "\x00\x07\x08", "a\u202eb\u2066c", "\u0301" * 40 + "x", "\ud83d 😀",
    "\r\n\r\n\t", "</script><script>window.pwned=1</script>", "data:text/html,<script>window.pwned=1</script>",
    "%00%2e%2e/..\\..", "<style>*{{display:none}}</style>",
]  # fmt: skip
WRAPS = ["{}", '"{}', "'{}", "`{}", "</span>{}", "<!--{}", "{}\x00", "\u202e{}", " {} ", "&{};"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LogSite, str]]:
    root = tmp_path_factory.mktemp("logs")
    site = LogSite(root / "site")
    lines = list(made.gateway_lines(12, output_chars=2_500, image_every=3))
    lines[4]["status"] = 503
    trial = made.write_lines(root / "short/agent/gateway.jsonl", lines).parent.parent
    made.write_lines(
        trial / "artifacts/data/episode.jsonl",
        [
            {"ev": "submit", "ts": made.T0 + n, "call": n, "type": "ee_pose", "note": f"move {n}", "success": False}
            for n in range(9)
        ],
    )
    log = site.from_trial(
        "short", trial, started="2026-11-30T00:00:00+00:00", agent_wall_s=61, reward={"success": 0.0, "n_actions": 9}
    )
    chain = [
        Attempt(trial="pour__0", state="error", exception="NetworkError"),
        Attempt(trial="pour__1", state="failed", counts=True),
    ]
    attempts = attempt_rows(chain, {}, "pour__1", {"pour__0": "long/"})
    checks = (
        Check("model exchanges", "ok", "20 bytes"),
        Check("replay video", "missing"),
        Check("robot call log", "not due", "idle"),
    )
    banner = Banner("note", "This replaces an earlier attempt.", "the provider was down", Link("The attempt before", "long/"))
    site.page(
        "short",
        log,
        chunks=log.chunks,
        attempts=attempts,
        checks=checks,
        banners=(banner,),
    )
    long = made.gateway_lines(N_LONG, output_chars=9_000, image_every=90)
    site.from_trial("long", made.write_lines(root / "long/agent/gateway.jsonl", long).parent.parent)
    with served(site.out) as address:
        yield site, address


@pytest.fixture
def visit(site: tuple[LogSite, str], browser: Any) -> Iterator[Callable[..., Any]]:
    """`visit("short/", **context)` opens a page; afterwards nothing was said on the console or fetched from elsewhere."""
    said: list[str] = []
    contexts = []

    def open_page(path: str, **context: Any) -> Any:
        opened = browser.new_context(viewport=context.pop("viewport", {"width": 1400, "height": 1000}), **context)
        contexts.append(opened)
        page = opened.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: request.url.startswith((site[1], "data:")) or said.append(f"elsewhere: {request.url}"))
        page.goto(f"{site[1]}/{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def until(holds: Callable[[], Any]) -> Any:
    """Wait for something that the page's policy lets nobody wait for inside the page."""
    for _ in range(200):
        if value := holds():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not come true within ten seconds")


def visible_steps(page: Any) -> list[int]:
    return [int(step.get_attribute("data-n")) for step in page.query_selector_all(".step") if step.is_visible()]


def test_a_short_log_is_complete_without_scripts(visit: Callable[..., Any]) -> None:
    page = visit("short/", java_script_enabled=False)
    assert visible_steps(page) == list(range(1, 17))
    assert page.locator("#transcript").is_visible()
    assert page.locator("table").count() == 3  # attempts, robot calls, requests
    assert page.get_by_text("failed", exact=False).first.is_visible()
    assert not page.locator(".log-bar").is_visible()


def test_a_long_log_tells_its_first_and_last_steps_and_an_outline_of_the_rest_without_scripts(visit: Callable[..., Any]) -> None:
    page = visit("long/", java_script_enabled=False)
    seen = visible_steps(page)
    assert seen[0] == 1
    assert seen[-1] > N_LONG
    parts = page.locator(".part-head")
    assert parts.count() > 10
    assert re.match(r"Steps \d+–\d+ .* tool runs", parts.nth(3).text_content())


def test_filters_are_in_the_address_and_survive_a_reload(visit: Callable[..., Any]) -> None:
    page = visit("short/")
    page.get_by_role("button", name=re.compile("Failed")).click()
    failed = page.locator(".step.is-failed").count()
    assert len(visible_steps(page)) == failed
    assert page.url.endswith("?show=failed")
    page.reload()
    assert len(visible_steps(page)) == failed
    assert page.locator('[data-show="failed"]').get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name=re.compile("Everything")).click()
    assert "show" not in page.url
    assert len(visible_steps(page)) == 16


def test_a_jump_fetches_one_part_and_an_address_with_a_step_opens_there(visit: Callable[..., Any]) -> None:
    page = visit("long/")
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    assert page.locator("#s400").count() == 0
    page.fill("#jump", "400")
    page.press("#jump", "Enter")
    page.wait_for_selector("#s400")
    until(lambda: 0 <= page.evaluate("document.querySelector('#s400').getBoundingClientRect().top") < 500)
    assert page.url.endswith("#s400")
    chunks = {url for url in fetched if "/chunks/" in url}
    assert 1 <= len(chunks) <= 4  # the part itself and what came near it
    page.go_back()
    again = visit("long/#s300")
    again.wait_for_selector("#s300")
    until(lambda: again.locator("#s300").bounding_box()["y"] < 500)


def test_find_looks_into_parts_that_are_not_loaded(visit: Callable[..., Any]) -> None:
    page = visit("long/")
    assert page.locator("#s500").count() == 0
    page.fill("#find", f"result {N_LONG - 300}\n".strip())
    page.press("#find", "Enter")
    until(lambda: page.inner_text(".found").endswith("”."))
    assert page.inner_text(".found").startswith("1 steps say")
    assert f"find=result+{N_LONG - 300}" in page.url
    page.locator(".found-list a").click()
    until(lambda: page.locator(".step.is-target").count() == 1)
    assert f"result {N_LONG - 300}" in page.locator(".step.is-target").inner_text()
    reopened = visit(page.url.split("/", 3)[3])
    until(lambda: reopened.locator(".found-list a").count() == 1)


def test_show_everything_brings_the_middle_of_a_long_output(visit: Callable[..., Any]) -> None:
    page = visit("long/")
    step = page.locator(".step:has(.step-more)").first
    n = step.get_attribute("data-n")
    assert "characters not shown" in step.inner_text()
    step.locator(".step-more").click()
    until(lambda: "characters not shown" not in page.locator(f"#s{n}").inner_text())


def test_scrolling_through_a_long_log_keeps_a_bounded_number_of_steps(visit: Callable[..., Any]) -> None:
    page = visit("long/")
    parts = page.locator(".part")
    for n in range(parts.count()):
        parts.nth(n).scroll_into_view_if_needed()
        page.wait_for_timeout(20)
    until(lambda: page.locator(".part[data-fetched]").count() <= 10)
    assert page.locator(".step").count() < N_LONG


def test_the_script_draws_a_step_exactly_as_the_template_does(visit: Callable[..., Any]) -> None:
    """Two places know how a step looks; this is what keeps them together."""
    page = visit("long/")
    differing = page.evaluate(
        """async () => {
            const { draw } = await import(new URL("../static/log.js", location.href));
            const bare = (step) => {
                const made = document.createElement("template");
                made.innerHTML = step.outerHTML.replace(/>\\s+/g, ">").replace(/\\s+</g, "<").replace(" needs-script", "");
                return made.content.firstChild;
            };
            const found = [];
            for (const part of document.querySelectorAll(".part[data-src]")) {
                const own = [...part.querySelectorAll(".step")];
                if (!own.length) continue;
                const { steps } = await (await fetch(part.dataset.src)).json();
                own.forEach((step, i) => {
                    const drawn = draw(steps[i], Number(part.dataset.first) + i);
                    step.querySelectorAll("img").forEach((image) => image.removeAttribute("loading"));
                    drawn.querySelectorAll("img").forEach((image) => image.removeAttribute("loading"));
                    const [a, b] = [bare(step), bare(drawn)];
                    if (!a.isEqualNode(b)) found.push([a.outerHTML.slice(0, 700), b.outerHTML.slice(0, 700)]);
                });
            }
            return found;
        }"""
    )
    assert differing == []


def test_a_click_on_the_timeline_goes_to_that_time(visit: Callable[..., Any]) -> None:
    page = visit("long/")
    box = page.locator(".lane").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 4)
    until(lambda: page.locator(".step.is-target").count() == 1)
    n = int(page.locator(".step.is-target").get_attribute("data-n"))
    assert abs(n / (1.25 * N_LONG) - 0.5) < 0.02


def test_the_keyboard_reaches_every_control(visit: Callable[..., Any]) -> None:
    page = visit("short/")
    reached = set()
    page.keyboard.press("Tab")
    for _ in range(80):
        reached.add(page.evaluate("document.activeElement.dataset.show ?? document.activeElement.id ?? ''"))
        page.keyboard.press("Tab")
    assert {"say", "run", "failed", "img", "jump", "find"} <= reached
    page.locator('[data-show="run"]').focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("?show=run")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_axe_finds_nothing_and_nothing_is_cut_off(visit: Callable[..., Any], scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for name in ("short/", "long/#s3") if (scheme, width) == ("dark", 390) else ("short/",):
        page = visit(name, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
        results = Axe().run(page)
        found = [(one["id"], one["nodes"][0]["html"][:200], one["nodes"][0]["any"][:1]) for one in results.response["violations"]]
        assert found == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def hostile_log(texts: list[str]) -> Log:
    """Every text in every field: in lists one by one, elsewhere all of them."""
    text = " ".join(texts)
    steps = [
        step
        for one in texts
        for step in (
            Step(k="say", t=0, text=one, by=one, agent=one),
            Step(k="run", t=1, te=2, tool=one, code=one, out=one, n=len(one), status="failed"),
        )
    ]
    return Log(
        benchmark=text, run=text, task=text, mode=text, state="failed", trial=text, host=text, job=text, exception=text,
        where=text, reward=dict.fromkeys(texts, 1.0), span=9.0, start=1.0, files=[text], lines=[(0, 1)], note=text, gen=text,
        calls=[[0.0, 1.0, 200, 1, 1, 1, 1, 1, "0.1"]], media=Media(problem=text), ended=Ended(reason=text, error=text),
        problems=texts, kept=[Kept(name=one, text=one, n=1) for one in texts], steps=steps,
        robot=[RobotEvent(t=1, ev=one, call=n, type=one, note=one) for n, one in enumerate(texts)],
    )  # fmt: skip


def test_200_hostile_texts_are_shown_literally_and_nothing_runs(site: tuple[LogSite, str], visit: Callable[..., Any]) -> None:
    scripts = visit("short/").locator("script").count()
    texts = [wrap.format(text) for text in HOSTILE for wrap in WRAPS]
    assert len(texts) == 200
    text = " ".join(texts)
    row = AttemptRow(1, text, text, "failed", "", text, text, text, text, text, True, False, "")
    site[0].page(
        "hostile",
        hostile_log([*texts, "x" * 1_000_000]),
        task_title=text,
        run_label=text,
        banners=tuple(Banner("warn", one, one, Link(one, "short/")) for one in texts),
        checks=tuple(Check(one, "ok", one) for one in texts),
        attempts=(row, row),
    )
    page = visit("hostile/")
    assert page.evaluate("window.pwned") is None
    assert page.locator("script").count() == scripts
    assert page.locator("main h1").count() == 1
    assert page.locator("img").count() == 0
    said = page.locator(".step-text").evaluate_all("elements => elements.map((element) => element.textContent)")
    assert said[:-1] == [shown(text).replace("\r\n", "\n") for text in texts]
    assert len(said[-1]) < 100_000


def test_published_logs_of_the_original_have_pages(shared: Path, site: tuple[LogSite, str], visit: Callable[..., Any]) -> None:
    files = list((shared / "samples/eai/data/published_runs").glob("*/*/*/*.json"))
    for n, file in enumerate(files):
        log = load_log(file)
        site[0].page(f"published{n}", log, local=False, media=None)
        page = visit(f"published{n}/", java_script_enabled=False)
        assert visible_steps(page) == list(range(1, len(log.steps) + 1))
        assert page.get_by_text("not published yet").is_visible()
        assert page.locator("img").count() == 0
