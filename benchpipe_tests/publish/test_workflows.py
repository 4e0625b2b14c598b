"""The workflows can't run here. So they are thin, and this holds them to it: known keys, least rights, pins, make targets."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchpipe_tests.conftest import REPOSITORY

WORKFLOWS = [REPOSITORY / ".github" / "workflows" / name for name in ("check.yml", "drift.yml", "pages.yml")]
"""The ones of this room; those that check contributions have tests of their own."""
TOP_KEYS = {"name", "on", "permissions", "concurrency", "jobs"}
JOB_KEYS = {"runs-on", "timeout-minutes", "steps", "needs", "permissions", "environment"}
STEP_KEYS = {"uses", "with", "run", "name"}
WRITES = {"pages.yml": {"pages", "id-token"}}
"""What a workflow may write, besides nothing."""


def load(file: Path) -> dict[str, Any]:
    document = yaml.safe_load(file.read_text())
    document["on"] = document.pop(True)  # YAML 1.1 reads `on` as true
    return document


def test_there_are_a_check_a_deployment_and_a_weekly_look() -> None:
    assert set(load(WORKFLOWS[0])["on"]) == {"push", "pull_request"}
    assert "schedule" in load(WORKFLOWS[1])["on"]
    assert load(WORKFLOWS[2])["on"]["push"] == {"branches": ["main"]}


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_has_known_keys_least_rights_and_time_limits(file: Path) -> None:
    workflow = load(file)
    assert set(workflow) <= TOP_KEYS
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert set(job) <= JOB_KEYS, name
        assert 0 < job["timeout-minutes"] <= 60
        assert set(job.get("permissions", {})) <= WRITES.get(file.name, set())
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
    assert "pull_request_target" not in workflow["on"]
    assert "secrets." not in file.read_text()


EVERY_WORKFLOW = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
READS_OR_COMMENTS = {"contribution-report.yml": {"actions": "read", "pull-requests": "write"}}


@pytest.mark.parametrize("file", EVERY_WORKFLOW, ids=lambda file: file.name)
def test_no_workflow_of_the_repository_floats_or_reaches_a_secret(file: Path) -> None:
    workflow = load(file)
    assert workflow["permissions"] == READS_OR_COMMENTS.get(file.name, {"contents": "read"})
    assert "pull_request_target" not in workflow["on"]
    assert not re.search(r"secrets[.\[]", file.read_text())
    for job in workflow["jobs"].values():
        assert job["runs-on"] == "ubuntu-24.04"
        assert 0 < job["timeout-minutes"] <= 60
        for step in job["steps"]:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step.get("uses", f"actions/none@{'0' * 40}")), step
            assert "${{" not in step.get("run", ""), "an expression in a script is run as a part of it"
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_every_step_is_a_pinned_action_or_a_make_target_that_exists(file: Path) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*(?: [a-z-]+)*):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    known = {name for line in targets for name in line.split()}
    for job in load(file)["jobs"].values():
        for step in job["steps"]:
            assert set(step) <= STEP_KEYS
            assert ("run" in step) != ("uses" in step)
            if "run" in step:
                command, _, target = step["run"].partition(" ")
                assert (command, target in known) == ("make", True), step
            else:
                assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"])
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_expressions_in_workflows_take_nothing_that_an_outsider_writes() -> None:
    for file in WORKFLOWS:
        assert set(re.findall(r"\$\{\{\s*([^}]+?)\s*\}\}", file.read_text())) <= {"github.ref"}


def test_the_hook_runs_guard_and_can_be_run() -> None:
    hook = REPOSITORY / ".githooks" / "pre-commit"
    assert os.access(hook, os.X_OK)
    assert "make --no-print-directory guard" in hook.read_text()
    assert subprocess.run(["sh", "-n", str(hook)]).returncode == 0
