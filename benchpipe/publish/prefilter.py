"""One pass over a text that tells which of many expressions match where: Hyperscan, else Python's `re` with the same result."""

import re
from collections.abc import Callable, Sequence

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
    compiled = [re.compile(wrapped("(?=(", e, "))").encode()) for e in expressions]

    def candidates(text: bytes) -> list[tuple[int, int, int]]:
        return [(n, m.start(1), m.end(1)) for n, pattern in enumerate(compiled) for m in pattern.finditer(text)]

    return candidates


def wrapped(before: str, expression: str, after: str) -> str:
    """`before`, the expression and `after` as one; a leading `(?i)` stays in front."""
    flags, rest = ("(?i)", expression[4:]) if expression.startswith("(?i)") else ("", expression)
    return f"{flags}{before}{rest}{after}"
