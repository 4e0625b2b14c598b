"""The instance stays small: what a day of polling leaves behind, what the daily job removes, and what it must not remove."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.scheduler.instigation import TickStatus

from benchpipe.hosts.poll import PollResult
from benchpipe.hosts.reading import HostReading
from benchpipe.lab import Lab
from benchpipe.pipeline.polling import HOST_TRIALS, report_poll
from benchpipe.pipeline.reconcile import MAX_TRIES, Due, may_start
from benchpipe.pipeline.retention import KEEP_RUNS, clean, prune, prune_reports
from benchpipe.pipeline.scene import use_lab
from benchpipe_tests.pipeline.daemon import Daemon, daemon, run_job, size
from benchpipe_tests.pipeline.labs import many_hosts, regrade, trial_of

POLL, RECONCILE = timedelta(minutes=3), timedelta(minutes=1)
MB = 1_000_000
PER_POLL = 4 * 1_370
"""Bytes that the ticks of three minutes leave: one of the poll, three of reconciling."""
START = datetime(2026, 11, 30, tzinfo=UTC)
ASSETS = {
    dg.AssetKey("run_states"): ["bench0", "bench1"],
    dg.AssetKey("status_json"): None,
}
FAILURE, SUCCESS = dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS
Runs = Callable[..., dg.DagsterRun]


def live(daemon: Daemon, lab: Lab, now: datetime, *, polls: int, changes: int) -> datetime:
    """Let time go by: a poll every three minutes, reconciling every minute, and `changes` verdicts that change in between.

    Only the first reconciling tick after a poll is evaluated. The last can't find anything new; its row is stored.
    """
    at = {round(polls * (number + 0.5) / changes): number for number in range(changes)}
    for poll in range(polls):
        if (change := at.get(poll)) is not None:
            regrade(trial_of(lab, 2 + change % 2), change % 7 / 10)
        daemon.tick(now)
        daemon.tick(now + RECONCILE + timedelta(seconds=1))
        daemon.idle("reconcile_sensor", now + RECONCILE, RECONCILE, 1)
        now += POLL + timedelta(seconds=1)
    return now


def known(instance: dg.DagsterInstance) -> dict[str, set[str]]:
    """Asset → partitions with a materialisation."""
    return {key.to_user_string(): instance.get_materialized_partitions(key) for key in instance.all_asset_keys()}


def a_time_of_polling(root: Path, *, polls: int, changes: int) -> tuple[int, int, int]:
    """Bytes of the instance after the first build, after the polls, and after the daily job; what must survive it is asserted."""
    lab = many_hosts(root, hosts=4, benchmarks=2)
    use_lab(lab)
    start = datetime.now(UTC) - (polls + 2) * POLL
    with daemon(lab) as day:
        day.switch_on("host_poll_sensor")
        day.tick(start)
        day.tick(start + POLL - RECONCILE)
        first, runs = size(lab.dagster_home), day.instance.get_runs_count()
        now = live(day, lab, start + POLL + RECONCILE, polls=polls, changes=changes)
        assert day.instance.get_runs_count() == runs + changes, "a change is one run, and nothing else is one"
        before, partitions = size(lab.dagster_home), known(day.instance)
        run_job(day.instance, "clean_instance")
        after, runs = size(lab.dagster_home), day.instance.get_runs_count()
        assert known(day.instance) == partitions
        day.tick(now)
        day.tick(now + RECONCILE + timedelta(seconds=1))
        assert day.instance.get_runs_count() == runs, "nothing is built again since it was forgotten"
    return first, before, after


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_day_of_polls_leaves_12_mb_and_5_mb_after_the_daily_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHPIPE_LAB", str(tmp_path))
    first, before, after = a_time_of_polling(tmp_path / "lab", polls=480, changes=20)
    with capsys.disabled():
        print(f"instance: {first / MB:.1f} MB at first, {before / MB:.1f} MB after a day, {after / MB:.1f} MB after the daily job")
    assert before <= 12 * MB
    assert after <= 5 * MB


def test_a_part_of_a_day_takes_its_part_of_the_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHPIPE_LAB", str(tmp_path))
    first, before, after = a_time_of_polling(tmp_path / "lab", polls=12, changes=6)
    per_change = (before - first - 12 * PER_POLL) / 6
    assert first + 480 * PER_POLL + 20 * per_change <= 12 * MB, "a whole day at this rate"
    assert after <= before + 0.2 * MB, "so few runs all stay; the job's own is added"


def test_the_daily_job_keeps_the_newest_word_on_every_partition_and_the_newest_runs(
    instance: dg.DagsterInstance, run_of: Runs
) -> None:
    def build(partition: str | None) -> str:
        run = run_of("collect", partition, "a", SUCCESS)
        asset = dg.AssetKey("run_states" if partition else "status_json")
        event = dg.AssetMaterialization(asset, partition=partition, metadata={"inputs": "a"})
        instance.report_dagster_event(_materialised(run, event), run_id=run.run_id)
        return run.run_id

    needed = {build("bench0"), build(None)}
    old = [build("bench1") for _ in range(5)]
    needed.add(build("bench1"))
    newest = {run_of("check", None, "a", SUCCESS).run_id for _ in range(KEEP_RUNS)}
    assert prune(instance, ASSETS) == len(old)
    assert {run.run_id for run in instance.get_runs()} == needed | newest
    assert instance.get_materialized_partitions(dg.AssetKey("run_states")) == {"bench0", "bench1"}
    left = {path.name.partition(".db")[0] for path in (Path(instance.root_directory) / "history" / "runs").glob("*-*.db")}
    assert left <= needed | newest


def _materialised(run: dg.DagsterRun, materialization: dg.AssetMaterialization) -> dg.DagsterEvent:
    from dagster._core.events import DagsterEventType, StepMaterializationData

    data = StepMaterializationData(materialization)
    return dg.DagsterEvent(DagsterEventType.ASSET_MATERIALIZATION.value, run.job_name, event_specific_data=data)


def test_a_partition_that_was_given_up_stays_given_up_after_the_daily_job(instance: dg.DagsterInstance, run_of: Runs) -> None:
    given_up = Due("collect", "bench0", ("run_states",), "a")
    for _ in range(2 * MAX_TRIES):
        run_of("collect", "bench0", "a", FAILURE)
    for _ in range(KEEP_RUNS):
        run_of("check", None, "a", SUCCESS)
    assert not may_start(instance, given_up)
    assert prune(instance, ASSETS) == MAX_TRIES
    assert not may_start(instance, given_up)


def test_a_run_under_way_is_never_deleted(instance: dg.DagsterInstance, run_of: Runs) -> None:
    run = run_of("collect", "bench0", "a", dg.DagsterRunStatus.STARTED)
    for _ in range(KEEP_RUNS + 1):
        run_of("check", None, "a", SUCCESS)
    assert prune(instance, ASSETS) == 1
    assert instance.get_run_by_id(run.run_id) is not None


def poll_result(digest: str, *, ok: bool = True) -> PollResult:
    reading = HostReading(host="gpu1", ok=ok, asked=True, digest=digest, error=None if ok else "refused")
    return PollResult(readings={"gpu1": reading}, changed=["gpu1"])


def test_of_the_reports_of_polls_the_newest_stays_and_the_old_ones_go(instance: dg.DagsterInstance) -> None:
    for number in range(5):
        report_poll(instance, poll_result(f"digest {number}", ok=number < 4))
    records = instance.fetch_materializations(dg.AssetRecordsFilter(HOST_TRIALS), limit=10).records
    assert len(records) == 5
    prune_reports(instance, datetime.now(UTC) - timedelta(days=1))
    assert len(instance.fetch_materializations(dg.AssetRecordsFilter(HOST_TRIALS), limit=10).records) == 5, "not old yet"
    prune_reports(instance, datetime.now(UTC) + timedelta(seconds=1))
    left = instance.fetch_materializations(dg.AssetRecordsFilter(HOST_TRIALS), limit=10).records
    assert [record.storage_id for record in left] == [records[0].storage_id]
    assert instance.get_materialized_partitions(HOST_TRIALS) == {"gpu1"}
    key = dg.AssetCheckKey(HOST_TRIALS, "host_answers")
    (answer,) = instance.event_log_storage.get_asset_check_execution_history(key, limit=10)
    assert answer.event is not None
    assert answer.event.asset_check_evaluation is not None
    assert not answer.event.asset_check_evaluation.passed, "the newest answer"


def test_ticks_without_effect_go_and_those_that_started_something_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = many_hosts(tmp_path / "lab", hosts=1, benchmarks=1)
    monkeypatch.setenv("BENCHPIPE_LAB", str(lab.root))
    with daemon(lab) as day:
        day.tick(START)
        day.tick(START + POLL)
        day.idle("reconcile_sensor", START + POLL, RECONCILE, 10)
        clean(day.instance, {}, START + timedelta(days=2))
        (state,) = day.instance.all_instigator_state()
        left = day.instance.get_ticks(state.instigator_origin_id, state.selector_id)
    assert [tick.status for tick in left] == [TickStatus.SUCCESS]
