"""Compression: videos become small H.264, PNGs become WebP, every file loses its metadata (runs-system 16.2).

`ffmpeg` and `ffprobe` do the coding; each result is checked before it counts. A file whose result is not older is left alone.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from benchpipe.errors import UsageError
from benchpipe.files import write_bytes, write_json
from benchpipe.publish.media.export import CARD, MANIFEST, STALE
from benchpipe.publish.media.strip import STRIP

VIDEO = ".mp4"
_NO_METADATA = ("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact")
_INDEX_FIRST = ("-movflags", "+faststart")
_SMALL = (
    "-map", "0:v:0", "-an", "-c:v", "libx264", "-crf", "28", "-preset", "medium", "-pix_fmt", "yuv420p",
    "-vf", "scale=-2:'trunc(min(720,ih)/2)*2'", "-threads", "2",
)  # fmt: skip
_AS_IT_IS = ("-map", "0:v:0", "-an", "-c", "copy", "-bsf:v", "filter_units=remove_types=6")
"""H.264 as it was encoded, less its SEI units: whoever encoded it may have written any text there."""
_WEBP = ("-frames:v", "1", "-c:v", "libwebp", "-quality", "80")

Progress = Callable[[int, int, str], None]
"""Called with how many files are done, of how many, and one's name."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one file came about. `how`: encoded, remuxed, webp, stripped, kept (was up to date) or due (dry run)."""

    source: str
    source_bytes: int
    bytes: int
    how: str
    duration: float | None = None


class Compressed(msgspec.Struct, frozen=True, kw_only=True):
    """What a compression did; the content of its manifest."""

    files: int
    bytes: int
    source_bytes: int
    by_type: dict[str, dict[str, int]]
    remuxed: tuple[str, ...]
    failed: tuple[str, ...]
    """`file: reason`; such a file is not in the result."""
    entries: dict[str, Entry]


class _Failed(Exception):
    """A file could not be made, or its result is not the same film."""


def compress(
    source: Path,
    out: Path,
    benchmark: str | None = None,
    *,
    images: str = "webp",
    jobs: int | None = None,
    image_jobs: int | None = None,
    dry_run: bool = False,
    on_progress: Progress | None = None,
) -> Compressed:
    """Bring `out` up to date with the export in `source`; what the export no longer has goes. Failures don't stop the rest.

    `dry_run` only counts what is up to date (`kept`) and what would be made (`due`, with the source's size).

    UsageError without ffmpeg, or without an export.
    """
    _need_ffmpeg()
    part = source / benchmark if benchmark else source
    if not part.is_dir():
        raise UsageError(f"{part}: nothing was exported yet (benchpipe media export)")
    files = [
        file for file in sorted(part.rglob("*")) if file.is_file() and file.name not in (MANIFEST, CARD) and STALE not in file.parts
    ]
    targets = {file: _target(file, source, out, images) for file in files}
    entries: dict[str, Entry] = {}
    failed: list[str] = []
    cpus = os.cpu_count() or 1
    kinds = (
        ([file for file in files if file.suffix == VIDEO], jobs or max(cpus // 2, 1)),
        ([file for file in files if file.suffix != VIDEO], image_jobs or cpus),
    )
    for group, workers in kinds:
        with ThreadPoolExecutor(workers) as pool:
            results = pool.map(lambda file: _one(file, targets[file], source, dry_run), group)
            for file, result in zip(group, results, strict=True):
                name = targets[file].relative_to(out).as_posix()
                if isinstance(result, Entry):
                    entries[name] = result
                else:
                    failed.append(f"{file.relative_to(source).as_posix()}: {result}")
                if on_progress:
                    on_progress(len(entries) + len(failed), len(files), name)
    report = _report(entries, failed)
    if not dry_run:
        _remove_others(out / benchmark if benchmark else out, {out / name for name in entries})
        write_json(out / (benchmark or "") / MANIFEST, msgspec.to_builtins(report))
    return report


def _need_ffmpeg() -> None:
    for program in ("ffmpeg", "ffprobe"):
        if shutil.which(program) is None:
            raise UsageError(f"{program} is not installed: apt install ffmpeg")


def _target(file: Path, source: Path, out: Path, images: str) -> Path:
    target = out / file.relative_to(source)
    return target.with_suffix(f".{images}") if images and file.suffix.lower() == ".png" else target


def _one(file: Path, target: Path, source: Path, dry_run: bool) -> Entry | str:
    """One file's entry, or why it failed."""
    relative = file.relative_to(source).as_posix()

    def entry(how: str, duration: float | None = None) -> Entry:
        size = file.stat().st_size
        made = size if how == "due" else target.stat().st_size
        return Entry(source=relative, source_bytes=size, bytes=made, how=how, duration=duration)

    if target.is_file() and target.stat().st_mtime_ns >= file.stat().st_mtime_ns:
        return entry("kept")
    if dry_run:
        return entry("due")
    beside = target.with_name(f".new.{target.name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if file.suffix == VIDEO:
            how, duration = _video(file, beside)
        else:
            how, duration = _image(file, beside), None
        os.replace(beside, target)
        return entry(how, duration)
    except (_Failed, ValueError, OSError) as error:
        return str(error)
    finally:
        beside.unlink(missing_ok=True)


def _video(file: Path, target: Path) -> tuple[str, float]:
    duration = _duration(file)
    how = "encoded"
    _ffmpeg(file, target, *_SMALL, *_NO_METADATA, *_INDEX_FIRST)
    if target.stat().st_size >= file.stat().st_size and _probed(file, "stream=codec_name") == "h264":
        how = "remuxed"
        _ffmpeg(file, target, *_AS_IT_IS, *_NO_METADATA, *_INDEX_FIRST)
    made = _duration(target)
    if abs(made - duration) > 0.01 * duration + 0.05:
        raise _Failed(f"lasts {made:.2f} s instead of {duration:.2f} s")
    said = _run("ffmpeg", "-v", "error", "-i", str(target), "-f", "null", "-").stderr.strip()
    if said:
        raise _Failed(f"can't be decoded whole: {said.splitlines()[0][:200]}")
    return how, made


def _image(file: Path, target: Path) -> str:
    if file.suffix.lower() == ".png" and target.suffix == ".webp":
        _ffmpeg(file, target, *_WEBP, *_NO_METADATA[:2])
        write_bytes(target, STRIP[".webp"](target.read_bytes()))
        return "webp"
    strip = STRIP.get(file.suffix.lower())
    if strip is None:
        raise _Failed(f"files of type {file.suffix or 'unknown'} are not published")
    write_bytes(target, strip(file.read_bytes()))
    return "stripped"


def _ffmpeg(source: Path, target: Path, *options: str) -> None:
    said = _run("ffmpeg", "-nostdin", "-v", "error", "-y", "-i", str(source), *options, str(target))
    if said.returncode or not target.is_file():
        raise _Failed(f"ffmpeg: {(said.stderr.strip().splitlines() or ['no output'])[-1][:200]}")


def _duration(file: Path) -> float:
    try:
        return float(_probed(file, "format=duration"))
    except ValueError:
        raise _Failed("is no whole video: no duration") from None


def _probed(file: Path, entry: str) -> str:
    """What `ffprobe` says of the file or of its first video stream."""
    said = _run("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", entry, "-of", "csv=p=0", str(file))
    if said.returncode:
        raise _Failed(f"is no whole video: {(said.stderr.strip().splitlines() or ['unreadable'])[0][:200]}")
    return said.stdout.strip()


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)


def _remove_others(part: Path, kept: set[Path]) -> None:
    for file in _files(part):
        if file not in kept and file.name != MANIFEST:
            file.unlink()


def _files(part: Path) -> Iterator[Path]:
    yield from (file for file in sorted(part.rglob("*")) if file.is_file())


def _report(entries: dict[str, Entry], failed: list[str]) -> Compressed:
    by_type: dict[str, dict[str, int]] = {}
    for name, entry in entries.items():
        sums = by_type.setdefault(Path(name).suffix.lstrip("."), {"files": 0, "source_bytes": 0, "bytes": 0})
        sums["files"] += 1
        sums["source_bytes"] += entry.source_bytes
        sums["bytes"] += entry.bytes
    return Compressed(
        files=len(entries),
        bytes=sum(entry.bytes for entry in entries.values()),
        source_bytes=sum(entry.source_bytes for entry in entries.values()),
        by_type=by_type,
        remuxed=tuple(sorted(name for name, entry in entries.items() if entry.how == "remuxed")),
        failed=tuple(failed),
        entries=entries,
    )
