"""Times of trials: Harbor's strings and the hosts' epoch seconds, as UTC. Reads no clock."""

from datetime import UTC, datetime


def parse_time(text: str | None) -> datetime | None:
    """An aware UTC time; None for what is no time, lies in no year of UTC, or names no zone (harbor-jobs 3.2: can't be placed)."""
    try:
        time = datetime.fromisoformat(text or "")
        return time.astimezone(UTC) if time.tzinfo else None
    except (ValueError, OverflowError):
        return None


def as_said(text: str | None) -> str | None:
    """Harbor's own string, where it is a time that every reader can place in UTC, with or without a zone; else None."""
    try:
        time = datetime.fromisoformat(text or "")
        (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return text


def iso(time: datetime | float | None) -> str | None:
    """ISO UTC with whole seconds and `+00:00`, the form of every stored time. Numbers are epoch seconds.

    None for a number that no calendar has: hosts' files and logs hold those too.
    """
    if time is None:
        return None
    try:
        moment = time if isinstance(time, datetime) else datetime.fromtimestamp(time, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def seconds_between(start: str | None, end: str | None) -> int | None:
    """Whole seconds from one of Harbor's times to another; both may lack a zone, as long as both do."""
    try:
        return round((datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")).total_seconds())
    except (ValueError, TypeError):
        return None
