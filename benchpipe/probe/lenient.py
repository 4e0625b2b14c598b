"""JSON and its values as logs hold them: any type anywhere, cut, damaged. Nothing here raises on bad data.

Runs on hosts: Python 3.8, standard library only. Floats are read as Decimal, so that a charge stays what was written.
"""

import calendar
import json
import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any, Optional, Union

NOT_JSON = object()
"""What `decode` gives for text that is no JSON. Not None, which is a value."""

MAX_EPOCH = 32503680000.0  # the year 3000: larger numbers are milliseconds or damage
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?")


def _decimal(text: str) -> Union[Decimal, float]:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond all measure
        return float(text)


_DECODER = json.JSONDecoder(parse_float=_decimal, strict=False)


def decode(text: Union[str, bytes]) -> Any:
    """The JSON value of `text` (bytes are UTF-8, wrong bytes replaced), or NOT_JSON."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return NOT_JSON


def is_number(value: Any) -> bool:
    """A JSON number. Booleans are none."""
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def number(value: Any) -> Optional[float]:
    """A finite number as float, else None."""
    if not is_number(value):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None


def epoch(value: Any) -> Optional[float]:
    """Seconds since 1970 from a number of seconds or an ISO time (without a zone: UTC); None for anything else."""
    if isinstance(value, str):
        return _from_iso(value)
    seconds = number(value)
    return seconds if seconds is not None and 0 <= seconds < MAX_EPOCH else None


def _from_iso(text: str) -> Optional[float]:
    match = _ISO.fullmatch(text.strip())
    if not match:
        return None
    year, month, day, hour, minute, second = (int(match.group(i)) for i in range(1, 7))
    if not (1970 <= year < 3000 and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
        return None
    seconds = calendar.timegm((year, month, day, hour, minute, second, 0, 0, 0)) + float(match.group(7) or 0)
    zone = (match.group(8) or "Z").replace(":", "")
    if zone != "Z":
        offset = int(zone[1:3]) * 3600 + int(zone[3:5]) * 60
        seconds -= offset if zone[0] == "+" else -offset
    return max(seconds, 0.0)


def text_or_none(value: Any, limit: int = 200) -> Optional[str]:
    """A non-empty string, cut to `limit` characters, without halves of surrogate pairs; else None."""
    if not isinstance(value, str) or not value:
        return None
    return value[:limit].encode("utf-8", "replace").decode("utf-8")


def mapping(value: Any) -> dict:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}
