"""What a trial used and was charged, as far as its record says it (runs-system 5.5 and 8.1, B13). Prices are not looked at."""

from collections.abc import Callable, Sequence
from decimal import Decimal

import msgspec

from benchpipe.errors import BenchpipeError
from benchpipe.hosts.reading import TrialReading, Usage
from benchpipe.registry.records import Billing
from benchpipe.times import iso
from benchpipe.usage.estimates import bill
from benchpipe.usage.records import Bill, CostsFile, Request, Source, Tokens
from benchpipe.usage.requests import failed, tokens_of, without_usage

RequestsOf = Callable[[Usage], Sequence[Request]]
"""Reads the stored request rows of a trial. May raise OSError, ValueError or BenchpipeError when they can't be had."""
GATEWAYS = ("gateway", "usage_log")
"""Sources that see every request on the wire, failed ones too."""


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one trial; None = not known, which is not 0."""

    calls: int | None = None
    calls_failed: int | None = None
    calls_without_usage: int | None = None
    last_call: str | None = None
    tokens: Tokens | None = None
    tokens_source: Source | None = None
    bill: Bill = Bill()
    problem: str | None = None


def spent_of(trial: TrialReading, requests_of: RequestsOf, billing: Billing) -> Spent:
    """Counts from the trial's requests, else from Harbor's own numbers. Unreadable requests cost the counts, not the trial."""
    rows: Sequence[Request] = ()
    problem = None
    if trial.usage:
        try:
            rows = requests_of(trial.usage)
        except (OSError, ValueError, BenchpipeError) as error:
            problem = f"{trial.trial}: its requests can't be read ({error})"
    wired = trial.usage is not None and problem is None and trial.usage.source in GATEWAYS
    tokens, source = _tokens(trial, rows)
    return Spent(
        calls=len(rows) if wired else None,
        calls_failed=failed(rows) if wired else None,
        calls_without_usage=without_usage(rows) if wired else None,
        last_call=iso(max((row.started_at for row in rows if row.started_at is not None), default=None)),
        tokens=tokens,
        tokens_source=source,
        bill=bill(rows, costs_file_of(trial), billing),
        problem=problem,
    )


def costs_file_of(trial: TrialReading) -> CostsFile | None:
    """What its costs file says; None where it has none."""
    return CostsFile(Decimal(trial.costs_file_usd), trial.costs_file_n) if trial.costs_file_usd else None


def _tokens(trial: TrialReading, rows: Sequence[Request]) -> tuple[Tokens | None, Source | None]:
    if trial.usage and rows:
        tokens = tokens_of(rows)
        if tokens.input is not None:
            return tokens, trial.usage.source
    said = trial.harbor_tokens
    if said and said.get("input") is not None:
        return Tokens(input=said.get("input"), cached=said.get("cached"), output=said.get("output")), "harbor"
    return None, None
