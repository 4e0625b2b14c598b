"""Genuine Harbor jobs of every kind and release, read by the real probe: each fact of expected.jsonl comes out."""

import json
import sys
from collections import Counter, defaultdict
from typing import Any

import pytest

from benchpipe import demo
from benchpipe_tests.conftest import SHARED
from benchpipe_tests.probe import running


def pythons() -> list[Any]:
    old = running.old_python()
    reason = "needs a Python 3.8 on PATH or in ~/.pyenv"
    return [
        pytest.param(sys.executable, id="this Python"),
        pytest.param(old, id="3.8", marks=pytest.mark.skipif(not old, reason=reason)),
    ]


@pytest.fixture(scope="module", params=pythons())
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Lines of expected.jsonl with the name (`at`) of their job's copy, and the probe's answer on these copies."""
    samples = SHARED / "samples" / "harbor-jobs"
    if not samples.is_dir():
        pytest.skip("no ../shared beside the project")
    folder = tmp_path_factory.mktemp("jobs")
    lines = [json.loads(line) for line in (samples / "expected.jsonl").read_text().splitlines()]
    names: dict[str, str] = {}
    for line in lines:
        job = line["job"]
        if job not in names:
            name = f"j{len(names)}-{line['mode'] or 'unlimited'}"
            if line["layout"] == "SEQ=1":
                name += f"-{line['task']}"
            names[job] = name
            demo.copy_jobs(samples / job, folder / "jobs" / name)
        line["at"] = names[job]
    batches = {name.partition("-")[0]: ["unlimited", "limited"] for name in names.values()}
    answer, _ = running.run_probe(running.request(folder / "jobs", batches), cache=folder / "cache", python=request.param)
    return lines, answer


def test_task_exception_rewards_and_tokens_of_every_trial_are_right(read: tuple[list[dict[str, Any]], dict[str, Any]]) -> None:
    lines, answer = read
    found = {(trial["job"], trial["trial"]): trial for trial in answer["trials"]}
    for line in lines:
        if line["trial"] is None:
            continue
        trial = found.pop((line["at"], line["trial"]))
        tokens = trial.get("harbor_tokens") or {}
        facts = {
            "task": trial["task_dir"],
            "exception": trial.get("exception"),
            "rewards": trial.get("rewards"),
            "n_input_tokens": tokens.get("input"),
            "n_cache_tokens": tokens.get("cached"),
            "n_output_tokens": tokens.get("output"),
        }
        assert facts == {key: line[key] for key in facts}, line
    assert found == {}


def test_the_result_file_is_absent_broken_or_whole_as_its_state_says(read: tuple[list[dict[str, Any]], dict[str, Any]]) -> None:
    lines, answer = read
    found = {(trial["job"], trial["trial"]): trial["result"] for trial in answer["trials"]}
    open_states = {"starting", "running", "verifying", "no-sign-of-life"}
    for line in lines:
        if line["trial"] is None:
            continue
        expected = {"absent"} if line["state"] in open_states else {"whole"}
        if line["state"] == "unreadable":
            expected = {"empty", "damaged"}
        assert found[line["at"], line["trial"]] in expected, line


def test_planned_trials_without_a_directory_are_known_from_the_lock(read: tuple[list[dict[str, Any]], dict[str, Any]]) -> None:
    lines, answer = read
    begun = Counter((trial["job"], trial["task_dir"]) for trial in answer["trials"])
    planned = {(job["job"], plan["task_dir"]): plan["n"] for job in answer["jobs"] for plan in job["planned"]}
    waiting = {job["job"]: job["waiting"] for job in answer["jobs"]}
    missing: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in lines:
        if line["trial"] is None:
            missing[line["at"], line["task"]].append(line["state"])
    for place, states in missing.items():
        assert planned[place] - begun[place] == len(states), place
        if "waiting-for-retry" in states:
            assert len(waiting[place[0]]) == 1


def test_the_release_is_read_where_the_files_name_it(read: tuple[list[dict[str, Any]], dict[str, Any]]) -> None:
    lines, answer = read
    found = {job["job"]: job["harbor"] for job in answer["jobs"]}
    for line in lines:
        assert found[line["at"]] == (None if line["harbor"] == "0.1.45" else line["harbor"]), line["job"]


def test_signs_of_running_and_verifying_are_told_apart(read: tuple[list[dict[str, Any]], dict[str, Any]]) -> None:
    lines, answer = read
    found = {(trial["job"], trial["trial"]): (trial["agent_active"], trial["agent_over"]) for trial in answer["trials"]}
    signs = {line["job"]: found[line["at"], line["trial"]] for line in lines if line["job"].startswith("live/") and line["trial"]}
    assert signs["live/environment-starting/environment-starting"] == (False, False)
    assert signs["live/agent-running-bound/agent-running-bound"] == (True, False)
    assert signs["live/verifying/verifying"][1]


def test_a_folder_of_notes_is_no_trial(read: tuple[list[dict[str, Any]], dict[str, Any]]) -> None:
    assert "notes" not in {trial["trial"] for trial in read[1]["trials"]}
