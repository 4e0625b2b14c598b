"""Keeping the instance small: Dagster deletes ticks by itself, runs never. A daily job does it here.

Some runs stay: the newest ones for people to look at, those that hold the newest word on a partition (or it would turn
"missing" and be built again), and the failures by which a partition was given up.
"""

import contextlib
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import dagster as dg

from benchpipe.pipeline.instance import IN_FLIGHT
from benchpipe.pipeline.reconcile import MAX_TRIES

KEEP_RUNS = 10
Partitions = Mapping[dg.AssetKey, Sequence[str] | None]
"""Every materialisable asset with its partition keys; None = unpartitioned."""


def newest_run_ids(instance: dg.DagsterInstance, assets: Partitions) -> set[str]:
    """Runs that hold the newest materialisation of an asset or of one of its partitions."""
    keep = set()
    for key, partitions in assets.items():
        for partition in [None] if partitions is None else partitions:
            wanted = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[partition] if partition else None)
            keep |= {record.run_id for record in instance.fetch_materializations(wanted, limit=1).records}
    return keep


def prune(instance: dg.DagsterInstance, assets: Partitions) -> int:
    """Delete ended runs that nothing needs, with their files; returns how many."""
    needed = newest_run_ids(instance, assets)
    seen: Counter[tuple[str, str | None]] = Counter()
    gone = []
    for number, run in enumerate(instance.get_runs()):  # newest first
        work = (run.job_name, run.tags.get("dagster/partition"))
        seen[work] += 1
        given_up_by = run.status == dg.DagsterRunStatus.FAILURE and seen[work] <= MAX_TRIES
        if number >= KEEP_RUNS and run.status not in IN_FLIGHT and run.run_id not in needed and not given_up_by:
            gone.append(run.run_id)
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
    """Give back the space of deleted rows. A database that somebody works on is left for the next time."""
    for name in ("history/runs.db", "history/runs/index.db", "schedules/schedules.db"):
        if (home / name).exists():
            with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(sqlite3.connect(home / name, timeout=5)) as db:
                db.execute("VACUUM")


def clean(instance: dg.DagsterInstance, assets: Partitions) -> int:
    """The daily job: prune, then vacuum where something went. Returns the number of deleted runs."""
    deleted = prune(instance, assets)
    if deleted:
        vacuum(Path(instance.root_directory))
    return deleted
