"""What a new snapshot changes, for people: a line per record and log. It compares two folders and writes nothing."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchpipe.publish.published import read_document

_WIDEST = 60
_ABSENT = object()


def differences(old: Path, new: Path, written: Sequence[str], removed: Sequence[str]) -> Iterator[str]:
    """Lines for files of the snapshot that were written or removed, records first field by field, then logs."""
    logs = []
    for name in sorted({*written, *removed}):
        if name.count("/") == 1:
            yield from _records(name.removesuffix(".json").replace("/", " "), read_document(old / name), read_document(new / name))
        else:
            sign = "-" if name in removed else "~" if (old / name).is_file() else "+"
            logs.append(f"{sign} log {name.removesuffix('.json').replace('/', ' ')}")
    yield from logs


def _records(run: str, old: dict[str, Any] | None, new: dict[str, Any] | None) -> Iterator[str]:
    before, after = _by_place(old), _by_place(new)
    for task, mode in sorted(before.keys() | after.keys()):
        was, now = before.get((task, mode)), after.get((task, mode))
        if was is None and now is not None:
            yield f"+ {run} {task} {mode}: {now.get('state')}"
        elif now is None and was is not None:
            yield f"- {run} {task} {mode}: {was.get('state')}"
        elif was is not None and now is not None and was != now:
            fields = sorted(key for key in was.keys() | now.keys() if was.get(key, _ABSENT) != now.get(key, _ABSENT))
            changes = ", ".join(f"{key} {_short(was.get(key))} → {_short(now.get(key))}" for key in fields)
            yield f"~ {run} {task} {mode}: {changes}"
    was_head, now_head = ({k: v for k, v in (doc or {}).items() if k not in ("tasks", "generated_at")} for doc in (old, new))
    if was_head != now_head:
        yield f"{'+' if old is None else '-' if new is None else '~'} {run}"


def _by_place(document: dict[str, Any] | None) -> dict[tuple[str, str], dict[str, Any]]:
    return {(task, mode): record for task, modes in (document or {}).get("tasks", {}).items() for mode, record in modes.items()}


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
