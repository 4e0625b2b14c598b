"""What a trial left to look at: the replay, or the newest images and `gen.py` (runs-system 10.3, 7 and 8).

Files are copied into the slot's folder; nothing is decoded or converted.
"""

import shutil
from pathlib import Path

from benchpipe.files import write_bytes
from benchpipe.probe.harbor import complete_mp4
from benchpipe.registry.records import Backfill
from benchpipe.transcripts.files import inside
from benchpipe.transcripts.records import Media, Snapshot
from benchpipe.transcripts.texts import cut, plain

SNAPSHOTS = 12
GEN_LIMIT = 40_000
OUTPUT_FOLDER = "artifacts/app/output"
_IMAGES = {".png": "png", ".jpg": "jpg", ".jpeg": "jpg"}


def verdict_folder(trial: Path) -> str:
    """`verifier_regrade` if a regrade has given a reward, else `verifier`."""
    return "verifier_regrade" if inside(trial, "verifier_regrade/reward.json") else "verifier"


def copy_replay(trial: Path, slot: Path, backfill: Backfill | None, backfill_video: Path | None) -> Media:
    """The replay to show, first that applies: a sentence instead, a later rendering, the regrade's, the verifier's."""
    if backfill and backfill.video_problem:
        return Media(problem=plain(backfill.video_problem))
    if backfill_video and complete_mp4(str(backfill_video)):
        return Media(video=_copy(backfill_video, slot / "replay.mp4"), rerendered=True)
    problem = None
    for folder in dict.fromkeys((verdict_folder(trial), "verifier")):
        video = inside(trial, f"{folder}/replay.mp4")
        if video is None:
            continue
        if not complete_mp4(str(video)):
            problem = "the replay was cut off where it was made"
            continue
        frame = inside(trial, f"{folder}/replay.last.png")
        last = _copy(frame, slot / "replay.png") if frame else None
        return Media(video=_copy(video, slot / "replay.mp4"), last=last)
    return Media(problem=problem)


def copy_snapshots(trial: Path, slot: Path) -> tuple[list[Snapshot], str | None]:
    """The newest images of the agent's output folder, oldest of them first, and its `gen.py`."""
    root = trial / OUTPUT_FOLDER
    found = []
    for path in root.rglob("*") if root.is_dir() else ():
        if path.suffix.lower() in _IMAGES and inside(trial, path.relative_to(trial).as_posix()):
            found.append((path.stat().st_mtime, path))
    newest = sorted(sorted(found)[-SNAPSHOTS:])
    snapshots = []
    for n, (t, path) in enumerate(newest, 1):
        name = f"snap/{n:02}.{_IMAGES[path.suffix.lower()]}"
        write_bytes(slot / name, path.read_bytes())
        snapshots.append(Snapshot(src=name, name=plain(path.relative_to(root).as_posix())[:200], t=round(t, 1)))
    script = inside(trial, f"{OUTPUT_FOLDER}/gen.py")
    if script is None:
        return snapshots, None
    text = plain(script.read_bytes()[: 4 * GEN_LIMIT].decode("utf-8", "replace"))
    return snapshots, cut(text, GEN_LIMIT, GEN_LIMIT, 0)


def _copy(source: Path, target: Path) -> str:
    """Copy unless size and time are equal; the target's name."""
    have = target.stat() if target.exists() else None
    wanted = source.stat()
    if have is None or (have.st_size, have.st_mtime_ns) != (wanted.st_size, wanted.st_mtime_ns):
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(f".{target.name}.new")
        shutil.copy2(source, new)
        new.chmod(0o644)  # as all files of a slot: the site shows them
        new.replace(target)
    return target.name
