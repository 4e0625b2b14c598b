"""History: a page by day, a chart with its numbers, and two feeds that feed readers accept."""

import json
import xml.etree.ElementTree as ElementTree
from datetime import datetime
from pathlib import Path

import pytest

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe_tests.site.labs import make_lab

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    lab = make_lab(tmp_path_factory.mktemp("kitchen"), runs=3, tasks=30)
    public = lab.root / "data/public.yml"
    public.write_text("site_url: https://bench.example/\n")
    with lab.history_file("kitchen").open("a") as file:
        file.write('{"at": "2026-10-09T00:00:00Z", "run": "nobody", "task": "task_001", "mode": "limited", "to": "success"}\n{torn')
    build_site(lab, load_registry(lab), lab.site, public=False)
    return lab


def events(lab: Lab) -> list[dict[str, str]]:
    return [json.loads(line) for line in lab.history_file("kitchen").read_text().splitlines()[:-2]]


def test_the_atom_feed_is_what_rfc_4287_asks_for(kitchen: Lab) -> None:
    feed = ElementTree.parse(kitchen.site / "feed.atom").getroot()
    assert feed.tag == f"{ATOM}feed"
    for name in ("id", "title", "updated", "author"):
        assert feed.find(ATOM + name) is not None, name
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == min(100, len(events(kitchen)))
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == len(entries)
    times = [datetime.fromisoformat(entry.findtext(f"{ATOM}updated") or "") for entry in entries]
    assert times == sorted(times, reverse=True)
    assert feed.findtext(f"{ATOM}updated") == entries[0].findtext(f"{ATOM}updated")
    for entry in entries:
        link = entry.find(f"{ATOM}link")
        assert link is not None
        page = link.get("href", "").removeprefix("https://bench.example/")
        assert (kitchen.site / page / "index.html").is_file()


def test_the_json_feed_is_what_version_1_1_asks_for(kitchen: Lab) -> None:
    feed = json.loads((kitchen.site / "feed.json").read_text())
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["title"]
    assert feed["feed_url"] == "https://bench.example/feed.json"
    for item in feed["items"]:
        assert item["id"]
        assert item["content_text"]
        assert datetime.fromisoformat(item["date_published"]).tzinfo is not None
    assert len({item["id"] for item in feed["items"]}) == len(feed["items"])


def test_the_numbers_per_day_are_a_hand_count(kitchen: Lab) -> None:
    page = (kitchen.site / "history/index.html").read_text()
    days = sorted({event["at"][:10] for event in events(kitchen)})
    for day in days:
        counts = [
            sum(e["at"][:10] == day and e["to"] == state for e in events(kitchen)) for state in ("success", "failed", "error")
        ]
        cells = "".join(f'<td class="num">{n}</td>' for n in counts)
        assert f'<th scope="row">{day}</th>{cells}' in page
    assert page.count("<title>20") >= len(days)  # every bar says its number


def test_runs_that_nobody_shows_and_torn_lines_are_left_out(kitchen: Lab) -> None:
    assert "nobody" not in (kitchen.site / "feed.json").read_text()


def test_an_empty_history_says_so_and_its_feeds_are_valid(tmp_path: Path) -> None:
    lab = make_lab(tmp_path, runs=1, tasks=2)
    lab.history_file("kitchen").unlink()
    build_site(lab, load_registry(lab), lab.site, public=False)
    assert "No trial has changed its state yet" in (lab.site / "history/index.html").read_text()
    assert ElementTree.parse(lab.site / "feed.atom").getroot().findall(f"{ATOM}entry") == []
    assert json.loads((lab.site / "feed.json").read_text())["items"] == []
