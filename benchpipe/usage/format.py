"""How numbers are shown (runs-system 9.3). Rounding happens here and nowhere before. Unknown is `—`, never 0."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Protocol

from benchpipe import times

UNKNOWN = "—"


class Shares(Protocol):
    """A rate with its interval, as shares of 1."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def money(usd: Decimal | float | str | None) -> str:
    """`$1,234.50`, from a cent on `$0.046`, below `$0.0046`."""
    if usd is None:
        return UNKNOWN
    exact = usd if isinstance(usd, Decimal) else Decimal(str(usd))
    size = abs(exact)
    places = 2 if size >= 1 else 3 if size >= Decimal("0.01") else 4
    return f"${exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,.{places}f}"


def tokens(n: int | None) -> str:
    """`1.23B`, `1.4M`, `39k`, `512`."""
    if n is None:
        return UNKNOWN
    for limit, places, unit in ((10**9, 2, "B"), (10**6, 1, "M"), (10**3, 0, "k")):
        if n >= limit:
            return f"{(Decimal(n) / limit).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)}{unit}"
    return str(n)


def duration(seconds: float | None) -> str:
    """Seconds rounded to minutes: `42m`, `1h 05m`; below one minute `42s`, since "0m" says nothing of a short trial."""
    if seconds is None:
        return UNKNOWN
    if seconds < 59.5:
        return f"{seconds:.0f}s"
    hours, minutes = divmod(int(seconds / 60 + 0.5), 60)
    return f"{hours}h {minutes:02d}m" if hours else f"{minutes}m"


def hours(seconds: float | None) -> str:
    """A total of seconds: `12.3 h`; below six minutes as a duration, since "0.0 h" says nothing."""
    return UNKNOWN if seconds is None else f"{seconds / 3600:.1f} h" if seconds >= 360 else duration(seconds)


def moment(time: str | float | None) -> str:
    """An ISO time (without a zone: UTC) or epoch seconds as `MM-DD HH:MM UTC`; a text that is no time stays as it is."""
    if time is None:
        return UNKNOWN
    at = times.utc(time)
    return f"{at:%m-%d %H:%M} UTC" if at else str(time)


def percent(share: float | None) -> str:
    """A share of 1: `62%`."""
    return UNKNOWN if share is None else f"{share:.0%}"


def interval(rate: Shares | None) -> str:
    """The interval of a rate: `36–82%`."""
    return UNKNOWN if rate is None else f"{100 * rate.low:.0f}–{100 * rate.high:.0f}%"
