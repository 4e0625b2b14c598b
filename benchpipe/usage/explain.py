"""Where a number comes from (D4): from a total to its trials, to their requests with file and offset, to the price line used.

Reads stored costs and prices nothing anew, except each request of one trial, to show how its estimate is made up.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from benchpipe.registry.records import Price, Rates
from benchpipe.usage import format as fmt
from benchpipe.usage.costs import SlotCosts
from benchpipe.usage.estimates import request_cost
from benchpipe.usage.prices import band_of, rates_for, tier_of
from benchpipe.usage.records import Request, Tokens
from benchpipe.usage.shown import Slot


class TrialLine(msgspec.Struct, frozen=True, kw_only=True):
    """One trial behind a total. `files` are `host:job/trial/file`."""

    task: str
    mode: str
    trial: str | None
    state: str
    why: str
    estimate_usd: Decimal | None
    billed_usd: Decimal | None
    price: str | None
    files: tuple[str, ...]
    estimate_of: str
    """What the estimate covers, in words."""
    billed_of: str


class RequestLine(msgspec.Struct, frozen=True, kw_only=True):
    """One request behind a trial's numbers, with where it was read and the rates that priced it."""

    n: int
    started_at: float | None
    status: int | None
    input: int | None
    cached: int | None
    cache_write: int | None
    output: int | None
    reasoning: int | None
    charge_usd: Decimal | None
    estimate_usd: Decimal | None
    rates: str | None
    source: str
    offset: int


class SupersededMoney(msgspec.Struct, frozen=True, kw_only=True):
    """Money of attempts that no record shows; in no total."""

    estimate_usd: Decimal | None
    billed_usd: Decimal | None


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What `benchpipe explain --json` prints (commands.md). `n` is C7's; `left_out` trials are in no sum."""

    n: int
    estimate_usd: Decimal | None
    estimate_n: int
    billed_usd: Decimal | None
    billed_n: int
    tokens: Tokens
    superseded: SupersededMoney
    trials: tuple[TrialLine, ...]
    left_out: tuple[TrialLine, ...] = ()
    requests: tuple[RequestLine, ...] = ()
    """Of one trial; empty for a whole run."""


def explain(
    slots: Iterable[Slot],
    costs: Mapping[str, Mapping[str, SlotCosts]],
    why: Callable[[Any], str],
    requests: Sequence[RequestLine] = (),
) -> Explanation:
    """Explain the sums over `slots`. `costs` are a run's, task → mode; `why` says how a state came about."""
    seen = [(slot, costs.get(slot.task, {}).get(slot.mode, SlotCosts())) for slot in slots]
    counting = [cost for slot, cost in seen if slot.counts]
    estimates = [usd for cost in counting if (usd := cost.estimate.usd) is not None]
    bills = [usd for cost in counting if (usd := cost.bill.usd) is not None]
    gone = [cost.superseded for _, cost in seen]
    return Explanation(
        n=len(counting),
        estimate_usd=_sum(estimates),
        estimate_n=len(estimates),
        billed_usd=_sum(bills),
        billed_n=len(bills),
        tokens=add_tokens(cost.tokens for cost in counting if cost.tokens and cost.tokens.input is not None),
        superseded=SupersededMoney(
            estimate_usd=_sum([s.estimate_usd for s in gone if s.estimate_usd is not None]),
            billed_usd=_sum([s.billed_usd for s in gone if s.billed_usd is not None]),
        ),
        trials=tuple(_line(slot, cost, why(slot)) for slot, cost in seen if slot.counts),
        left_out=tuple(_line(slot, cost, why(slot)) for slot, cost in seen if not slot.counts and slot.record.trial),
        requests=tuple(requests),
    )


def _sum(values: Sequence[Decimal]) -> Decimal | None:
    return sum(values, Decimal(0)) if values else None


def add_tokens(parts: Iterable[Tokens]) -> Tokens:
    """Sums per kind; a kind that nobody says anything about stays None."""
    listed = list(parts)
    said = {name: [v for t in listed if (v := getattr(t, name)) is not None] for name in Tokens.__struct_fields__}
    return Tokens(**{name: sum(values) if values else None for name, values in said.items()})


def _line(slot: Slot, cost: SlotCosts, why: str) -> TrialLine:
    record = slot.record
    folder = f"{record.host}:{record.job}/{record.trial}" if record.trial else f"{record.host}:{record.job}"
    read = cost.files or (("result.json",) if cost.tokens_source == "harbor" else ())
    return TrialLine(
        task=slot.task,
        mode=slot.mode,
        trial=record.trial,
        state=slot.state,
        why=why,
        estimate_usd=cost.estimate.usd,
        billed_usd=cost.bill.usd,
        price=cost.estimate.price,
        files=tuple(f"{folder}/{name}" for name in read),
        estimate_of=_estimate_of(cost),
        billed_of=_billed_of(cost),
    )


def _estimate_of(cost: SlotCosts) -> str:
    estimate = cost.estimate
    if estimate.price is None:
        return "no price entry"
    if estimate.usd is None:
        return "no tokens are known"
    if estimate.flat:
        return f"{cost.tokens_source or 'stored'} sums at the flat price of the trial's start, for want of requests"
    return f"{estimate.n_priced} of {estimate.n_requests} answered requests priced"


def _billed_of(cost: SlotCosts) -> str:
    bill = cost.bill
    if bill.left_out_usd is not None:
        return f"charges of {fmt.money(bill.left_out_usd)} are no bill under the run's billing"
    if bill.usd is None:
        return "nothing says what was charged"
    if not bill.n_requests:
        return f"{bill.source}; no log of requests to hold it against"
    return f"{bill.source}: {bill.coverage}, {bill.n_charged} of {bill.n_requests} answered requests"


def request_lines(rows: Sequence[Request], price: Price | None) -> list[RequestLine]:
    """The requests of one trial, by start."""
    return [
        RequestLine(
            n=n,
            started_at=row.started_at,
            status=row.status,
            input=row.input,
            cached=row.cached,
            cache_write=row.cache_write,
            output=row.output,
            reasoning=row.reasoning,
            charge_usd=row.charge_usd,
            estimate_usd=request_cost(row, price),
            rates=_rates(price, row),
            source=row.file,
            offset=row.offset,
        )
        for n, row in enumerate(rows, 1)
    ]


def _rates(price: Price | None, row: Request) -> str | None:
    if price is None or row.input is None:
        return None
    rates = rates_for(price, row.started_at, row.input)
    band = band_of(price, row.started_at)
    where = f"{price.key}, band until {band.until}" if band else price.key
    tier = tier_of(price, row.started_at, row.input)
    return f"{rates_text(rates)} ({where}{f', above {tier.above:,} tokens' if tier else ''})"


def rates_text(rates: Rates) -> str:
    """`input 0.10, cached 0.01, output 0.50`: USD per million tokens."""
    parts = [("input", rates.input), ("cached", rates.cached_input), ("cache write", rates.cache_write), ("output", rates.output)]
    return ", ".join(f"{name} {usd}" for name, usd in parts if usd is not None)


def text(found: Explanation, price: Price | None) -> Iterator[str]:
    """The explanation as lines for people."""
    tokens = found.tokens
    yield f"{found.n} trials have begun and count"
    yield f"est. cost  {fmt.money(found.estimate_usd)} over {found.estimate_n} of {found.n} trials (an estimate, at list prices)"
    yield f"billed     {fmt.money(found.billed_usd)} over {found.billed_n} of {found.n} trials (never added to the estimate)"
    yield (
        f"tokens     {fmt.tokens(tokens.input)} in ({fmt.tokens(tokens.cached)} cached, {fmt.tokens(tokens.cache_write)} written to"
        f" a cache), {fmt.tokens(tokens.output)} out ({fmt.tokens(tokens.reasoning)} reasoning)"
    )
    gone = found.superseded
    if gone.estimate_usd is not None or gone.billed_usd is not None:
        yield f"superseded attempts, in no sum: est. {fmt.money(gone.estimate_usd)}, billed {fmt.money(gone.billed_usd)}"
    if price:
        yield f"price      {price.key} ({price.place}): {rates_text(price.rates)} USD per million, as of {price.as_of or 'no date'}"
    for line in found.trials:
        yield from _trial_text(line)
    for line in found.left_out:
        yield from _trial_text(line, "in no sum: ")
    for request in found.requests:
        yield _request_text(request)


def _trial_text(line: TrialLine, mark: str = "") -> Iterator[str]:
    yield ""
    yield f"{mark}{line.task} {line.mode}: {line.why}"
    yield f"  trial    {line.trial or 'none yet'}"
    yield f"  est.     {fmt.money(line.estimate_usd)} ({line.estimate_of})"
    yield f"  billed   {fmt.money(line.billed_usd)} ({line.billed_of})"
    for name in line.files:
        yield f"  read     {name}"


def _request_text(line: RequestLine) -> str:
    usage = f"in {fmt.tokens(line.input)}, cached {fmt.tokens(line.cached)}, out {fmt.tokens(line.output)}"
    money = f"est. {fmt.UNKNOWN if line.estimate_usd is None else '$' + format(line.estimate_usd, 'f')}"
    if line.charge_usd is not None:
        money += f", charged ${line.charge_usd:f}"
    return f"  #{line.n} {line.status} {usage}: {money}; {line.source} at byte {line.offset}; {line.rates or 'not priced'}"
