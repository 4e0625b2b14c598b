"""Requests, tokens and money as typed records. An estimate and a bill are different types on purpose: there is no sum of both.

Shapes only; the rules live in `requests`, `prices`, `estimates` and `totals` beside this file.
"""

from decimal import Decimal
from typing import Literal

import msgspec

Source = Literal["gateway", "usage_log", "sessions", "trajectory", "harbor"]
"""Where a trial's counts come from (B13), best first."""


class Request(msgspec.Struct, frozen=True, array_like=True):
    """One model request of a trial, as the probe read it (C1). None = not said, which is not 0.

    Stored and sent as an array in this order; new fields go to the end.
    """

    started_at: float | None
    """Epoch seconds."""
    latency_s: float | None
    status: int | None
    response_id: str | None
    input: int | None
    """All prompt tokens, cached and cache-written ones included."""
    cached: int | None
    cache_write: int | None
    output: int | None
    """All generated tokens, reasoning included."""
    reasoning: int | None
    charge_usd: Decimal | None
    """What the provider says it charged for this request (C4)."""
    shape: str | None
    """Name of the usage convention that was recognised; None with status 200 = missing usage."""
    model: str | None
    file: str
    """The log it was read from, relative to the trial."""
    offset: int
    """Byte offset of the line in that file."""


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over a trial's requests (or Harbor's own count). None = unknown."""

    input: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None


class CostsFile(msgspec.Struct, frozen=True):
    """What a trial's `openrouter_costs.json` says: the exact sum and the number of its charges, be they a bill or not."""

    usd: Decimal
    n: int


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """List price × tokens. `usd` is None when the price is unknown or nothing was counted. Exact."""

    usd: Decimal | None = None
    n_priced: int = 0
    n_requests: int = 0
    """Requests that should have a price (status 200); `n_priced` of them do."""
    price: str | None = None
    as_of: str | None = None
    flat: bool = False
    """True when Harbor's sums were priced with the flat price, for want of requests."""


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider charged. `usd` is None when nothing says so. Exact."""

    usd: Decimal | None = None
    source: str | None = None
    coverage: Literal["complete", "partial", "none"] = "none"
    n_charged: int = 0
    n_requests: int = 0
    """Requests that should carry a charge (status 200)."""
    left_out_usd: Decimal | None = None
    """Charges that are no bill because the run's billing says that nobody pays per token (C4)."""
