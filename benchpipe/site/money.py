"""What each trial cost, as `usage` computed it: from the benchmark's costs file, or from the published records (E5)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

import msgspec

from benchpipe.lab import Lab
from benchpipe.registry.records import Billing, Price
from benchpipe.times import parse_time
from benchpipe.trials.records import Record
from benchpipe.usage.collect import load_costs
from benchpipe.usage.costs import Superseded
from benchpipe.usage.estimates import UNPAID, estimate_harbor
from benchpipe.usage.records import Bill, Estimate

NO_ESTIMATE = Estimate()
NO_BILL = Bill()
NOTHING_SUPERSEDED = Superseded()


@dataclass(frozen=True)
class Cost:
    """The money of one trial, and the files that it was read from, in words."""

    estimate: Estimate = NO_ESTIMATE
    bill: Bill = NO_BILL
    files: str = ""
    superseded: Superseded = NOTHING_SUPERSEDED


Costs = Mapping[tuple[str, str, str], Cost]
"""(run, task, mode) → cost."""


def local_costs(lab: Lab, benchmark: str) -> Costs:
    """The costs of a benchmark's records; none where it has no readable costs file."""
    costs = load_costs(lab, benchmark)
    return {
        (run, task, mode): Cost(slot.estimate, slot.bill, ", ".join(slot.files), slot.superseded)
        for run, tasks in (costs.runs if costs else {}).items()
        for task, modes in tasks.items()
        for mode, slot in modes.items()
    }


def cost_of_sums(record: Record, price: Price | None, billing: Billing) -> Cost:
    """The cost of a record that nobody priced request by request (an older snapshot, say): its sums at the flat price."""
    started = parse_time(record.started)
    estimate = estimate_harbor(record.tokens, price, started.timestamp() if started else None)
    if record.billed_usd is None or billing in UNPAID:
        return Cost(estimate)
    return Cost(estimate, Bill(usd=Decimal(str(record.billed_usd)), source=record.billed_source))


class PublishedMoney(msgspec.Struct, frozen=True):
    """The money of a published record; without an estimate (older snapshots) it is none of ours to read."""

    estimate: Estimate
    billed_usd: Decimal | None = None
    billed_source: str | None = None


class PublishedRun(msgspec.Struct, frozen=True):
    """A published run file as far as money goes. Records that don't fit are skipped one by one (B11)."""

    tasks: Mapping[str, Mapping[str, msgspec.Raw]] = {}


def published_costs(text: bytes, run: str) -> Costs:
    """The estimates and bills that were published with a run's records."""
    try:
        tasks = msgspec.json.decode(text, type=PublishedRun).tasks
    except msgspec.DecodeError:
        return {}
    return {(run, task, mode): cost for task, modes in tasks.items() for mode, cost in _costs(modes)}


def _costs(modes: Mapping[str, msgspec.Raw]) -> Iterator[tuple[str, Cost]]:
    for mode, raw in modes.items():
        try:
            said = msgspec.json.decode(raw, type=PublishedMoney)
        except msgspec.DecodeError:
            continue
        yield mode, Cost(said.estimate, Bill(usd=said.billed_usd, source=said.billed_source))
