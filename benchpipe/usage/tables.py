"""`attempts.parquet` and `requests.parquet`: one row per attempt and per request, for analysis (A5, commands.md).

The schema is one list of columns per table: it makes the Parquet schema with its descriptions and the page docs/data-schema.md.
Money is decimal128(18, 9), times are UTC microseconds, null is unknown. Equal rows make equal bytes.
"""

import io
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchpipe.files import write_bytes

Kind = Literal["text", "integer", "number", "bool", "time", "money"]
NANO = Decimal("0.000000001")
TOO_MUCH = Decimal(10**9)
"""USD that no column holds. A damaged log may say so; its row is kept, without the sum."""


class Column(NamedTuple):
    """One column: its name, kind and what it says."""

    name: str
    kind: Kind
    about: str


ATTEMPTS = (
    Column("benchmark", "text", "benchmark id"),
    Column("run", "text", "run id"),
    Column("task", "text", "task id"),
    Column("mode", "text", "mode of the run"),
    Column("batch", "text", "launch of the runner that the attempt belongs to"),
    Column("host", "text", "machine that holds it; not in published tables"),
    Column("job", "text", "Harbor job directory; not in published tables"),
    Column("trial", "text", "Harbor trial directory; null = its job has none yet"),
    Column("state", "text", "collected state"),
    Column("counts", "bool", "true for the one attempt that the record of its task and mode shows"),
    Column("excluded", "bool", "true where the task is not part of the final benchmark"),
    Column("in_totals", "bool", "true for what a page's totals count: shown, begun, not left out by a person, not excluded"),
    Column("started_at", "time", "start of the trial"),
    Column("finished_at", "time", "end of the trial"),
    Column("agent_wall_s", "integer", "seconds that the agent worked"),
    Column("n_requests", "integer", "model requests in its log; null = it has no log of requests"),
    Column("n_requests_failed", "integer", "of these, those with another status than 200"),
    Column("n_requests_without_usage", "integer", "of these, answered ones whose tokens nobody said; they are not zeros"),
    Column("input", "integer", "input tokens, cached and cache-written ones included"),
    Column("cached", "integer", "of these, read from a cache"),
    Column("cache_write", "integer", "of these, written to a cache"),
    Column("output", "integer", "output tokens, reasoning included"),
    Column("reasoning", "integer", "of these, reasoning"),
    Column("tokens_source", "text", "gateway, usage_log, sessions, trajectory or harbor"),
    Column("estimate_usd", "money", "its tokens at list prices; null = no price or no tokens"),
    Column("estimate_n_priced", "integer", "requests that the estimate covers"),
    Column("estimate_n_requests", "integer", "answered requests, which it should cover"),
    Column("price", "text", "key of the price entry"),
    Column("billed_usd", "money", "what the provider says it charged; never added to an estimate"),
    Column("billed_source", "text", "gateway or openrouter_costs.json"),
    Column("billed_coverage", "text", "complete, partial or none: how many answered requests carried a charge"),
    Column("exception", "text", "type of the trial's exception"),
)
REQUESTS = (
    Column("benchmark", "text", "benchmark id"),
    Column("run", "text", "run id"),
    Column("task", "text", "task id"),
    Column("mode", "text", "mode of the run"),
    Column("trial", "text", "Harbor trial directory"),
    Column("n", "integer", "place of the request in its trial, by start, from 1"),
    Column("started_at", "time", "start of the request"),
    Column("latency_s", "number", "seconds until the answer had ended"),
    Column("status", "integer", "HTTP status; 200 = answered"),
    Column("response_id", "text", "the provider's id of the answer; repeated rows of one answer count once"),
    Column("input", "integer", "input tokens, cached and cache-written ones included"),
    Column("cached", "integer", "of these, read from a cache"),
    Column("cache_write", "integer", "of these, written to a cache"),
    Column("output", "integer", "output tokens, reasoning included"),
    Column("reasoning", "integer", "of these, reasoning"),
    Column("charge_usd", "money", "what the provider says it charged for this request"),
    Column("estimate_usd", "money", "its tokens at the list price of its time and size"),
    Column("model", "text", "model that answered, as it calls itself"),
    Column("shape", "text", "convention of the usage object; null with status 200 = missing usage"),
    Column("source", "text", "log it was read from, relative to the trial"),
    Column("offset", "integer", "byte offset of its line in that log"),
)
TABLES: Mapping[str, tuple[Column, ...]] = {"attempts": ATTEMPTS, "requests": REQUESTS}

Row = Mapping[str, Any]


def write_attempts(path: Path, rows: Sequence[Row]) -> bool:
    """Write the attempts table atomically; True if its bytes changed."""
    return write_bytes(path, parquet_bytes(ATTEMPTS, rows))


def write_requests(path: Path, rows: Sequence[Row]) -> bool:
    """Write the requests table atomically; True if its bytes changed."""
    return write_bytes(path, parquet_bytes(REQUESTS, rows))


def schema(columns: Sequence[Column]) -> Any:
    """The pyarrow schema, each field with its description as metadata."""
    import pyarrow

    types = {
        "text": pyarrow.string(),
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "bool": pyarrow.bool_(),
        "time": pyarrow.timestamp("us", tz="UTC"),
        "money": pyarrow.decimal128(18, 9),
    }
    return pyarrow.schema([pyarrow.field(c.name, types[c.kind], metadata={"description": c.about}) for c in columns])


def parquet_bytes(columns: Sequence[Column], rows: Sequence[Row]) -> bytes:
    """A Parquet file of the rows, in their order. Money is rounded to nine places here and nowhere before."""
    import pyarrow
    import pyarrow.parquet

    money = {column.name for column in columns if column.kind == "money"}
    arrays = {
        column.name: [_nano(row[column.name]) if column.name in money else row[column.name] for row in rows] for column in columns
    }
    table = pyarrow.Table.from_pydict(arrays, schema=schema(columns))
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, compression="zstd", version="2.6")
    return sink.getvalue()


def _nano(usd: Decimal | None) -> Decimal | None:
    if usd is None or usd >= TOO_MUCH - NANO:
        return None
    return usd.quantize(NANO, ROUND_HALF_EVEN)


def schema_page() -> str:
    """The text of docs/data-schema.md."""
    types = {
        "text": "string", "integer": "int64", "number": "float64", "bool": "bool", "time": "timestamp[us, UTC]",
        "money": "decimal128(18, 9), USD",
    }  # fmt: skip
    parts = [
        "# Data schema",
        "",
        "One row per attempt and one per model request, per benchmark: `data/runs/<benchmark>/attempts.parquet` and",
        "`data/runs/<benchmark>/requests.parquet`. Null means unknown, which is not 0. Each field carries its description in",
        "the file too. An estimate and a bill are two columns that are never added.",
        "",
        "This page is generated (`benchpipe docs`); change `benchpipe/usage/tables.py` instead.",
    ]
    for name, columns in TABLES.items():
        parts += ["", f"## {name}.parquet", "", "| column | type | what it says |", "| --- | --- | --- |"]
        parts += [f"| `{column.name}` | {types[column.kind]} | {column.about} |" for column in columns]
    return "\n".join(parts) + "\n"
