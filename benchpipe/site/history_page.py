"""What changed when: a page grouped by day, an Atom feed and a JSON feed (the two feeds are templates, tested as such).

The local build tells what the collector saw (`history.jsonl`); the public one knows when each published trial finished.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import ClassVar

from markupsafe import Markup

from benchpipe.lab import Lab
from benchpipe.site.addresses import HISTORY, task_page
from benchpipe.site.data import BenchmarkData, RunData
from benchpipe.site.drawing import drawing
from benchpipe.site.render import Page, cut, shown
from benchpipe.site.states import LOOKS
from benchpipe.times import parse_time
from benchpipe.trials.history import Event, read
from benchpipe.trials.records import DONE

ENDINGS = {"success": "success", "failed": "failed", "no grade": "error"}
"""What the bars of a day are called → the group of states whose colour they have."""
LABELLED = 8
"""Days with their date below the bars, about."""
PAGE_EVENTS = 500
FEED_EVENTS = 100


@dataclass(frozen=True)
class Change:
    """One trial took another state. `at` is ISO UTC in whole seconds, `clock` its time of day."""

    at: str
    day: str
    clock: str
    was: str
    state: str
    text: str
    run: str
    href: str
    id: str
    """Unique among all changes: what feed readers remember."""


@dataclass(frozen=True)
class Finished:
    """Trials that finished on one day, by how they ended."""

    date: str
    success: int
    failed: int
    error: int


@dataclass(frozen=True)
class Day:
    date: str
    events: tuple[Change, ...]


@dataclass(frozen=True, kw_only=True)
class HistoryPage(Page):
    template: ClassVar[str] = "history.html"
    lede: str
    empty: str
    svg: Markup
    """Finished trials per day, "" before the second day."""
    finished: tuple[Finished, ...]
    days: tuple[Day, ...]
    older: str


@dataclass(frozen=True, kw_only=True)
class AtomFeed(Page):
    template: ClassVar[str] = "feed.atom"
    base: str
    """The site's public address with a final "/", or "" (then links are relative to the feed)."""
    updated: str
    entries: tuple[Change, ...]


def changes(lab: Lab, benchmarks: Sequence[BenchmarkData], *, public: bool) -> list[Change]:
    """All changes, newest first; equal times in the order of benchmark, run, task and mode."""
    found = []
    for data in benchmarks:
        runs = {run.id: run for run in data.runs}
        events = _finished(data) if public else read(lab.history_file(data.id))[0]
        found += [change for event in events if (change := _change(data, runs.get(event.run), event))]
    return sorted(found, key=lambda change: (change.at, change.id), reverse=True)


def _finished(data: BenchmarkData) -> Iterator[Event]:
    for run in data.runs:
        for trial in run.trials:
            record = trial.record
            if record.finished and trial.state == record.state:
                yield Event(
                    at=record.finished,
                    run=run.id,
                    task=trial.task,
                    mode=trial.mode,
                    was=None,
                    became=record.state,
                    trial=record.trial,
                )


def _change(data: BenchmarkData, run: RunData | None, event: Event) -> Change | None:
    """None for runs that aren't shown (any more), tasks that don't exist, and lines that name no known state or time."""
    at = parse_time(event.at)
    if run is None or at is None or event.task not in data.tasks or event.became not in LOOKS:
        return None
    trial = next((trial for trial in run.by_task.get(event.task, []) if trial.mode == event.mode), None)
    if trial is None or trial.state == "withdrawn":
        return None
    here = trial.log if trial.log and trial.record.trial == event.trial else task_page(data.id, event.task)
    moment = at.isoformat(timespec="seconds").replace("+00:00", "Z")
    return Change(
        at=moment,
        day=moment[:10],
        clock=moment[11:16],
        was=LOOKS[event.was].word if event.was in LOOKS else "",
        state=event.became,
        text=cut(f"{data.tasks[event.task].title}, {event.mode}", 300),
        run=f"{data.benchmark.name} · {run.agent.short}",
        href=here,
        id="/".join((data.id, event.run, event.task, event.mode, event.trial or "", event.became, moment)),
    )


def history(found: Sequence[Change]) -> HistoryPage:
    """The page of the newest changes."""
    newest, finished = found[:PAGE_EVENTS], finished_per_day(found)
    return HistoryPage(
        path=HISTORY,
        section=HISTORY,
        title="History",
        lede="When each trial changed its state, newest first.",
        empty="No trial has changed its state yet.",
        svg=_svg(finished) if len(finished) > 1 else Markup(""),
        finished=finished,
        days=tuple(Day(day, tuple(events)) for day, events in groupby(newest, key=lambda change: change.day)),
        older=f"{len(found) - len(newest):,} older changes are in data/runs/<benchmark>/history.jsonl."
        if len(found) > len(newest)
        else "",
    )


def finished_per_day(found: Sequence[Change]) -> tuple[Finished, ...]:
    """The days on which trials finished, oldest first."""
    days: dict[str, Counter[str]] = {}
    for change in found:
        if change.state in DONE:
            days.setdefault(change.day, Counter())[change.state] += 1
    return tuple(Finished(day, n["success"], n["failed"], n["error"]) for day, n in sorted(days.items()))


def _svg(finished: Sequence[Finished]) -> Markup:
    import altair

    rows = [
        {"day": day.date, "n": n, "how": how, "order": order, "title": f"{day.date}: {n} {how}"}
        for day in finished
        for order, (how, n) in enumerate(zip(ENDINGS, (day.success, day.failed, day.error), strict=True))
        if n
    ]
    colours = altair.Scale(domain=list(ENDINGS), range=[f"var(--{group}-fill)" for group in ENDINGS.values()])
    days = (date.fromisoformat(finished[-1].date) - date.fromisoformat(finished[0].date)).days
    ticks = altair.TimeIntervalStep(interval="day", step=days // LABELLED + 1)
    labels = altair.Axis(format="%Y-%m-%d", labelFlush=False, tickCount=ticks)
    bars = (
        altair.Chart(altair.Data(values=rows))
        .mark_bar()
        .encode(
            x=altair.X("day:T", timeUnit="utcyearmonthdate", title=None, axis=labels, scale=altair.Scale(type="utc")),
            y=altair.Y("n:Q", title="Finished trials"),
            order="order:O",
            color=altair.Color("how:N", title=None, scale=colours, legend=altair.Legend(orient="top", symbolType="square")),
            description="title:N",
        )
    )
    return drawing(bars.properties(width=760, height=180), "Finished trials per day; the numbers stand in the table below")


def atom(found: Sequence[Change], base: str) -> AtomFeed:
    """The newest changes for feed readers."""
    newest = tuple(found[:FEED_EVENTS])
    updated = newest[0].at if newest else "1970-01-01T00:00:00Z"
    return AtomFeed(path="feed.atom", title="Trials that changed state", base=base, updated=updated, entries=newest)


def json_feed(found: Sequence[Change], base: str) -> bytes:
    """The newest changes as JSON Feed 1.1."""
    feed: Mapping[str, object] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Trials that changed state",
        **({"home_page_url": base, "feed_url": base + "feed.json"} if base else {}),
        "items": [
            {
                "id": change.id,
                "url": base + change.href,
                "title": shown(f"{LOOKS[change.state].word}: {change.text}"),
                "content_text": shown(f"{change.run}: {change.was + ' → ' if change.was else ''}{LOOKS[change.state].word}"),
                "date_published": change.at,
            }
            for change in found[:FEED_EVENTS]
        ],
    }
    return (json.dumps(feed, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")
