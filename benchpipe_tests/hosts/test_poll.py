"""A poll from end to end: what is stored, what a quiet one costs, what survives a kill, and how connections are kept."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchpipe import demo
from benchpipe.errors import LockHeld, UsageError
from benchpipe.files import lock
from benchpipe.hosts import store
from benchpipe.hosts.poll import poll_hosts
from benchpipe.hosts.pool import FIRST_PAUSE_S, Pool
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.usage.records import Request
from benchpipe_tests.hosts.conftest import QUICK, Poll, StartBox
from benchpipe_tests.hosts.proxy import cutting_proxy

NameHosts = Callable[..., None]
JOB = "tabletop-lunaxh-1001-0900-limited"


def contents(lab: Lab) -> dict[str, tuple[int, bytes]]:
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in lab.readings.rglob("*") if path.is_file()}


def test_the_shipped_lab_is_read_whole(lab: Lab, poll: Poll) -> None:
    result = poll()
    there = {host.name: len(list(host.glob("*/*__*"))) for host in (lab.root / "jobs").iterdir()}
    assert {name: sum(len(job.trials) for job in reading.jobs) for name, reading in result.readings.items()} == there
    assert result.changed == sorted(there)
    assert store.load_readings(lab, load_registry(lab)) == result.readings
    assert all(not reading.strangers for reading in result.readings.values())


def test_requests_are_stored_under_their_digest_and_come_back(lab: Lab, poll: Poll) -> None:
    readings = poll().readings
    usages = [trial.usage for job in readings["gpu1"].jobs for trial in job.trials if trial.usage]
    assert usages
    for usage in usages:
        rows = store.load_requests(lab, usage.digest)
        assert len(rows) == usage.n
        assert all(isinstance(row, Request) for row in rows)


def test_a_poll_without_news_writes_nothing(lab: Lab, poll: Poll) -> None:
    poll()
    before = contents(lab)
    result = poll()
    assert result.changed == []
    assert contents(lab) == before


def test_a_change_that_is_no_fact_is_read_and_is_no_news(lab: Lab, poll: Poll) -> None:
    before = poll().readings["gpu1"]
    trial = sorted((lab.root / "jobs" / "gpu1" / JOB).glob("*__*"))[0]
    (trial / "result.json").chmod(0o600)
    result = poll()
    assert result.changed == []
    after = result.readings["gpu1"]
    assert after.digest == before.digest
    assert after.jobs != before.jobs  # the fingerprint is another one


def test_one_changed_trial_changes_its_host_alone(lab: Lab, poll: Poll) -> None:
    first = poll().readings
    trial = sorted((lab.root / "jobs" / "gpu1" / JOB).glob("*__*"))[0]
    (trial / "verifier_regrade").mkdir()
    (trial / "verifier_regrade" / "reward.json").write_text('{"reward": 0.5}')
    result = poll()
    assert result.changed == ["gpu1"]
    new = {one.trial: one for job in result.readings["gpu1"].jobs for one in job.trials}
    old = {one.trial: one for job in first["gpu1"].jobs for one in job.trials}
    assert new[trial.name].regrade_rewards == {"reward": 0.5}
    del new[trial.name], old[trial.name]
    assert new == old


def test_trials_stand_in_the_order_of_their_start(lab: Lab, poll: Poll) -> None:
    for reading in poll().readings.values():
        for job in reading.jobs:
            starts = [trial.started_at for trial in job.trials if trial.started_at and trial.started_at.endswith("Z")]
            assert starts == sorted(starts)


def test_lost_requests_are_fetched_again(lab: Lab, poll: Poll) -> None:
    usage = next(trial.usage for job in poll().readings["gpu1"].jobs for trial in job.trials if trial.usage)
    file = lab.requests_file(usage.digest)
    data = file.read_bytes()
    file.unlink()
    with pytest.raises(UsageError, match="benchpipe runs"):
        store.load_requests(lab, usage.digest)
    assert poll().changed == []
    assert file.read_bytes() == data


def test_a_damaged_reading_is_made_again(lab: Lab, poll: Poll) -> None:
    digest = poll().readings["gpu1"].digest
    lab.reading_file("gpu1").write_text('{"host": "gpu1", "jobs": [')
    assert poll().readings["gpu1"].digest == digest


def test_rows_that_nothing_names_go_after_a_week_and_named_ones_stay(lab: Lab, poll: Poll) -> None:
    usage = next(trial.usage for job in poll().readings["gpu1"].jobs for trial in job.trials if trial.usage)
    attempt = store.save_requests(lab, [Request(*[None] * 12, "agent/gateway.jsonl", 1)])  # type: ignore[arg-type]
    orphan = store.save_requests(lab, [Request(*[None] * 12, "agent/gateway.jsonl", 2)])  # type: ignore[arg-type]
    fresh = store.save_requests(lab, [Request(*[None] * 12, "agent/gateway.jsonl", 3)])  # type: ignore[arg-type]
    (lab.runs / "b").mkdir()
    (lab.runs / "b" / "run.json").write_text(f'{{"attempts": [{{"usage_digest": "{attempt}"}}]}}')
    week_ago = time.time() - store.KEEP_S - 60
    for digest in (usage.digest, attempt, orphan):
        os.utime(lab.requests_file(digest), (week_ago, week_ago))
    (lab.readings / "requests" / ".pruned").unlink(missing_ok=True)
    assert store.prune_requests(lab, datetime.now(UTC)) == 1
    assert [lab.requests_file(digest).exists() for digest in (usage.digest, attempt, orphan, fresh)] == [True, True, False, True]
    assert store.prune_requests(lab, datetime.now(UTC)) == 0


def test_only_the_named_hosts_are_asked(lab: Lab, poll: Poll) -> None:
    assert set(poll(only=["gpu2"]).readings) == {"gpu2"}


def test_a_second_poll_of_the_same_lab_says_who_is_at_it(lab: Lab, poll: Poll) -> None:
    with lock(lab.lock_file("poll")), pytest.raises(LockHeld, match="poll is being done already by process"):
        poll()


def test_a_killed_collector_leaves_whole_files_and_the_next_poll_completes(lab: Lab, poll: Poll, tmp_path: Path) -> None:
    code = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from benchpipe.hosts.poll import poll_hosts
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
lab = Lab(Path(sys.argv[1]))
registry = load_registry(lab)
print("ready", flush=True)
poll_hosts(lab, registry, now=datetime.now(UTC))
"""
    seeded = random.Random(11)
    for _ in range(12):
        shutil.rmtree(lab.readings, ignore_errors=True)
        with subprocess.Popen([sys.executable, "-c", code, str(lab.root)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(seeded.uniform(0, 0.25))
            process.send_signal(signal.SIGKILL)
        for path in lab.readings.rglob("*.json"):
            if not path.name.startswith("."):
                assert msgspec.json.decode(path.read_bytes())
        for reading in store.load_readings(lab, load_registry(lab)).values():
            assert store.missing_requests(lab, reading) == set()
    assert all(reading.ok for reading in poll().readings.values())


def test_a_quiet_poll_costs_less_than_twenty_kilobytes_on_the_wire(
    start_box: StartBox, lab: Lab, name_hosts: NameHosts, poll: Poll, tmp_path: Path
) -> None:
    job = tmp_path / "many" / "tabletop-lunaxh-1001-0900-unlimited"
    genuine = sorted((demo.JOBS / "gpu1" / job.name).glob("*__*"))
    for n in range(500):
        original = genuine[n % len(genuine)]
        shutil.copytree(original, job / f"{original.name.partition('__')[0]}__{n:07d}")
    box = start_box()
    name_hosts(box={"ssh": "box", "jobs": str(job.parent)})
    with cutting_proxy(box.port) as proxy:
        box.known_hosts.write_text(box.host_line.replace(str(box.port), str(proxy.port), 1))
        box.config.write_text(box.block(port=proxy.port))
        with Pool(ssh_config=box.config, limits=QUICK) as pool:
            first = poll(pool=pool).readings["box"]
            assert sum(len(one.trials) for one in first.jobs) == 500
            before = proxy.sent + proxy.received
            assert poll(pool=pool).changed == []
            used = proxy.sent + proxy.received - before
    assert 0 < used <= 20_000


def test_a_connection_is_kept_from_poll_to_poll_and_a_dead_one_is_opened_anew(
    start_box: StartBox, jobs: Path, name_hosts: NameHosts, poll: Poll, lab: Lab
) -> None:
    box = start_box()
    name_hosts(box={"ssh": "box", "jobs": str(jobs)})
    host = load_registry(lab).hosts["box"]
    with cutting_proxy(box.port) as proxy:
        box.known_hosts.write_text(box.host_line.replace(str(box.port), str(proxy.port), 1))
        box.config.write_text(box.block(port=proxy.port))
        with Pool(ssh_config=box.config, limits=QUICK) as pool:
            assert poll(pool=pool).readings["box"].ok
            first, kept = pool.connection(host)
            assert kept
            assert poll(pool=pool).readings["box"].ok
            assert pool.connection(host) == (first, True)
            proxy.cut_after = 0  # the kept connection dies in the next poll's first bytes
            threaded = _later(0.3, lambda: setattr(proxy, "cut_after", None))
            poll(pool=pool)
            threaded()
            assert poll(pool=pool).readings["box"].ok
            assert pool.connection(host)[0] is not first


def _later(seconds: float, action: Callable[[], Any]) -> Callable[[], None]:
    timer = threading.Timer(seconds, action)
    timer.start()
    return timer.join


def test_a_failing_host_rests_longer_and_longer_and_comes_back_at_the_first_success(
    name_hosts: NameHosts, poll: Poll, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr("benchpipe.hosts.pool.time.monotonic", lambda: clock[0])
    name_hosts(here={"jobs": str(jobs)})
    away = jobs.with_name("away")
    with Pool(limits=QUICK, patient=True) as pool:
        jobs.rename(away)
        asked = []
        for _ in range(12):
            asked.append(poll(pool=pool).resting == [])
            clock[0] += FIRST_PAUSE_S
        assert asked == [n in (0, 1, 3, 7) for n in range(12)]
        away.rename(jobs)
        clock[0] += 10 * FIRST_PAUSE_S
        assert poll(pool=pool).readings["here"].ok
        jobs.rename(away)
        assert not poll(pool=pool).readings["here"].ok


def test_without_patience_every_poll_asks_everybody(name_hosts: NameHosts, poll: Poll, lab: Lab) -> None:
    name_hosts(here={"jobs": "/nowhere"})
    with Pool(limits=QUICK) as pool:
        assert [poll(pool=pool).resting for _ in range(3)] == [[], [], []]


def test_a_kept_reading_says_how_old_it_is(name_hosts: NameHosts, poll: Poll, jobs: Path, lab: Lab) -> None:
    name_hosts(here={"jobs": str(jobs)})
    good = poll().readings["here"]
    jobs.rename(jobs.with_name("away"))
    for _ in range(2):
        bad = poll().readings["here"]
        assert (bad.ok, bad.at, bad.asked) == (False, good.at, True)
    assert poll_hosts(lab, load_registry(lab), now=datetime.now(UTC)).changed == []
