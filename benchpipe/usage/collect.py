"""`cost_estimates` of one benchmark: price every attempt's requests, write `costs.json` and the two tables. Decides nothing.

What prices, bills and sums mean stands in `estimates`, `costs` and `totals` beside this file.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from benchpipe import times
from benchpipe.errors import BenchpipeError
from benchpipe.files import json_bytes, sha256, write_bytes
from benchpipe.lab import Lab
from benchpipe.registry.records import Registry
from benchpipe.usage.costs import (
    AttemptCosts,
    BenchmarkCosts,
    RequestsOf,
    RunCosts,
    SlotCosts,
    Terms,
    attempt_costs,
    run_costs,
    slot_costs,
)
from benchpipe.usage.estimates import request_cost
from benchpipe.usage.records import Request, Tokens
from benchpipe.usage.shown import Attempt, Slot, View
from benchpipe.usage.tables import Row, write_attempts, write_requests


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """What was written. `digest` is over the costs and both tables' rows."""

    runs: tuple[RunCosts, ...]
    digest: str
    n_attempts: int
    n_requests: int
    problems: tuple[str, ...]
    """Requests that can't be read, charges that are no bill."""


class Priced(msgspec.Struct, frozen=True):
    """One attempt with its rows and its money."""

    attempt: Attempt
    rows: Sequence[Request]
    costs: AttemptCosts


def terms_of(registry: Registry, run: str) -> Terms:
    """The price entry and billing of a run."""
    agent = registry.agents.get(run)
    return Terms(price=registry.price_of(run), billing=agent.billing if agent else "api")


def collect_costs(lab: Lab, registry: Registry, benchmark: str, views: Iterable[View], requests_of: RequestsOf) -> Collected:
    """Price all attempts of a benchmark's runs and write the three files. Rows that can't be read are a problem, not an end."""
    problems: list[str] = []
    tasks = registry.benchmarks[benchmark].tasks if benchmark in registry.benchmarks else {}
    runs: dict[str, dict[str, dict[str, SlotCosts]]] = {}
    summed: list[RunCosts] = []
    attempts: list[Row] = []
    requests: list[Row] = []
    for view in views:
        terms = terms_of(registry, view.run)
        found: dict[str, dict[str, SlotCosts]] = {}
        for slot in view.records("all"):
            priced = _priced(slot, terms, requests_of, problems)
            if not priced:
                continue
            found.setdefault(slot.task, {})[slot.mode] = slot_costs([one.costs for one in priced])
            where = {"benchmark": benchmark, "run": view.run, "task": slot.task, "mode": slot.mode}
            excluded = slot.task in tasks and bool(tasks[slot.task].excluded)
            for one in priced:
                counted = {"excluded": excluded, "in_totals": one.attempt.counts and slot.counts and not excluded}
                attempts.append({**where, **attempt_row(one), **counted})
                requests += ({**where, **row} for row in request_rows(one, terms))
        runs[view.run] = found
        summed.append(run_costs(view, found))
    costs = BenchmarkCosts(benchmark=benchmark, runs=runs)
    text = json_bytes(msgspec.to_builtins(costs))
    write_bytes(lab.costs_file(benchmark), text)
    write_attempts(lab.attempts_table(benchmark), attempts)
    write_requests(lab.requests_table(benchmark), requests)
    unpaid = [f"{run.run}: charges of ${run.left_out_usd} are no bill under its billing" for run in summed if run.left_out_usd]
    return Collected(
        runs=tuple(summed),
        digest=sha256(text)[:24],
        n_attempts=len(attempts),
        n_requests=len(requests),
        problems=(*dict.fromkeys(problems), *unpaid),
    )


def load_costs(lab: Lab, benchmark: str) -> BenchmarkCosts | None:
    """The stored costs of a benchmark; None where there are none or they can't be read."""
    try:
        return msgspec.json.decode(lab.costs_file(benchmark).read_bytes(), type=BenchmarkCosts)
    except (OSError, msgspec.DecodeError):
        return None


def _priced(slot: Slot, terms: Terms, requests_of: RequestsOf, problems: list[str]) -> list[Priced]:
    found = []
    for attempt in slot.record.attempts:
        rows: Sequence[Request] = ()
        if attempt.usage_digest:
            try:
                rows = requests_of(attempt.usage_digest)
            except BenchpipeError as error:
                problems.append(str(error))
        found.append(Priced(attempt, rows, attempt_costs(attempt, rows, terms)))
    return found


def attempt_row(priced: Priced) -> dict[str, Any]:
    """The row of `attempts.parquet`, without what its task and mode say."""
    attempt, costs = priced.attempt, priced.costs
    tokens = attempt.tokens or Tokens()
    return {
        "batch": attempt.batch,
        "host": attempt.host,
        "job": attempt.job,
        "trial": attempt.trial,
        "state": attempt.state,
        "counts": attempt.counts,
        "started_at": times.utc(attempt.started),
        "finished_at": times.utc(attempt.finished),
        "agent_wall_s": attempt.agent_wall_s,
        "n_requests": costs.n_requests,
        "n_requests_failed": costs.n_failed,
        "n_requests_without_usage": costs.n_without_usage,
        **msgspec.structs.asdict(tokens),
        "tokens_source": attempt.tokens_source,
        "estimate_usd": costs.estimate.usd,
        "estimate_n_priced": costs.estimate.n_priced,
        "estimate_n_requests": costs.estimate.n_requests,
        "price": costs.estimate.price,
        "billed_usd": costs.bill.usd,
        "billed_source": costs.bill.source,
        "billed_coverage": costs.bill.coverage,
        "exception": attempt.exception,
    }


def request_rows(priced: Priced, terms: Terms) -> list[Mapping[str, Any]]:
    """The rows of `requests.parquet`, without what names benchmark, run, task and mode."""
    return [
        {
            "trial": priced.attempt.trial,
            "n": n,
            "started_at": times.utc(row.started_at),
            "latency_s": row.latency_s,
            "status": row.status,
            "response_id": row.response_id,
            "input": row.input,
            "cached": row.cached,
            "cache_write": row.cache_write,
            "output": row.output,
            "reasoning": row.reasoning,
            "charge_usd": row.charge_usd,
            "estimate_usd": request_cost(row, terms.price),
            "model": row.model,
            "shape": row.shape,
            "source": row.file,
            "offset": row.offset,
        }
        for n, row in enumerate(priced.rows, 1)
    ]
