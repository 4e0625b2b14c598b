"""Finding the probe's answer in whatever a host wrote. The other end is `probe.protocol.frame`."""

import re
import zlib

from benchpipe.hosts.transport import Output
from benchpipe.probe.protocol import END, checksum

MAX_ANSWER = 1 << 30
_FRAME = re.compile(rb"\nBENCHPIPE 1 ([0-9]{1,12}) ([0-9a-f]{64})\n")


class BadAnswer(ValueError):
    """There is no whole answer in what came; the message says what is wrong with it."""


def answered(output: Output) -> bool:
    """Whether the end of an answer has come. Looks at the last piece of the output only."""
    return END in output.stdout[-(1 << 16) - len(END) :]


def unframe(output: bytes) -> bytes:
    """The JSON text of the last whole answer in `output`. Raises BadAnswer."""
    reason = "no answer of the probe in what it sent"
    for match in reversed(list(_FRAME.finditer(output))):
        length, expected = int(match[1]), match[2].decode()
        body = output[match.end() : match.end() + length]
        if len(body) < length:
            reason = f"the answer was cut after {len(body)} of {length} bytes"
        elif checksum(body) != expected:
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
        raise BadAnswer(f"the answer is larger than {MAX_ANSWER >> 20} MiB")
    return text
