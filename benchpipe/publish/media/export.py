"""Export: the files that published logs name, linked from the log pages' folders into one tree (runs-system 16.1)."""

import mimetypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchpipe.errors import UsageError
from benchpipe.files import file_sha256, link_or_copy, write_bytes, write_json
from benchpipe.lab import Lab
from benchpipe.publish.published import published_logs, read_document, read_summary
from benchpipe.publish.whitelist import media_names

MANIFEST = "manifest.json"
STALE = ".stale"
CARD = "README.md"
"""The dataset's card, beside the benchmarks' folders."""


class Named(NamedTuple):
    """A media file that a published log names: its address in the dataset, and where it lies here (None: nowhere)."""

    address: str
    source: Path | None


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What an export did; the content of its manifest without the entries."""

    written: int
    files: int
    bytes: int
    by_type: dict[str, dict[str, int]]
    largest: str | None
    missing: tuple[str, ...]
    """Addresses whose file isn't on this machine. Reported, not fatal."""
    entries: tuple[dict[str, Any], ...]


def named_media(lab: Lab, benchmark: str | None = None) -> Iterator[Named]:
    """Every media file of the snapshot, or of one benchmark's part, in the order of the logs. A `.webp` may lie here as `.png`."""
    for log in published_logs(lab, benchmark):
        folder = lab.slot_folder(log.benchmark, log.run, log.task, log.slot)
        for name in media_names(read_document(log.file) or {}):
            candidates = [folder / name, *([(folder / name).with_suffix(".png")] if name.endswith(".webp") else [])]
            yield Named(f"{log.folder}/{name}", next((file for file in candidates if _inside(file, folder)), None))


def _inside(file: Path, folder: Path) -> bool:
    return file.is_file() and file.resolve().is_relative_to(folder.resolve())


def export(lab: Lab, out: Path, benchmark: str | None = None, *, dry_run: bool = False) -> Exported:
    """Bring `out` up to date: link or copy what is named, move what no longer is to `.stale/`, write the manifest and the card.

    UsageError without a snapshot, or without one of that benchmark.
    """
    summary = read_summary(lab.published)
    if summary is None or (benchmark and benchmark not in {line.benchmark for line in summary.runs}):
        whose = f" of {benchmark}" if benchmark else ""
        raise UsageError(f"no snapshot{whose} in {lab.relative(lab.published)}: publish first (benchpipe publish)")
    entries: list[dict[str, Any]] = []
    missing: list[str] = []
    written = 0
    kept = set()
    for address, source in named_media(lab, benchmark):
        if source is None:
            missing.append(address)
            continue
        target = (out / address).with_suffix(source.suffix)
        kept.add(target)
        if not dry_run:
            written += link_or_copy(source, target)
        mime = mimetypes.guess_type(target.name)[0] or "application/octet-stream"
        path = target.relative_to(out).as_posix()
        entries.append({"path": path, "bytes": source.stat().st_size, "sha256": file_sha256(source), "type": mime})
    if not dry_run:
        if lab.media_card.is_file():
            write_bytes(out / CARD, lab.media_card.read_bytes())  # no link: people write into that file
            kept.add(out / CARD)
        _retire(out, out / benchmark if benchmark else out, kept)
    report = _report(written, entries, missing)
    if not dry_run:
        write_json(out / (benchmark or "") / MANIFEST, msgspec.to_builtins(report))
    return report


def _report(written: int, entries: list[dict[str, Any]], missing: list[str]) -> Exported:
    by_type: dict[str, dict[str, int]] = {}
    for entry in entries:
        sums = by_type.setdefault(entry["type"], {"files": 0, "bytes": 0})
        sums["files"] += 1
        sums["bytes"] += entry["bytes"]
    return Exported(
        written=written,
        files=len(entries),
        bytes=sum(entry["bytes"] for entry in entries),
        by_type=by_type,
        largest=max(entries, key=lambda entry: entry["bytes"])["path"] if entries else None,
        missing=tuple(missing),
        entries=tuple(entries),
    )


def _retire(out: Path, part: Path, kept: set[Path]) -> None:
    """Move files below `part` that are no longer named out of the way."""
    for file in sorted(part.rglob("*")):
        relative = file.relative_to(out)
        if not file.is_file() or STALE in relative.parts or file in kept or file.name == MANIFEST:
            continue
        target = out / STALE / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, target)
