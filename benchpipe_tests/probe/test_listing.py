"""Which directories are jobs and trials of ours, and which one counts when links lead to the same place twice."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchpipe.probe.listing import fitting
from benchpipe_tests.probe.running import digests, request, run_probe

TASK = "tabletop-pour-water-i00"
BATCHES = {"x-1001": ["unlimited", "limited"], "x-1001-2": ["unlimited", "limited"]}


def trial(job: Path, name: str, **files: Any) -> Path:
    """A trial directory; `files` are JSON documents by stem, `config` is always there."""
    folder = job / name
    (folder / "agent").mkdir(parents=True)
    for stem, value in {"config": {"task": {"path": f"/tasks/{TASK}"}}, **files}.items():
        (folder / f"{stem}.json").write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


def read(tmp_path: Path, batches: dict[str, list[str]] = BATCHES) -> dict[str, Any]:
    return run_probe(request(tmp_path / "jobs", batches), cache=tmp_path / "cache")[0]


def names(answer: dict[str, Any]) -> set[tuple[str, str]]:
    return {(one["job"], one["trial"]) for one in answer["trials"]}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("x-1001-unlimited", ("x-1001", "unlimited", None)),
        ("x-1001-limited", ("x-1001", "limited", None)),
        ("x-1001-limited-some-task-i00", ("x-1001", "limited", "some-task-i00")),
        ("x-1001-2-limited-t", ("x-1001-2", "limited", "t")),
        ("x-1001-2-unlimited", ("x-1001-2", "unlimited", None)),
        ("x-1001-limited-", None),
        ("x-1001-medium", None),
        ("x-1001", None),
        ("ax-1001-limited", None),
    ],
)
def test_a_jobs_name_is_read_from_the_left_and_the_longest_batch_wins(name: str, place: object) -> None:
    assert fitting(name, BATCHES) == place


def test_a_batch_whose_mode_looks_like_another_batch_goes_to_the_longer_batch() -> None:
    assert fitting("x-1001-2-t", {"x-1001": ["2"], "x-1001-2": ["t"]}) == ("x-1001-2", "t", None)


def test_directories_of_nobody_are_strangers_only_if_they_hold_trials(tmp_path: Path) -> None:
    trial(tmp_path / "jobs" / "colleague-unlimited", "a__1234567")
    (tmp_path / "jobs" / "empty").mkdir()
    (tmp_path / "jobs" / "x-1001.log").write_text("")
    answer = read(tmp_path)
    assert (answer["strangers"], answer["seen"]) == (["colleague-unlimited"], ["x-1001"])


def test_a_linked_job_is_read_under_its_links_name(tmp_path: Path) -> None:
    trial(tmp_path / "elsewhere" / "odd-name", "a__1234567")
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "x-1001-unlimited").symlink_to(tmp_path / "elsewhere" / "odd-name")
    assert names(read(tmp_path)) == {("x-1001-unlimited", "a__1234567")}


def test_a_job_that_is_reached_twice_counts_once_under_its_own_name(tmp_path: Path) -> None:
    trial(tmp_path / "jobs" / "x-1001-unlimited", "a__1234567")
    (tmp_path / "jobs" / "x-1001-2-unlimited").symlink_to("x-1001-unlimited")
    assert names(read(tmp_path)) == {("x-1001-unlimited", "a__1234567")}


def test_a_trial_that_is_linked_into_another_job_counts_once(tmp_path: Path) -> None:
    real = trial(tmp_path / "jobs" / "x-1001-unlimited", "a__1234567")
    job = tmp_path / "jobs" / "x-1001-2-unlimited"
    job.mkdir()
    (job / "a__1234567").symlink_to(real)
    (job / "b__1234567").symlink_to(trial(tmp_path / "elsewhere", "b__1234567"))
    assert names(read(tmp_path)) == {("x-1001-unlimited", "a__1234567"), ("x-1001-2-unlimited", "b__1234567")}


def test_links_that_run_in_circles_or_lead_nowhere_stop_nothing(tmp_path: Path) -> None:
    trial(tmp_path / "jobs" / "x-1001-unlimited", "a__1234567")
    (tmp_path / "jobs" / "x-1001-limited").symlink_to("x-1001-limited")
    (tmp_path / "jobs" / "x-1001-unlimited" / "b__1234567").symlink_to("nowhere")
    assert names(read(tmp_path)) == {("x-1001-unlimited", "a__1234567")}


@pytest.mark.parametrize(
    ("config", "lock", "result", "job", "expected"),
    [
        ({"task": {"path": "/t/one/"}}, {"task": {"path": "/t/two"}}, None, "x-1001-limited", ("one", "config")),
        ({"task": {"name": "org/one"}}, None, None, "x-1001-limited", ("one", "config")),
        ("{", {"task": {"path": "/t/two", "name": "x/three"}}, None, "x-1001-limited", ("two", "lock")),
        ({}, None, {"config": {"task": {"path": "/t/four"}}}, "x-1001-limited", ("four", "result")),
        ({}, None, None, "x-1001-limited-five-i00", ("five-i00", "job")),
        ({}, None, None, "x-1001-limited", (None, None)),
    ],
)
def test_the_task_of_a_trial_comes_from_the_first_that_names_it(
    tmp_path: Path, config: Any, lock: Any, result: Any, job: str, expected: object
) -> None:
    files = {name: value for name, value in (("config", config), ("lock", lock), ("result", result)) if value is not None}
    trial(tmp_path / "jobs" / job, "a__1234567", **files)
    found = read(tmp_path)["trials"][0]
    assert (found["task_dir"], found["task_from"]) == expected


def test_a_cut_name_names_the_task_only_if_one_planned_task_fits(tmp_path: Path) -> None:
    job = tmp_path / "jobs" / "x-1001-limited"
    planned = [
        "sort-cutlery-by-type-and-size-and-i00",
        "sort-cutlery-by-type-and-size-and-i01",
        "pour-water-over-the-plant-in-pot-i00",
    ]
    trial(job, "sort-cutlery-by-type-and-size-an__1234567", config={})
    trial(job, "pour-water-over-the-plant-in-pot__1234567", config={})
    (job / "lock.json").write_text(json.dumps({"trials": [{"task": {"path": f"/t/{name}"}} for name in planned]}))
    found = {one["trial"]: one["task_dir"] for one in read(tmp_path)["trials"]}
    assert found == {"sort-cutlery-by-type-and-size-an__1234567": None, "pour-water-over-the-plant-in-pot__1234567": planned[2]}


def test_the_last_scan_line_of_a_job_wins(tmp_path: Path) -> None:
    trial(tmp_path / "jobs" / "x-1001-limited", "a__1234567")
    lines = [
        "[x-1001-limited] scanned 10 files under /data/a b: 3 contain one",
        "[x-1001-limited] scanned 12 files under /data/a b: 1 contain one (redacted)",
        "say [x-1001-limited] scanned 1 files under /: 9 contain one",
        "[x-1001-limited] scanned many files",
    ]
    (tmp_path / "jobs" / "x-1001.log").write_text("\n".join(lines))
    assert read(tmp_path)["jobs"][0]["scan"] == 1


def test_what_vanishes_between_two_polls_is_gone_and_the_rest_stays(tmp_path: Path) -> None:
    job = tmp_path / "jobs" / "x-1001-limited"
    for n in range(5):
        trial(job, f"a__000000{n}")
    first = read(tmp_path)
    shutil.rmtree(job / "a__0000003")
    known = digests(first)
    second, _ = run_probe(request(tmp_path / "jobs", BATCHES, known), cache=tmp_path / "cache")
    assert names(second) <= names(first) - {("x-1001-limited", "a__0000003")}
    assert second["changed"]


def test_names_that_are_no_text_travel_as_text(tmp_path: Path) -> None:
    job = tmp_path / "jobs" / "x-1001-limited"
    trial(job, "a__1234567")
    os.rename(job / "a__1234567", os.path.join(os.fsencode(job), b"\xff\xfe__<b>"))
    assert names(read(tmp_path)) == {("x-1001-limited", "??__<b>")}
