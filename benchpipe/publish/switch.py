"""Putting a whole directory in the place of another, so that a crash at any moment leaves one whole snapshot.

Where the kernel and the file system can exchange two names in one step (Linux, renameat2), that is it. Elsewhere two renames
are needed; a crash between them is mended by `recover` at the next start, before anything else is done.
"""

import ctypes
import errno
import os
import shutil
from pathlib import Path

COMPLETE = "SNAPSHOT.json"
"""Written last: a tree that has it is whole."""

_AT_FDCWD = -100
_EXCHANGE = 2
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


def exchange(a: Path, b: Path) -> bool:
    """Swap two directories in one step. False where that isn't possible (nothing has happened then)."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    if renameat2(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _EXCHANGE) == 0:
        return True
    if (number := ctypes.get_errno()) in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(a), None, str(b))


def switch_in(new: Path, current: Path, previous: Path, *, at_once: bool = True) -> None:
    """Put the whole tree `new`, written to the disk, in the place of `current`, which becomes `previous` (one generation is kept).

    `at_once=False` takes the two renames, as on systems that can't exchange.
    """
    current.parent.mkdir(parents=True, exist_ok=True)
    if not current.exists():
        os.rename(new, current)
        return
    if at_once and exchange(new, current):
        shutil.rmtree(previous, ignore_errors=True)
        os.rename(new, previous)
        return
    shutil.rmtree(previous, ignore_errors=True)
    os.rename(current, previous)
    os.rename(new, current)


def recover(new: Path, current: Path, previous: Path) -> bool:
    """Finish a switch that was cut between its two renames. True if there was one."""
    if current.exists():
        return False
    for tree in (new, previous):
        if (tree / COMPLETE).is_file():
            os.rename(tree, current)
            return True
    return False
