"""Times as files and hosts give them (ISO texts, epoch seconds), as UTC. Reads no clock, trusts no value to be a time."""

from datetime import UTC, datetime


def utc(time: str | float | None) -> datetime | None:
    """Aware UTC of an ISO text (without a zone: taken as UTC) or of epoch seconds; None for what no calendar has."""
    if time is None:
        return None
    try:
        at = datetime.fromisoformat(time) if isinstance(time, str) else datetime.fromtimestamp(time, UTC)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def parse_time(text: str | None) -> datetime | None:
    """`utc` of a text that names its zone; without one it can't be placed (harbor-jobs 3.2): None."""
    try:
        return utc(text) if datetime.fromisoformat(text or "").tzinfo else None
    except ValueError:
        return None


def as_said(text: str | None) -> str | None:
    """Harbor's own string, where it is a time that every reader can place in UTC, with or without a zone; else None."""
    return text if utc(text) else None


def iso(time: datetime | float | None) -> str | None:
    """ISO UTC with whole seconds and `+00:00`, the form of every stored time. Numbers are epoch seconds.

    None for a number that no calendar has: hosts' files and logs hold those too.
    """
    at = time.astimezone(UTC) if isinstance(time, datetime) else utc(time)
    return at.isoformat(timespec="seconds") if at else None


def seconds_between(start: str | None, end: str | None) -> int | None:
    """Whole seconds from one of Harbor's times to another; both may lack a zone, as long as both do."""
    try:
        return round((datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")).total_seconds())
    except (ValueError, TypeError):
        return None
