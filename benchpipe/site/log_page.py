"""The log page of one trial as its template reads it (runs-system 12.7). Nothing is decided or counted twice here: states come
from `trials`, money from `usage`, the transcript from `transcripts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from benchpipe.site.log_steps import Section, sections
from benchpipe.site.log_tables import AttemptRow, RequestRow, RobotRow, request_rows, robot_rows
from benchpipe.site.log_timeline import Timeline, timeline
from benchpipe.site.render import Link, Page, cut
from benchpipe.site.states import LOOKS
from benchpipe.transcripts.checks import Check
from benchpipe.transcripts.records import Chunk, Kept, Log
from benchpipe.usage import format as fmt
from benchpipe.usage.records import Bill, Estimate, Tokens

TABLE_ROWS = 200
"""Rows of requests or robot events in the page; the rest of a longer list is in log.json."""


_SOURCES = {
    "gateway": "the model gateway's log",
    "sessions": "the agent's own session log",
    "trajectory": "the agent's trajectory file",
}


@dataclass(frozen=True)
class Banner:
    """Something to know before reading on. `kind`: note, warn, bad, good. The link is the way to go from here."""

    kind: str
    title: str
    text: str
    link: Link | None = None


@dataclass(frozen=True)
class Card:
    """One number: label, value as text, and of how many or what it is not."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Fact:
    """`mono` for names and paths of machines."""

    key: str
    value: str
    mono: bool = False


@dataclass(frozen=True)
class MediaView:
    """What there is to look at. `reason` says why there is no replay; file addresses are complete."""

    video: str
    poster: str
    note: str
    reason: str
    snapshots: tuple[Link, ...]
    gen: str


@dataclass(frozen=True, kw_only=True)
class LogPage(Page):
    """One trial's log page."""

    template: ClassVar[str] = "log.html"
    heading: str
    lede: str
    run_link: Link
    state: str
    state_help: str
    live: bool
    banners: tuple[Banner, ...]
    cards: tuple[Card, ...]
    facts: tuple[Fact, ...]
    timeline: Timeline | None
    media: MediaView
    has_media: bool
    media_base: str
    """Put before the names of images in fetched steps."""
    sections: tuple[Section, ...]
    n_steps: int
    n_say: int
    n_run: int
    n_failed: int
    n_img: int
    robot: tuple[RobotRow, ...]
    n_robot: int
    n_robot_events: int
    requests: tuple[RequestRow, ...]
    n_requests: int
    charged: bool
    checks: tuple[Check, ...]
    attempts: tuple[AttemptRow, ...]
    kept: tuple[Kept, ...]
    problems: tuple[str, ...]
    raw: str
    """Address of log.json below the site root."""


@dataclass(frozen=True, kw_only=True)
class LogContext:
    """What a log page needs to know besides its log. `media` is put before file names; None: this build has no media."""

    path: str
    run_label: str
    task_title: str
    section: str
    crumbs: tuple[Link, ...]
    run_link: Link
    state: str
    local: bool
    media: str | None = ""
    raw: str
    """Address of log.json below the site root."""
    chunks: Sequence[Chunk] = ()
    banners: tuple[Banner, ...] = ()
    checks: tuple[Check, ...] = ()
    attempts: tuple[AttemptRow, ...] = ()
    estimate: Estimate
    bill: Bill
    tokens: Tokens
    """Shown where no request was logged."""


def log_page(log: Log, about: LogContext) -> LogPage:
    """Pure: the page of `log`."""
    look = LOOKS[about.state]
    rows = request_rows(log)
    robot, media = robot_rows(log.robot), _media(log, about)
    return LogPage(
        path=about.path,
        title=f"{about.task_title}, {log.mode} · {about.run_label}",
        section=about.section,
        crumbs=about.crumbs,
        description=f"{look.word}: {about.task_title} by {about.run_label}, {log.totals.runs} tool runs.",
        heading=about.task_title,
        lede=log.mode + (", previous attempt" if log.previous else ""),
        run_link=about.run_link,
        state=about.state,
        state_help=look.help,
        live=about.state in ("running", "setup"),
        banners=about.banners,
        cards=tuple(_cards(log, about)),
        facts=tuple(_facts(log, about, media)),
        timeline=timeline(log),
        media=media,
        has_media=about.media is not None,
        media_base=about.media or "",
        sections=sections(log.steps, about.chunks, about.media),
        n_steps=len(log.steps),
        n_say=sum(step.k == "say" for step in log.steps),
        n_run=sum(step.k == "run" for step in log.steps),
        n_failed=sum(step.status == "failed" for step in log.steps),
        n_img=sum(bool(step.img) for step in log.steps),
        robot=robot[:TABLE_ROWS],
        n_robot=len(robot),
        n_robot_events=sum(event.n or 1 for event in log.robot),
        requests=rows[:TABLE_ROWS],
        n_requests=len(rows),
        charged=any(row.charge != "—" for row in rows),
        checks=about.checks,
        attempts=about.attempts,
        kept=tuple(log.kept) if about.local else (),
        problems=tuple(log.problems) if about.local else (),
        raw=about.raw,
    )


def _cards(log: Log, about: LogContext) -> list[Card]:
    totals, reward = log.totals, log.reward or {}
    failed_runs = sum(step.status == "failed" for step in log.steps)
    cards = [Card("Agent time", fmt.duration(log.agent_wall_s))]
    if log.calls:
        cards.append(Card("Requests", f"{totals.calls:,}", f"{totals.failed} failed" if totals.failed else "none failed"))
        cards.append(Card("Tokens in", fmt.tokens(totals.input), _part(log, 4, totals.cached, totals.input, "cached")))
        cards.append(Card("Tokens out", fmt.tokens(totals.output), _part(log, 6, totals.reasoning, totals.output, "reasoning")))
    elif about.tokens.input is not None:
        cards.append(Card("Tokens in", fmt.tokens(about.tokens.input), "the runner's count"))
        cards.append(Card("Tokens out", fmt.tokens(about.tokens.output), "the runner's count"))
    if about.estimate.usd is not None:
        covered = f"{about.estimate.n_priced} of {about.estimate.n_requests} requests"
        of = "the runner's count" if about.estimate.flat else covered
        cards.append(Card("Est. cost", fmt.money(about.estimate.usd), f"at list price, {of}"))
    elif totals.input:
        cards.append(Card("Est. cost", "—", "not estimated"))
    if about.bill.usd is not None:
        cards.append(Card("Billed", fmt.money(about.bill.usd), f"{about.bill.coverage}, {about.bill.source}"))
    if totals.runs:
        cards.append(Card("Tool runs", f"{totals.runs:,}", f"{failed_runs} failed" if failed_runs else "none failed"))
    if totals.images:
        cards.append(Card("Images seen", f"{totals.images:,}"))
    if totals.robot:
        cards.append(Card("Robot calls", f"{len({event.call for event in log.robot if event.call is not None}):,}"))
    if "n_actions" in reward:
        cards.append(Card("Actions graded", f"{reward['n_actions']:g}"))
    return cards


def _part(log: Log, column: int, part: int, whole: int, word: str) -> str:
    """`84% cached`; "" where no request says so."""
    known = any(row[column] is not None for row in log.calls)
    return f"{part / whole:.0%} {word}" if known and whole else ""


def _facts(log: Log, about: LogContext, media: MediaView) -> list[Fact]:
    reward = ", ".join(f"{key} {value:g}" for key, value in sorted((log.reward or {}).items()))
    facts = [
        Fact("run", log.run, True),
        Fact("trial", log.trial or "", True),
        Fact("started", fmt.moment(log.started) if log.started else ""),
        Fact("finished", fmt.moment(log.finished) if log.finished else ""),
        Fact("reward", reward),
        Fact("exception", _exception(log, about), True),
        Fact("replay", "" if media.video or media.snapshots or media.gen else media.reason),
        Fact("episode ended", " · ".join(text for text in (log.ended.reason, log.ended.error) if text)),
    ]
    if about.local:
        facts += [
            Fact("host", log.host or ""),
            Fact("where", log.where or "", True),
            Fact("transcript from", _SOURCES.get(log.source or "", "")),
            Fact("page data built", fmt.moment(log.built) if log.built else ""),
        ]  # fmt: skip
    return [fact for fact in facts if fact.value]


def _exception(log: Log, about: LogContext) -> str:
    """The last line of the traceback, where this build shows it; else the type."""
    text = next((kept.text for kept in log.kept if kept.name == "exception.txt"), "") if about.local else ""
    last = text.strip().rpartition("\n")[2]
    return cut(last, 400) if log.exception and log.exception in last else log.exception or ""


def _media(log: Log, about: LogContext) -> MediaView:
    base = about.media or ""
    here = about.media is not None
    video = log.media.video if here else None
    return MediaView(
        video=base + video if video else "",
        poster=base + log.media.last if video and log.media.last else "",
        note="Rendered again after the trial." if log.media.rerendered else "",
        reason="" if video else _no_video(log, here),
        snapshots=tuple(Link(snap.name, base + snap.src) for snap in log.snapshots) if here else (),
        gen=log.gen or "",
    )


def _no_video(log: Log, published: bool) -> str:
    """Why there is no replay, first that applies."""
    if log.media.video and not published:
        return "not published yet"
    if (log.reward or {}).get("missing_trajectory"):
        used_up = "; the time budget was used up" if log.exception == "AgentTimeoutError" else ""
        return f"none: the agent left no trajectory{used_up}"
    if log.state == "error":
        return "none: the trial ended without a grade"
    if log.media.problem:
        return f"none: {log.media.problem}"
    if log.ended.reason == "error":
        return "none: the episode ended in an error"
    return "none was rendered"
