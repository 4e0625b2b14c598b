"""What collector and probe say to each other: one request in, one framed answer out. Both sides import this module.

A request is a JSON object behind its length; an answer is compressed JSON in a frame with length and checksum, so that
nothing a login script prints can be taken for it (libraries 2.6). Trials and jobs are hashed into buckets by their names;
only buckets whose digest the collector doesn't know are answered, so that a poll without news is a few hundred bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib

from benchpipe.probe.listing import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Tuple

VERSION = 1
BUCKETS = 256
MAX_ANSWER = 1 << 30
FRAME = re.compile(rb"\nBENCHPIPE 1 ([0-9]{1,12}) ([0-9a-f]{64})\n")


class BadAnswer(ValueError):
    """There is no whole answer in what came; the message says what is wrong with it."""


def bucket(job: str, trial: str) -> str:
    """The bucket of a trial, or of a job itself (`trial` is empty then)."""
    return str(zlib.crc32(("%s\0%s" % (job, trial)).encode("utf-8", "surrogatepass")) % BUCKETS)


def bucket_digests(entries: Iterable[Tuple[str, str, str]]) -> Dict[str, str]:
    """Digest per bucket over `(job, trial, fingerprint)`. Buckets without entries are left out."""
    filled: Dict[str, List[str]] = {}
    for job, trial, fingerprint in entries:
        filled.setdefault(bucket(job, trial), []).append("%s\0%s\0%s" % (job, trial, fingerprint))
    return {name: digest(sorted(lines)) for name, lines in filled.items()}


def frame(answer: Dict[str, Any]) -> bytes:
    """`answer` as it is written to standard output."""
    body = zlib.compress(json.dumps(answer, separators=(",", ":")).encode(), 6)
    return b"\nBENCHPIPE 1 %d %s\n%s\n" % (len(body), hashlib.sha256(body).hexdigest().encode(), body)


def unframe(output: bytes) -> bytes:
    """The JSON text of the last whole answer in `output`. Raises BadAnswer."""
    reason = "no answer of the probe in it"
    for match in reversed(list(FRAME.finditer(output))):
        body = output[match.end() : match.end() + int(match.group(1))]
        if len(body) < int(match.group(1)):
            reason = "the answer was cut after %d of %d bytes" % (len(body), int(match.group(1)))
        elif hashlib.sha256(body).hexdigest().encode() != match.group(2):
            reason = "the answer was damaged on its way (its checksum is wrong)"
        else:
            return _inflate(body)
    raise BadAnswer(reason)


def _inflate(body: bytes) -> bytes:
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(body, MAX_ANSWER)
    except zlib.error:
        raise BadAnswer("the answer is not compressed as it should be") from None
    if not stream.eof:
        raise BadAnswer("the answer is larger than %d MiB" % (MAX_ANSWER >> 20))
    return text
