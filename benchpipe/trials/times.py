"""Times of trials: Harbor's strings and the hosts' epoch seconds, as UTC. Reads no clock."""

from datetime import UTC, datetime


def parse_time(text: str | None) -> datetime | None:
    """An aware UTC time; None for what is no time or names no zone (a host's local time can't be placed, harbor-jobs 3.2)."""
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time.astimezone(UTC) if time.tzinfo else None


def iso(time: datetime | float | None) -> str | None:
    """ISO UTC with whole seconds and `+00:00`, the form of every stored time. Numbers are epoch seconds."""
    if time is None:
        return None
    moment = time if isinstance(time, datetime) else datetime.fromtimestamp(time, UTC)
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def seconds_between(start: str | None, end: str | None) -> int | None:
    """Whole seconds from one of Harbor's times to another; both may lack a zone, as long as both do."""
    try:
        return round((datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")).total_seconds())
    except (ValueError, TypeError):
        return None
