"""Which slots there are, when they are built again, and what a missing or partial copy does."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchpipe.hosts.pool import Pool
from benchpipe.hosts.raw import RawCopies
from benchpipe.lab import Lab
from benchpipe.registry.records import Host, Place, Registry
from benchpipe.transcripts.build import STAMP_FILE
from benchpipe.transcripts.records import LOG_FILE, load_log
from benchpipe.transcripts.update import LogsReport, update_logs
from benchpipe.trials.records import Attempt, Record, RunFile
from benchpipe_tests.transcripts import made_logs as made

NOW = "2026-11-30T08:00:00+00:00"


class Scene:
    """A lab with one local host whose trials the test writes, and a run file with one record."""

    def __init__(self, root: Path) -> None:
        self.lab = Lab(root)
        self.jobs = root / "jobs"
        self.host = Host(name="box", place=Place("hosts"), jobs=str(self.jobs))
        self.record = Record(state="success", host="box", job="j1", trial="t__new", attempts=(self.attempt("t__new", counts=True),))

    @staticmethod
    def folder_of(lab: Lab, host: Host, job: str, trial: str) -> Path | None:
        """As if a remote host's copies lay where a local host's trials do."""
        folder = Path(host.jobs) / job / trial
        return folder if folder.is_dir() else None

    @staticmethod
    def attempt(trial: str, **more: Any) -> Attempt:
        return Attempt(**{"job": "j1", "state": "success", "host": "box", "trial": trial, **more})

    def trial(self, name: str = "t__new", n: int = 3) -> Path:
        made.write_lines(self.jobs / "j1" / name / "agent/gateway.jsonl", made.gateway_lines(n))
        return self.jobs / "j1" / name

    def slot(self, slot: str = "limited") -> Path:
        return self.lab.slot_folder("b", "codex-m-high", "pour", slot)

    def update(self, now: str = NOW, **changes: Any) -> LogsReport:
        record = msgspec.structs.replace(self.record, **changes)
        tasks = {"pour": {"limited": record}}
        run_file = RunFile(benchmark="b", run="codex-m-high", label="x", batches=("b1",), hosts={}, tasks=tasks, generated_at=NOW)
        registry = Registry(hosts={"box": self.host})
        rows = made.requests_of(self.jobs / "j1" / "t__new")
        return update_logs(self.lab, registry, [run_file], now=now, folder_of=self.folder_of, requests_of=lambda lab, digest: rows)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_slot_is_built_once_and_left_alone_until_something_changes(scene: Scene) -> None:
    trial = scene.trial()
    assert scene.update().built == ["b/codex-m-high/pour/limited"]
    log = load_log(scene.slot() / LOG_FILE)
    assert (log.trial, log.state, log.built, len(log.steps)) == ("t__new", "success", NOW, 5)
    assert log.where == f"{scene.jobs}/j1/t__new"
    before = (scene.slot() / LOG_FILE).stat().st_mtime_ns
    assert scene.update(now="2026-11-30T09:00:00+00:00").unchanged == 1
    assert (scene.slot() / LOG_FILE).stat().st_mtime_ns == before

    changes: list[Any] = [
        lambda: made.write_lines(trial / "agent/gateway.jsonl", made.gateway_lines(4)),
        lambda: made.write_lines(trial / "agent/sessions/a.jsonl", made.codex_session(1)),
        lambda: (trial / "agent/trajectory.json").write_text("{}"),
        lambda: ((trial / "verifier_regrade").mkdir(), (trial / "verifier_regrade/reward.json").write_text("{}")),
        lambda: made.write_lines(trial / "artifacts/data/episode.jsonl", [{"ev": "end", "ts": made.T0}]),
        lambda: (scene.slot() / LOG_FILE).unlink(),
        lambda: (scene.lab.backfill_file("b", "codex-m-high")).write_text('"pour/limited": {note: seen by hand}\n'),
    ]
    for change in changes:
        change()
        assert scene.update().built == ["b/codex-m-high/pour/limited"]
        assert scene.update().unchanged == 1
    assert load_log(scene.slot() / LOG_FILE).note == "seen by hand"


def test_a_record_that_says_something_else_of_the_same_trial_builds_the_page_again(scene: Scene) -> None:
    scene.trial()
    scene.update()
    report = scene.update(attempts=(scene.attempt("t__new", counts=True, state="failed", reward={"success": 0.0}),))
    assert report.built
    assert load_log(scene.slot() / LOG_FILE).state == "failed"


def test_the_attempt_before_has_its_page_only_while_a_record_supersedes_it(scene: Scene) -> None:
    scene.trial("t__old", 2)
    scene.trial()
    report = scene.update(supersedes=scene.attempt("t__old", state="error"))
    assert sorted(report.built) == ["b/codex-m-high/pour/limited", "b/codex-m-high/pour/limited-prev"]
    before = load_log(scene.slot("limited-prev") / LOG_FILE)
    assert (before.previous, before.trial, before.state) == (True, "t__old", "error")
    assert scene.update().removed == ["b/codex-m-high/pour/limited-prev"]
    assert not scene.slot("limited-prev").exists()


def test_a_queued_rerun_keeps_the_page_of_the_attempt_before(scene: Scene) -> None:
    scene.trial("t__old", 2)
    queued = Record(state="queued", rerun=True, supersedes=scene.attempt("t__old"))
    scene.record = queued
    scene.update()
    log = load_log(scene.slot() / LOG_FILE)
    assert (log.trial, log.previous) == ("t__old", False)


def test_a_trial_that_is_gone_keeps_the_page_that_was_read_from_it(scene: Scene) -> None:
    trial = scene.trial()
    scene.update()
    whole = (scene.slot() / LOG_FILE).read_bytes()
    trial.rename(trial.with_name("elsewhere"))
    assert scene.update(state="error").unchanged == 1
    assert (scene.slot() / LOG_FILE).read_bytes() == whole


def test_a_trial_that_was_never_here_has_a_page_that_says_so(scene: Scene) -> None:
    report = scene.update()
    assert report.partial == ["b/codex-m-high/pour/limited"]
    assert load_log(scene.slot() / LOG_FILE).problems == ["the trial's files are not on this machine"]


def test_a_copy_that_holds_less_than_the_host_is_called_partial(scene: Scene) -> None:
    size = (scene.trial() / "agent/gateway.jsonl").stat().st_size
    scene.host = msgspec.structs.replace(scene.host, ssh="box")
    assert scene.update(logs={"gateway": size}).partial == []
    assert scene.update(logs={"gateway": size + 5}).partial
    assert load_log(scene.slot() / LOG_FILE).problems == [f"partial copy: {size:,} of {size + 5:,} bytes of gateway.jsonl"]


def test_one_slot_that_fails_is_named_and_stops_no_other(scene: Scene) -> None:
    scene.trial("t__old", 2)
    scene.trial()
    scene.slot().parent.mkdir(parents=True)
    scene.slot().write_text("a file where a folder should be")
    report = scene.update(supersedes=scene.attempt("t__old"))
    assert [failure.partition(":")[0] for failure in report.failed] == ["b/codex-m-high/pour/limited"]
    assert report.built == ["b/codex-m-high/pour/limited-prev"]


def test_the_json_of_a_log_has_the_names_of_the_specification(scene: Scene) -> None:
    scene.trial()
    scene.update()
    said = json.loads((scene.slot() / LOG_FILE).read_bytes())
    names = """v benchmark run task mode previous state host job trial started finished agent_wall_s exception reward scan where
    built start span totals calls steps robot media snapshots gen ended note"""
    assert set(names.split()) <= set(said)
    totals = "calls failed output reasoning input cached runs said images robot"
    assert set(said["totals"]) == set(totals.split())
    assert (scene.slot() / STAMP_FILE).read_text().endswith(" t__new\n")


def test_a_copy_that_was_stopped_says_so_on_its_page(scene: Scene) -> None:
    """A host that can't be reached: what the fetch notes beside its copy stands on the page."""
    scene.host = Host(name="box", place=Place("hosts"), jobs="jobs", ssh="no-such-host.invalid", transport="paramiko")
    with Pool() as pool:
        RawCopies(scene.lab, pool).fetch(scene.host, "j1", "t__new", "fingerprint")
    record = msgspec.structs.replace(scene.record, attempts=())
    run_file = RunFile(
        benchmark="b", run="r", label="x", batches=(), hosts={}, tasks={"pour": {"limited": record}}, generated_at=NOW
    )
    report = update_logs(scene.lab, Registry(hosts={"box": scene.host}), [run_file], now=NOW)
    assert report.partial == ["b/r/pour/limited"]
    problem = load_log(scene.lab.slot_folder("b", "r", "pour", "limited") / LOG_FILE).problems[0]
    assert problem.startswith("partial copy: fetching stopped")
