"""What collector and probe say to each other: one request in, one framed answer out. Both sides import this module.

An answer is compressed JSON in a frame with length and checksum, so that nothing a login script prints can be taken for it
(libraries 2.6). Jobs and trials are hashed into buckets by their names; only buckets whose digest the collector doesn't
know are answered, so that a poll without news is a few hundred bytes.
"""

from __future__ import annotations

import zlib

from benchpipe.probe.listing import blake2b, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Iterable, List, Sequence, Tuple

VERSION = 1
BUCKETS = 256
END = b"\nBENCHPIPE END\n"
"""Behind every answer, so that a reader knows without parsing that no more will come."""
LISTING = "listing"
"""The bucket of what belongs to no job: batches that have a trace, and strangers."""


def bucket(job: str, trial: str) -> str:
    """The bucket of a trial, or of a job itself (`trial` is empty then)."""
    return str(zlib.crc32(("%s\0%s" % (job, trial)).encode("utf-8", "surrogatepass")) % BUCKETS)


def bucket_digests(entries: Iterable[Tuple[str, str, str]], seen: Sequence[str], strangers: Sequence[str]) -> Dict[str, str]:
    """Digest per bucket over `(job, trial, fingerprint)`, and of what belongs to no job. Empty buckets are left out."""
    filled: Dict[str, List[str]] = {}
    for job, trial, fingerprint in entries:
        filled.setdefault(bucket(job, trial), []).append("%s\0%s\0%s" % (job, trial, fingerprint))
    digests = {name: digest(sorted(lines)) for name, lines in filled.items()}
    digests[LISTING] = digest([*seen, "", *strangers])
    return digests


def checksum(body: bytes) -> str:
    """The checksum of a frame, 64 hex digits."""
    return blake2b(body, digest_size=32).hexdigest()


def frame(text: bytes) -> bytes:
    """`text` as it is written to standard output."""
    body = zlib.compress(text, 6)
    return b"\nBENCHPIPE 1 %d %s\n%s%s" % (len(body), checksum(body).encode(), body, END)
