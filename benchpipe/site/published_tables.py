"""The attempts and requests of the committed snapshot as rows: what the public build has instead of the lab's own tables.

No host, no job, and nothing that the snapshot doesn't hold.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchpipe.publish.published import read_document
from benchpipe.site.data import BenchmarkData, RunData, Trial
from benchpipe.site.logs import LogSource
from benchpipe.times import parse_time
from benchpipe.trials.records import DONE, Attempt, Record
from benchpipe.usage.records import Tokens
from benchpipe.usage.tables import ATTEMPTS, REQUESTS

Row = Mapping[str, Any]
NO_ATTEMPT = {column.name: None for column in ATTEMPTS}
NO_REQUEST = {column.name: None for column in REQUESTS}


def attempt_rows(data: BenchmarkData) -> list[Row]:
    """The published attempts of a benchmark; a record without a chain is its own only attempt."""
    return [row for run in data.runs for trial in run.trials if _is_published(trial) for row in _attempts(data, run, trial)]


def _is_published(trial: Trial) -> bool:
    return trial.record.state in DONE and trial.state != "withdrawn"


def _attempts(data: BenchmarkData, run: RunData, trial: Trial) -> Iterator[Row]:
    record, task = trial.record, data.tasks.get(trial.task)
    excluded = task is None or bool(task.excluded)
    for attempt in record.attempts or (record,):
        shown = attempt is record or (isinstance(attempt, Attempt) and attempt.counts)
        yield {
            **NO_ATTEMPT,
            "benchmark": data.id,
            "run": run.id,
            "task": trial.task,
            "mode": trial.mode,
            "counts": shown,
            "excluded": excluded,
            "in_totals": shown and trial.seen.counts and not excluded,
            **_of_attempt(attempt),
            **(_of_record(trial) if shown else {}),
        }


def _of_attempt(attempt: Attempt | Record) -> Row:
    tokens = attempt.tokens or Tokens()
    return {
        "trial": attempt.trial,
        "state": attempt.state,
        "started_at": parse_time(attempt.started),
        "finished_at": parse_time(attempt.finished),
        "agent_wall_s": attempt.agent_wall_s,
        "input": tokens.input,
        "cached": tokens.cached,
        "cache_write": tokens.cache_write,
        "output": tokens.output,
        "reasoning": tokens.reasoning,
        "tokens_source": attempt.tokens_source,
        "billed_usd": None if attempt.billed_usd is None else Decimal(str(attempt.billed_usd)),
        "billed_source": attempt.billed_source,
        "exception": attempt.exception,
    }


def _of_record(trial: Trial) -> Row:
    record, estimate = trial.record, trial.estimate
    return {
        "n_requests": record.calls,
        "n_requests_failed": record.calls_failed,
        "n_requests_without_usage": record.calls_without_usage,
        "estimate_usd": estimate.usd,
        "estimate_n_priced": estimate.n_priced,
        "estimate_n_requests": estimate.n_requests,
        "price": estimate.price,
    }


def log_files(source: LogSource, data: BenchmarkData) -> Iterator[tuple[Trial, Path]]:
    """The snapshot's logs that have a page: nothing of hidden runs and withdrawn modes, also where nobody published since."""
    for run in data.runs:
        for trial in run.trials:
            for page, address in ((trial.mode, trial.log), (f"{trial.mode}-prev", trial.previous)):
                if address and _is_published(trial):
                    yield trial, Path(source.log_file(data.id, run.stored, trial.task, page))


def request_rows(source: LogSource, data: BenchmarkData) -> list[Row]:
    """The requests that the published logs list, in their order; times are whole tenths of a second."""
    rows: list[Row] = []
    for trial, file in log_files(source, data):
        log = read_document(file) or {}
        where = {"benchmark": data.id, "run": trial.run, "task": trial.task, "mode": trial.mode, "trial": log.get("trial")}
        start = log.get("start")
        for n, call in enumerate(log.get("calls") or (), 1):
            rows.append({**NO_REQUEST, **where, "n": n, **_request(call, start)})
    return rows


def _request(call: list[Any], start: Any) -> Row:
    began, ended, status, tokens_in, cached, output, reasoning, cache_write, charge, *_ = (*call, None, None, None)
    known = isinstance(start, int | float) and isinstance(began, int | float)
    return {
        "started_at": datetime.fromtimestamp(start + began, UTC) if known else None,
        "latency_s": round(ended - began, 3) if known and isinstance(ended, int | float) else None,
        "status": status,
        "input": tokens_in,
        "cached": cached,
        "cache_write": cache_write,
        "output": output,
        "reasoning": reasoning,
        "charge_usd": None if charge is None else Decimal(str(charge)),
    }
