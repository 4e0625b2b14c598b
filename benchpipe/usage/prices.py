"""Which rates of a price entry hold for one request (C3). No money is computed here.

A band ends before its `until`; the top level is the newest band. A tier applies when the whole input is more than its
limit; tiers belong to their band. A request's time is its start; without one the newest rates hold.
"""

from datetime import datetime

from benchpipe.registry.records import Band, Price, Rates, Tier


def band_of(price: Price, started_at: float | None) -> Band | None:
    """The earlier band that held at `started_at` (epoch seconds), or None for the top level."""
    if started_at is None:
        return None
    ended_later = [band for band in price.bands if started_at < datetime.fromisoformat(band.until).timestamp()]
    return min(ended_later, key=lambda band: datetime.fromisoformat(band.until), default=None)


def rates_for(price: Price, started_at: float | None, input_tokens: int) -> Rates:
    """The rates of a request that began at `started_at` (epoch seconds) and whose whole input is `input_tokens`."""
    tier = tier_of(price, started_at, input_tokens)
    return tier.rates if tier else flat_rates(price, started_at)


def tier_of(price: Price, started_at: float | None, input_tokens: int) -> Tier | None:
    """The highest tier of that time's rates that so large an input reaches, if it reaches any."""
    level = band_of(price, started_at) or price
    reached = [tier for tier in level.tiers if input_tokens > tier.above]
    return max(reached, key=lambda tier: tier.above, default=None)


def flat_rates(price: Price, started_at: float | None) -> Rates:
    """The rates at `started_at` without any tier: what sums over many requests are priced with."""
    return (band_of(price, started_at) or price).rates


def as_of(price: Price, started_at: float | None) -> str | None:
    """The date that the entry gives for the rates of that time."""
    band = band_of(price, started_at)
    return band.as_of if band else price.as_of
