"""Reading files of a trial that may be damaged, huge, or not what their name says.

Lines come one at a time, so memory is bounded by the longest line allowed. A link that leads out of the trial is not
followed (harbor-jobs 5, 13).
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchpipe.transcripts.records import Problems

MAX_LINE = 64 * 1024 * 1024
"""Bytes; a longer line is passed over."""
MAX_DOCUMENT = 512 * 1024 * 1024
"""Bytes of a JSON document that is read whole."""


def inside(folder: Path, name: str) -> Path | None:
    """`folder/name` if it is a regular file that lies within the folder once links are resolved."""
    try:
        path = (folder / name).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return path if path.is_file() and path.is_relative_to(folder.resolve()) else None


def files_below(folder: Path, pattern: str) -> list[Path]:
    """Files that match a glob and lie within the folder, by path."""
    try:
        found = sorted(folder.glob(pattern))
    except OSError:
        return []
    return [path for path in found if inside(folder, path.relative_to(folder).as_posix())]


def decoded(data: bytes) -> Any:
    """JSON, with bytes that are no UTF-8 replaced. ValueError if it isn't JSON."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        try:
            return json.loads(data.decode("utf-8", "replace"), strict=False)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def json_lines(path: Path, problems: Problems) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file of lines. A broken line is counted and passed over; a torn last one is silently left."""
    try:
        file = path.open("rb")
    except OSError as error:
        problems.add(f"{path.name} can't be read ({error.strerror})")
        return
    with file:
        while line := file.readline(MAX_LINE):
            if not line.endswith(b"\n") and len(line) == MAX_LINE:
                problems.add(f"a line of {path.name} is longer than {MAX_LINE >> 20} MiB")
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_LINE)
                continue
            if not line.strip():
                continue
            try:
                value = decoded(line)
            except ValueError:
                if line.endswith(b"\n"):
                    problems.add(f"a line of {path.name} is not JSON")
                continue
            if isinstance(value, dict):
                yield value
            else:
                problems.add(f"a line of {path.name} is no object")


def json_document(path: Path, problems: Problems) -> dict[str, Any] | None:
    """A JSON file that is one object, else None with the reason noted."""
    try:
        if path.stat().st_size > MAX_DOCUMENT:
            problems.add(f"{path.name} is larger than {MAX_DOCUMENT >> 20} MiB")
            return None
        value = decoded(path.read_bytes())
    except (OSError, ValueError) as error:
        problems.add(f"{path.name} can't be read ({type(error).__name__})")
        return None
    if isinstance(value, dict):
        return value
    problems.add(f"{path.name} is no object")
    return None


def finite(value: Any) -> float | None:
    """A number that is one: no bool, no NaN, nothing beyond a quadrillion."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        return None
    return float(value)


def epoch(value: Any) -> float | None:
    """Seconds since 1970 of an ISO time (without a zone: UTC) or a number; None if it is neither."""
    if not isinstance(value, str):
        return finite(value)
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def end_of(path: Path, limit: int) -> str:
    """The last `limit` bytes of a file as text; "" if it can't be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - limit))
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""
