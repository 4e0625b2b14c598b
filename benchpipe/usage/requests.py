"""Sums over a trial's requests. Prices and bills are not looked at."""

from collections.abc import Iterable, Sequence

from benchpipe.usage.records import Request, Tokens

OK = 200


def counted(rows: Iterable[Request]) -> list[Request]:
    """Requests whose tokens are known: answered, with a usage object of a known shape (C2)."""
    return [row for row in rows if row.status == OK and row.shape is not None]


def answered(rows: Iterable[Request]) -> int:
    """Requests that somebody pays for: those with status 200."""
    return sum(row.status == OK for row in rows)


def failed(rows: Iterable[Request]) -> int:
    """Requests with another status than 200, or none."""
    return sum(row.status != OK for row in rows)


def without_usage(rows: Iterable[Request]) -> int:
    """Answered requests of missing or unknown usage. They are no zeros (C2)."""
    return sum(row.status == OK and row.shape is None for row in rows)


def tokens_of(rows: Sequence[Request]) -> Tokens:
    """Sums over the requests whose tokens are known. A part that no request says anything about stays None."""
    known = counted(rows)
    return Tokens(
        input=_sum(row.input for row in known),
        cached=_sum(row.cached for row in known),
        cache_write=_sum(row.cache_write for row in known),
        output=_sum(row.output for row in known),
        reasoning=_sum(row.reasoning for row in known),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    said = [value for value in values if value is not None]
    return sum(said) if said else None
