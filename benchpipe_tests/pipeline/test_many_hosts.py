"""Twenty hosts, one trial changes on one: exactly what depends on it is built, and status.json tells within a tick."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from benchpipe_tests.pipeline.conftest import materialised
from benchpipe_tests.pipeline.daemon import daemon
from benchpipe_tests.pipeline.labs import TASKS, many_hosts, regrade, trial_of

POLL, RECONCILE = timedelta(seconds=181), timedelta(seconds=61)
HOST = 17
"""Of 20 hosts and 4 benchmarks: it holds the newest batch of `bench1`."""


def readings_reported(instance: dg.DagsterInstance) -> dict[str, int]:
    """Host → how often it was reported as changed."""
    records = instance.fetch_materializations(dg.AssetRecordsFilter(dg.AssetKey("host_trials")), limit=200).records
    hosts = [record.partition_key for record in records if record.partition_key]
    return {host: hosts.count(host) for host in hosts}


@pytest.mark.timeout(400)
def test_one_trial_of_twenty_hosts_materialises_exactly_what_depends_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = many_hosts(tmp_path / "lab", hosts=20, benchmarks=4)
    monkeypatch.setenv("BENCHPIPE_LAB", str(lab.root))
    now = datetime.now(UTC)
    with daemon(lab) as day:
        day.switch_on("host_poll_sensor")
        for _ in range(2):
            day.tick(now)
            day.tick(now := now + RECONCILE)
        day.tick(now := now + POLL)
        runs, reported = day.instance.get_runs_count(), readings_reported(day.instance)
        assert reported == {f"host{number:02}": 1 for number in range(20)}

        regrade(trial_of(lab, HOST), 0.0)
        day.tick(now := now + POLL)
        day.tick(now + RECONCILE)
        built = materialised(day.instance, runs)
        assert readings_reported(day.instance) == reported | {f"host{HOST}": 2}
    partitioned = {f"{asset}[bench1]" for asset in ("run_states", "cost_estimates", "trial_logs", "site_pages")}
    assert built == partitioned | {"status_json", "site_overview"}
    status = json.loads(lab.status_file.read_bytes())["benchmarks"]
    states = {name: part["tasks"][TASKS[0]]["unlimited"]["state"] for name, part in status.items()}
    assert states == {"bench0": "success", "bench1": "failed", "bench2": "success", "bench3": "success"}
