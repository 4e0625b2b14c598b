"""A run's own record as it may be published: without local paths, private hosts, credentials and addresses (contributions 10.3).

Pure. Keys keep their order and numbers their literal form; the hash of the original stays in it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from benchpipe.contributions.artifacts.secrets import finder, in_bytes, in_own_rules
from benchpipe.contributions.codes import CODES
from benchpipe.contributions.strict_json import Refused, decode, dumps, escape, parse
from benchpipe.files import sha256
from benchpipe.publish.redact import redact

LOCAL = frozenset({"/workspace", "/work_root", "/platform_root", "/base_harness", "/improver/path", "/harness_dir"})
"""What a platform writes about the machine it ran on, as JSON pointers."""
_PATH = re.compile(r"(?:/|~/|[A-Za-z]:[\\/]|file:)\S+")
FROM = "scrubbed_from"


@dataclass(frozen=True)
class Scrubbed:
    """The record's new bytes, where what was dropped stood (JSON pointers), and in how many places a text was redacted.

    `left` are the findings that a submission with this record would still get: keys are not redacted.
    """

    data: bytes
    dropped: tuple[str, ...]
    n_redacted: int
    left: tuple[str, ...]


def scrubbed(data: bytes) -> Scrubbed:
    """A run_meta.json without what has to stay where it came from. Refused unless it is a JSON object."""
    record = parse(decode(data))
    if not isinstance(record, dict):
        raise Refused([(1, "", "is not a JSON object")])
    dropped = tuple(_drop(record, ""))
    n_redacted = sum(redact(record, finder()).values())
    if dropped or n_redacted:
        record.setdefault(FROM, sha256(data))
    new = dumps(record).encode()
    left = tuple(finding.message for finding in in_bytes(new, "the scrubbed record", CODES["PUB-008"], ()))
    return Scrubbed(new, dropped, n_redacted, left)


def _drop(value: Any, pointer: str) -> Iterator[str]:
    """Take local things out of an object or a list; the pointers of what went."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, item in reversed(items):
        place = f"{pointer}/{escape(str(key))}"
        is_path = isinstance(item, str) and _PATH.fullmatch(item) is not None
        if key == "study_ids" and is_path:  # the name of the list is held against the submission (12)
            value[key] = PurePath(item).name
            yield f"the folder of {place}"
        elif place in LOCAL or is_path or _PATH.fullmatch(str(key)) or (isinstance(item, str) and _own(str(key), item)):
            del value[key]
            yield place
        else:
            yield from _drop(item, place)


def _own(key: str, text: str) -> bool:
    """Whether an entry, written as JSON, holds what only contributed texts are looked through for."""
    return in_own_rules(f'"{key}": "{text}"')
