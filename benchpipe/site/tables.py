"""Every table as CSV, JSON and Parquet at a stable address (D3, A5), and the page that says what the columns mean.

`attempts` and `requests` are the tables that `usage` writes (the public build makes them from the snapshot); `tasks` and
`runs` are made here. The three forms come from one and the same table.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

from benchpipe.site.addresses import SCHEMA, table
from benchpipe.site.data import BenchmarkData, RunData
from benchpipe.site.figures import totals_of
from benchpipe.site.jobs import Job, digest_of_files
from benchpipe.site.logs import LogSource
from benchpipe.site.published_tables import attempt_rows, log_files, request_rows
from benchpipe.site.render import Page
from benchpipe.usage.tables import ATTEMPTS, REQUESTS, Column, parquet_bytes
from benchpipe.usage.totals import Totals

FORMS: Final = {"csv": "CSV", "json": "JSON", "parquet": "Parquet"}
"""Ending of a file → what people call the form."""
NOT_PUBLIC: Final = frozenset({"host", "job"})
ROWS_AT_ONCE: Final = 20_000


@dataclass(frozen=True)
class Table:
    """`about` says what one row is."""

    name: str
    about: str
    columns: tuple[Column, ...]


TASKS: Final = Table(
    "tasks",
    "One row per task of the benchmark, as registered and curated.",
    (
        Column("benchmark", "text", "benchmark id"),
        Column("task", "text", "task id"),
        Column("title", "text", "the task's name"),
        Column("family", "text", "the group it belongs to"),
        Column("difficulty", "text", "easy, medium, hard, extreme or unrated"),
        Column("status", "text", "keep, drop, needs-review or pending"),
        Column("excluded", "text", "why it is not part of the final benchmark; null = it is"),
        Column("owner", "text", "whom to ask about it"),
        Column("continuous_score", "text", "what its continuous score measures"),
    ),
)
RUNS: Final = Table(
    "runs",
    "One row per run, mode and scope: bench counts the benchmark's own tasks, all the excluded ones too.",
    (
        Column("benchmark", "text", "benchmark id"),
        Column("run", "text", "run id"),
        Column("label", "text", "the run's name"),
        Column("mode", "text", "mode of the run"),
        Column("scope", "text", "bench or all"),
        Column("trials", "integer", "trials that have begun and are not left out"),
        Column("done", "integer", "of these, finished ones: solved, failed, or ended without a grade"),
        Column("success", "integer", "of these, solved ones"),
        Column("rate", "number", "success / done; null while nothing is done"),
        Column("rate_low", "number", "lower end of Wilson's 95 % interval"),
        Column("rate_high", "number", "upper end"),
        Column("estimate_usd", "money", "estimates summed over the trials that have one"),
        Column("estimate_n", "integer", "trials with an estimate"),
        Column("billed_usd", "money", "bills summed over the trials that have one; never added to an estimate"),
        Column("billed_n", "integer", "trials with a bill"),
        Column("input", "integer", "input tokens, cached and cache-written ones included"),
        Column("cached", "integer", "of these, read from a cache"),
        Column("output", "integer", "output tokens, reasoning included"),
        Column("reasoning", "integer", "of these, reasoning"),
    ),
)
TABLES: Final = (
    RUNS,
    TASKS,
    Table("attempts", "One row per attempt: every trial of every batch, also those that a later one replaced.", ATTEMPTS),
    Table("requests", "One row per model request of every attempt that has a log of its requests.", REQUESTS),
)


@dataclass(frozen=True)
class Form:
    """A link to one form of one table; `label` names both."""

    text: str
    href: str
    label: str


@dataclass(frozen=True)
class BenchmarkTables:
    """One benchmark's downloads: the forms of each table."""

    name: str
    cells: tuple[tuple[Form, ...], ...]


@dataclass(frozen=True, kw_only=True)
class SchemaPage(Page):
    template: ClassVar[str] = "schema.html"
    lede: str
    tables: tuple[Table, ...]
    benchmarks: tuple[BenchmarkTables, ...]


def schema_page(benchmarks: Sequence[BenchmarkData], *, public: bool) -> SchemaPage:
    """The page that names every download and every column."""
    tables = tuple(Table(one.name, one.about, _columns(one, public)) for one in TABLES)
    rows = tuple(BenchmarkTables(data.benchmark.name, tuple(_links(data, one.name) for one in TABLES)) for data in benchmarks)
    return SchemaPage(
        path=SCHEMA,
        section=SCHEMA,
        title="Data",
        lede="Every table as CSV, JSON and Parquet. Empty or null is unknown, which is not 0. Money is exact US dollars.",
        tables=tables,
        benchmarks=rows,
    )


def _links(data: BenchmarkData, name: str) -> tuple[Form, ...]:
    return tuple(
        Form(said, f"{table(data.id, name)}.{form}", f"{name} of {data.benchmark.name}, {said}") for form, said in FORMS.items()
    )


def _columns(of: Table, public: bool) -> tuple[Column, ...]:
    return tuple(column for column in of.columns if not (public and column.name in NOT_PUBLIC))


def table_jobs(source: LogSource, data: BenchmarkData) -> Iterator[Job]:
    """The downloads of one benchmark."""
    runs, tasks, attempts, requests = TABLES
    yield from _forms(data, tasks, (data.digest,), lambda: parquet_bytes(tasks.columns, task_rows(data)))
    yield from _forms(data, runs, (data.whole_digest,), lambda: parquet_bytes(runs.columns, run_rows(data)))
    if source.public:
        columns = _columns(attempts, source.public)
        yield from _forms(data, attempts, (data.whole_digest,), lambda: parquet_bytes(columns, attempt_rows(data)))
        logs = digest_of_files(file for _, file in log_files(source, data))
        yield from _forms(
            data, requests, (data.whole_digest, logs), lambda: parquet_bytes(requests.columns, request_rows(source, data))
        )
    else:
        for of, file in ((attempts, source.lab.attempts_table(data.id)), (requests, source.lab.requests_table(data.id))):
            collected = file if file.is_file() else None
            yield from _forms(data, of, (digest_of_files([file]),), lambda of=of: parquet_bytes(of.columns, []), collected)  # type: ignore[misc]


def _forms(
    data: BenchmarkData, of: Table, inputs: tuple[str, ...], make: Callable[[], bytes], collected: Path | None = None
) -> Iterator[Job]:
    """The three forms of one table, which is made or, where it was collected, read once for all of them."""
    base, parquet = table(data.id, of.name), cache(collected.read_bytes if collected else make)
    yield Job(f"{base}.csv", inputs, lambda: csv_of(parquet()))
    yield Job(f"{base}.json", inputs, lambda: json_of(parquet()))
    yield Job(f"{base}.parquet", inputs, collected or parquet)


def task_rows(data: BenchmarkData) -> list[dict[str, Any]]:
    """The rows of `tasks`."""
    names = [column.name for column in TASKS.columns[2:]]
    return [
        {"benchmark": data.id, "task": task.id, **{name: getattr(task, name) for name in names}} for task in data.tasks.values()
    ]


def run_rows(data: BenchmarkData) -> list[dict[str, Any]]:
    """The rows of `runs`: every run with data, every mode that is not withdrawn, both scopes."""
    return [
        _run_row(data, run, mode, scope)
        for run in data.runs
        if run.seen.has_data
        for mode in run.bench_run.modes
        if mode not in run.bench_run.withdrawn
        for scope in ("bench", "all")
    ]


def _run_row(data: BenchmarkData, run: RunData, mode: str, scope: str) -> dict[str, Any]:
    t = totals_of(run, scope).modes.get(mode, Totals())
    counted = t.tokens_n > 0
    return {
        "benchmark": data.id,
        "run": run.id,
        "label": run.agent.label,
        "mode": mode,
        "scope": scope,
        "trials": t.trials,
        "done": t.done,
        "success": t.success,
        "rate": t.rate.share if t.rate else None,
        "rate_low": t.rate.low if t.rate else None,
        "rate_high": t.rate.high if t.rate else None,
        "estimate_usd": t.est if t.est_n else None,
        "estimate_n": t.est_n,
        "billed_usd": t.billed if t.billed_n else None,
        "billed_n": t.billed_n,
        "input": t.input if counted else None,
        "cached": t.cached if counted else None,
        "output": t.output if counted else None,
        "reasoning": t.reasoning if counted else None,
    }


def csv_of(parquet: bytes) -> bytes:
    """The table as RFC 4180 with line feeds: null is empty, money has nine places, times are ISO UTC.

    A text that a spreadsheet would run as a formula gets a quote in front (CWE-1236).
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for first, names, columns in _batches(parquet):
        if first:
            writer.writerow(names)
        writer.writerows(zip(*(_csv_column(column) for column in columns), strict=True))
    return text.getvalue().encode()


def _csv_column(values: list[Any]) -> list[Any]:
    if any(isinstance(value, bool) for value in values):
        return [None if value is None else str(value).lower() for value in values]
    return [f"'{value}" if isinstance(value, str) and value[:1] in FORMULA else value for value in values]


FORMULA: Final = frozenset("=+-@\t\r")


def json_of(parquet: bytes) -> bytes:
    """The table as one array of objects, one row a line; money is a decimal string, null is unknown."""
    import orjson

    lines = [
        orjson.dumps(dict(zip(names, row, strict=True)))
        for _, names, columns in _batches(parquet)
        for row in zip(*columns, strict=True)
    ]
    return b"[\n" + b",\n".join(lines) + b"\n]\n"


def _batches(parquet: bytes) -> Iterator[tuple[bool, list[str], list[list[Any]]]]:
    """Whether it is the first, column names, and columns of plain values; a table without rows is one empty batch."""
    import pyarrow
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(io.BytesIO(parquet))
    names, first = file.schema_arrow.names, True
    for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
        yield first, names, [_plain_column(pyarrow, column) for column in batch.columns]
        first = False
    if first:
        yield True, names, [[] for _ in names]


def _plain_column(pyarrow: Any, column: Any) -> list[Any]:
    """Values that JSON knows; money and times become texts here, a column at a time, since requests may be millions."""
    if pyarrow.types.is_decimal(column.type):
        return [None if usd is None else format(usd, "f") for usd in column.to_pylist()]
    if pyarrow.types.is_timestamp(column.type):
        return [None if text is None else text.replace(" ", "T") for text in column.cast(pyarrow.string()).to_pylist()]
    return column.to_pylist()
