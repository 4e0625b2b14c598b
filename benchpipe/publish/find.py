"""Where a text holds what must not leave: the one matcher behind redaction and scan.

The pre-filter (Hyperscan, else Python's `re` with the same result) tells in one pass which rules have a candidate and
where; the rule's own expression is tried there and nowhere else, so that the cost grows with the number of candidates and
not with the length of a line. Around candidates the text is also read with its pieces put together, escapes undone and
base64 decoded. It replaces nothing and reports no value.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from benchpipe.publish.match import Compiled, Layout, Span, Work, compiled, end_of_run, match_at, reaching_on
from benchpipe.publish.prefilter import hyperscan_candidates, plain_candidates
from benchpipe.publish.rules import Rule, expand
from benchpipe.publish.views import (
    BASE64_OF_ASCII,
    BASE64_OF_UTF16,
    View,
    WithoutBreaks,
    as_seen,
    base64_decoded,
    hex_decoded,
    percent_decoded,
    unescaped,
    utf16_decoded,
)

_AROUND = 1024
"""How far from an escape a secret may begin or end."""
_REGION = 1 << 16
"""Escaped text is decoded in regions of at most this size, overlapping by `_AROUND`."""
_CODED: tuple[tuple[str, Callable[[bytes, int, int], View]], ...] = (
    (
        r"\\(?:u00[2-7][0-9A-Fa-f]|u\{0*[2-7][0-9A-Fa-f]\}|U000000[2-7][0-9A-Fa-f]|[xX][2-7][0-9A-Fa-f]|[01][0-7]{2}|/)"
        r"|&(?:#[0-9]{2,3}|#[xX][2-7][0-9A-Fa-f]|amp|quot);",
        unescaped,
    ),
    (r"%(?:25){0,4}[2-7][0-9A-Fa-f]", percent_decoded),
    (
        r"\xe2\x80[\x8b-\x92]|\xe2\x81\xa0|\xe2\x88\x92|\xef\xbb\xbf|\xef[\xbc\xbd][\x80-\xbf]|\xc2\xad"
        r"|\\u(?:200[b-fB-F]|2060|[fF][eE][fF]{2}|00[aA][dD])|(?:\x1b|\\(?:u001[bB]|x1[bB]|033|e))\[[0-9;]{0,20}[A-Za-z]",
        as_seen,
    ),
)
"""What shows that a stretch of text is written another way, and that way undone."""
_RUNS: tuple[tuple[str, Callable[[bytes, int, int], tuple[View, int] | None]], ...] = (
    (BASE64_OF_ASCII, base64_decoded),
    (BASE64_OF_UTF16, utf16_decoded),
    (r"(?:[2-7][0-9A-Fa-f]){12}", hex_decoded),
)
"""What begins a run of another alphabet, and the text in it with where it ends."""
_DEPTH = 3
"""How many times in a row a text may have been written in another alphabet."""


class Finder:
    """Finds what `rules` name. Building one compiles them (a few tenths of a second): make it once per command."""

    def __init__(self, rules: Sequence[Rule], *, plain: bool = False) -> None:
        self.rules = tuple(rules)
        self._compiled = [compiled(rule) for rule in rules]
        nears = [expand(r.near) for r in rules]
        make = plain_candidates if plain else hyperscan_candidates
        self._anchors = make(nears)
        self._anchors_and_coded = make([*nears, *(near for near, _ in _CODED)])
        self._runs = make([near for near, _ in _RUNS])  # by itself: it has no literal, and would slow the others down

    def find(self, text: bytes, *, joints: Sequence[int] = (), hards: Sequence[int] = ()) -> list[Span]:
        """Every place of `text` that must not leave, unordered, maybe overlapping.

        `text` may be many strings in one: `hards` are the places of separators that nothing reaches over, `joints` those
        between pieces of one streamed text.
        """
        return self._find(text, Layout(len(text), joints, hards), Work(len(text)), coded=True, depth=_DEPTH)

    def _find(self, text: bytes, layout: Layout, work: Work, *, coded: bool, depth: int) -> list[Span]:
        by_rule: dict[int, list[tuple[int, int]]] = {}
        for number, start, end in (self._anchors_and_coded if coded else self._anchors)(text):
            by_rule.setdefault(number, []).append((start, end))
        spans: list[Span] = []
        for number, rule in enumerate(self._compiled):
            if number in by_rule:
                spans += self._of_rule(rule, text, layout, work, by_rule[number])
        spans += self._in_broken_anchors(text, layout, work, by_rule)
        if coded:
            spans += self._in_coded(text, layout, work, by_rule, depth)
        if depth:
            spans += self._in_runs(text, layout, work, depth - 1)
        return spans

    def _of_rule(
        self, rule: Compiled, text: bytes, layout: Layout, work: Work, places: Iterable[tuple[int, int]]
    ) -> Iterator[Span]:
        done = -1
        for start, end in sorted(places):
            lo, hi = layout.string(start)
            if start < done or end > layout.stream(start)[1]:
                continue
            if work.over:
                yield Span(start, hi, rule.rule)
                done = hi
                continue
            broken = end > hi
            span = None if broken else match_at(rule, text, start, lo, hi)
            further = reaching_on(rule, text, layout, work, start, end, span, broken=broken)
            spans = [s for s in (span, further) if s]
            yield from spans
            done = max([done, *(s.end for s in spans)])

    def _in_broken_anchors(
        self, text: bytes, layout: Layout, work: Work, by_rule: dict[int, list[tuple[int, int]]]
    ) -> Iterator[Span]:
        """Candidates that only show when lines or pieces are put together: the break is inside the rule's anchor."""
        without = WithoutBreaks(text)
        if len(without.data) == len(text):
            return
        places: dict[int, list[tuple[int, int]]] = {}
        for number, start, end in self._anchors(without.data):
            places.setdefault(number, []).append((start, end))
        for number, found in places.items():
            if len(found) <= len(by_rule.get(number, ())):
                continue
            whole = {start for start, _ in by_rule.get(number, ())}
            done = -1
            for start, end in sorted(found):
                a = without.origin(start)
                if a < done or a in whole or (b := without.origin(end - 1) + 1) - a == end - start:
                    continue
                if work.over:
                    span: Span | None = Span(a, layout.stream(a)[1], self._compiled[number].rule)
                else:
                    span = reaching_on(self._compiled[number], text, layout, work, a, b, None, broken=True)
                if span:
                    yield span
                    done = span.end

    def _in_coded(
        self, text: bytes, layout: Layout, work: Work, by_rule: dict[int, list[tuple[int, int]]], depth: int
    ) -> Iterator[Span]:
        for number, (_, decode) in enumerate(_CODED, start=len(self.rules)):
            for lo, hi in _regions(text, sorted(by_rule.get(number, ())), layout):
                yield from self._inside(decode(text, lo, hi), work, coded=False, depth=depth)

    def _in_runs(self, text: bytes, layout: Layout, work: Work, depth: int) -> Iterator[Span]:
        runs = sorted(self._runs(text))
        for number, (_, decode_run) in enumerate(_RUNS):
            done = -1
            for start in (start for which, start, _ in runs if which == number):
                if start < done:
                    continue
                hi = min(layout.string(start)[1], start + _REGION)
                if decoded := decode_run(text, start, hi):
                    view, end = decoded
                    done = end if end < hi else end - _AROUND
                    yield from self._inside(view, work, coded=True, depth=depth)

    def _inside(self, view: View, work: Work, *, coded: bool, depth: int) -> Iterator[Span]:
        for start, end, rule in self._find(view.data, Layout(len(view.data), (), ()), work, coded=coded, depth=depth):
            yield Span(*view.origin(start, end), rule)


def _regions(text: bytes, places: Sequence[tuple[int, int]], layout: Layout) -> Iterator[tuple[int, int]]:
    """Stretches of text around escapes, inside their strings, to the end of a key that begins in them."""
    lo = hi = last = -1
    for start, end in places:
        if start >= last or end + _AROUND - lo > _REGION or start - _AROUND > hi:
            if hi > lo:
                yield lo, end_of_run(text, hi, min(last, hi + _REGION))
            first, last = layout.string(start)
            lo = max(first, start - _AROUND)
        hi = min(last, end + _AROUND)
    if hi > lo:
        yield lo, end_of_run(text, hi, min(last, hi + _REGION))
