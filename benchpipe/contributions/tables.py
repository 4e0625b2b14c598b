"""Rows as files: CSV, JSON and Parquet of the verified and, apart from them, of the unverified rows (D3, D5, A5). Pure bytes."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from benchpipe.contributions.rows import Results, Row
from benchpipe.files import json_bytes

COLUMNS = tuple(field.name for field in msgspec.structs.fields(Row))
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows_json(rows: Sequence[Row]) -> bytes:
    """A list of objects, one per row, reasons and remarks as objects."""
    return json_bytes(msgspec.to_builtins(list(rows)))


def rows_csv(rows: Sequence[Row]) -> bytes:
    """One line per row under the column names; lists are joined with "; ". No cell begins like a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(value) for value in _flat(row).values()] for row in rows)
    return out.getvalue().encode()


def rows_parquet(rows: Sequence[Row]) -> bytes:
    """The same table with types; same rows, same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    fields = []
    for field in msgspec.structs.fields(Row):
        kinds = [kind for kind in getattr(field.type, "__args__", (field.type,)) if kind in types]
        fields.append(pa.field(field.name, types[kinds[0]] if kinds and kinds[0] is not Ellipsis else pa.string()))
    out = io.BytesIO()
    table = pa.Table.from_pylist([_flat(row) for row in rows], schema=pa.schema(fields))
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


FORMATS: Mapping[str, Callable[[Sequence[Row]], bytes]] = {"csv": rows_csv, "json": rows_json, "parquet": rows_parquet}


def data_files(results: Results) -> dict[str, Callable[[], bytes]]:
    """Address below the site root → maker of its bytes, for the six row files of a dataset."""
    return {
        f"data/results/{results.dataset}/rows.{kind}.{name}": partial(make, rows)
        for kind, rows in (("verified", results.verified), ("unverified", results.unverified))
        for name, make in FORMATS.items()
    }


def _flat(row: Row) -> dict[str, Any]:
    value = {name: getattr(row, name) for name in COLUMNS}
    for name in ("reasons", "remarks"):
        value[name] = "; ".join(f"{reason.code} {reason.message}" for reason in value[name])
    return value


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value if isinstance(value, str) and value.startswith(_FORMULA) else value
