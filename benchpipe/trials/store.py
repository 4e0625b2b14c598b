"""Run files on disk: their exact JSON form (runs-system 8.1, 8.2), reading old and damaged ones, and when to write (6.2)."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from benchpipe.files import write_json
from benchpipe.lab import Lab
from benchpipe.times import parse_time
from benchpipe.trials.build import DIGEST
from benchpipe.trials.records import Attempt, Record, RunFile
from benchpipe.usage.records import CostsFile, Tokens

ALWAYS = (
    "host", "job", "trial", "started", "finished", "agent_wall_s", "calls", "calls_failed", "tokens", "tokens_source",
    "billed_usd", "billed_source", "last_call", "exception", "reward", "progress", "regraded", "scan", "logs",
)  # fmt: skip
"""Keys that every record but a queued one has, null included. `state` is in every record."""
SOMETIMES = (
    "metrics", "supersedes", "followup", "stale", "rerun",
    "reason", "stale_reason", "last_activity_at", "reward_counts", "calls_without_usage", "attempts",
)  # fmt: skip
"""Keys that are there only where they say something; the second line is B13."""
ATTEMPT = (
    *DIGEST, "batch", "tokens", "tokens_source", "billed_usd", "billed_source", "reason", "counts", "usage_digest", "costs_file",
)  # fmt: skip
SIGNATURE = ("state", "host", "trial", "reward", "progress", "exception", "scan", "stale", "followup", "rerun")
"""What a poller hears of at once; other differences may wait (6.2)."""


def record_json(record: Record) -> dict[str, Any]:
    """The stored form of a record. A queued one has `state` and what sometimes is there."""
    keys = SOMETIMES if record.state == "queued" else (*ALWAYS, *SOMETIMES)
    said: dict[str, Any] = {"state": record.state}
    for key in keys:
        value = getattr(record, key)
        if key in ALWAYS or value not in (None, ()):
            said[key] = _plain(key, value)
    return said


def _plain(key: str, value: Any) -> Any:
    if key == "attempts":
        return [{field: _plain(field, getattr(attempt, field)) for field in ATTEMPT} for attempt in value]
    if isinstance(value, Attempt):
        return {field: _plain(field, getattr(value, field)) for field in DIGEST}
    if isinstance(value, Tokens):
        counts = msgspec.to_builtins(value)
        return {name: count for name, count in counts.items() if name != "cache_write" or count is not None}
    if isinstance(value, CostsFile):
        return msgspec.to_builtins(value)
    return dict(value) if isinstance(value, Mapping) else value


def run_file_json(run_file: RunFile) -> dict[str, Any]:
    """The stored form of a run file (8.2)."""
    return {
        "v": run_file.v,
        "benchmark": run_file.benchmark,
        "run": run_file.run,
        "label": run_file.label,
        "batches": list(run_file.batches),
        "hosts": {host: dict(state) for host, state in run_file.hosts.items()},
        "tasks": {task: {mode: record_json(one) for mode, one in modes.items()} for task, modes in run_file.tasks.items()},
        "generated_at": run_file.generated_at,
    }


def write_run_file(lab: Lab, run_file: RunFile) -> bool:
    """Write it where it belongs; True if its bytes changed."""
    return write_json(lab.run_file(run_file.benchmark, run_file.run), run_file_json(run_file))


def load_run_file(lab: Lab, benchmark: str, run: str, problems: list[str] | None = None) -> RunFile | None:
    """The stored run file, or None. What can't be read is left out and said in `problems`: its history is lost."""
    path = lab.run_file(benchmark, run)
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _say(problems, f"{lab.relative(path)}: can't be read ({error.strerror}); its history is lost")
        return None
    return parse_run_file(text, benchmark, run, lab.relative(path), problems)


def parse_run_file(text: bytes, benchmark: str, run: str, name: str, problems: list[str] | None = None) -> RunFile | None:
    """A run file's bytes, also of older makers (published snapshots have no hosts). `name` is for messages."""
    try:
        said = json.loads(text)
        if not isinstance(said, dict):
            raise ValueError("not an object")
    except ValueError as error:
        _say(problems, f"{name}: not JSON ({error}); its history is lost")
        return None
    tasks: dict[str, dict[str, Record]] = {}
    for task, modes in _mapping(said.get("tasks")).items():
        tasks[task] = {}
        for mode, record in _mapping(modes).items():
            try:
                tasks[task][mode] = msgspec.convert(record, Record)
            except msgspec.ValidationError as error:
                _say(problems, f"{name}: the record of {task} {mode} can't be read ({error}); its history is lost")
    return RunFile(
        benchmark=benchmark,
        run=run,
        label=str(said.get("label", run)),
        batches=tuple(batch for batch in said.get("batches") or () if isinstance(batch, str)),
        hosts={host: state for host, state in _mapping(said.get("hosts")).items() if isinstance(state, dict)},
        tasks=tasks,
        generated_at=str(said.get("generated_at", "")),
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _say(problems: list[str] | None, message: str) -> None:
    if problems is not None:
        problems.append(message)


def should_write(new: RunFile, stored: RunFile | None, *, polling: bool, detail_every: float, now: datetime) -> bool:
    """Whether a cycle writes the file (6.2). `detail_every`: seconds; `now`: aware.

    A poll writes what differs, at once when the signature does, else when the stored file is `detail_every` old.
    """
    if not polling or stored is None:
        return True
    if _content(new) == _content(stored):
        return False
    written = parse_time(stored.generated_at)
    return _signature(new) != _signature(stored) or written is None or (now - written).total_seconds() >= detail_every


def _content(run_file: RunFile) -> dict[str, Any]:
    return {key: value for key, value in run_file_json(run_file).items() if key not in ("generated_at", "hosts")}


def _signature(run_file: RunFile) -> Any:
    hosts = {host: state.get("ok") for host, state in run_file.hosts.items()}
    records = {
        (task, mode): [getattr(record, key) for key in SIGNATURE]
        for task, modes in run_file.tasks.items()
        for mode, record in modes.items()
    }
    return hosts, records
