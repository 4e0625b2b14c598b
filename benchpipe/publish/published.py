"""Reading the committed snapshot, `data/published_runs/`: what the public build, media and `--scan` go by. Writes nothing.

It never looks at local data, also on a machine that has some.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import orjson

from benchpipe.errors import FoundProblems
from benchpipe.lab import Lab
from benchpipe.publish.scan import Finding, Scan, forbidden_fields

SUMMARY = "SNAPSHOT.json"
MAX_SITE_BYTES = 1_000_000_000
"""A public site must not be larger (runs-system 17.1)."""


class RunLine(msgspec.Struct, frozen=True, kw_only=True):
    """A bench-run in `SNAPSHOT.json`: tasks with a finished trial, trial logs, and when its data was collected."""

    benchmark: str
    run: str
    tasks: int
    logs: int
    collected_at: str


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """`SNAPSHOT.json`. `bytes` counts bytes of all other files."""

    runs: tuple[RunLine, ...] = ()
    logs: int = 0
    bytes: int = 0
    published_at: str = ""
    scan: Mapping[str, Any] = {}


class PublishedLog(NamedTuple):
    """Where a trial log of the snapshot lies."""

    benchmark: str
    run: str
    task: str
    slot: str
    file: Path

    @property
    def folder(self) -> str:
        """Its media's folder, in the dataset and below the media base."""
        return f"{self.benchmark}/{self.run}/{self.task}/{self.slot}"


def read_summary(root: Path) -> Summary | None:
    """The summary of the snapshot at `root`; None without one, or if it can't be read."""
    try:
        return msgspec.json.decode((root / SUMMARY).read_bytes(), type=Summary)
    except (OSError, msgspec.DecodeError):
        return None


def read_document(file: Path) -> dict[str, Any] | None:
    """A JSON object; None if it is absent or no object (B11)."""
    try:
        document = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return document if isinstance(document, dict) else None


def published_id(lab: Lab, benchmark: str, ids: Iterable[str]) -> str | None:
    """The first of a run's ids that the snapshot has something under; a renamed run stays there until it is published anew."""
    return next((run for run in ids if published_run(lab, benchmark, run).is_file()), None)


def published_run(lab: Lab, benchmark: str, run: str) -> Path:
    """Where the snapshot keeps a bench-run's records."""
    return lab.published / benchmark / f"{run}.json"


def published_logs(lab: Lab, benchmark: str | None = None) -> Iterator[PublishedLog]:
    """Every trial log of the snapshot in the order of its address."""
    for file in sorted(lab.published.glob(f"{benchmark or '*'}/*/*/*.json")):
        name, run, task, _ = file.relative_to(lab.published).parts
        yield PublishedLog(name, run, task, file.stem, file)


def scan_published(lab: Lab, scan: Scan) -> list[Finding]:
    """Findings in the snapshot as it lies there (`--scan`)."""
    findings: list[Finding] = []
    for file in sorted(lab.published.rglob("*.json")):
        data, name = file.read_bytes(), file.relative_to(lab.published).as_posix()
        findings += scan.bytes(name, data)
        if name != SUMMARY and (document := read_document(file)):
            findings += forbidden_fields(name, document)
    return findings


def size_gate(site: Path, limit: int = MAX_SITE_BYTES) -> int:
    """Bytes of a built site. Raises FoundProblems when they are more than `limit`, naming the largest files."""
    sizes = sorted(((file.stat().st_size, file) for file in site.rglob("*") if file.is_file()), reverse=True)
    total = sum(size for size, _ in sizes)
    if total > limit:
        largest = ", ".join(f"{file.relative_to(site)} ({size / 1e6:,.1f} MB)" for size, file in sizes[:3])
        raise FoundProblems(f"{site} has {total:,} bytes, more than {limit:,}: publish fewer runs or logs; largest: {largest}")
    return total
