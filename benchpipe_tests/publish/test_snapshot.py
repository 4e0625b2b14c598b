"""The snapshot: what gets into it, what stays home, and that it is whole at every moment."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
import yaml

from benchpipe.errors import FoundProblems, LockHeld, UsageError
from benchpipe.files import lock
from benchpipe.lab import Lab
from benchpipe.publish.published import published_logs, read_summary, scan_published, size_gate
from benchpipe.publish.scan import FORBIDDEN_FIELDS
from benchpipe.publish.snapshot import PublishReport, make_scan, publish
from benchpipe.publish.switch import exchange, recover, switch_in
from benchpipe.registry.load import load_registry
from benchpipe.transcripts.records import Ended, Step
from benchpipe.trials.records import Attempt
from benchpipe_tests.publish.collected import BENCHMARK, OTHER_RUN, RUN, TASKS, collect, log, record, tree, write_costs
from benchpipe_tests.publish.corpus import characters

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def key(seed: int = 1) -> str:
    return "ghp" + "_" + characters(random.Random(seed), "b62", 36)


def out(lab: Lab, **options: object) -> PublishReport:
    return publish(lab, load_registry(lab), now=NOW, **options)  # type: ignore[arg-type]


def published(lab: Lab, run: str = RUN) -> dict:
    return json.loads((lab.published / BENCHMARK / f"{run}.json").read_bytes())


def edit_plan(lab: Lab, change: dict) -> None:
    file = lab.state_runs / f"{BENCHMARK}.yml"
    plan = yaml.safe_load(file.read_text())
    plan["runs"][RUN] |= change
    file.write_text(yaml.safe_dump(plan))


def test_records_and_logs_leave_without_machine_job_path_or_checks(lab: Lab) -> None:
    collect(lab)
    write_costs(lab)
    report = out(lab)
    assert (report.exit_code, report.switched_in) == (0, True)
    run = published(lab)
    assert set(run) == {"v", "benchmark", "run", "label", "batches", "generated_at", "tasks"}
    one = run["tasks"]["pour_water"]["limited"]
    assert one["tokens"]["input"] == 1000
    assert one["exception"] is None
    assert one["estimate"] == {
        "usd": "0.0123",
        "n_priced": 3,
        "n_requests": 3,
        "price": "openai/gpt-6-luna",
        "as_of": "2026-09-24",
        "flat": False,
    }
    assert [attempt["counts"] for attempt in one["attempts"]] == [False, True]
    assert not {"stale", "reason", "stale_reason"} & set(one)
    for file in lab.published.rglob("*.json"):
        data = file.read_bytes()
        assert data.endswith(b"\n")
        assert not any(f'"{field}"'.encode() in data for field in FORBIDDEN_FIELDS - {"scan"} if file.name != "SNAPSHOT.json")
        assert b"gpu1" not in data
        assert str(lab.root).encode() not in data


def test_a_log_keeps_call_rows_with_cache_writes_and_charges_and_names_images_as_they_are_published(lab: Lab) -> None:
    collect(lab)
    out(lab)
    one = orjson.loads((lab.published / BENCHMARK / RUN / "pour_water" / "limited.json").read_bytes())
    assert one["calls"] == [[0.0, 5.3, 200, 23862, 19192, 114, None, 5, "0.25"]]
    assert one["media"] == {"video": "replay.mp4", "last": "replay.webp"}
    assert one["steps"][1]["img"] == ["img/001.webp"]
    assert one["snapshots"][0]["src"] == "snap/00.webp"


def test_publishing_again_without_change_writes_nothing(lab: Lab) -> None:
    collect(lab)
    out(lab)
    before = tree(lab.published)
    again = publish(lab, load_registry(lab), now=NOW + timedelta(hours=1))
    collect(lab, generated_at="2026-10-01T11:00:00+00:00")
    later = publish(lab, load_registry(lab), now=NOW + timedelta(hours=2))
    assert not again.switched_in
    assert not later.switched_in
    assert tree(lab.published) == before


def test_only_what_changed_is_written(lab: Lab) -> None:
    collect(lab)
    out(lab)
    before = tree(lab.published)
    collect(lab, records={task: {"limited": record(f"{task}-limited__a")} for task in TASKS[:2]})
    report = out(lab)
    after = tree(lab.published)
    assert report.written == 1
    kept = f"{BENCHMARK}/{RUN}/stack_blocks/limited.json"
    assert after[kept] == before[kept]
    assert f"{BENCHMARK}/{RUN}/pour_water/limited.json" not in after


def test_unfinished_records_hidden_runs_and_withdrawn_modes_stay_home(lab: Lab) -> None:
    collect(lab, records={"pour_water": {"limited": record("t", state="running"), "unlimited": record("u")}})
    collect(lab, run=OTHER_RUN)
    out(lab)
    assert list(published(lab)["tasks"]["pour_water"]) == ["unlimited"]
    edit_plan(lab, {"withdrawn": {"unlimited": {"label": "rerun pending"}}})
    out(lab)
    assert published(lab)["tasks"] == {}
    assert not (lab.published / BENCHMARK / RUN).exists()
    file = lab.state_runs / f"{BENCHMARK}.yml"
    plan = yaml.safe_load(file.read_text())
    plan["runs"][OTHER_RUN]["hidden"] = True
    file.write_text(yaml.safe_dump(plan))
    out(lab)
    assert not (lab.published / BENCHMARK / f"{OTHER_RUN}.json").exists()


def test_a_run_of_a_local_overlay_stays_home(lab: Lab) -> None:
    collect(lab)
    agent = "my_own-gpt6_luna-xhigh"
    (lab.root / "data" / "agents" / f"{agent}.local.yml").write_text((lab.root / "data" / "agents" / f"{RUN}.yml").read_text())
    (lab.state_runs / f"{BENCHMARK}.local.yml").write_text(yaml.safe_dump({"runs": {agent: {"batch": "mine"}}}))
    collect(lab, run=agent)
    assert agent in load_registry(lab).plans[BENCHMARK].runs
    out(lab)
    assert (lab.published / BENCHMARK / f"{RUN}.json").exists()
    assert not list(lab.published.rglob(f"{agent}*"))


def test_the_log_of_a_replaced_trial_leaves_only_while_the_record_names_it(lab: Lab) -> None:
    old = Attempt(trial="old", state="failed", host="gpu1", job="j")
    with_old = {"pour_water": {"limited": record("new", supersedes=old)}}
    logs = {
        ("pour_water", "limited"): log("pour_water", "limited", "new"),
        ("pour_water", "limited-prev"): log("pour_water", "limited", "old", previous=True),
    }
    collect(lab, records=with_old, logs=logs)
    out(lab)
    assert {one.slot for one in published_logs(lab)} == {"limited", "limited-prev"}
    assert published(lab)["tasks"]["pour_water"]["limited"]["supersedes"]["trial"] == "old"
    collect(lab, records={"pour_water": {"limited": record("new")}}, logs={})
    out(lab)
    assert [one.slot for one in published_logs(lab)] == ["limited"]
    collect(lab, records={"pour_water": {"limited": record("newest")}}, logs={})
    out(lab)
    assert [one.slot for one in published_logs(lab)] == []


def test_one_benchmark_is_rewritten_and_the_others_stay_to_the_byte(lab: Lab) -> None:
    collect(lab)
    out(lab)
    other = lab.published / "deskwork" / "some-run.json"
    other.parent.mkdir()
    other.write_bytes(b'{"v":1,"tasks":{}}\n')
    plan = {"runs": {"some-run": {"batch": "b", "tasks": []}}}
    (lab.state_runs / "deskwork.yml").write_text(yaml.safe_dump(plan))
    summary = json.loads((lab.published / "SNAPSHOT.json").read_bytes())
    line = {"benchmark": "deskwork", "run": "some-run", "tasks": 0, "logs": 0, "collected_at": "x"}
    (lab.published / "SNAPSHOT.json").write_text(json.dumps(summary | {"runs": [*summary["runs"], line]}))
    before = tree(lab.published)["deskwork/some-run.json"]
    collect(lab, records={"pour_water": {"limited": record("t2")}})
    out(lab, benchmarks=[BENCHMARK])
    assert tree(lab.published)["deskwork/some-run.json"] == before
    after = read_summary(lab.published)
    assert after is not None
    assert [one.run for one in after.runs] == ["some-run", RUN]


def test_a_run_without_data_here_keeps_what_is_published_of_it(lab: Lab) -> None:
    collect(lab)
    collect(lab, run=OTHER_RUN)
    out(lab)
    before = tree(lab.published)
    lab.run_file(BENCHMARK, OTHER_RUN).unlink()
    report = out(lab)
    assert not report.switched_in
    assert tree(lab.published) == before


def test_a_finding_quarantines_its_trial_and_names_place_and_rule_but_never_the_value(lab: Lab) -> None:
    secret = key()
    collect(lab, records={"pour_water": {"limited": record("t", metrics={secret: 1.0}), "unlimited": record("u")}})
    report = out(lab)
    assert report.exit_code == 1
    assert report.switched_in
    assert list(published(lab)["tasks"]["pour_water"]) == ["unlimited"]
    assert [one.slot for one in published_logs(lab)] == ["unlimited"]
    said = str(report)
    assert secret not in said
    assert report.quarantined[0].place == f"{BENCHMARK} {RUN} pour_water limited"
    assert {finding.rule for finding in report.quarantined[0].findings} >= {"github"}
    assert not any(secret.encode() in file.read_bytes() for file in lab.published.rglob("*.json"))


def test_strict_keeps_the_published_snapshot_when_anything_is_found(lab: Lab) -> None:
    collect(lab)
    out(lab)
    before = tree(lab.published)
    collect(lab, records={"pour_water": {"limited": record("t", metrics={key(): 1.0})}})
    report = out(lab, strict=True)
    assert (report.exit_code, report.switched_in) == (1, False)
    assert tree(lab.published) == before


def test_the_summary_is_scanned_like_every_other_file(lab: Lab) -> None:
    collect(lab, generated_at=key())
    with pytest.raises(FoundProblems, match="SNAPSHOT"):
        out(lab)
    assert not lab.published.exists()


def test_a_summary_or_a_plan_that_cannot_be_read_drops_nothing_that_is_published(lab: Lab) -> None:
    collect(lab)
    out(lab)
    before = tree(lab.published)
    plan = lab.state_runs / f"{BENCHMARK}.yml"
    text = plan.read_text()
    plan.write_text("runs: [")
    with pytest.raises(UsageError, match="mend it first"):
        out(lab)
    assert tree(lab.published) == before
    plan.write_text(text)
    (lab.published / "SNAPSHOT.json").write_text("<<<<<<< HEAD\n")
    with pytest.raises(UsageError, match="git restore"):
        out(lab)
    assert tree(lab.published).keys() == before.keys()


def test_a_value_on_the_allow_list_blocks_nothing(lab: Lab) -> None:
    collect(lab, records={"pour_water": {"limited": record("t", metrics={key(): 1.0})}})
    found = out(lab, dry_run=True).quarantined[0].findings
    allow = [{"rule": one.rule, "sha256": one.sha256, "reason": "a test's own key"} for one in found]
    lab.public_file.write_text(lab.public_file.read_text() + yaml.safe_dump({"allow": allow}))
    assert out(lab).exit_code == 0
    allow[0]["reason"] = ""
    assert {one.rule for one in found} >= {"github"}


def test_secrets_in_texts_are_redacted_and_the_trial_is_published(lab: Lab) -> None:
    secret = key()
    steps = [
        Step(k="say", t=1.0, text=f"I use {secret[:20]}"),
        Step(k="say", t=2.0, text=f"{secret[20:]} now"),
        Step(k="run", t=3.0, tool="exec", cmd=f"git clone https://x:{secret}@git.example/r"),
    ]
    logs = {("pour_water", "limited"): log("pour_water", "limited", "t", steps=steps, ended=Ended(error=f"bad token {secret}"))}
    collect(lab, records={"pour_water": {"limited": record("t")}}, logs=logs)
    report = out(lab)
    assert report.exit_code == 0
    assert sum(report.redacted.values()) >= 3
    data = (lab.published / BENCHMARK / RUN / "pour_water" / "limited.json").read_bytes()
    assert secret[:20].encode() not in data
    assert secret[20:].encode() not in data


def test_a_dry_run_writes_nothing_and_shows_what_would_change(lab: Lab) -> None:
    collect(lab)
    out(lab)
    before = tree(lab.published)
    collect(lab, records={"pour_water": {"limited": record("pour_water-limited__a", state="failed", metrics={"iou": 0.5})}})
    report = out(lab, dry_run=True)
    assert tree(lab.published) == before
    said = "\n".join(report.differences)
    assert f"~ {BENCHMARK} {RUN} pour_water limited: attempts " in said
    assert "state success → failed" in said
    assert f"- {BENCHMARK} {RUN} stack_blocks limited: success" in said
    assert f"- log {BENCHMARK} {RUN} stack_blocks limited" in said


def test_the_summary_counts_bytes_and_names_what_was_scanned_for(lab: Lab) -> None:
    collect(lab)
    out(lab)
    summary = read_summary(lab.published)
    assert summary is not None
    assert summary.bytes == sum(file.stat().st_size for file in lab.published.rglob("*.json") if file.name != "SNAPSHOT.json")
    assert summary.logs == len(list(published_logs(lab))) == 6
    assert {"credential", "cookie", "e-mail", "kingfisher"} <= set(summary.scan["patterns"])


def test_scanning_what_is_published_finds_what_somebody_put_there(lab: Lab) -> None:
    collect(lab)
    out(lab)
    scan = make_scan(lab, load_registry(lab))
    assert scan_published(lab, scan) == []
    (lab.published / BENCHMARK / "x.json").write_text(json.dumps({"host": "y", "note": key()}))
    assert {finding.rule for finding in scan_published(lab, scan)} >= {"field:host", "github"}


def test_wrong_use_says_what_there_is(lab: Lab) -> None:
    with pytest.raises(UsageError, match="tabletop"):
        out(lab, benchmarks=["nothing"])
    with pytest.raises(UsageError, match="collect first"):
        out(lab)


def test_a_second_publication_at_the_same_time_is_told_who_holds_the_lock(lab: Lab) -> None:
    collect(lab)
    with lock(lab.lock_file("publish")), pytest.raises(LockHeld):
        out(lab)


def test_the_size_gate_names_the_largest_files(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"x" * 100)
    assert size_gate(tmp_path, limit=100) == 100
    with pytest.raises(FoundProblems, match=r"a\.html"):
        size_gate(tmp_path, limit=99)


# --- a crash at any moment ----------------------------------------------------------------------------------------------


def whole(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    (folder / "a.json").write_text(name)
    (folder / "SNAPSHOT.json").write_text(name)


def test_two_directories_change_places_in_one_step(tmp_path: Path) -> None:
    whole(tmp_path / "a", "one")
    whole(tmp_path / "b", "two")
    if not exchange(tmp_path / "a", tmp_path / "b"):
        pytest.skip("this file system can't exchange names")
    assert (tmp_path / "a" / "a.json").read_text() == "two"


def test_where_names_cannot_be_exchanged_a_cut_switch_is_finished_at_the_next_start(tmp_path: Path) -> None:
    new, current, previous = tmp_path / "new", tmp_path / "current", tmp_path / "prev"
    whole(new, "two")
    whole(current, "one")
    os.rename(current, previous)  # and the process died here
    assert recover(new, current, previous)
    assert (current / "a.json").read_text() == "two"
    whole(new, "three")
    switch_in(new, current, previous, at_once=False)
    assert [(folder / "a.json").read_text() for folder in (current, previous)] == ["three", "two"]
    assert not recover(new, current, previous)


def test_half_a_tree_is_never_switched_in(tmp_path: Path) -> None:
    new, current, previous = tmp_path / "new", tmp_path / "current", tmp_path / "prev"
    new.mkdir()
    (new / "a.json").write_text("half")
    whole(previous, "one")
    assert recover(new, current, previous)
    assert (current / "a.json").read_text() == "one"


PROGRAM = """
import sys
from datetime import UTC, datetime
from benchpipe.lab import Lab
from benchpipe.publish.snapshot import publish
from benchpipe.registry.load import load_registry
from pathlib import Path
lab = Lab(Path(sys.argv[1]))
registry = load_registry(lab)
print("ready", flush=True)
publish(lab, registry, now=datetime.now(UTC))
"""


def version_of(lab: Lab) -> str:
    """The version that the snapshot holds; fails where it isn't one whole version."""
    run = published(lab)
    versions = {record["trial"].rpartition("__")[2] for modes in run["tasks"].values() for record in modes.values()}
    logs = list(published_logs(lab))
    versions |= {orjson.loads(one.file.read_bytes())["trial"].rpartition("__")[2] for one in logs}
    summary = read_summary(lab.published)
    assert len(versions) == 1
    assert summary is not None
    assert summary.logs == len(logs) == 6
    return versions.pop()


def collect_version(lab: Lab, version: int) -> None:
    collect(lab, records={task: {mode: record(f"{task}-{mode}__{version}") for mode in ("unlimited", "limited")} for task in TASKS})


def kill_at_random(lab: Lab, seed: int, version: int, takes_s: float) -> None:
    collect_version(lab, version)
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(lab.root)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(random.Random(seed).uniform(0, takes_s))
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("times", [5, pytest.param(30, marks=pytest.mark.long)])
def test_a_kill_at_any_moment_leaves_one_whole_snapshot(lab: Lab, times: int) -> None:
    collect_version(lab, 0)
    out(lab)
    begun = time.monotonic()
    collect_version(lab, 1)
    out(lab)
    takes_s = 1.2 * (time.monotonic() - begun)
    seen = {version_of(lab)}
    for version in range(2, times + 2):
        kill_at_random(lab, version, version, takes_s)
        seen.add(now := version_of(lab))
        assert now in {str(version), str(version - 1), *seen}
    out(lab)
    assert version_of(lab) == str(times + 1)
