"""Downloads: three forms of one table, its documented columns, and sums that agree with the pages."""

import csv
import io
import json
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet
import pytest

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe.site.tables import TABLES, csv_of, json_of
from benchpipe.usage.tables import Column, parquet_bytes
from benchpipe_tests.site.labs import make_lab, run_ids, write


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    lab = make_lab(tmp_path_factory.mktemp("kitchen"), runs=3, tasks=6)
    build_site(lab, load_registry(lab), lab.site, public=False)
    return lab


@pytest.mark.parametrize("name", [one.name for one in TABLES])
def test_all_three_forms_hold_the_same_rows_and_the_documented_columns(kitchen: Lab, name: str) -> None:
    base = kitchen.site / "data/kitchen"
    said = json.loads((base / f"{name}.json").read_text())
    parquet = pyarrow.parquet.read_table(base / f"{name}.parquet")
    lines = list(csv.DictReader(io.StringIO((base / f"{name}.csv").read_text())))
    assert len(said) == len(lines) == parquet.num_rows
    columns = [column.name for one in TABLES if one.name == name for column in one.columns]
    assert parquet.column_names == columns
    schema = (kitchen.site / "data/schema/index.html").read_text()
    assert all(f"<code>{column}</code>" in schema for column in columns)
    for row, line in zip(said, lines, strict=True):
        assert list(row) == columns == list(line)
        assert {key: "" if value is None else str(value) for key, value in row.items()} == line


def test_the_runs_table_is_a_hand_count(kitchen: Lab) -> None:
    run = run_ids(1)[0]
    stored = json.loads(kitchen.run_file("kitchen", run).read_text())["tasks"]
    costs = json.loads(kitchen.costs_file("kitchen").read_text())["runs"][run]
    last = sorted(stored)[-1]  # excluded from the benchmark
    for mode in ("unlimited", "limited"):
        mine = {task: modes[mode] for task, modes in stored.items() if task != last and modes[mode]["state"] != "queued"}
        done = [record for record in mine.values() if record["state"] in ("success", "failed", "error")]
        rows = json.loads((kitchen.site / "data/kitchen/runs.json").read_text())
        (row,) = [r for r in rows if (r["run"], r["mode"], r["scope"]) == (run, mode, "bench")]
        assert (row["trials"], row["done"]) == (len(mine), len(done))
        assert row["success"] == sum(record["state"] == "success" for record in done)
        assert row["input"] == sum(record["tokens"]["input"] for record in mine.values())
        estimates = [Decimal(costs[task][mode]["estimate"]["usd"]) for task in mine]
        assert Decimal(row["estimate_usd"]) == sum(estimates)
        assert row["rate_low"] <= row["rate"] <= row["rate_high"]


def test_a_tasks_owner_stands_on_its_page_and_in_the_download(tmp_path: Path) -> None:
    lab = make_lab(tmp_path, runs=1, tasks=2)
    file = lab.state_tasks / "kitchen.yml"
    write(file, file.read_text().replace("difficulty: easy", "difficulty: easy, owner: ann"))
    build_site(lab, load_registry(lab), lab.site, public=False)
    assert "owner ann" in (lab.site / "benchmarks/kitchen/tasks/task_000/index.html").read_text()
    rows = json.loads((lab.site / "data/kitchen/tasks.json").read_text())
    assert [row["owner"] for row in rows] == ["ann", None]


def test_unknown_money_is_empty_and_never_zero(kitchen: Lab) -> None:
    rows = json.loads((kitchen.site / "data/kitchen/runs.json").read_text())
    last = [row for row in rows if row["run"] == run_ids(3)[2]]
    assert last
    assert all(row["estimate_usd"] is None and row["estimate_n"] == 0 for row in last)


def test_money_has_nine_exact_places_and_a_formula_does_not_run() -> None:
    columns = (Column("usd", "money", ""), Column("text", "text", ""), Column("yes", "bool", ""))
    data = parquet_bytes(
        columns, [{"usd": Decimal("0.0000000014"), "text": "=1+1", "yes": True}, {"usd": None, "text": None, "yes": None}]
    )
    assert csv_of(data) == b"usd,text,yes\n0.000000001,'=1+1,true\n,,\n"
    assert json.loads(json_of(data))[0] == {"usd": "0.000000001", "text": "=1+1", "yes": True}
