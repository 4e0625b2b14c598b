"""Writing files so that a crash at any moment leaves a whole one, and holding locks that a crash releases (A5, A6)."""

import contextlib
import errno
import fcntl
import filecmp
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchpipe.errors import LockHeld, UsageError

NOT_WRITABLE = {
    errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EISDIR, errno.ENOTDIR, errno.EEXIST,
}  # fmt: skip
"""What a person can mend; the last three: something else is in the way."""


def sha256(data: bytes) -> str:
    """Lower-case hex digest, 64 characters."""
    return hashlib.sha256(data).hexdigest()


def file_sha256(path: Path) -> str:
    """`sha256` of a file's bytes, however many."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_bytes(value: Any) -> bytes:
    """The one form of JSON files that people diff: sorted keys, indent 1, UTF-8, final newline, no NaN."""
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """A place that can't be written (read-only, full, no rights, something in the way) becomes a UsageError with the reason."""
    try:
        yield
    except OSError as error:
        if error.errno in NOT_WRITABLE:
            raise UsageError(f"{path}: can't be written ({os.strerror(error.errno or 0)}); check rights and space") from error
        raise


def write_bytes(path: Path, data: bytes) -> bool:
    """Replace `path` by `data` atomically. True if it changed; a file with equal bytes is left untouched.

    Raises UsageError if the place can't be written (read-only, full, no rights).
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return False
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".new", delete=False) as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, 0o644)
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    return True


def write_json(path: Path, value: Any) -> bool:
    """`write_bytes` of `json_bytes(value)`."""
    return write_bytes(path, json_bytes(value))


def link_or_copy(source: Path, target: Path) -> bool:
    """Make `target` the same file as `source` by a hard link, a copy where none can be made. False if it has its bytes already.

    Only for sources that are replaced when they change and never written into. Raises OSError if `source` can't be read,
    UsageError if the place can't be written.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if target.samefile(source) or filecmp.cmp(source, target, shallow=False):
            return False
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".{target.name}.new")
        beside.unlink(missing_ok=True)
        try:
            try:
                os.link(source, beside)
            except OSError:
                shutil.copy2(source, beside)
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    return True


@contextlib.contextmanager
def lock(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold an advisory lock on `path`; the kernel releases it when the process ends, however it ends.

    `wait=False` raises LockHeld with the holder's process id when somebody else has it; UsageError if it can't be written.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+b", buffering=0)  # noqa: SIM115 (closed by the with below); buffered, a full disk fails on closing
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            file.seek(0)
            holder = file.read(100).decode().strip() or "another process"
            raise LockHeld(f"{path.stem} is being done already by {holder}; nothing to do here") from None
        with writing(path):
            file.truncate(0)
            file.write(f"process {os.getpid()}".encode())
        yield
