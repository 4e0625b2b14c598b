"""Images without what cameras, editors and programs write into them: EXIF, XMP, comments, text chunks. Pixels stay as they are.

Pure functions over bytes. What can't be understood to its end is refused: a file that isn't what it says may say anything.
"""

import struct
from collections.abc import Callable, Iterator

_PNG = b"\x89PNG\r\n\x1a\n"
_ANY = 1 << 31
_PNG_KEPT = {
    b"IHDR": 13, b"PLTE": 768, b"IDAT": _ANY, b"IEND": 0, b"tRNS": 256, b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"sBIT": 4,
    b"bKGD": 6, b"pHYs": 9, b"acTL": 8, b"fcTL": 26, b"fdAT": _ANY,
}  # fmt: skip
"""Chunk → the most bytes it needs; a longer one says something else."""
_JPEG_KEPT = frozenset({*range(0xC0, 0xD0), 0xDB, 0xDD})
"""Frames, tables and restarts."""
_JFIF, _ADOBE = (0xE0, b"JFIF\0", 14), (0xEE, b"Adobe", 12)
"""Application segments that tell how to show the picture: marker, beginning, length of the body."""
_WEBP_KEPT = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ANIM", b"ANMF", b"ALPH"})
_VP8X_BYTES, _ANMF_HEAD = 10, 16
_VP8X_ICC, _VP8X_EXIF, _VP8X_XMP = 0x20, 0x08, 0x04


class NotAnImage(ValueError):
    """The bytes are no whole image of that kind."""


def stripped_png(data: bytes) -> bytes:
    """Only the chunks that make the picture."""
    if not data.startswith(_PNG):
        raise NotAnImage("no PNG signature")
    kept = [_PNG]
    at = len(_PNG)
    while True:
        if at + 12 > len(data):
            raise NotAnImage("the PNG ends inside a chunk")
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            raise NotAnImage("the PNG ends inside a chunk")
        if length <= _PNG_KEPT.get(kind, -1):
            kept.append(data[at:end])
        if kind == b"IEND":
            return b"".join(kept)
        at = end


def stripped_jpeg(data: bytes) -> bytes:
    """Only the segments that make the picture, JFIF without its thumbnail and Adobe's colour transform among them."""
    if not data.startswith(b"\xff\xd8"):
        raise NotAnImage("no JPEG signature")
    kept = [b"\xff\xd8"]
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            raise NotAnImage("a JPEG segment does not begin with a marker")
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
            continue
        end = at + 2 + struct.unpack_from(">H", data, at + 2)[0]
        if end > len(data):
            raise NotAnImage("the JPEG ends inside a segment")
        if marker == 0xDA:
            last = data.rfind(b"\xff\xd9")
            if last < end:
                raise NotAnImage("the JPEG has no end")
            return b"".join([*kept, data[at : _end_of_scans(data, end)]])
        kept.append(_jpeg_segment(marker, data[at + 4 : end]))
        at = end
    raise NotAnImage("the JPEG has no picture")


def _jpeg_segment(marker: int, body: bytes) -> bytes:
    """What stays of a segment."""
    for kind, beginning, size in (_JFIF, _ADOBE):
        if marker == kind and body.startswith(beginning) and len(body) >= size:
            body = body[:12] + b"\0\0" if marker == _JFIF[0] else body[:size]
            return struct.pack(">BBH", 0xFF, marker, size + 2) + body
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body if marker in _JPEG_KEPT else b""


def _end_of_scans(data: bytes, at: int) -> int:
    """Just behind the first end marker: inside a scan, an 0xFF that is no marker is followed by 0."""
    while (at := data.find(b"\xff", at)) >= 0 and at + 1 < len(data):
        if data[at + 1] == 0xD9:
            return at + 2
        at += 1
    raise NotAnImage("the JPEG has no end")


def stripped_webp(data: bytes) -> bytes:
    """Only the chunks that make the picture, with the flags of the dropped ones cleared."""
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        raise NotAnImage("no WebP signature")
    picture = _webp_picture(data[12 : 8 + struct.unpack_from("<I", data, 4)[0]])
    if not picture:
        raise NotAnImage("the WebP has no picture")
    content = b"WEBP" + picture
    return b"RIFF" + struct.pack("<I", len(content)) + content


def _webp_picture(data: bytes) -> bytes:
    """The chunks that make the picture, in those of frames too."""
    chunks = []
    for kind, body in _riff_chunks(data):
        if kind not in _WEBP_KEPT:
            continue
        if kind == b"VP8X":
            body = bytes([body[0] & ~(_VP8X_ICC | _VP8X_EXIF | _VP8X_XMP)]) + body[1:_VP8X_BYTES]
        if kind == b"ANMF":
            body = body[:_ANMF_HEAD] + _webp_picture(body[_ANMF_HEAD:])
        chunks.append(kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2))
    return b"".join(chunks)


def _riff_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, at)
        if at + 8 + length > len(data):
            raise NotAnImage("the WebP ends inside a chunk")
        yield kind, data[at + 8 : at + 8 + length]
        at += 8 + length + length % 2


STRIP: dict[str, Callable[[bytes], bytes]] = {
    ".png": stripped_png,
    ".jpg": stripped_jpeg,
    ".jpeg": stripped_jpeg,
    ".webp": stripped_webp,
}
"""Suffix → how its metadata go."""
