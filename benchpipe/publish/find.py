"""Where a text holds what must not leave: the one matcher behind redaction and scan.

The pre-filter (Hyperscan, else Python's `re` with the same result) tells in one pass which rules have a candidate and
where; the rule's own expression is tried there and nowhere else, so that the cost grows with the number of candidates and
not with the length of a line. Around candidates the text is also read with its pieces put together, escapes undone and
base64 decoded. It replaces nothing and reports no value.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from benchpipe.publish.rules import Rule, expand
from benchpipe.publish.views import (
    BASE64_OF_ASCII,
    JOINT,
    JOINT_ONLY,
    LINE_BREAK,
    View,
    WithoutBreaks,
    as_seen,
    base64_decoded,
    hex_decoded,
    joined,
    percent_decoded,
    unescaped,
)

_LOOK_BACK = 96
"""How much text before a candidate `unless` sees."""
_TO_A_BREAK = 160
"""How far behind a candidate a line may end where words may stand between anchor and secret."""
_RUN = re.compile(rb"(?:[ \t\"']|\\+[\"'])*[A-Za-z0-9+/_=.~%:@-]*[\"']?")
"""The rest of a key, from its anchor on or at the beginning of the next line."""
_BORDER = 8
"""How much text before a match its left border may need."""
_SHORTEST_WORD = 4
"""A shorter piece tells nothing about itself."""
_AROUND = 1024
"""How far from an escape a secret may begin or end."""
_REGION = 1 << 16
"""Escaped text is decoded in regions of at most this size, overlapping by `_AROUND`."""
_MASK = re.compile(rb"(?:(?:[A-Za-z0-9]{1,12}[-_.])*|AKIA|ASIA|AIza)(?:[*xX.#_=-]|\xe2\x80[\xa2\xa6])+")
_LONGEST_MASK = 200

_NUMBER = re.compile(rb"-?[0-9]{1,4}|0x[0-9A-Fa-f]+")
_NO_WORD = re.compile(rb"[0-9].*[A-Za-z]|[A-Za-z].*[0-9]|[a-z][A-Z]|[b-df-hj-np-tv-xz]{5}|[0-9]{8}", re.DOTALL)
"""Letters beside digits, a capital inside, more consonants in a row than words have, or a long number."""

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
    (r"(?:[2-7][0-9A-Fa-f]){12}", hex_decoded),
)
"""What begins a run of another alphabet, and the text in it with where it ends."""

_WORK_PER_BYTE, _LEAST_WORK, _WORK_OF_A_PIECE = 128, 1 << 24, 64
"""How much text may be put together again for each byte of a text, so that no text takes more than its length's share."""


class Span(NamedTuple):
    """A place that must not leave: `text[start:end]`, and the rule that says so."""

    start: int
    end: int
    rule: Rule


class _Compiled(NamedTuple):
    rule: Rule
    pattern: re.Pattern[bytes]
    unless: re.Pattern[bytes] | None


class _Work:
    """What may still be put together. A text that needs more was made to: the rest of it counts as a finding, and nothing hangs."""

    def __init__(self, size: int) -> None:
        self.left = size * _WORK_PER_BYTE + _LEAST_WORK

    def spend(self, view: View) -> None:
        self.left -= len(view.data) + _WORK_OF_A_PIECE * len(view.starts)


class _Layout:
    """Where strings and streamed texts begin and end in a text that was put together from them."""

    def __init__(self, size: int, joints: Sequence[int], hards: Sequence[int]) -> None:
        self.size, self.joints, self.hards = size, joints, hards
        self.all = sorted([*joints, *hards])

    def string(self, at: int) -> tuple[int, int]:
        return self._around(self.all, at)

    def stream(self, at: int) -> tuple[int, int]:
        return self._around(self.hards, at)

    def _around(self, borders: Sequence[int], at: int) -> tuple[int, int]:
        k = bisect_right(borders, at)
        return (borders[k - 1] + 1 if k else 0), (borders[k] if k < len(borders) else self.size)


Candidates = Callable[[bytes], list[tuple[int, int, int]]]
"""text → (number of the expression, start, end) of every candidate, in no order."""


def hyperscan_candidates(expressions: Sequence[str]) -> Candidates:
    """The fast pre-filter; the plain one where the library isn't installed or an expression of the lab's is too much for it."""
    try:
        import hyperscan
    except ImportError:
        return plain_candidates(expressions)
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    numbers, flags = list(range(len(expressions))), [hyperscan.HS_FLAG_SOM_LEFTMOST] * len(expressions)
    try:
        database.compile(expressions=[e.encode() for e in expressions], ids=numbers, elements=len(expressions), flags=flags)
    except hyperscan.error:
        return plain_candidates(expressions)

    def candidates(text: bytes) -> list[tuple[int, int, int]]:
        found: list[tuple[int, int, int]] = []

        def note(number: int, start: int, end: int, _flags: int, _context: object) -> None:
            found.append((number, start, end))

        database.scan(text, match_event_handler=note)
        return found

    return candidates


def plain_candidates(expressions: Sequence[str]) -> Candidates:
    """The same pre-filter with Python's own expressions: every start at which one matches."""
    compiled = [re.compile(_wrapped("(?=(", e, "))").encode()) for e in expressions]

    def candidates(text: bytes) -> list[tuple[int, int, int]]:
        return [(n, m.start(1), m.end(1)) for n, pattern in enumerate(compiled) for m in pattern.finditer(text)]

    return candidates


def _wrapped(before: str, expression: str, after: str) -> str:
    flags, rest = ("(?i)", expression[4:]) if expression.startswith("(?i)") else ("", expression)
    return f"{flags}{before}{rest}{after}"


def _decision(rule: Rule) -> re.Pattern[bytes]:
    """The rule's expression as group 1, to be matched where a candidate's match may begin at the earliest."""
    before = f"(?s:.{{0,{rule.back}}}?)(" if rule.back else "("
    return re.compile(_wrapped(before, expand(rule.pattern), ")").encode())


class Finder:
    """Finds what `rules` name. Building one compiles them (a few tenths of a second): make it once per command."""

    def __init__(self, rules: Sequence[Rule], *, plain: bool = False) -> None:
        self.rules = tuple(rules)
        self._compiled = [_Compiled(r, _decision(r), re.compile(r.unless.encode()) if r.unless else None) for r in rules]
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
        return self._find(text, _Layout(len(text), joints, hards), _Work(len(text)), coded=True)

    def _find(self, text: bytes, layout: _Layout, work: _Work, *, coded: bool) -> list[Span]:
        by_rule: dict[int, list[tuple[int, int]]] = {}
        for number, start, end in (self._anchors_and_coded if coded else self._anchors)(text):
            by_rule.setdefault(number, []).append((start, end))
        spans: list[Span] = []
        for number, compiled in enumerate(self._compiled):
            if number in by_rule:
                spans += self._of_rule(compiled, text, layout, work, by_rule[number])
        spans += self._in_broken_anchors(text, layout, work, by_rule)
        if coded:
            spans += self._in_coded(text, layout, work, by_rule)
        return spans

    def _of_rule(
        self, compiled: _Compiled, text: bytes, layout: _Layout, work: _Work, places: Iterable[tuple[int, int]]
    ) -> Iterator[Span]:
        done = -1
        for start, end in sorted(places):
            lo, hi = layout.string(start)
            if start < done or end > layout.stream(start)[1]:
                continue
            if work.left < 0:
                yield Span(start, hi, compiled.rule)
                done = hi
                continue
            broken = end > hi
            span = None if broken else _match(compiled, text, start, lo, hi)
            further = _reaching_on(compiled, text, layout, work, start, end, span, broken=broken)
            spans = [s for s in (span, further) if s]
            yield from spans
            done = max([done, *(s.end for s in spans)])

    def _in_broken_anchors(
        self, text: bytes, layout: _Layout, work: _Work, by_rule: dict[int, list[tuple[int, int]]]
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
                if work.left < 0:
                    span: Span | None = Span(a, layout.stream(a)[1], self._compiled[number].rule)
                else:
                    span = _reaching_on(self._compiled[number], text, layout, work, a, b, None, broken=True)
                if span:
                    yield span
                    done = span.end

    def _in_coded(self, text: bytes, layout: _Layout, work: _Work, by_rule: dict[int, list[tuple[int, int]]]) -> Iterator[Span]:
        for number, (_, decode) in enumerate(_CODED, start=len(self.rules)):
            for lo, hi in _regions(text, sorted(by_rule.get(number, ())), layout):
                yield from self._inside(decode(text, lo, hi), work)
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
                    yield from self._inside(view, work)

    def _inside(self, view: View, work: _Work) -> Iterator[Span]:
        for start, end, rule in self._find(view.data, _Layout(len(view.data), (), ()), work, coded=False):
            yield Span(*view.origin(start, end), rule)


def _match(compiled: _Compiled, text: bytes, at: int, lo: int, hi: int) -> Span | None:
    """The rule's match at a candidate of `text[lo:hi]`, as the span of its secret."""
    rule, pattern, unless = compiled
    match: re.Match[bytes] | None
    if rule.back:
        limit = min(hi, at + rule.back + 512)
        match = pattern.match(text, max(lo, at - rule.back), limit)
        while match and match.end() <= at:
            match = pattern.match(text, match.end(), limit)
        if match and match.start(1) > at:
            return None
    else:
        limit = min(hi, at + rule.reach)
        match = pattern.match(text, at, limit)
        while match and match.end() == limit < hi:
            limit = min(hi, limit + 4 * (limit - at))
            match = pattern.match(text, at, limit)
    if match is None:
        return None
    start, end = match.span(next((g for g in range(2, pattern.groups + 1) if match.start(g) >= 0), 1))
    if end - start <= _LONGEST_MASK and _MASK.fullmatch(text, start, end):
        return None
    if unless and unless.search(text[max(lo, match.start(1) - _LOOK_BACK) : match.start(1)]):
        return None
    return Span(start, end, rule)


def _reaching_on(
    compiled: _Compiled,
    text: bytes,
    layout: _Layout,
    work: _Work,
    start: int,
    end: int,
    found: Span | None,
    *,
    broken: bool = False,
) -> Span | None:
    """The secret of a candidate when line ends or joints inside it are taken out; None if that adds nothing.

    What was found without is only reached beyond by the next piece of a stream, and by lines that look like key material:
    the next line is mostly just the next line. A secret that only its surroundings give away has to look like one as a whole.
    """
    rule = compiled.rule
    breaks = LINE_BREAK if rule.wraps else JOINT_ONLY
    lo, hi = layout.stream(start)
    if not broken and not _may_go_on(rule, text, lo, hi, start, found.end if found else end, breaks, found is not None):
        return None
    first = max(lo, start - rule.back - _BORDER)
    view = joined(text, first, min(hi, start + rule.reach), breaks, after=0 if rule.back else start)
    work.spend(view)
    whole = _match(compiled, view.data, view.index(start), 0, len(view.data))
    if whole is None:
        return None
    if found is None:
        if _is_number_before_break(rule, text, view, whole):
            return None
        if rule.self_evident or not rule.wraps or _looks_random(view.data[whole.start : whole.end]):
            return Span(*view.origin(whole.start, whole.end), rule)
        return None
    reached = found.end
    for a, b in _pieces(view, whole.start, whole.end):
        piece_end = view.origin(a, b)[1]
        if piece_end <= found.end:
            continue
        if text[view.origin(a, b)[0] - 1] == JOINT[0] or _looks_random(view.data[a:b]):
            reached = piece_end
        elif b - a >= _SHORTEST_WORD:
            break
    return Span(found.start, reached, rule) if reached > found.end else None


def _may_go_on(rule: Rule, text: bytes, lo: int, hi: int, start: int, end: int, breaks: re.Pattern[bytes], found: bool) -> bool:
    """Whether it can help to take out the break behind `end`: cheap, since it is asked at every candidate."""
    hi = min(hi, end + rule.reach)
    if rule.back and breaks.search(text, max(lo, start - rule.back), start):
        return True
    if not found:
        if rule.words:
            return breaks.search(text, end, min(hi, end + _TO_A_BREAK)) is not None
        run = _RUN.match(text, end, hi)
        return breaks.match(text, run.end() if run else end, hi) is not None
    at = breaks.match(text, end, hi)
    run = _RUN.match(text, at.end(), hi) if at else None
    return bool(at and run and (at[0] == JOINT or run.end() - run.start() < _SHORTEST_WORD or _looks_random(run[0])))


def _is_number_before_break(rule: Rule, text: bytes, view: View, whole: Span) -> bool:
    """Whether the value is a number that ends its line, as in tables of constants: the next line is another setting."""
    first, end = _pieces(view, whole.start, whole.end)[0]
    if rule.kind != "secret setting" or not _NUMBER.fullmatch(view.data, first, end):
        return False
    after = view.origin(first, end)[1]
    return text[after : after + 1] != JOINT


def _pieces(view: View, start: int, end: int) -> list[tuple[int, int]]:
    """`start:end` of a view cut where it was put together."""
    cuts = view.starts[bisect_right(view.starts, start) : bisect_left(view.starts, end)]
    return list(zip([start, *cuts], [*cuts, end], strict=True))


def _looks_random(piece: bytes) -> bool:
    """Whether a piece looks like key material and not like words."""
    return len(piece) >= _SHORTEST_WORD and _NO_WORD.search(piece, 0, 64) is not None


def _regions(text: bytes, places: Sequence[tuple[int, int]], layout: _Layout) -> Iterator[tuple[int, int]]:
    """Stretches of text around escapes, inside their strings, to the end of a key that begins in them."""
    lo = hi = last = -1
    for start, end in places:
        if start >= last or end + _AROUND - lo > _REGION or start - _AROUND > hi:
            if hi > lo:
                yield lo, _end_of_run(text, hi, last)
            first, last = layout.string(start)
            lo = max(first, start - _AROUND)
        hi = min(last, end + _AROUND)
    if hi > lo:
        yield lo, _end_of_run(text, hi, last)


def _end_of_run(text: bytes, at: int, limit: int) -> int:
    run = _RUN.match(text, at, min(limit, at + _REGION))
    return run.end() if run else at
