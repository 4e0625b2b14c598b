"""Keeping the instance small: Dagster deletes ticks by itself, runs never. A daily job does it here.

What a partition's newest materialisation belongs to always stays, or the partition would turn "missing" and be built again.
"""

import shutil
import sqlite3
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

import dagster as dg

from benchpipe.pipeline.instance import IN_FLIGHT

KEEP_DAYS = 1
"""Runs that ended longer ago go, unless they are the newest word on a partition."""


def newest_run_ids(instance: dg.DagsterInstance, assets: dict[dg.AssetKey, list[str] | None]) -> set[str]:
    """Runs that hold the newest materialisation of each asset and partition; runless events count for nothing here."""
    keep = set()
    for key, partitions in assets.items():
        for partition in partitions if partitions is not None else [None]:
            wanted = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[partition] if partition else None)
            keep |= {record.run_id for record in instance.fetch_materializations(wanted, limit=1).records}
    return keep


def prune(instance: dg.DagsterInstance, assets: dict[dg.AssetKey, list[str] | None], before: datetime) -> int:
    """Delete runs that ended before `before` and that nothing needs; returns how many. Their files go with them."""
    keep = newest_run_ids(instance, assets)
    old = instance.get_run_records(dg.RunsFilter(created_before=before))
    gone = [r.dagster_run.run_id for r in old if r.dagster_run.status not in IN_FLIGHT and r.dagster_run.run_id not in keep]
    for run_id in gone:
        instance.delete_run(run_id)
    _remove_leftovers(Path(instance.root_directory), gone)
    return len(gone)


def _remove_leftovers(home: Path, run_ids: Iterable[str]) -> None:
    """Files of deleted runs: SQLite keeps one database per run, and each has a folder of captured output."""
    for run_id in run_ids:
        for path in (home / "history" / "runs").glob(f"{run_id}.db*"):
            path.unlink(missing_ok=True)
        for parent in ("storage", "compute_logs"):
            shutil.rmtree(home / parent / run_id, ignore_errors=True)


def vacuum(home: Path) -> None:
    """Give the space of deleted rows back. Databases in use by somebody else are left for the next time."""
    for path in (home / "history" / "runs.db", home / "history" / "runs" / "index.db", home / "schedules" / "schedules.db"):
        if path.exists():
            try:
                with sqlite3.connect(path, timeout=5) as connection:
                    connection.execute("VACUUM")
                connection.close()
            except sqlite3.OperationalError:
                continue


def clean(instance: dg.DagsterInstance, assets: dict[dg.AssetKey, list[str] | None], now: datetime) -> int:
    """The daily job: prune, then vacuum. Returns the number of deleted runs."""
    deleted = prune(instance, assets, now - timedelta(days=KEEP_DAYS))
    if deleted:
        vacuum(Path(instance.root_directory))
    return deleted
