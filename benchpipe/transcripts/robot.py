"""What happened to the robot: `episode.jsonl`, else `trusted-recording/events.jsonl` (runs-system 4.6, 10.2, 21.26)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchpipe.transcripts.files import epoch, finite, inside, json_lines
from benchpipe.transcripts.records import Ended, Problems, RobotEvent
from benchpipe.transcripts.texts import plain

EPISODES = ("artifacts/data/episode.jsonl", "artifacts/out/episode.jsonl")
RECORDING = "artifacts/trusted-recording/events.jsonl"
_NOTE_LIMIT = 300


def robot_log(trial: Path) -> Path | None:
    """The episode log of a trial, else its trusted recording; None if it kept neither."""
    return next((path for name in (*EPISODES, RECORDING) if (path := inside(trial, name))), None)


def read_robot(path: Path, t0: float, problems: Problems) -> tuple[list[RobotEvent], Ended]:
    """Events relative to `t0`, equal ones without a call number folded, and how the episode ended."""
    lines = json_lines(path, problems)
    ended = Ended()
    events: list[RobotEvent] = []
    for line in _converted(lines) if path.name == "events.jsonl" else lines:
        error = line.get("error")
        if ended.error is None and isinstance(error, str) and error:
            ended.error = plain(error)[:_NOTE_LIMIT]
        if line.get("ev") == "end" and isinstance(line.get("reason"), str):
            ended.reason = plain(line["reason"])[:_NOTE_LIMIT]
        event = _event(line, t0)
        if event and not (events and _fold(events[-1], event)):
            events.append(event)
    return events, ended


def _event(line: dict[str, Any], t0: float) -> RobotEvent | None:
    """One event in the page's form; None without a numeric time or a name."""
    ts, ev = finite(line.get("ts")), line.get("ev")
    if ts is None or not isinstance(ev, str):
        return None
    note = line.get("note") or line.get("error")
    success = line.get("success")
    return RobotEvent(
        t=round(ts - t0, 1),
        ev=plain(ev)[:60],
        call=_int(line.get("call")),
        type=plain(line["type"])[:60] if isinstance(line.get("type"), str) else None,
        note=plain(note)[:_NOTE_LIMIT] if isinstance(note, str) and note else None,
        steps=_int(line.get("control_steps")),
        clip=_int(line.get("n_clipped")),
        success=success if isinstance(success, bool) else finite(success),
    )


def _fold(last: RobotEvent, event: RobotEvent) -> bool:
    """Count `event` in with the one before if they differ in nothing but time and belong to no call."""
    if event.call is not None or msgspec.structs.replace(last, t=event.t, n=None, te=None) != event:
        return False
    last.n, last.te = (last.n or 1) + 1, event.t
    return True


def _converted(lines: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A trusted recording's events in the episode log's shape: each observation, control or rejection is the next call."""
    call = 0
    for line in lines:
        kind = str(line.get("kind") or "")
        made: dict[str, Any] = {"ev": kind, "ts": epoch(line.get("at"))}
        made |= {"error": line.get("error"), "success": line.get("online_success")}
        match kind:
            case "action_end":
                made |= {"ev": "step", "control_steps": 1}
            case "episode_end":
                made |= {"ev": "end", "reason": line.get("reason")}
            case "observation" | "control" | "request_rejected":
                call += 1
                made |= {"ev": "observe" if kind == "observation" else kind, "call": call}
                made |= {"type": line.get("camera"), "note": line.get("reason")}
        yield made


def _int(value: Any) -> int | None:
    number = finite(value)
    return None if number is None else int(number)
