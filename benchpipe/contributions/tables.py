"""Rows as files: CSV, JSON and Parquet of the verified and, apart from them, of the unverified rows (D3, D5, A5). Pure bytes."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from benchpipe.contributions.rows import Results, Row
from benchpipe.files import json_bytes

COLUMNS: Mapping[str, str] = {
    "row_id": "dataset/method/variant#run id@round",
    "dataset": "benchmark id",
    "pool": "declared task set that was measured",
    "base_harness": "name@version of the harness that is improved",
    "model": "model that drives the harness",
    "decoding": "decoding in words",
    "stack_key": "equal for rows of one stack, different for any two; names may be shown with contact data taken out",
    "trials": "measurements of each task",
    "sampling": "which tasks were sampled; all = every one",
    "method": "method that improved the harness",
    "variant": "label of the submission",
    "improver": "method@version",
    "improver_model": "model that the improver used",
    "improver_harness": "tool that the improver ran under",
    "round": "round of improvement; 0 = H0, the unmodified harness",
    "rounds": "rounds that were run",
    "run_id": "the contributor's id of the run",
    "harness_sha": "git tree id of the measured harness",
    "score": "mean over the pool's tasks, recomputed from the per-task records, 12 decimals",
    "score_exact": "the same as a fraction",
    "score_reported": "the score as the submission writes it",
    "n_tasks": "tasks scored",
    "n_solved": "tasks with the full score",
    "ci95_low": "lower end of the 95 % interval: Wilson for pass/fail tasks, else mean ± 1.96 standard errors",
    "ci95_high": "upper end",
    "reference": "row id of the H0 it is held against; H0 = it is one itself; no reference = there is none",
    "h0_score": "score of that H0",
    "delta": "score - h0_score",
    "gained": "tasks solved now and not by H0",
    "lost": "tasks solved by H0 and not now",
    "verified": "every check passed",
    "reasons": "why not verified: code and message",
    "remarks": "what has to be known besides: reference, duplicates, a modified improver",
    "mirrored": "the trajectories were copied by the platform",
    "replay_level": "how far the trajectories were replayed",
    "selection": "how the round was chosen",
    "trajectory_link_original": "the contributor's link",
    "trajectory_link_mirror": "the platform's copy",
    "dataset_path": "directory of the dataset repository with trees, patches and tasks",
    "dataset_link": "its address",
    "credit": "name (affiliation) as written",
    "credit_link": "the contributor's page",
    "paper": "paper of the method",
    "code": "code of the method",
    "submission_path": "the submission's file in the repository",
    "platform_commit": "declared commit of the platform",
    "content_sha": "content identity of the platform",
    "checked_at": "when the platform entered its verdict into the file, UTC",
}
"""Column of the row files → what it means; the fields of `Row` in their order."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows_json(rows: Sequence[Row]) -> bytes:
    """A list of objects, one per row, reasons and remarks as objects."""
    return json_bytes(msgspec.to_builtins(list(rows)))


def rows_csv(rows: Sequence[Row]) -> bytes:
    """One line per row under the column names; lists are joined with "; ". No cell begins like a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(list(COLUMNS))
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
