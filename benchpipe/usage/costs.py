"""The money of one benchmark: per run, task and mode an estimate and a bill, with every attempt's own. Content of `costs.json`.

Money that was spent on superseded attempts is its own number, never lost and never added in (B7). Pure: request rows and
prices come as arguments; the order of anything read changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal

import msgspec

from benchpipe import times
from benchpipe.registry.records import Billing, Price
from benchpipe.usage.estimates import bill, estimate, estimate_harbor
from benchpipe.usage.records import Bill, Estimate, Request, Tokens
from benchpipe.usage.requests import failed, without_usage
from benchpipe.usage.shown import Attempt, Slot, View

RequestsOf = Callable[[str], Sequence[Request]]
"""Digest → stored rows. BenchpipeError when they can't be had."""


class AttemptCosts(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt's requests, tokens and money. `n_requests` is None where only Harbor's sums are known."""

    trial: str | None
    batch: str | None
    state: str | None
    counts: bool
    n_requests: int | None = None
    n_failed: int | None = None
    n_without_usage: int | None = None
    tokens: Tokens | None = None
    tokens_source: str | None = None
    files: tuple[str, ...] = ()
    """The logs its requests were read from, relative to the trial."""
    estimate: Estimate = Estimate()
    bill: Bill = Bill()
    usage_digest: str | None = None


class Superseded(msgspec.Struct, frozen=True, kw_only=True):
    """Money of attempts that a record does not show."""

    n: int = 0
    estimate_usd: Decimal | None = None
    estimate_n: int = 0
    billed_usd: Decimal | None = None
    billed_n: int = 0


class SlotCosts(msgspec.Struct, frozen=True, kw_only=True):
    """One task in one mode. `estimate` and `bill` are those of the attempt that counts."""

    estimate: Estimate = Estimate()
    bill: Bill = Bill()
    tokens: Tokens | None = None
    tokens_source: str | None = None
    files: tuple[str, ...] = ()
    trial: str | None = None
    superseded: Superseded = Superseded()
    attempts: tuple[AttemptCosts, ...] = ()
    """Oldest first."""


class BenchmarkCosts(msgspec.Struct, frozen=True, kw_only=True):
    """`costs.json`: run → task → mode → money. Money is written as decimal strings."""

    benchmark: str
    runs: Mapping[str, Mapping[str, Mapping[str, SlotCosts]]]
    v: int = 1


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What a run pays: its price entry, if it has one, and its billing."""

    price: Price | None = None
    billing: Billing = "api"


def attempt_costs(attempt: Attempt, rows: Sequence[Request], terms: Terms) -> AttemptCosts:
    """The money of one attempt from its requests; without any, Harbor's sums at the flat price of its start."""
    from_requests = bool(rows) and attempt.tokens_source != "harbor"
    return AttemptCosts(
        trial=attempt.trial,
        batch=attempt.batch,
        state=attempt.state,
        counts=attempt.counts,
        n_requests=len(rows) if rows else None,
        n_failed=failed(rows) if rows else None,
        n_without_usage=without_usage(rows) if rows else None,
        tokens=attempt.tokens,
        tokens_source=attempt.tokens_source,
        files=tuple(sorted({row.file for row in rows})),
        estimate=estimate(rows, terms.price) if from_requests else _from_sums(attempt, terms.price),
        bill=bill(rows, attempt.costs_file, terms.billing),
        usage_digest=attempt.usage_digest,
    )


def _from_sums(attempt: Attempt, price: Price | None) -> Estimate:
    started = times.utc(attempt.started)
    return estimate_harbor(attempt.tokens, price, started.timestamp() if started else None)


def slot_costs(attempts: Sequence[AttemptCosts]) -> SlotCosts:
    """What the attempts of one task and mode come to."""
    shown = next((attempt for attempt in attempts if attempt.counts), None)
    gone = [attempt for attempt in attempts if not attempt.counts]
    if shown is None:
        return SlotCosts(superseded=_superseded(gone), attempts=tuple(attempts))
    return SlotCosts(
        estimate=shown.estimate,
        bill=shown.bill,
        tokens=shown.tokens,
        tokens_source=shown.tokens_source,
        files=shown.files,
        trial=shown.trial,
        superseded=_superseded(gone),
        attempts=tuple(attempts),
    )


def _superseded(attempts: Sequence[AttemptCosts]) -> Superseded:
    estimates = [a.estimate.usd for a in attempts if a.estimate.usd is not None]
    bills = [a.bill.usd for a in attempts if a.bill.usd is not None]
    return Superseded(
        n=len(attempts),
        estimate_usd=sum(estimates, Decimal(0)) if estimates else None,
        estimate_n=len(estimates),
        billed_usd=sum(bills, Decimal(0)) if bills else None,
        billed_n=len(bills),
    )


class RunCosts(msgspec.Struct, frozen=True, kw_only=True):
    """One run's own tasks in sum. `n` is that of C7; superseded money stands apart."""

    run: str
    n: int = 0
    estimate_usd: Decimal | None = None
    estimate_n: int = 0
    billed_usd: Decimal | None = None
    billed_n: int = 0
    superseded_estimate_usd: Decimal | None = None
    superseded_billed_usd: Decimal | None = None
    left_out_usd: Decimal | None = None
    """Charges that are no bill under the run's billing, superseded attempts' included."""


def run_costs(view: View, costs: Mapping[str, Mapping[str, SlotCosts]]) -> RunCosts:
    """Sums over the benchmark's own tasks of one run: the money of what counts, and apart what superseded attempts cost."""
    slots = [(slot.counts, _found(costs, slot)) for slot in view.records("bench")]
    counting = [cost for counts, cost in slots if counts]
    estimate_usd, estimate_n = _sum(cost.estimate.usd for cost in counting)
    billed_usd, billed_n = _sum(cost.bill.usd for cost in counting)
    return RunCosts(
        run=view.run,
        n=len(counting),
        estimate_usd=estimate_usd,
        estimate_n=estimate_n,
        billed_usd=billed_usd,
        billed_n=billed_n,
        superseded_estimate_usd=_sum(cost.superseded.estimate_usd for _, cost in slots)[0],
        superseded_billed_usd=_sum(cost.superseded.billed_usd for _, cost in slots)[0],
        left_out_usd=_sum(attempt.bill.left_out_usd for _, cost in slots for attempt in cost.attempts)[0],
    )


def _found(costs: Mapping[str, Mapping[str, SlotCosts]], slot: Slot) -> SlotCosts:
    return costs.get(slot.task, {}).get(slot.mode, SlotCosts())


def _sum(values: Iterable[Decimal | None]) -> tuple[Decimal | None, int]:
    known = [value for value in values if value is not None]
    return (sum(known, Decimal(0)) if known else None), len(known)
