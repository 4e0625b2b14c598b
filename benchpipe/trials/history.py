"""What changed when: `data/runs/<benchmark>/history.jsonl`, one event a line, only ever appended to.

Written before the run file that it tells of: after a crash in between, the same change is found again and not told twice.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from benchpipe.files import writing
from benchpipe.trials.records import Record, RunFile


class Event(msgspec.Struct, frozen=True, kw_only=True, rename={"was": "from", "became": "to"}):
    """A record took another state or shows another trial. In JSON `was` and `became` are `from` and `to`."""

    at: str
    """ISO UTC of the collection that saw it."""
    run: str
    task: str
    mode: str
    was: str | None
    """None: the first time that anything was seen."""
    became: str
    trial: str | None = None


def changes(old: RunFile | None, new: RunFile) -> list[Event]:
    """The events between two run files of one bench-run. A task that was never seen and still waits is no event."""
    events = []
    for task, modes in sorted(new.tasks.items()):
        for mode, record in sorted(modes.items()):
            before = old.tasks.get(task, {}).get(mode) if old else None
            if _told(before) != _told(record) and (before or record.state != "queued"):
                events.append(
                    Event(
                        at=new.generated_at,
                        run=new.run,
                        task=task,
                        mode=mode,
                        was=before.state if before else None,
                        became=record.state,
                        trial=record.trial,
                    )
                )
    return events


def _told(record: Record | None) -> tuple[str, str | None] | None:
    return (record.state, record.trial) if record else None


def read(path: Path) -> tuple[list[Event], list[str]]:
    """Events, oldest first, and a sentence per line that is none (the torn end of a crashed write, say)."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"{path.name}: can't be read ({error.strerror})"]
    events, problems = [], []
    for number, line in enumerate(lines, 1):
        try:
            events.append(msgspec.json.decode(line, type=Event))
        except msgspec.MsgspecError as error:
            problems.append(f"{path.name}:{number}: not an event ({error})")
    return events, problems


def append(path: Path, events: Iterable[Event]) -> int:
    """Append what the file doesn't tell already; returns how many. One write, after whatever a crash left unfinished.

    UsageError if it can't be written.
    """
    latest = {(event.run, event.task, event.mode): (event.became, event.trial) for event in read(path)[0]}
    fresh = [event for event in events if latest.get((event.run, event.task, event.mode)) != (event.became, event.trial)]
    if fresh:
        lines = b"".join(json.dumps(msgspec.to_builtins(event), sort_keys=True).encode() + b"\n" for event in fresh)
        with writing(path):
            _append(path, lines)
    return len(fresh)


def _append(path: Path, lines: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b") as file:
        torn = False
        if file.tell():
            file.seek(-1, os.SEEK_END)
            torn = file.read(1) != b"\n"
        file.write(b"\n" * torn + lines)
        file.flush()
        os.fsync(file.fileno())
