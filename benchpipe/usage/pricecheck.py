"""Our price list beside a price library's (genai-prices): a second opinion that never changes a file.

The library is optional; importing it here only. "Not found" and "inconsistent" both mean that it has no opinion.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from benchpipe.errors import UsageError
from benchpipe.registry.records import Price

RATES = ("input", "cached_input", "output")
MILLION = 1_000_000


class Opinion(NamedTuple):
    """What the library says about one rate of one entry: USD per million tokens, small requests, today."""

    key: str
    file_line: str
    rate: str
    ours: Decimal | None
    theirs: Decimal | None

    @property
    def verdict(self) -> Literal["same", "differs", "no opinion"]:
        if self.theirs is None:
            return "no opinion"
        return "same" if self.ours == self.theirs else "differs"


def opinions(prices: Iterable[Price], now: datetime) -> list[Opinion]:
    """One opinion per rate that we give, in the order of the entries. UsageError without the library."""
    try:
        import genai_prices
    except ImportError as error:
        raise UsageError("`prices check` needs the genai-prices library: pip install genai-prices") from error
    found = []
    for price in prices:
        provider, _, model = price.key.rpartition("/")
        for rate in RATES:
            ours = getattr(price.rates, rate)
            if ours is not None:
                theirs = _rate(genai_prices, provider.rpartition("/")[2], model, rate, now)
                found.append(Opinion(price.key, str(price.place), rate, ours, theirs))
    return found


def _rate(library: Any, provider: str, model: str, rate: str, now: datetime) -> Decimal | None:
    """USD per million of one rate. One token is asked about, so that no tier of larger requests answers."""
    counts = {"input": (1, 0, 0), "cached_input": (1, 1, 0), "output": (0, 0, 1)}[rate]
    usage = library.Usage(input_tokens=counts[0], cache_read_tokens=counts[1], output_tokens=counts[2])
    try:
        found = library.calc_price(usage, model, provider_id=provider or None, genai_request_timestamp=now.astimezone(UTC))
    except (LookupError, ValueError):
        return None
    return (Decimal(found.total_price) * MILLION).normalize()
