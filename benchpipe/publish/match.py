"""Whether a candidate of a rule is a secret, and where that secret begins and ends: also when it is cut by line ends or joints.

Decides at one place of a text at a time; where to look is said by `find`.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from benchpipe.publish.prefilter import wrapped
from benchpipe.publish.rules import Rule, expand
from benchpipe.publish.views import ANY_BREAK, JOINT, JOINT_ONLY, LINE_BREAK, QUOTED_BREAK, View, joined

_LOOK_BACK = 96
"""How much text before a candidate `unless` sees."""
_TO_A_BREAK = 160
"""How far behind a candidate a line may end where words may stand between anchor and secret."""
_RUN = re.compile(rb"(?:[ \t\"']|\\+[\"'])*[A-Za-z0-9+/_=.~%:@-]*[\"']?")
"""The rest of a key, from its anchor on or at the beginning of the next line."""
_BORDER = 8
"""How much text before a match its left border may need."""
_Cuts = tuple[tuple[re.Pattern[bytes], re.Pattern[bytes]], ...]
_BY_LINES: _Cuts = ((QUOTED_BREAK, ANY_BREAK), (LINE_BREAK, LINE_BREAK))
_IN_STREAMS: _Cuts = ((JOINT_ONLY, JOINT_ONLY),)
"""What a cut looks like, and what is then taken out, in the order in which it is tried."""
_SHORTEST_WORD = 4
"""A shorter piece tells nothing about itself."""
_MASK = re.compile(rb"(?:(?:[A-Za-z0-9]{1,12}[-_.])*|AKIA|ASIA|AIza)(?:[*xX.#_=-]|\xe2\x80[\xa2\xa6])+")
_LONGEST_MASK = 200

_NUMBER = re.compile(rb"-?[0-9]{1,4}|0x[0-9A-Fa-f]+")
_NO_WORD = re.compile(rb"[0-9].*[A-Za-z]|[A-Za-z].*[0-9]|[a-z][A-Z]|[b-df-hj-np-tv-xz]{5}|[0-9]{8}", re.DOTALL)
"""Letters beside digits, a capital inside, more consonants in a row than words have, or a long number."""

_WORK_PER_BYTE, _LEAST_WORK, _WORK_OF_A_PIECE = 128, 1 << 24, 64
"""How much text may be put together again for each byte of a text, so that no text takes more than its length's share."""


class Span(NamedTuple):
    """A place that must not leave: `text[start:end]`, and the rule that says so."""

    start: int
    end: int
    rule: Rule


class Compiled(NamedTuple):
    """A rule ready to decide."""

    rule: Rule
    pattern: re.Pattern[bytes]
    unless: re.Pattern[bytes] | None


class Work:
    """What may still be put together. A text that needs more was made to: the rest of it counts as a finding, and nothing hangs."""

    def __init__(self, size: int) -> None:
        self.left = size * _WORK_PER_BYTE + _LEAST_WORK

    @property
    def over(self) -> bool:
        return self.left < 0

    def spend(self, view: View) -> None:
        self.left -= len(view.data) + _WORK_OF_A_PIECE * len(view.starts)


class Layout:
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


def compiled(rule: Rule) -> Compiled:
    """Its expression is group 1, to be matched where a candidate's match may begin at the earliest."""
    before = f"(?s:.{{0,{rule.back}}}?)(" if rule.back else "("
    pattern = re.compile(wrapped(before, expand(rule.pattern), ")").encode())
    return Compiled(rule, pattern, re.compile(rule.unless.encode()) if rule.unless else None)


def match_at(compiled: Compiled, text: bytes, at: int, lo: int, hi: int) -> Span | None:
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


def reaching_on(
    compiled: Compiled,
    text: bytes,
    layout: Layout,
    work: Work,
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
    lo, hi = layout.stream(start)
    for sign, breaks in _BY_LINES if rule.wraps else _IN_STREAMS:
        if broken or _may_go_on(rule, text, lo, hi, start, found.end if found else end, sign, found is not None):
            first = max(lo, start - rule.back - _BORDER)
            view = joined(text, first, min(hi, start + rule.reach), breaks, after=0 if rule.back else start)
            work.spend(view)
            whole = match_at(compiled, view.data, view.index(start), 0, len(view.data))
            if whole and (span := _put_together(rule, text, view, whole, found)):
                return span
    return None


def _put_together(rule: Rule, text: bytes, view: View, whole: Span, found: Span | None) -> Span | None:
    """What of the match `whole` of a view is the secret, given what was `found` without taking anything out."""
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
        run_end = end_of_run(text, end, hi)
        return any(breaks.match(text, at, hi) for at in (run_end, max(end, run_end - 1)))  # a quote may belong to the break
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


def end_of_run(text: bytes, at: int, limit: int) -> int:
    """Where the rest of a key ends that goes on at `at`."""
    run = _RUN.match(text, at, limit)
    return run.end() if run else at
