"""Files of a host as documents: read whole under a limit, never through a link, never from a pipe; wrong ones are named.

What can't be read is named in `problems` and counts as absent (B11). Values of a wrong type count as absent too.
"""

from __future__ import annotations

import json
import math
import os
import stat
import time
from decimal import Decimal

from benchpipe.probe.listing import Job, Trial, clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

MAX_JSON = 64 << 20
MAX_KEYS = 200
FRESH_S = 5.0
"""A file this young that doesn't parse is probably being written (harbor-jobs 5.1): it is read once more."""


class TooLarge(ValueError):
    """The file is larger than what is read of it."""


def open_plain(path: str) -> int:
    """A descriptor of a regular file; OSError for links, pipes and devices, which would lead away or block."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(0, "not a regular file")
    return handle


def read_small(path: str, limit: int = MAX_JSON) -> bytes:
    """The whole file. TooLarge above `limit`, OSError as `open`."""
    with os.fdopen(open_plain(path), "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise TooLarge("larger than %d MiB" % (limit >> 20))
    return data


def parse(data: bytes, decimals: bool = False) -> Any:
    """JSON of `data`, wrong UTF-8 replaced; ValueError if it is none. `decimals`: numbers with a point stay exact."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"), parse_float=Decimal if decimals else None)
    except RecursionError:
        raise ValueError("nested too deeply") from None


class Folder:
    """A directory with the files that the listing found in it, and the problems met while reading them."""

    def __init__(self, found: "Job | Trial") -> None:
        self.path = found.path
        self.files = found.files
        self.problems: List[str] = list(found.problems)

    def load(self, name: str, decimals: bool = False) -> Tuple[str, Any]:
        """`(condition, value)`; the condition is absent, empty, damaged or whole, the value is None unless whole."""
        if name not in self.files:
            return "absent", None
        for attempt in (1, 2):
            try:
                data = read_small(os.path.join(self.path, name))
                if data.strip():
                    return "whole", parse(data, decimals)
                condition, reason = "empty", "empty"
            except FileNotFoundError:
                return "absent", None
            except OSError as error:
                self.problems.append("%s can't be read: %s" % (name, error.strerror))
                return "damaged", None
            except TooLarge as error:
                self.problems.append("%s is not read: %s" % (name, error))
                return "damaged", None
            except ValueError:
                condition, reason = "damaged", "not whole JSON"
            if attempt == 1 and abs(time.time() - self.files[name].st_mtime) < FRESH_S:
                time.sleep(0.1)
            else:
                break
        self.problems.append("%s is %s" % (name, reason))
        return condition, None

    def mapping(self, name: str) -> Dict[str, Any]:
        """The JSON object of `name`, {} if it is anything else."""
        return as_map(self.load(name)[1])


def as_map(value: Any) -> Dict[str, Any]:
    """`value` if it is a mapping, else {}."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> List[Any]:
    """`value` if it is a list, else []."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> Optional[str]:
    """`value` if it is text that isn't empty, cut; else None."""
    return clean(value) if isinstance(value, str) and value else None


def as_count(value: Any) -> Optional[int]:
    """`value` if it is a whole number that is not negative (and fits a table), else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None


def as_number(value: Any) -> Optional[float]:
    """`value` as a finite float, else None. Booleans are no numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def numbers(value: Any) -> Optional[Dict[str, float]]:
    """The finite numbers of a reward map; None if there is none (runs-system 4.5, B2)."""
    found = {clean(key, 100): as_number(item) for key, item in list(as_map(value).items())[:MAX_KEYS]}
    return {key: number for key, number in found.items() if number is not None} or None
