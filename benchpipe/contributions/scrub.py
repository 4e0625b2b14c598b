"""A run's own record as it may be published: without local paths, private hosts, credentials and addresses (contributions 10.3).

Pure. Keys keep their order and numbers their literal form; the hash of the original stays in it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchpipe.contributions.strict_json import Refused, decode, dumps, escape, parse
from benchpipe.files import sha256
from benchpipe.publish.find import Finder
from benchpipe.publish.redact import redact
from benchpipe.publish.rules import built_in_rules

LOCAL = frozenset({"/workspace", "/work_root", "/platform_root", "/base_harness", "/improver/path", "/harness_dir"})
"""What a platform writes about the machine it ran on, as JSON pointers."""
_PATH = re.compile(r"(?:/|~/|[A-Za-z]:[\\/]|file:)\S+")
FROM = "scrubbed_from"


@dataclass(frozen=True)
class Scrubbed:
    """The record's new bytes, the JSON pointers of what was dropped, and in how many places a text was redacted."""

    data: bytes
    dropped: tuple[str, ...]
    n_redacted: int


def scrubbed(data: bytes) -> Scrubbed:
    """A run_meta.json without what has to stay where it came from. Refused unless it is a JSON object."""
    record = parse(decode(data))
    if not isinstance(record, dict):
        raise Refused([(1, "", "is not a JSON object")])
    dropped = tuple(_drop(record, ""))
    n_redacted = sum(redact(record, Finder(built_in_rules())).values())
    if dropped or n_redacted:
        record.setdefault(FROM, sha256(data))
    return Scrubbed(dumps(record).encode(), dropped, n_redacted)


def _drop(value: Any, pointer: str) -> Iterator[str]:
    """Take local things out of an object or a list; the pointers of what went."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, item in reversed(items):
        place = f"{pointer}/{escape(str(key))}"
        if place in LOCAL or (isinstance(item, str) and _PATH.fullmatch(item)):
            del value[key]
            yield place
        else:
            yield from _drop(item, place)
