"""`benchpipe runs` and the sensors on genuine jobs: what is built when something changes, and that nothing is when nothing does."""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec
import pytest
from click.testing import CliRunner
from dagster._core.test_utils import create_run_for_test

from benchpipe.cli.main import cli
from benchpipe.definitions import defs
from benchpipe.hosts.store import load_reading, save_reading
from benchpipe.lab import Lab
from benchpipe.pipeline.collecting import QUIET
from benchpipe.pipeline.instance import IN_FLIGHT, PROCESS_TAG, bury_dead_runs, open_instance
from benchpipe.pipeline.scene import Scene, SceneResource
from benchpipe.pipeline.sensors import host_poll_sensor, reconcile_sensor
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe.transcripts import unfinished
from benchpipe_tests.pipeline.conftest import cycle, materialised


def settle(instance: dg.DagsterInstance, lab: Lab) -> int:
    """Build what a copy of a lab has due because its path is new; returns how many runs there are then."""
    cycle(instance, lab)
    return instance.get_runs_count()


def test_a_first_cycle_tells_the_instance_of_hosts_without_a_run(collected: Lab) -> None:
    with open_instance(collected) as instance:
        for host in Scene(collected).registry.hosts:
            wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey("host_trials"), asset_partitions=[host])
            events = instance.fetch_materializations(wanted, limit=5).records
            assert len(events) == 1
            assert events[0].run_id == ""
        assert "host_trials" not in {name.split("[")[0] for name in materialised(instance)}


def test_when_nothing_changed_no_run_is_started_and_no_file_is_touched(collected: Lab) -> None:
    with open_instance(collected) as instance:
        runs = settle(instance, collected)
        before = {path: path.stat().st_mtime_ns for path in collected.root.rglob("*") if path.is_file()}
        assert cycle(instance, collected).built == {}
        assert instance.get_runs_count() == runs
    after = {path: path.stat().st_mtime_ns for path in collected.root.rglob("*") if path.is_file()}
    touched = {str(path.relative_to(collected.root)) for path in after if before.get(path) != after[path]}
    # SQLite may tidy its own files when the last connection closes; locks name the process that held them
    assert {name for name in touched if not name.startswith((".dagster/", ".cache/locks/"))} == set()


def test_a_changed_trial_rebuilds_its_benchmark_and_no_other(collected: Lab) -> None:
    trial = next((collected.root / "jobs/gpu1").glob("*-unlimited/tabletop-open-drawer*"))
    with open_instance(collected) as instance:
        runs = settle(instance, collected)
        (trial / "verifier_regrade").mkdir()
        (trial / "verifier_regrade" / "reward.json").write_text('{"reward": 1.0}')
        done = cycle(instance, collected)
        assert done.poll.changed == ["gpu1"]
        partitions = {name for name in materialised(instance, runs) if "[" in name}
        assert partitions == {f"{a}[tabletop]" for a in ("run_states", "cost_estimates", "trial_logs", "site_pages")}
    status = json.loads(collected.status_file.read_bytes())
    record = status["benchmarks"]["tabletop"]["tasks"]["open_drawer"]["unlimited"]
    assert (record["state"], record["regraded"]) == ("success", True)


def test_a_changed_price_prices_again_and_touches_no_record_and_no_status(collected: Lab) -> None:
    with open_instance(collected) as instance:
        runs = settle(instance, collected)
        kept = [collected.status_file, *collected.run_folder("tabletop").glob("*.json")]
        kept.remove(collected.costs_file("tabletop"))
        before = {path: path.read_bytes() for path in kept}
        costs = json.loads(collected.costs_file("tabletop").read_bytes())
        text = collected.prices_file.read_text()
        collected.prices_file.write_text(text.replace("output: 0.50", "output: 1.00"))
        cycle(instance, collected)
        built = {name.split("[")[0] for name in materialised(instance, runs)}
        assert built == {"price_list", "cost_estimates", "site_pages", "site_overview"}
    assert {path: path.read_bytes() for path in kept} == before
    assert json.loads(collected.costs_file("tabletop").read_bytes()) != costs


def test_the_site_that_assets_build_part_by_part_is_the_whole_site(collected: Lab) -> None:
    with open_instance(collected) as instance:
        settle(instance, collected)
    whole = build_site(collected, load_registry(collected), collected.site, public=False)
    assert whole.files > 100
    assert (whole.rendered, whole.removed) == (0, [])


def test_a_new_file_of_runs_becomes_a_partition_a_page_and_a_tab_of_all_others(collected: Lab) -> None:
    (collected.benchmarks / "my-bench.yml").write_text("name: My Bench\ntasks: [pick_cube]\n")
    (collected.state_runs / "my-bench.yml").write_text(
        "runs:\n  oracle-none-default:\n    batch: mybench-1\n    tasks: [pick_cube]\n    others: none\n"
    )
    with open_instance(collected) as instance:
        cycle(instance, collected)
        assert "my-bench" in instance.get_dynamic_partitions("benchmarks")
    assert (collected.site / "runs" / "my-bench" / "index.html").is_file()
    for page in ("overview", "deskwork", "tabletop", "tabletop/compare"):
        assert 'runs/my-bench/">My Bench</a>' in (collected.site / "runs" / page / "index.html").read_text()


def test_a_removed_benchmark_leaves_the_partitions_but_not_while_a_folder_cannot_be_read(collected: Lab) -> None:
    (collected.benchmarks / "gone.yml").write_text("name: Gone\ntasks: [a]\n")
    plan = collected.state_runs / "tabletop.yml"
    plan.write_text(plan.read_text().replace("    batch:", "    note: of our own, like a slip of `notes`\n    batch:", 1))
    with open_instance(collected) as instance:
        cycle(instance, collected)
        assert "gone" in instance.get_dynamic_partitions("benchmarks")
        (collected.benchmarks / "gone.yml").unlink()
        hidden = collected.state_runs.rename(collected.root / "hidden")
        cycle(instance, collected)
        assert "gone" in instance.get_dynamic_partitions("benchmarks"), "an unreadable folder is not an empty one"
        hidden.rename(collected.state_runs)
        cycle(instance, collected)
        assert "gone" not in instance.get_dynamic_partitions("benchmarks")


@pytest.mark.parametrize("pid", [999999999, os.getpid()], ids=["no such process", "a number that came again"])
def test_a_run_whose_command_was_killed_is_ended_and_what_it_left_is_built(collected: Lab, pid: int) -> None:
    with open_instance(collected) as instance:
        settle(instance, collected)
        newest = next(iter(instance.get_runs()))
        run = instance.add_run(
            dg.DagsterRun(
                job_name="collect",
                status=dg.DagsterRunStatus.STARTED,
                tags={**newest.tags, "dagster/partition": "tabletop", PROCESS_TAG: f"{os.uname().nodename}:{pid}:1"},
            )
        )
        assert instance.get_runs_count(dg.RunsFilter(statuses=IN_FLIGHT)) == 1
        assert bury_dead_runs(instance) == 1
        after = instance.get_run_by_id(run.run_id)
        assert after is not None
        assert after.status == dg.DagsterRunStatus.CANCELED


SLOT = "bench_scripted-scripted-default/stack_blocks/unlimited"


def in_the_way(lab: Lab) -> Path:
    """A file where the folder of a log page has to be; its place."""
    slot = lab.run_folder("tabletop") / SLOT
    shutil.rmtree(slot)
    slot.write_text("in the way")
    return slot


def test_a_log_page_that_failed_or_lost_its_data_is_made_again_though_no_run_file_changes(collected: Lab) -> None:
    with open_instance(collected) as instance:
        settle(instance, collected)
        slot = in_the_way(collected)
        built = cycle(instance, collected).built["trial_logs[tabletop]"]
        assert (built["n_built"], "can't be written" in built["problems"]) == (0, True)
        assert not (collected.site / "runs/tabletop" / SLOT).exists()
        slot.unlink()
        assert cycle(instance, collected).built["trial_logs[tabletop]"]["n_built"] == 1
        assert (collected.site / "runs/tabletop" / SLOT / "index.html").is_file()
        assert cycle(instance, collected).built == {}
        shutil.rmtree(slot)
        assert cycle(instance, collected).built["trial_logs[tabletop]"]["n_built"] == 1


def test_while_watching_a_failed_log_page_is_tried_when_its_host_answers_anew_and_not_for_ever(collected: Lab) -> None:
    with open_instance(collected) as instance:
        settle(instance, collected)
        in_the_way(collected)
        watching = {"detail_every_s": 900}
        assert "trial_logs[tabletop]" in cycle(instance, collected, **watching).built
        assert cycle(instance, collected, **watching).built == {}
        for n in range(2, unfinished.MAX_TRIES + 3):
            reading = load_reading(collected, "gpu3")
            assert reading is not None
            answered = datetime.now(UTC) - timedelta(seconds=10 * n)  # so lately that a poll without news leaves it
            save_reading(collected, msgspec.structs.replace(reading, at=answered.isoformat()))
            tried = "trial_logs[tabletop]" in cycle(instance, collected, **watching).built
            assert tried == (n <= unfinished.MAX_TRIES), n


def test_a_video_that_an_addition_names_is_shown_once_it_is_there(collected: Lab) -> None:
    video = collected.root / "rendered.mp4"
    collected.backfill_file("tabletop", SLOT.split("/")[0]).write_text("stack_blocks/unlimited: {video: rendered.mp4}\n")
    with open_instance(collected) as instance:
        settle(instance, collected)
        video.write_bytes((48).to_bytes(4, "big") + b"ftypisom" + bytes(36) + (8).to_bytes(4, "big") + b"moov")
        assert cycle(instance, collected).built["trial_logs[tabletop]"]["n_built"] == 1
    assert (collected.run_folder("tabletop") / SLOT / "replay.mp4").read_bytes() == video.read_bytes()


def test_a_hosts_file_that_is_named_is_the_one_that_everything_is_built_with(collected: Lab, tmp_path: Path) -> None:
    hosts = collected.hosts_files()[0].rename(tmp_path / "elsewhere.yml")
    text = collected.run_file("tabletop", "bench_scripted-scripted-default").read_text()
    done = CliRunner().invoke(cli, ["--lab", str(collected.root), "runs", "--hosts", str(hosts)])
    assert done.exception is None, done.output
    again = CliRunner().invoke(cli, ["--lab", str(collected.root), "runs", "--hosts", str(hosts)])
    assert "run_states" not in again.output
    now = json.loads(collected.run_file("tabletop", "bench_scripted-scripted-default").read_text())
    assert (now["tasks"], set(now["hosts"])) == (json.loads(text)["tasks"], set(json.loads(text)["hosts"]))
    assert set(json.loads(collected.status_file.read_text())["hosts"]) == {"archive", "cpu1", "gpu1", "gpu2", "gpu3"}


def test_a_silent_host_keeps_its_records_and_is_a_failed_check(collected: Lab) -> None:
    with open_instance(collected) as instance:
        settle(instance, collected)
        shutil.rmtree(collected.root / "jobs" / "gpu1")
        done = cycle(instance, collected)
        assert not done.poll.readings["gpu1"].ok
        key = dg.AssetCheckKey(dg.AssetKey("host_trials"), "host_answers")
        checks = instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
        assert checks[0].event is not None
        evaluation = checks[0].event.asset_check_evaluation
        assert evaluation is not None
        assert not evaluation.passed
    status = json.loads(collected.status_file.read_bytes())
    record = status["benchmarks"]["tabletop"]["tasks"]["open_drawer"]["unlimited"]
    assert record["state"] == "failed"
    assert record["stale"] is True
    assert status["hosts"]["gpu1"]["ok"] is False


def tick(instance: dg.DagsterInstance, sensor: dg.SensorDefinition) -> tuple[list[dg.RunRequest], str]:
    """One tick of a sensor: the runs it asks for, and why it asks for none."""
    with dg.build_sensor_context(instance=instance, definitions=defs) as context:
        result: Any = sensor(context, scene=SceneResource())
    return (result.run_requests or [], "") if isinstance(result, dg.SensorResult) else ([], result.skip_message)


def build_everything(instance: dg.DagsterInstance) -> list[dg.RunRequest]:
    """Tick the reconciling sensor and execute what it asks for until it asks for nothing; returns all requests."""
    asked: list[dg.RunRequest] = []
    for _ in range(6):
        requests, _reason = tick(instance, reconcile_sensor)
        if not requests:
            return asked
        for request in requests:
            asked.append(request)
            job = defs.resolve_job_def(request.job_name or "")
            done = job.execute_in_process(
                instance=instance,
                partition_key=request.partition_key,
                asset_selection=list(request.asset_selection or ()),
                tags=request.tags,
                run_config=QUIET,
            )
            assert done.success
    raise AssertionError("the sensor never comes to rest")


def test_the_poll_sensor_skips_with_a_reason_while_no_hosts_file_exists(collected: Lab) -> None:
    for path in collected.hosts_files():
        path.unlink()
    with open_instance(collected) as instance:
        requests, reason = tick(instance, host_poll_sensor)
    assert requests == []
    assert "hosts*.local.yml" in reason


def test_the_sensors_ask_for_what_changed_and_then_for_nothing(collected: Lab) -> None:
    with open_instance(collected) as instance:
        build_everything(instance)
        trial = next((collected.root / "jobs/gpu1").glob("*-unlimited/tabletop-fold-cloth*"))
        (trial / "verifier_regrade").mkdir()
        (trial / "verifier_regrade" / "reward.json").write_text('{"reward": 1.0}')
        assert "changed: gpu1" in tick(instance, host_poll_sensor)[1]
        requests = build_everything(instance)
        assert (requests[0].job_name, requests[0].partition_key) == ("collect", "tabletop")
        assert {request.partition_key for request in requests} == {"tabletop"}
        assert tick(instance, reconcile_sensor) == ([], "everything is built")


def test_what_was_asked_for_is_not_asked_for_again_while_it_is_under_way(collected: Lab) -> None:
    with open_instance(collected) as instance:
        requests, _ = tick(instance, reconcile_sensor)
        assert requests
        for request in requests:
            tags = {**request.tags, **({"dagster/partition": request.partition_key} if request.partition_key else {})}
            create_run_for_test(instance, job_name=request.job_name, status=dg.DagsterRunStatus.STARTING, tags=tags)
        again, reason = tick(instance, reconcile_sensor)
        assert again == []
        assert "tabletop is under way" in reason


def test_a_host_that_needs_longer_than_a_tick_gets_a_run_of_its_own(collected: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = collected.root / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    (collected.runs / "hosts.demo.local.yml").write_text(f"gpu1: {{jobs: jobs/gpu1, python: {slow}}}\n")
    monkeypatch.setattr("benchpipe.pipeline.sensors.TICK_S", 1.0)
    with open_instance(collected) as instance:
        requests, _ = tick(instance, host_poll_sensor)
    assert [(request.job_name, request.partition_key) for request in requests] == [("poll_hosts", "gpu1")]
