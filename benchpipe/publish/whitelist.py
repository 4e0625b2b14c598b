"""What of a record and of a trial log is published: the fields of runs-system 14.3 and 14.4, and of E5. All else stays home.

Pure functions from stored JSON to published JSON; redaction comes after them.
"""

from collections.abc import Callable, Mapping
from typing import Any

from benchpipe.trials.records import DONE

Json = dict[str, Any]
Filter = Callable[[str], str]

RUN_FIELDS = ("v", "benchmark", "run", "label", "batches", "generated_at")
RECORD_FIELDS = frozenset({
    "state", "started", "finished", "agent_wall_s", "calls", "calls_failed", "tokens", "tokens_source", "billed_usd",
    "billed_source", "reward", "progress", "metrics", "exception", "trial", "regraded", "followup", "last_call",
})  # fmt: skip
"""Of a record, of the digest it supersedes and of its attempts. `stale` and `rerun` say something about our machines and our
plans, not about a finished trial, and would rewrite a snapshot whenever a host sleeps (runs-system 21.27)."""
ATTEMPT_FIELDS = RECORD_FIELDS | {"counts"}
LOG_FIELDS = frozenset({
    "v", "benchmark", "run", "task", "mode", "previous", "state", "started", "finished", "agent_wall_s", "exception", "reward",
    "trial", "built", "start", "span", "totals", "calls", "steps", "robot", "media", "snapshots", "gen", "ended", "note",
})  # fmt: skip
"""`calls` rows end in cache_write and charge where the builder knew them (E5)."""


def published_record(record: Mapping[str, Any], estimate: Mapping[str, Any] | None, no_machines: Filter) -> Json | None:
    """A finished record as it is published, or None for one that is not finished. Null values are kept."""
    if record.get("state") not in DONE:
        return None
    public = _only(record, RECORD_FIELDS, no_machines)
    if isinstance(digest := record.get("supersedes"), Mapping):
        public["supersedes"] = _only(digest, RECORD_FIELDS, no_machines)
    if attempts := record.get("attempts"):
        public["attempts"] = [_only(attempt, ATTEMPT_FIELDS, no_machines) for attempt in attempts]
    if estimate is not None:
        public["estimate"] = dict(estimate)
    return public


def published_log(log: Mapping[str, Any], no_machines: Filter, *, images: str) -> Json:
    """A trial log as it is published. `images`: the format PNGs are published in, "" for as they are."""
    public = _only(log, LOG_FIELDS, no_machines)
    if isinstance(note := public.get("note"), str):
        public["note"] = no_machines(note)
    if isinstance(media := public.get("media"), dict):
        public["media"] = {key: no_machines(value) if key == "problem" and value else value for key, value in media.items()}
    return with_image_names(public, images) if images else public


def with_image_names(log: Json, images: str) -> Json:
    """The log with the names of its PNGs in the format they are published in; the video's name is untouched."""

    def renamed(name: Any) -> Any:
        return f"{name[:-4]}.{images}" if isinstance(name, str) and name.lower().endswith(".png") else name

    log = dict(log)
    if isinstance(media := log.get("media"), dict):
        log["media"] = {key: renamed(value) if key == "last" else value for key, value in media.items()}
    if isinstance(steps := log.get("steps"), list):
        log["steps"] = [
            {**step, "img": [renamed(name) for name in step["img"]]} if isinstance(step, dict) and step.get("img") else step
            for step in steps
        ]
    if isinstance(snapshots := log.get("snapshots"), list):
        log["snapshots"] = [{**s, "src": renamed(s.get("src"))} if isinstance(s, dict) else s for s in snapshots]
    return log


def media_names(log: Mapping[str, Any]) -> list[str]:
    """The files a log names, in order, each once: video, last frame, images of steps, snapshots. Never absolute, never `..`."""
    media = log.get("media") or {}
    names = [media.get("video"), media.get("last")]
    names += [name for step in log.get("steps") or () if isinstance(step, dict) for name in step.get("img") or ()]
    names += [snapshot.get("src") for snapshot in log.get("snapshots") or () if isinstance(snapshot, dict)]
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and _stays_inside(name)))


def _stays_inside(name: str) -> bool:
    return bool(name) and not name.startswith(("/", "\\")) and ".." not in name.split("/") and ":" not in name and "\\" not in name


def _only(source: Mapping[str, Any], fields: frozenset[str], no_machines: Filter) -> Json:
    return {
        key: no_machines(value) if key in ("followup", "exception") and isinstance(value, str) else value
        for key, value in source.items()
        if key in fields
    }
