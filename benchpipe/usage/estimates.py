"""What a trial costs at list prices, and what a provider says it charged. Two numbers that are never added (C3, C4).

Exact decimals throughout; rounding is for those who print.
"""

from collections.abc import Sequence
from decimal import Decimal

from benchpipe.registry.records import Billing, Price, Rates
from benchpipe.usage.prices import as_of, flat_rates, rates_for
from benchpipe.usage.records import Bill, CostsFile, Estimate, Request, Tokens
from benchpipe.usage.requests import answered, counted

PER = Decimal(1_000_000)
UNPAID: tuple[Billing, ...] = ("subscription", "none")
"""Billings under which a charge in a response is nobody's bill."""
COSTS_FILE = "openrouter_costs.json"
GATEWAY = "gateway"


def cost(rates: Rates, input_tokens: int, cached: int | None, cache_write: int | None, output: int | None) -> Decimal:
    """USD of these tokens (C3): uncached, cached and cache-written input and output, each at its own rate.

    `input_tokens` includes the cached and the written ones; None counts as 0. A rate that isn't given is the input's.
    """
    cached, written = cached or 0, cache_write or 0
    cached_rate = rates.input if rates.cached_input is None else rates.cached_input
    write_rate = rates.input if rates.cache_write is None else rates.cache_write
    plain = input_tokens - cached - written
    return (plain * rates.input + cached * cached_rate + written * write_rate + (output or 0) * rates.output) / PER


def request_cost(row: Request, price: Price | None) -> Decimal | None:
    """USD of one request at the rates of its start and its whole input; None if its tokens or the price are unknown."""
    if price is None or row.input is None or not counted([row]):
        return None
    return cost(rates_for(price, row.started_at, row.input), row.input, row.cached, row.cache_write, row.output)


def estimate(rows: Sequence[Request], price: Price | None) -> Estimate:
    """The sum over a trial's requests. Answered requests of unknown usage are missing in `n_priced` of `n_requests`."""
    n = answered(rows)
    costs = [usd for row in rows if (usd := request_cost(row, price)) is not None]
    if price is None or not costs:
        return Estimate(n_requests=n, price=price.key if price else None, as_of=price.as_of if price else None)
    return Estimate(usd=sum(costs, Decimal(0)), n_priced=len(costs), n_requests=n, price=price.key, as_of=price.as_of)


def estimate_harbor(tokens: Tokens | None, price: Price | None, started_at: float | None) -> Estimate:
    """Harbor's own sums at the flat rates of the trial's start (epoch seconds), for want of requests; `flat` says so."""
    if price is None or tokens is None or tokens.input is None:
        return Estimate(price=price.key if price else None, as_of=price.as_of if price else None)
    usd = cost(flat_rates(price, started_at), tokens.input, tokens.cached, tokens.cache_write, tokens.output)
    return Estimate(usd=usd, price=price.key, as_of=as_of(price, started_at), flat=True)


def bill(rows: Sequence[Request], costs_file: CostsFile | None, billing: Billing) -> Bill:
    """What the provider charged (C4): the costs file's sum where there is one, else the charges in the responses.

    Under a billing in UNPAID a charge is no bill: it stands in `left_out_usd`.
    """
    n = answered(rows)
    charges = [row.charge_usd for row in rows if row.status == 200 and row.charge_usd is not None]
    if costs_file is not None:
        usd, source, n_charged = costs_file.usd, COSTS_FILE, min(costs_file.n, n)
    elif charges:
        usd, source, n_charged = sum(charges, Decimal(0)), GATEWAY, len(charges)
    else:
        return Bill(n_requests=n)
    if billing in UNPAID:
        return Bill(n_requests=n, left_out_usd=usd)
    return Bill(usd=usd, source=source, coverage="complete" if n_charged >= n else "partial", n_charged=n_charged, n_requests=n)
