"""The results pages: two tables, one group per stack, evidence for every check, nothing of strangers as markup (13, 14, 16)."""

import json
import re
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchpipe.contributions.codes import CHECKS
from benchpipe.contributions.report import WORDS
from benchpipe.files import write_bytes
from benchpipe.registry.load import load_registry
from benchpipe.site.render import Chrome, Renderer
from benchpipe.site.results import load_results, results_pages
from benchpipe.site.results_lines import row_line
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.contributions.conftest import TODAY, Contribute, Contribution


def pages(contribution: Contribution, today: date = TODAY) -> dict[str, str]:
    renderer = Renderer(REPOSITORY / "site_templates", Chrome(public=True))
    jobs = results_pages(contribution.lab, load_registry(contribution.lab), renderer, today=today)
    return {job.path: job.make().decode("utf-8", "replace") for job in jobs}


class Tables(HTMLParser):
    """Heading → texts of the table cells below it, and every tag that was seen."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.cells: dict[str, list[str]] = {}
        self.tags: set[str] = set()
        self.links: list[str] = []
        self._heading, self._in, self._text = "", "", ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name == "href" and value]
        if tag in ("h2", "td", "th"):
            self._in, self._text = tag, ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == self._in:
            text = " ".join(self._text.split())
            if tag == "h2":
                self._heading = text.rstrip("0123456789 ")
            else:
                self.cells.setdefault(self._heading, []).append(text)
            self._in = ""


@pytest.mark.parametrize("page", ["", "deskwork/", "credits/"])
def test_results_pages_say_whom_to_ask(page: str, honest: Contribution) -> None:
    role = "results@" + "lab.example"
    renderer = Renderer(REPOSITORY / "site_templates", Chrome(public=True, contact=role))
    made = {job.path: job.make for job in results_pages(honest.lab, load_registry(honest.lab), renderer, today=TODAY)}
    assert f"Ask the maintainers: {role}. Say which dataset" in made[f"results/{page}index.html"]().decode()


def test_a_row_whose_trajectories_lie_in_the_dataset_leads_there(honest: Contribution) -> None:
    page = "results/deskwork/index.html"
    assert "in the dataset" in Tables(pages(honest)[page]).cells["Verified"]
    base = "https://hub.example/datasets/runs"
    registered = honest.lab.benchmarks / "deskwork.yml"
    registered.write_text(f"{registered.read_text()}experiments: {base}\n")
    assert f"{base}/tree/main/{honest.doc['artifacts']['dataset_path']}" in Tables(pages(honest)[page]).links
    honest.edit(lambda doc: (doc.pop("artifacts"), doc.update(x_publish_unverified=True)))
    assert "on request" in Tables(pages(honest)[page]).cells["Unverified"]


def test_verified_and_unverified_rows_stand_in_two_tables(contribute: Contribute) -> None:
    good = contribute(variant="good")
    poor = contribute(variant="poor", method="claims", rounds=[1], lab=good.lab)
    poor.edit(lambda doc: (doc.pop("artifacts"), doc.update(x_publish_unverified=True)))
    cells = Tables(pages(good)["results/deskwork/index.html"]).cells
    assert any("first-come / good" in cell for cell in cells["Verified"])
    assert not any("claims / poor" in cell for cell in cells["Verified"])
    assert any("claims / poor" in cell for cell in cells["Unverified"])
    assert any("ID-002 no harness tree was supplied" in cell for cell in cells["Unverified"])


def test_stacks_stand_beside_each_other_and_are_not_joined(contribute: Contribute) -> None:
    one = contribute(variant="one")
    other = contribute(variant="two", method="other", lab=one.lab, rounds=[2])
    other.edit(lambda doc: (doc["task_agent"].update(model="Qwen"), doc["config"].update(model="Qwen")))
    other.edit_curve(lambda points: [p["identity"].update(agent_model="Qwen") for p in points])
    html = pages(one)["results/deskwork/index.html"]
    assert re.findall(r"<h3>(.*?)</h3>", html) == ["clerk@0.1.0 · Qwen", "clerk@0.1.0 · rules"]
    assert html.split("clerk@0.1.0 · rules</h3>")[0].count("no reference") >= 1


def test_every_h0_row_says_whose_it_is(contribute: Contribute) -> None:
    one = contribute(variant="one")
    contribute(variant="two", method="other", lab=one.lab, rounds=[0, 2])
    html = pages(one)["results/deskwork/index.html"]
    assert ("sent with first-come / one" in html, "sent with other / two" in html) == (True, True)


def test_a_row_chosen_on_the_reported_pool_says_so(honest: Contribution) -> None:
    honest.edit(lambda doc: doc["runs"][1].update(selection="best_on_reported"))
    assert "best on this very pool" in pages(honest)["results/deskwork/index.html"]


def test_rows_with_other_trials_are_shown_and_not_ranked(contribute: Contribute) -> None:
    one = contribute(variant="one")
    contribute(variant="two", trials=2, lab=one.lab)
    assert "they are shown beside each other, not ranked" in pages(one)["results/deskwork/index.html"]


def test_every_check_of_a_submission_is_shown_with_its_evidence(honest: Contribution) -> None:
    honest.edit(lambda doc: doc.update(failed_steps=[{"round": 4, "why": "no model"}]), honest.run_meta)
    html = pages(honest)["results/deskwork/first-come/v1/index.html"]
    cells = Tables(html).cells["Checks"]
    for check in CHECKS:
        assert WORDS[check] in cells
    for evidence in (
        "30 of 30 ids of pool exam scored",
        "0 tasks not measured, 0 without a trace, kind exam",
        "2/5 = 0.4 recomputed from 30 tasks (12 solved); reported 0.4",
        f"harness/round-3 hashes to {honest.doc['runs'][1]['harness_sha']} (as is)",
        "sampling all, model rules, temperature 0 held against run_meta.json and curve.jsonl; 4 points measured, failed steps: 1",
    ):
        assert any(evidence in cell for cell in cells), evidence


@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [("http://gpu-7.lab.example:8002/v1?key=1", "http://…/v1"), ("gpu-7.lab.example", "…"), (None, "not said")],
)
def test_conditions_that_are_not_compared_are_shown_and_the_model_servers_host_is_not(
    endpoint: str | None, shown: str, honest: Contribution
) -> None:
    honest.edit(lambda doc: doc["config"].update(jobs=12, slots=48, endpoint=endpoint))
    html = pages(honest)["results/deskwork/first-come/v1/index.html"]
    assert "<dt>Jobs, slots</dt><dd>12, 48</dd>" in html
    assert f"<dt>Model server</dt><dd>{shown}</dd>" in html
    assert "gpu-7" not in html


def test_a_row_says_how_far_its_trajectories_were_replayed(honest: Contribution) -> None:
    block = {"location": "https://example.org/t.tar.gz", "format": "one JSONL per task", "bytes": 10, "sha256": "0" * 64}
    honest.edit(lambda doc: doc.update(trajectories=block, x_publish_unverified=True))
    assert "contributor's copy, not replayed" in Tables(pages(honest)["results/deskwork/index.html"]).cells["Unverified"]
    found = {benchmark.id: rows for benchmark, _, rows in load_results(honest.lab, load_registry(honest.lab), today=TODAY)}
    row = found["deskwork"].unverified[0]
    assert row_line(msgspec.structs.replace(row, replay_level="L3")).trajectories.text == "contributor's copy, replayed to L3"


def test_a_refused_submission_has_a_page_that_says_what_to_mend(honest: Contribution) -> None:
    honest.edit(lambda doc: doc["platform"].update(content_sha="x"))
    found = pages(honest)
    assert "Refused" in found["results/deskwork/first-come/v1/index.html"]
    assert "Write: content identity of the platform" in found["results/deskwork/first-come/v1/index.html"]
    assert "✗</span> refused" in found["results/deskwork/index.html"]


def test_nothing_of_strangers_becomes_markup_or_a_dangerous_link(honest: Contribution) -> None:
    nasty = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    for field in ("name", "affiliation"):
        honest.edit(lambda doc, field=field: doc["credit"].update({field: nasty}))
    honest.edit(lambda doc: doc["task_agent"].update(decoding=nasty))
    for path, html in pages(honest).items():
        if not path.endswith(".html"):
            continue
        seen = Tables(html)
        assert "img" not in seen.tags
        assert "<script>" not in html
        assert not [link for link in seen.links if link.lower().startswith(("javascript:", "data:"))]


def test_links_of_strangers_are_marked(honest: Contribution) -> None:
    honest.edit(lambda doc: doc["credit"].update(link="https://example.org/~ada"))
    for path, html in pages(honest).items():
        for anchor in re.findall(r'<a [^>]*href="https?://[^>]*>', html):
            assert 'rel="nofollow noopener"' in anchor, (path, anchor)


def test_acknowledgements_are_opt_in_and_verified_only(contribute: Contribute) -> None:
    wants = contribute(variant="a")
    wants.edit(lambda doc: doc["credit"].update(name="Wants It", acknowledge_in_report=True))
    quiet = contribute(variant="b", method="other", rounds=[1], lab=wants.lab)
    quiet.edit(lambda doc: doc["credit"].update(name="Wants No Mention"))
    poor = contribute(variant="c", method="third", rounds=[2], lab=wants.lab)
    poor.edit(lambda doc: (doc.pop("artifacts"), doc.update(x_publish_unverified=True)))
    poor.edit(lambda doc: doc["credit"].update(name="Wants It Unverified", acknowledge_in_report=True))
    found = pages(wants)
    assert json.loads(found["data/results/acknowledgements.json"]) == [{"name": "Wants It", "affiliation": None}]
    names = [entry["name"] for entry in json.loads(found["data/results/credits.json"])]
    assert names == ["Wants It", "Wants It Unverified", "Wants No Mention"]


def test_one_person_with_several_methods_is_one_entry(contribute: Contribute) -> None:
    first = contribute(variant="a")
    contribute(variant="b", method="other", rounds=[1], lab=first.lab)
    (entry,) = json.loads(pages(first)["data/results/credits.json"])
    assert [pair["method"] for pair in entry["submitted"]] == ["first-come", "other"]


def test_page_and_data_say_the_same(honest: Contribution) -> None:
    found = pages(honest)
    for row in json.loads(found["data/results/deskwork/rows.verified.json"]):
        assert f"<strong>{row['score']:.4f}</strong>" in found["results/deskwork/index.html"]
    assert json.loads(found["data/results/deskwork/rows.unverified.json"]) == []


def test_a_benchmark_without_submissions_has_its_page(honest: Contribution) -> None:
    html = pages(honest)["results/alfworld/index.html"]
    assert "No verified row yet." in html
    assert "134 tasks" in html


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_and_a_desk_without_scripts(scheme: str, browser: Any, honest: Contribution, tmp_path: Path) -> None:
    honest.edit(lambda doc: doc["credit"].update(affiliation="University of " + "Very" * 30 + "Long"))
    for path, html in pages(honest).items():
        write_bytes(tmp_path / path, html.encode())
    for file in (REPOSITORY / "site_templates" / "static").glob("*.css"):
        write_bytes(tmp_path / "static" / file.name, file.read_bytes())
    for width in (390, 1400):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=False)
        page = context.new_page()
        for name in ("results", "results/deskwork", "results/deskwork/first-come/v1", "results/credits"):
            page.goto((tmp_path / name / "index.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            assert page.locator("h1").count() == 1
        context.close()
