"""Files and locks on a disk that is full or read-only: one sentence, and what was there stays whole."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchpipe import files
from benchpipe.errors import LockHeld, UsageError


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, filled to the last byte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("only root may mount a small file system (Debian: mount)")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def fill(disk: Path) -> None:
    with open(disk / "fill", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def test_a_lock_on_a_full_disk_says_that_it_cannot_be_written(small_disk: Path) -> None:
    fill(small_disk)
    with pytest.raises(UsageError, match="No space left on device"), files.lock(small_disk / "publish.lock"):
        pytest.fail("the lock's file could not be written")


def test_a_file_on_a_full_disk_stays_as_it_was(small_disk: Path) -> None:
    path = small_disk / "status.json"
    assert files.write_json(path, {"a": 1})
    fill(small_disk)
    with pytest.raises(UsageError, match="No space left on device"):
        files.write_json(path, {"a": list(range(9999))})
    assert path.read_bytes() == files.json_bytes({"a": 1})
    assert sorted(one.name for one in small_disk.iterdir()) == ["fill", "status.json"]


def test_something_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file where a folder should be")
    (tmp_path / "status.json").mkdir()
    for path in (tmp_path / "runs" / "b" / "r.json", tmp_path / "runs" / "r.json", tmp_path / "status.json"):
        with pytest.raises(UsageError, match=f"^{path}: can't be written"):
            files.write_bytes(path, b"x")


def test_a_lock_names_its_holder_and_goes_with_it(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "poll.lock"
    with files.lock(path), pytest.raises(LockHeld, match=r"^poll is being done already by process \d+; "), files.lock(path):
        pytest.fail("two held one lock")
    with files.lock(path):
        pass


def test_equal_bytes_leave_a_file_untouched(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.json"
    assert files.write_json(path, {"x": 1})
    before = path.stat()
    assert not files.write_json(path, {"x": 1})
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_linked_file_is_the_collected_one_until_that_is_replaced(tmp_path: Path) -> None:
    source, target = tmp_path / "log.json", tmp_path / "site/log.json"
    files.write_bytes(source, b"one")
    assert files.link_or_copy(source, target)
    assert target.samefile(source)
    assert not files.link_or_copy(source, target)
    files.write_bytes(source, b"two")
    assert target.read_bytes() == b"one"
    assert files.link_or_copy(source, target)
    assert (target.read_bytes(), target.samefile(source)) == (b"two", True)
    assert sorted(file.name for file in target.parent.iterdir()) == ["log.json"]


def test_where_no_link_can_be_made_a_copy_is(small_disk: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "log.json", small_disk / "site/log.json"
    files.write_bytes(source, b"one")
    assert files.link_or_copy(source, target)
    assert (target.read_bytes(), target.samefile(source)) == (b"one", False)
    assert not files.link_or_copy(source, target)
    fill(small_disk)
    files.write_bytes(source, b"x" * 4096)
    with pytest.raises(UsageError, match="No space left on device"):
        files.link_or_copy(source, target)
    assert target.read_bytes() == b"one"
    assert [file.name for file in target.parent.iterdir()] == ["log.json"]
