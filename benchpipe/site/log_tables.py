"""The tables of a log page: requests, robot calls, attempts, as rows of texts. "—" is not known; nothing is decided here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchpipe.site.log_timeline import clock
from benchpipe.transcripts.records import Log, RobotEvent
from benchpipe.trials.records import Attempt
from benchpipe.usage import format as fmt
from benchpipe.usage.records import Estimate


@dataclass(frozen=True)
class RequestRow:
    """One model request as texts; "—" is not known. `read_from` is "" where the build doesn't tell."""

    n: int
    start: str
    duration: str
    status: str
    failed: bool
    input: str
    cached: str
    cache_write: str
    output: str
    reasoning: str
    charge: str
    read_from: str


@dataclass(frozen=True)
class RobotRow:
    """One call of the robot; events of the same call in one row."""

    call: str
    at: str
    what: str
    type: str
    steps: str
    clipped: str
    success: str
    note: str


@dataclass(frozen=True)
class AttemptRow:
    """One attempt of the chain, oldest first. `href` leads to its page where it has one; `here` is this page's."""

    n: int
    trial: str
    batch: str
    state: str
    started: str
    agent_time: str
    tokens: str
    estimate: str
    billed: str
    why: str
    counts: bool
    here: bool
    href: str


def request_rows(log: Log) -> tuple[RequestRow, ...]:
    """Each request with its tokens, charge and the place that it was read from (D4)."""
    made = []
    for n, row in enumerate(log.calls):
        start, end, status, *tokens = row
        cache_write, charge = (tokens + [None] * 6)[4:6]
        places = [f"{log.files[file]} @ {offset:,}" for file, offset in log.lines[n : n + 1]]
        made.append(
            RequestRow(
                n=n + 1,
                start=clock(_seconds(start)),
                duration=f"{_seconds(end) - _seconds(start):.1f} s",
                status="—" if status is None else str(status),
                failed=status not in (200, None),
                input=_count(tokens[0]), cached=_count(tokens[1]), cache_write=_count(cache_write),
                output=_count(tokens[2]), reasoning=_count(tokens[3]),
                charge="—" if charge is None else f"${charge}",
                read_from="".join(places),
            )
        )  # fmt: skip
    return tuple(made)


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "—"


def robot_rows(events: Sequence[RobotEvent]) -> tuple[RobotRow, ...]:
    """Robot calls in order; the events of one call are one row: what was asked for, with the last word on success."""
    calls: dict[int, list[RobotEvent]] = {}
    for event in events:
        if event.call is not None:
            calls.setdefault(event.call, []).append(event)
    return tuple(_robot_row(call, of) for call, of in calls.items())


def _robot_row(call: int, events: Sequence[RobotEvent]) -> RobotRow:
    def last(name: str) -> str:
        return next((str(value) for event in reversed(events) if (value := getattr(event, name)) is not None), "")

    steps = next((event.steps for event in events if event.steps is not None), None)
    success = last("success")
    return RobotRow(
        call=str(call),
        at=clock(events[0].t),
        what=", ".join(dict.fromkeys(event.ev for event in events)),
        type=last("type"),
        steps="" if steps is None else f"{steps:,}",
        clipped=last("clip"),
        success={"True": "yes", "1": "yes", "1.0": "yes", "False": "no", "0": "no", "0.0": "no"}.get(success, success),
        note=last("note"),
    )


def attempt_rows(
    attempts: Sequence[Attempt], estimates: Mapping[str, Estimate], trial: str | None, pages: Mapping[str, str]
) -> tuple[AttemptRow, ...]:
    """The chain of attempts with the money of each. `estimates` and `pages` are by trial name."""
    rows = []
    for n, attempt in enumerate(attempts, 1):
        estimate = estimates.get(attempt.trial or "", Estimate())
        tokens = attempt.tokens
        known = tokens is not None and tokens.input is not None
        rows.append(
            AttemptRow(
                n=n,
                trial=attempt.trial or "—",
                batch=attempt.batch or "",
                state=attempt.state or "queued",
                started=attempt.started or "",
                agent_time=fmt.duration(attempt.agent_wall_s),
                tokens=f"{fmt.tokens(tokens.input)} / {fmt.tokens(tokens.output)}" if tokens and known else "—",
                estimate=fmt.money(estimate.usd),
                billed=fmt.money(attempt.billed_usd),
                why=attempt.reason or attempt.exception or "",
                counts=attempt.counts,
                here=attempt.trial == trial,
                href="" if attempt.trial == trial else pages.get(attempt.trial or "", ""),
            )
        )
    return tuple(rows)
