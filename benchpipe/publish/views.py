"""A text seen another way (pieces put together, escapes undone, base64 decoded) that knows where each byte came from.

Secrets are found in views and replaced in the original. Pure functions over bytes.
"""

import base64
import re
from bisect import bisect_right
from collections.abc import Callable

HARD, JOINT = b"\x00", b"\x01"
"""Between two strings: `JOINT` where they are pieces of one streamed text, `HARD` elsewhere."""

_NEWLINE = rb"(?:(?<!\n)\r?\n(?!\r?\n)|\\\\*(?:\r?\n|(?:r\\+)?n))[ \t]*"
LINE_BREAK = re.compile(rb"\x01|" + _NEWLINE)
"""The end of a line in a text or in a JSON string, with the next line's indentation; or a joint. An empty line is an end."""
_GUTTER = rb"(?:[+>|-][ \t]?|[0-9]{1,5}(?:\t|\\+t|[:|] ?))"
_QUOTES = rb"\\*([\"'])[ \t]*[+\\]?[ \t]*" + _NEWLINE + rb"\\*\1"
QUOTED_BREAK = re.compile(_QUOTES + rb"|" + _NEWLINE + _GUTTER)
"""The end of a line with what stands before the next one in a diff, a listing or a mail, or with the quotes around each line."""
ANY_BREAK = re.compile(QUOTED_BREAK.pattern + rb"|" + LINE_BREAK.pattern)
JOINT_ONLY = re.compile(rb"\x01")

ESCAPE = re.compile(
    rb"\\+(?:(?:u00|u\{0*|U000000|[xX])([2-7][0-9A-Fa-f])\}?|([01][0-7]{2})|(/))|&(?:#([0-9]{2,3})|#[xX]([2-7][0-9A-Fa-f])|(amp)|(quot));"
)
PERCENT = re.compile(rb"%(?:25)*([2-7][0-9A-Fa-f]|0[9AaDd])")
UNSEEN = re.compile(
    rb"\xe2\x80[\x8b-\x8f]|\xe2\x81\xa0|\xef\xbb\xbf|\xc2\xad|\\+u(?:200[b-fB-F]|2060|[fF]{2}00|[fF][eE][fF]{2}|00[aA][dD])"
    rb"|(?:\x1b|\\+(?:u001[bB]|x1[bB]|033|e))\[[0-9;]*[A-Za-z]"
    rb"|(\xe2\x80[\x90-\x92]|\xe2\x88\x92)|\xef([\xbc\xbd])([\x80-\xbf])"
)
"""What is not seen (characters without width, soft hyphens, colours of a terminal), and what looks like an ASCII character."""
HEX_RUN = re.compile(rb"(?:[0-7][0-9A-Fa-f])+")
BASE64_RUN = re.compile(rb"[A-Za-z0-9+/_-]+(?:(?:\\*\r?\n|\\+n)[A-Za-z0-9+/_-]{4,})*={0,2}")
NOT_TEXT = re.compile(rb"[^\t\n\r\x20-\x7e]")

BASE64_OF_ASCII = "(?:[A-Za-f][A-Za-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){5}"
"""Fifteen bytes of ASCII in base64: three of four characters come from half of the alphabet, which paths and hashes miss."""


class View:
    """`data` and, for every byte of it, its place in the text it was made from.

    Runs that were taken over as they are have width 0; a replaced piece knows the width of what it stands for.
    """

    def __init__(self, data: bytes, starts: list[int], origins: list[int], widths: list[int]) -> None:
        self.data = data
        self.starts = starts
        self._origins = origins
        self._widths = widths

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of the non-empty `data[start:end]`."""
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1) - 1
        a = self._origins[first] + (0 if self._widths[first] else start - self.starts[first])
        b = self._origins[last] + (self._widths[last] or end - self.starts[last])
        return a, b

    def index(self, place: int) -> int:
        """Where the byte at `place` of the original is in `data` (the next one, if it was cut out)."""
        run = bisect_right(self._origins, place) - 1
        if run < 0:
            return 0
        end = self.starts[run + 1] if run + 1 < len(self.starts) else len(self.data)
        return min(self.starts[run] + place - self._origins[run], end)


def edited(
    text: bytes, lo: int, hi: int, what: re.Pattern[bytes], by: Callable[[re.Match[bytes]], bytes], *, after: int = 0
) -> View:
    """`text[lo:hi]` with each match of `what` that begins at `after` or later replaced by `by(match)`."""
    parts: list[bytes] = []
    starts: list[int] = []
    origins: list[int] = []
    widths: list[int] = []
    size = 0
    at = lo

    def take(part: bytes, origin: int, width: int) -> None:
        nonlocal size
        if part:
            parts.append(part)
            starts.append(size)
            origins.append(origin)
            widths.append(width)
            size += len(part)

    for match in what.finditer(text, max(lo, after), hi):
        take(text[at : match.start()], at, 0)
        take(by(match), match.start(), match.end() - match.start())
        at = match.end()
    take(text[at:hi], at, 0)
    return View(b"".join(parts), starts, origins, widths)


def joined(text: bytes, lo: int, hi: int, breaks: re.Pattern[bytes], *, after: int = 0) -> View:
    """`text[lo:hi]` without the breaks that begin at `after` or later."""
    return edited(text, lo, hi, breaks, lambda _: b"", after=after)


_BREAKS_AS_LINE_ENDS = bytes.maketrans(b"\r\x01", b"\n\n")


class WithoutBreaks:
    """A whole text without its line ends and joints (indentation stays), made at the speed of `bytes.replace`.

    `origin` finds a byte's place when it is asked for, which is seldom; `joined` keeps all of them and is for short texts.
    """

    _BLOCK, _STEP = 1024, 128
    """A place is looked up in blocks that are counted once, then in steps, then run by run."""
    _KEPT = re.compile(rb"[^\n]+")
    _ESCAPED = re.compile(rb"\\\\?[n\n]")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self.data = self._ESCAPED.sub(b"", text).translate(None, b"\n\r\x01")
        self._blocks: list[int] = []

    def origin(self, index: int) -> int:
        """Where the byte at `index` of `data` is in the text."""
        if not self._blocks:
            same_size = self._ESCAPED.sub(lambda m: b"\n" * len(m[0]), self._text)
            self._text = same_size.translate(_BREAKS_AS_LINE_ENDS)
            kept = 0
            for at in range(0, len(self._text), self._BLOCK):
                self._blocks.append(kept)
                kept += self._kept(at, self._BLOCK)
        block = bisect_right(self._blocks, index) - 1
        at, left = block * self._BLOCK, index - self._blocks[block]
        while at < len(self._text) and left >= (kept := self._kept(at, self._STEP)):
            at, left = at + self._STEP, left - kept
        for run in self._KEPT.finditer(self._text, at):
            if left < run.end() - run.start():
                return run.start() + left
            left -= run.end() - run.start()
        raise IndexError(index)

    def _kept(self, at: int, size: int) -> int:
        end = min(at + size, len(self._text))
        return end - at - self._text.count(b"\n", at, end)


def unescaped(text: bytes, lo: int, hi: int) -> View:
    r"""`text[lo:hi]` with `\u0073`, `\x73`, `\163`, `\/`, `&#115;` of ASCII characters undone, at any depth of quoting."""

    def character(m: re.Match[bytes]) -> bytes:
        if m[3] or m[6] or m[7]:
            return b"/" if m[3] else b"&" if m[6] else b'"'
        if m[2] or m[4]:
            return bytes([min(int(m[2], 8) if m[2] else int(m[4]), 0x7F)])
        return bytes([int(m[1] or m[5], 16)])

    return edited(text, lo, hi, ESCAPE, character)


def percent_decoded(text: bytes, lo: int, hi: int) -> View:
    """`text[lo:hi]` with `%73` of ASCII characters and line ends undone, also where it was quoted more than once."""
    return edited(text, lo, hi, PERCENT, lambda m: bytes([int(m[1], 16)]))


def as_seen(text: bytes, lo: int, hi: int) -> View:
    """`text[lo:hi]` without what is not seen, and with ASCII hyphens and ASCII characters instead of wide ones."""

    def character(m: re.Match[bytes]) -> bytes:
        if m[2]:
            code = 0x20 + m[3][0] - 0x80 + (0x40 if m[2] == b"\xbd" else 0)
            return bytes([code]) if code < 0x7F else b""
        return b"-" if m[1] else b""

    return edited(text, lo, hi, UNSEEN, character)


def hex_decoded(text: bytes, lo: int, hi: int) -> tuple[View, int] | None:
    """The ASCII text that stands in hexadecimal digits at `lo`, and where it ends."""
    run = HEX_RUN.match(text, lo, hi)
    if run is None:
        return None
    data = bytes.fromhex(run[0].decode())
    return View(data, list(range(len(data))), list(range(lo, run.end(), 2)), [2] * len(data)), run.end()


class _Base64View(View):
    """Three bytes for four characters of `code`. `data` is every `step`-th of these bytes from the one at `first` on."""

    def __init__(self, data: bytes, code: View, first: int, step: int = 1) -> None:
        super().__init__(data, [], [], [])
        self._code = code
        self._first = first
        self._step = step

    def origin(self, start: int, end: int) -> tuple[int, int]:
        a, b = self._first + start * self._step, self._first + (end - 1) * self._step + 1
        return self._code.origin(a // 3 * 4, min((b + 2) // 3 * 4, len(self._code.data)))


_LETTER, _ZERO = "[I-Za-f][AQgw][AB][A-Za-z0-9+/]", "A[C-H][AEIMQUYcgkosw048]A"
BASE64_OF_UTF16 = f"(?:{_LETTER}{_ZERO}|{_ZERO}{_LETTER}){{3}}"
"""Nine characters of ASCII with a zero byte before or behind each, in base64."""

_SURE = 20
"""So many characters of a candidate stand on one line."""
_FIRST_LOOK = 256
_FOUR = re.compile(rb"[A-Za-z0-9+/_-]{4}")


def base64_decoded(text: bytes, lo: int, hi: int) -> tuple[View, int] | None:
    """The ASCII text that stands in base64 at `lo`, maybe wrapped over lines, and where it ends; None if none does.

    It looks as far as there is text: what follows a byte that is none may be text again, in other groups of four.
    """
    if NOT_TEXT.search(_bytes_of(text[lo : lo + _SURE])):
        return None
    if _FOUR.fullmatch(text, max(lo - 4, 0), lo):
        lo -= 4  # the text may begin inside the group before
    look = _FIRST_LOOK
    while True:
        limit = min(hi, lo + look)
        run = BASE64_RUN.match(text, lo, limit)
        assert run is not None
        code = joined(text, lo, run.end(), LINE_BREAK)
        data = _bytes_of(code.data)
        skipped = max((k + 1 for k in range(3) if NOT_TEXT.match(data, k)), default=0)
        odd = NOT_TEXT.search(data, skipped)
        if odd or limit == hi or run.end() < limit:
            view = _Base64View(data[skipped : odd.start() if odd else None], code, skipped)
            return view, view.origin(0, len(view.data))[1] if odd else run.end()
        look *= 4


_UTF16 = re.compile(rb"\0?((?:[\t\n\r\x20-\x7e]\0)*[\t\n\r\x20-\x7e])")


def utf16_decoded(text: bytes, lo: int, hi: int) -> tuple[View, int] | None:
    """The ASCII text that stands at `lo` in UTF-16 (either order of bytes) in base64, and where it ends."""
    run = BASE64_RUN.match(text, lo, hi)
    assert run is not None
    code = joined(text, lo, run.end(), LINE_BREAK)
    found = _UTF16.match(_bytes_of(code.data))
    if found is None:
        return None
    view = _Base64View(found[1][::2], code, found.start(1), 2)
    return view, view.origin(0, len(view.data))[1]


def _bytes_of(code: bytes) -> bytes:
    """What `code` stands for, in either alphabet and with or without padding; a character too many is dropped."""
    code = code.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    code = code[: len(code) - (len(code) % 4 == 1)]
    return base64.b64decode(code + b"=" * (-len(code) % 4))
