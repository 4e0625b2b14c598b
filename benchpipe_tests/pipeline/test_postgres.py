"""The pipeline on PostgreSQL instead of SQLite: sensors tick, runs collect, pools hold, the daily job prunes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.test_utils import create_run_for_test

from benchpipe.lab import Lab
from benchpipe.pipeline.retention import KEEP_RUNS
from benchpipe_tests.pipeline import postgres
from benchpipe_tests.pipeline.conftest import cycle, materialised
from benchpipe_tests.pipeline.daemon import daemon, run_job
from benchpipe_tests.pipeline.labs import many_hosts, regrade, trial_of

POLL, RECONCILE = timedelta(seconds=181), timedelta(seconds=61)
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def storage() -> Iterator[str]:
    with postgres.server() as lines:
        yield lines


@pytest.fixture(scope="module")
def collected(storage: str, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A lab whose instance is on the server, after `benchpipe runs`' cycle."""
    lab = many_hosts(tmp_path_factory.mktemp("postgres") / "lab", hosts=4, benchmarks=2)
    with pytest.MonkeyPatch.context() as patch, daemon(lab, storage) as day:
        patch.setenv("BENCHPIPE_LAB", str(lab.root))
        assert cycle(day.instance, lab).failed == {}
    return lab


@pytest.fixture
def lab(collected: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setenv("BENCHPIPE_LAB", str(collected.root))
    return collected


def test_sensors_tick_and_build_what_changed(lab: Lab, storage: str) -> None:
    now = datetime.now(UTC)
    with daemon(lab, storage) as day:
        assert not isinstance(day.instance.event_log_storage, SqliteEventLogStorage)
        runs = day.instance.get_runs_count()
        regrade(trial_of(lab, 3), 0.0)
        day.switch_on("host_poll_sensor")
        day.tick(now)
        day.tick(now + RECONCILE)
        assert {name for name in materialised(day.instance, runs) if name.startswith("run_states")} == {"run_states[bench1]"}
        day.tick(now + POLL + RECONCILE)
        ticks = {
            state.instigator_name: len(day.instance.get_ticks(state.instigator_origin_id, state.selector_id))
            for state in day.instance.all_instigator_state()
        }
    assert ticks == {"host_poll_sensor": 2, "reconcile_sensor": 3}
    status = json.loads(lab.status_file.read_bytes())
    assert status["benchmarks"]["bench1"]["tasks"]["stack_blocks"]["unlimited"]["state"] == "failed"
    assert not (lab.dagster_home / "history").exists(), "nothing is stored in SQLite beside it"


def publish(lab: Lab, benchmark: str) -> subprocess.Popen[bytes]:
    command = ["asset", "materialize", "--select", "published_snapshot", "--partition", benchmark, "-m", "benchpipe.definitions"]
    environment = {**os.environ, "DAGSTER_HOME": str(lab.dagster_home)}
    program = Path(sys.executable).with_name("dagster")
    return subprocess.Popen(
        [program, *command], cwd=lab.root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def moments(instance: dg.DagsterInstance, kind: dg.DagsterEventType) -> list[float]:
    """When steps of publishing runs had an event of this kind."""
    found = []
    for run in instance.get_runs():
        for record in instance.get_records_for_run(run.run_id, of_type=kind).records:
            if record.event_log_entry.step_key == "published_snapshot":
                found.append(record.timestamp)
    return sorted(found)


def blocked(instance: dg.DagsterInstance) -> int:
    """Runs that wait for the pool of publishers."""
    return instance.event_log_storage.get_concurrency_info("publisher").pending_step_count


def test_two_runs_that_publish_never_overlap(lab: Lab, storage: str) -> None:
    with daemon(lab, storage) as day:
        pools = day.instance.event_log_storage
        pools.initialize_concurrency_limit_to_default("publisher")
        claim = pools.claim_concurrency_slot("publisher", "somebody-else", "published_snapshot")
        assert claim.slot_status.value == "CLAIMED", "a third publisher holds the only slot"
        both = [publish(lab, benchmark) for benchmark in ("bench0", "bench1")]
        end = time.monotonic() + 120
        while blocked(day.instance) < 2:
            assert time.monotonic() < end, "the two never asked for the slot"
            time.sleep(0.5)
        assert moments(day.instance, dg.DagsterEventType.STEP_START) == [], "none begins while the slot is taken"
        pools.free_concurrency_slots_for_run("somebody-else")
        assert [process.wait(120) for process in both] == [0, 0]
        starts, ends = (moments(day.instance, kind) for kind in (dg.DagsterEventType.STEP_START, dg.DagsterEventType.STEP_SUCCESS))
    assert len(starts) == 2
    assert ends[0] <= starts[1], "one after the other"


def test_the_daily_job_prunes_there_and_leaves_sqlite_files_of_former_days_alone(lab: Lab, storage: str) -> None:
    with daemon(lab, storage) as day:
        now = datetime.now(UTC) + timedelta(days=1)
        for _ in range(KEEP_RUNS + 2):
            create_run_for_test(day.instance, job_name="check", status=dg.DagsterRunStatus.SUCCESS)
        before = {key.to_user_string(): day.instance.get_materialized_partitions(key) for key in day.instance.all_asset_keys()}
        runs = list(day.instance.get_runs())
        former = [lab.dagster_home / "history" / "runs.db", lab.dagster_home / "history" / "runs" / f"{runs[KEEP_RUNS].run_id}.db"]
        for path in former:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"of former days")
        run_job(day.instance, "clean_instance")
        left = {run.run_id for run in day.instance.get_runs()}
        assert runs[KEEP_RUNS].run_id not in left
        assert {
            key.to_user_string(): day.instance.get_materialized_partitions(key) for key in day.instance.all_asset_keys()
        } == before
        day.tick(now)
        assert day.instance.get_runs_count() == len(left), "nothing is built again"
    assert [path.read_bytes() for path in former] == [b"of former days"] * 2
