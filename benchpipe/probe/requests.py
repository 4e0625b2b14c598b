"""The requests of one trial, from the best log it has. The one entry point of counting; it decides on files, not on shapes.

Runs on hosts: Python 3.8, standard library only. Opens logs only, never a credential, and writes nothing but what the
caller's `cursors` keeps.
"""

import os
import stat
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from benchpipe.probe.gateway_log import read_gateway
from benchpipe.probe.sessions import identified, read_session
from benchpipe.probe.trajectory import read_trajectory

MAX_PROBLEMS = 20
FILE = 12
"""Place of the file's name in a row."""

Identified = Tuple[Optional[str], list]


def trial_requests(trial_dir: str, cursors: Any) -> Dict[str, Any]:
    """`{"source", "rows", "problems"}` of a trial directory (C1, harbor-jobs 6 and 7, runs-system 4.3, 4.4).

    `source` is the best kind of log there is: gateway, usage_log, sessions, trajectory, or None. Rows are lists in the order
    of `usage.records.Request`, by start, each response once. `cursors` has `get(key) -> bytes | None` and `put(key, bytes)`;
    an empty one changes no number.
    """
    for source, read in (("gateway", _gateway), ("usage_log", _gateway), ("sessions", _sessions), ("trajectory", _trajectory)):
        files = _files(trial_dir, source)
        if files:
            problems: List[str] = []
            rows = _once(read(trial_dir, files, cursors, problems))
            return {"source": source, "rows": rows, "problems": problems[:MAX_PROBLEMS]}
    return {"source": None, "rows": [], "problems": []}


def _files(trial_dir: str, source: str) -> List[str]:
    """Non-empty logs of one kind, relative to the trial, of the trial itself and of its steps (B9), in name order."""
    steps = sorted(_names(os.path.join(trial_dir, "steps")))
    found: List[str] = []
    for part in ["", *(os.path.join("steps", step) for step in steps)]:
        agent = os.path.join(part, "agent")
        if source == "gateway":
            candidates = [os.path.join(agent, "gateway.jsonl")]
        elif source == "usage_log":
            candidates = [os.path.join(part, "gateway", "usage.jsonl")]
        elif source == "sessions":
            candidates = _session_files(trial_dir, os.path.join(agent, "sessions"))
        else:
            names = _names(os.path.join(trial_dir, agent))
            candidates = [os.path.join(agent, name) for name in sorted(names) if _is_trajectory(name)]
        found += [name for name in candidates if _is_log(trial_dir, name)]
    return found


def _session_files(trial_dir: str, folder: str) -> List[str]:
    found = []
    for place, _, names in os.walk(os.path.join(trial_dir, folder)):
        found += [os.path.relpath(os.path.join(place, name), trial_dir) for name in names if name.endswith(".jsonl")]
    return sorted(found)


def _is_trajectory(name: str) -> bool:
    return name == "trajectory.json" or (name.startswith("trajectory.cont-") and name.endswith(".json"))


def _names(folder: str) -> List[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_log(trial_dir: str, name: str) -> bool:
    """Whether the trial has a file of this name that isn't empty. Nothing that is reached through a link inside a trial counts."""
    try:
        parts = name.split(os.sep)
        folders = (os.path.join(trial_dir, *parts[:n]) for n in range(1, len(parts)))
        state = os.lstat(os.path.join(trial_dir, name))
        return stat.S_ISREG(state.st_mode) and state.st_size > 0 and not any(map(os.path.islink, folders))
    except OSError:
        return False


def _gateway(trial_dir: str, files: List[str], cursors: Any, problems: List[str]) -> Iterator[Identified]:
    for name, tally in _read(trial_dir, files, lambda path: read_gateway(path, cursors), problems):
        for row in tally.rows:
            yield row[3], _placed(row, name)


def _trajectory(trial_dir: str, files: List[str], cursors: Any, problems: List[str]) -> Iterator[Identified]:
    for name, tally in _read(trial_dir, files, read_trajectory, problems):
        for row in tally.rows:
            yield None, _placed(row, name)


def _sessions(trial_dir: str, files: List[str], cursors: Any, problems: List[str]) -> Iterator[Identified]:
    read = list(_read(trial_dir, files, lambda path: read_session(path, cursors), problems))
    for index, identity, row in identified([session for _, session in read]):
        yield identity, _placed(row, read[index][0])


def _read(trial_dir: str, files: List[str], read: Any, problems: List[str]) -> Iterator[Tuple[str, Any]]:
    """What `read` makes of each file; a file that can't be read is a problem and stops nothing."""
    for name in files:
        try:
            result = read(os.path.join(trial_dir, name))
        except OSError as error:
            problems.append("%s: can't be read (%s)" % (name, error.strerror))
            continue
        problems.extend(_counted(name, result.problems))
        yield name, result


def _counted(name: str, problems: Dict[str, int]) -> List[str]:
    return ["%s: %s%s" % (name, what, " (%d times)" % n if n > 1 else "") for what, n in sorted(problems.items())]


def _placed(row: list, name: str) -> list:
    return [*row[:FILE], name, *row[FILE:]]


def _once(pairs: Iterable[Identified]) -> List[list]:
    """Rows by start, each identity once: of its rows the last that has usage (C2)."""
    kept: Dict[str, list] = {}
    rows: List[list] = []
    for identity, row in pairs:
        if identity is None:
            rows.append(row)
        elif identity not in kept or _rank(row) > _rank(kept[identity]):
            kept[identity] = row
    return sorted([*rows, *kept.values()], key=_position)


def _rank(row: list) -> tuple:
    return (row[10] is not None, row[0] or 0.0, row[7] or 0, row[FILE], row[FILE + 1])


def _position(row: list) -> tuple:
    return (row[0] is None, row[0] or 0.0, row[FILE], row[FILE + 1])
