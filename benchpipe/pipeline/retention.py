"""Keeping the instance small: Dagster deletes old ticks by itself, runs and reports of polls never. A daily job does it here.

Some runs stay: the newest ones for people to look at, those that hold the newest word on a partition (or it would turn
"missing" and be built again), and the failures by which a partition was given up. Of the polls' reports, which have no run,
the newest of each host stays.
"""

import contextlib
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import dagster as dg
from dagster._core.scheduler.instigation import TickStatus
from dagster._core.storage.event_log import SqlEventLogStorage, SqliteEventLogStorage
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, AssetEventTagsTable, SqlEventLogStorageTable
from sqlalchemy import delete, func, select

from benchpipe.pipeline.instance import IN_FLIGHT
from benchpipe.pipeline.reconcile import MAX_TRIES

KEEP_RUNS = 10
IDLE_TICKS = timedelta(hours=1)
"""Sensor ticks that found nothing to do are kept this long."""
REPORTS = timedelta(days=1)
"""What polls reported is kept this long, the newest of each host for ever."""
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
    home = Path(instance.root_directory)
    _remove_output(home, gone)
    if uses_sqlite(instance):
        _remove_databases(home, gone)
    return len(gone)


def uses_sqlite(instance: dg.DagsterInstance) -> bool:
    """Whether the instance's events lie in SQLite files below its home. On PostgreSQL the server keeps house by itself."""
    return isinstance(instance.event_log_storage, SqliteEventLogStorage)


def _remove_databases(home: Path, run_ids: Iterable[str]) -> None:
    """SQLite keeps one database per run, which Dagster empties and leaves."""
    for run_id in run_ids:
        for path in (home / "history" / "runs").glob(f"{run_id}.db*"):
            path.unlink(missing_ok=True)


def _remove_output(home: Path, run_ids: Iterable[str]) -> None:
    """Each run leaves a folder of captured output, wherever its events are stored."""
    for run_id in run_ids:
        for parent in ("storage", "compute_logs"):
            shutil.rmtree(home / parent / run_id, ignore_errors=True)


def prune_ticks(instance: dg.DagsterInstance, before: datetime) -> None:
    """Delete the ticks before `before` in which a sensor found nothing to do."""
    for state in instance.all_instigator_state():
        instance.purge_ticks(state.instigator_origin_id, state.selector_id, before.timestamp(), [TickStatus.SKIPPED])


def prune_reports(instance: dg.DagsterInstance, before: datetime) -> None:
    """Delete what was reported without a run before `before`, but for the newest of each partition and of each check.

    Dagster offers no call for this: events go with their run. Every host that changes reports at every poll.
    """
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        return
    events, checks = SqlEventLogStorageTable.c, AssetCheckExecutionsTable.c
    old = (events.run_id == "") & (events.timestamp < before.replace(tzinfo=None))
    newest_of_assets = select(func.max(events.id)).where(events.asset_key.is_not(None))
    newest_of_assets = newest_of_assets.group_by(events.asset_key, events.partition, events.dagster_event_type)
    newest_of_checks = select(func.max(checks.evaluation_event_storage_id)).where(checks.evaluation_event_storage_id.is_not(None))
    newest_of_checks = newest_of_checks.group_by(checks.asset_key, checks.check_name)
    superseded = events.id.not_in(newest_of_assets) & events.id.not_in(newest_of_checks)
    with storage.index_connection() as connection:
        gone = connection.execute(select(events.id).where(old, superseded)).scalars().all()
        for start in range(0, len(gone), 500):
            ids = gone[start : start + 500]
            connection.execute(delete(AssetEventTagsTable).where(AssetEventTagsTable.c.event_id.in_(ids)))
            connection.execute(delete(AssetCheckExecutionsTable).where(checks.evaluation_event_storage_id.in_(ids)))
            connection.execute(delete(SqlEventLogStorageTable).where(events.id.in_(ids)))
    if isinstance(storage, SqliteEventLogStorage):  # it keeps a second copy in a file of its own, which nothing reads
        with storage.run_connection("") as connection:
            connection.execute(delete(SqlEventLogStorageTable).where(old))


def vacuum(home: Path) -> None:
    """Give back the space of deleted rows. A database that somebody works on is left for the next time."""
    for name in ("history/runs.db", "history/runs/index.db", "history/runs/.db", "schedules/schedules.db"):
        if (home / name).exists():
            with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(sqlite3.connect(home / name, timeout=5)) as db:
                db.execute("VACUUM")


def clean(instance: dg.DagsterInstance, assets: Partitions, now: datetime) -> int:
    """The daily job: prune runs, idle ticks and reports; give the space back. Returns the number of deleted runs."""
    deleted = prune(instance, assets)
    prune_ticks(instance, now - IDLE_TICKS)
    prune_reports(instance, now - REPORTS)
    if uses_sqlite(instance):
        vacuum(Path(instance.root_directory))
    return deleted
