"""Export, compression and metadata: what leaves is what the logs name, small, whole, and silent about where it was made."""

import shutil
import struct
import subprocess
import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchpipe.errors import UsageError
from benchpipe.lab import Lab
from benchpipe.publish.media.bring import bring_media
from benchpipe.publish.media.compress import compress
from benchpipe.publish.media.export import STALE, export
from benchpipe.publish.media.stores import FolderStore
from benchpipe.publish.media.strip import NotAnImage, stripped_jpeg, stripped_png, stripped_webp
from benchpipe.publish.snapshot import publish
from benchpipe.publish.whitelist import media_names
from benchpipe.registry.load import load_registry
from benchpipe_tests.publish.collected import BENCHMARK, RUN, collect, record

SAYS = b"made by somebody on gpu1"


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int = 64, height: int = 64) -> bytes:
    """A picture with text and EXIF in it."""
    rows = b"".join(b"\0" + bytes((x * y) % 251 for x in range(width * 3)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    texts = chunk(b"tEXt", b"Author\0" + SAYS) + chunk(b"eXIf", b"MM\0*" + SAYS) + chunk(b"iTXt", b"XML\0\0\0\0\0" + SAYS)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + texts + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"") + SAYS


def ffmpeg(*arguments: str) -> None:
    if shutil.which("ffmpeg") is None:
        pytest.skip("needs the Debian package ffmpeg")
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *arguments], check=True)


def video(path: Path, seconds: int = 2, *extra: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    source = ("-f", "lavfi", "-i", f"testsrc2=size=320x240:rate=25:duration={seconds}")
    ffmpeg(*source, "-metadata", f"comment={SAYS.decode()}", "-c:v", "libx264", "-crf", "5", *extra, str(path))


def pixels(file: Path) -> bytes:
    """The decoded picture."""
    command = ["ffmpeg", "-v", "error", "-i", str(file), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    return subprocess.run(command, check=True, capture_output=True).stdout


@pytest.fixture
def published(lab: Lab) -> Lab:
    """A lab with one published trial and its media."""
    collect(lab, records={"pour_water": {"limited": record("t")}})
    publish(lab, load_registry(lab), now=datetime(2026, 11, 30, tzinfo=UTC))
    slot = lab.slot_folder(BENCHMARK, RUN, "pour_water", "limited")
    video(slot / "replay.mp4")
    for name in ("replay.png", "img/001.png", "snap/00.png"):
        (slot / name).parent.mkdir(exist_ok=True)
        (slot / name).write_bytes(png())
    return lab


def test_an_export_holds_what_the_logs_name_and_nothing_else(published: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "out" / BENCHMARK / RUN / "pour_water" / "limited"
    first = export(published, tmp_path / "out", BENCHMARK)
    assert {file.relative_to(folder).as_posix() for file in folder.rglob("*.*")} == {
        "replay.mp4",
        "replay.png",
        "img/001.png",
        "snap/00.png",
    }
    assert (first.files, first.written, first.missing) == (4, 4, ())
    assert export(published, tmp_path / "out", BENCHMARK).written == 0
    (folder / "old.png").write_bytes(b"x")
    (published.slot_folder(BENCHMARK, RUN, "pour_water", "limited") / "snap" / "00.png").unlink()
    again = export(published, tmp_path / "out", BENCHMARK)
    assert again.missing == (f"{BENCHMARK}/{RUN}/pour_water/limited/snap/00.webp",)
    assert not (folder / "old.png").exists()
    assert (tmp_path / "out" / STALE / folder.relative_to(tmp_path / "out") / "old.png").is_file()


def test_names_that_leave_the_slot_are_ignored() -> None:
    log = {
        "media": {"video": "../x.mp4", "last": "/etc/passwd"},
        "steps": [{"img": ["img/1.png", "a/../../b.png"]}],
        "snapshots": [{"src": "C:\\x"}],
    }
    assert media_names(log) == ["img/1.png"]


def test_a_link_out_of_the_slot_is_not_exported(published: Lab, tmp_path: Path) -> None:
    slot = published.slot_folder(BENCHMARK, RUN, "pour_water", "limited")
    (tmp_path / "private.png").write_bytes(png())
    (slot / "snap" / "00.png").unlink()
    (slot / "snap" / "00.png").symlink_to(tmp_path / "private.png")
    assert export(published, tmp_path / "out", BENCHMARK).missing


def test_nothing_published_is_wrong_use(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="publish first"):
        export(lab, tmp_path)


def test_compressed_media_are_smaller_whole_and_say_nothing(published: Lab, tmp_path: Path) -> None:
    export(published, tmp_path / "in", BENCHMARK)
    done = compress(tmp_path / "in", tmp_path / "out", BENCHMARK, jobs=1, image_jobs=1)
    folder = tmp_path / "out" / BENCHMARK / RUN / "pour_water" / "limited"
    assert done.failed == ()
    assert {file.relative_to(folder).as_posix() for file in folder.rglob("*.*")} == {
        "replay.mp4",
        "replay.webp",
        "img/001.webp",
        "snap/00.webp",
    }
    assert all(SAYS not in file.read_bytes() for file in folder.rglob("*.*"))
    entry = done.entries[f"{BENCHMARK}/{RUN}/pour_water/limited/replay.mp4"]
    assert entry.how == "encoded"
    assert entry.bytes < entry.source_bytes
    assert entry.duration == pytest.approx(2.0, abs=0.07)
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*.*")}
    again = compress(tmp_path / "in", tmp_path / "out", BENCHMARK, jobs=1, image_jobs=1)
    assert {one.how for one in again.entries.values()} == {"kept"}
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*.*")} == before


def test_segments_and_chunks_hold_nothing_behind_what_the_picture_needs(tmp_path: Path) -> None:
    jpeg, png = tmp_path / "a.jpg", tmp_path / "a.png"
    for file in (jpeg, png):
        ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x64", "-frames:v", "1", str(file))
    said = SAID.encode()
    segments = [
        (0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0" + said),
        (0xE0, b"JFXX\0" + said),
        (0xEE, b"Adobe\0d\0\0\0\0\0" + said),
        (0xF0, said),
    ]
    for marker, body in segments:
        segment = struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body
        data = jpeg.read_bytes()
        assert said not in stripped_jpeg(data[:2] + segment + data[2:])
    for kind in (b"gAMA", b"sBIT", b"bKGD", b"pHYs"):
        chunk = struct.pack(">I", len(said)) + kind + said + struct.pack(">I", zlib.crc32(kind + said))
        data = png.read_bytes()
        assert said not in stripped_png(data[:33] + chunk + data[33:])


SAID = "said-by-the-encoder"


def small_video(file: Path, *codec: str) -> None:
    """A video that no encoder of ours makes smaller, with a text of its encoder's in the stream itself where it can hold one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=160x120:duration=2", "-metadata", f"title={SAID}", *codec, str(file))


def test_a_video_that_would_grow_is_only_remuxed_and_says_nothing_inside_its_stream_either(tmp_path: Path) -> None:
    note = f"h264_metadata=sei_user_data=086f3693-b7b3-4f2c-9653-21492feee5b8+{SAID}"
    small_video(tmp_path / "in/b/a.mp4", "-c:v", "libx264", "-preset", "veryslow", "-crf", "40", "-bsf:v", note)
    assert (tmp_path / "in/b/a.mp4").read_bytes().count(SAID.encode()) > 1
    done = compress(tmp_path / "in", tmp_path / "out", jobs=1)
    assert done.remuxed == ("b/a.mp4",)
    assert SAID.encode() not in (tmp_path / "out/b/a.mp4").read_bytes()


def test_a_small_video_of_another_codec_becomes_h264_though_it_grows(tmp_path: Path) -> None:
    small_video(tmp_path / "in/b/a.mp4", "-c:v", "mpeg4", "-q:v", "31")
    done = compress(tmp_path / "in", tmp_path / "out", jobs=1)
    assert [one.how for one in done.entries.values()] == ["encoded"]
    assert SAID.encode() not in (tmp_path / "out/b/a.mp4").read_bytes()


def test_what_cannot_be_made_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    source = tmp_path / "in" / "b"
    video(source / "whole.mp4")
    (source / "cut.mp4").write_bytes((source / "whole.mp4").read_bytes()[:3000])
    (source / "picture.png").write_bytes(b"no picture")
    (source / "script.sh").write_bytes(b"#!/bin/sh")
    done = compress(tmp_path / "in", tmp_path / "out", jobs=1, image_jobs=1)
    assert list(done.entries) == ["b/whole.mp4"]
    assert sorted(failure.partition(":")[0] for failure in done.failed) == ["b/cut.mp4", "b/picture.png", "b/script.sh"]
    assert not list((tmp_path / "out").rglob(".new*"))


def test_a_png_loses_texts_and_exif_and_no_pixel(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png())
    bare = stripped_png(png())
    (tmp_path / "b.png").write_bytes(bare)
    assert SAYS not in bare
    if shutil.which("ffmpeg"):
        assert pixels(tmp_path / "a.png") == pixels(tmp_path / "b.png")
    assert stripped_png(bare) == bare


def test_a_jpeg_loses_exif_and_comments_and_no_pixel(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png())
    ffmpeg("-i", str(tmp_path / "a.png"), str(tmp_path / "a.jpg"))
    plain = (tmp_path / "a.jpg").read_bytes()
    segments = [(b"\xff\xe1", b"Exif\0\0" + SAYS), (b"\xff\xfe", SAYS), (b"\xff\xed", b"Photoshop 3.0\0" + SAYS)]
    loud = plain[:2] + b"".join(marker + struct.pack(">H", len(body) + 2) + body for marker, body in segments) + plain[2:] + SAYS
    (tmp_path / "b.jpg").write_bytes(stripped_jpeg(loud))
    assert SAYS not in stripped_jpeg(loud)
    assert pixels(tmp_path / "a.jpg") == pixels(tmp_path / "b.jpg")


def test_a_webp_loses_exif_and_xmp_and_no_pixel(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png())
    ffmpeg("-i", str(tmp_path / "a.png"), "-c:v", "libwebp", str(tmp_path / "a.webp"))
    plain = (tmp_path / "a.webp").read_bytes()
    picture = plain[12:]
    extended = b"VP8X" + struct.pack("<I", 10) + bytes([0x0C, 0, 0, 0]) + (63).to_bytes(3, "little") * 2
    notes = b"".join(kind + struct.pack("<I", len(SAYS)) + SAYS + b"\0" * (len(SAYS) % 2) for kind in (b"EXIF", b"XMP "))
    body = b"WEBP" + extended + picture + notes
    loud = b"RIFF" + struct.pack("<I", len(body)) + body
    (tmp_path / "b.webp").write_bytes(stripped_webp(loud))
    assert SAYS not in stripped_webp(loud)
    assert pixels(tmp_path / "a.webp") == pixels(tmp_path / "b.webp")


@pytest.mark.parametrize("strip", [stripped_png, stripped_jpeg, stripped_webp])
def test_what_is_no_whole_image_is_refused(strip: object) -> None:
    for data in (b"", b"text", png()[:60], b"\xff\xd8\xff\xe0\x00\x10", b"RIFF\x10\0\0\0WEBPVP8 \xff\0\0\0"):
        with pytest.raises(NotAnImage):
            strip(data)  # type: ignore[operator]


def test_the_whole_way_ends_with_the_withdrawn_media_gone(published: Lab, tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "dataset")
    first = bring_media(published, load_registry(published), BENCHMARK, store, jobs=1, image_jobs=1)
    assert len(first.uploaded.sent) == 4
    collect(published, records={"open_drawer": {"limited": record("other")}})
    publish(published, load_registry(published), now=datetime(2026, 11, 30, tzinfo=UTC))
    second = bring_media(published, load_registry(published), BENCHMARK, store, jobs=1, image_jobs=1)
    assert len(second.uploaded.deleted) == 4
    assert not list((tmp_path / "dataset").rglob("*.webp"))
