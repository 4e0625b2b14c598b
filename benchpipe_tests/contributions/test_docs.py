"""The guide works as it is written: its commands are run, its files and links exist; the workflows run no stranger's code."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from benchpipe.contributions.per_task import read_scores
from benchpipe_tests.conftest import REPOSITORY

GUIDE = REPOSITORY / "docs" / "contributing.md"
PAGES = (GUIDE, REPOSITORY / "contrib" / "README.md")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_every_command_of_the_guide_works_from_a_fresh_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    for name in ("tools/toy_benchmark", "contrib", "data/benchmarks", "data/agents", "state"):
        shutil.copytree(REPOSITORY / name, clone / name)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "clone"]):
        subprocess.run([*git, *arguments], cwd=clone, check=True, capture_output=True)
    outputs = []
    for line in [line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]:
        done = subprocess.run(["bash", "-c", line], cwd=clone, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        outputs.append(done.stdout)
    assert len(outputs) >= 10
    assert outputs[2].strip().endswith("fine")
    assert "my-first.json: verified; 0 error(s)" in outputs[3]


def test_the_per_task_file_of_the_guide_is_one() -> None:
    (block,) = blocks(GUIDE, "json")
    scores, findings = read_scores(block.encode(), "p.json", 0)
    assert findings == []
    assert scores is not None
    assert len(scores.ids) == len(json.loads(block)["tasks"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def workflow(name: str) -> dict[str, object]:
    return yaml.load((REPOSITORY / ".github" / "workflows" / name).read_text(), Loader=yaml.BaseLoader)


def steps(flow: dict[str, object]) -> list[dict[str, object]]:
    return [step for job in flow["jobs"].values() for step in job["steps"]]  # type: ignore[attr-defined]


def test_the_check_of_pull_requests_has_no_secret_and_runs_the_base_branch_only() -> None:
    flow = workflow("contribution-check.yml")
    assert flow["permissions"] == {"contents": "read"}
    assert list(flow["on"]) == ["pull_request"]  # type: ignore[call-overload]
    text = json.dumps(flow)
    assert "secrets." not in text
    checkouts = [step for step in steps(flow) if str(step.get("uses", "")).startswith("actions/checkout")]
    assert [step["with"]["ref"] for step in checkouts] == ["${{ github.event.pull_request.base.sha }}"]  # type: ignore[index]
    assert [step["with"]["persist-credentials"] for step in checkouts] == ["false"]  # type: ignore[index]
    assert not re.search(r"\$\{\{", "".join(str(step.get("run", "")) for step in steps(flow)))


def test_the_workflow_that_may_comment_checks_nothing_out() -> None:
    flow = workflow("contribution-report.yml")
    assert flow["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert list(flow["on"]) == ["workflow_run"]  # type: ignore[call-overload]
    assert not [step for step in steps(flow) if "uses" in step]
    assert not re.search(r"\$\{\{", "".join(str(step.get("run", "")) for step in steps(flow)))


class PullRequest:
    """A repository, a pull request on it, and a clone in which the shell of the workflow takes the request's data."""

    def __init__(self, root: Path, base: dict[str, str], head: Mapping[str, str | None]) -> None:
        self.origin, self.clone = root / "origin", root / "clone"
        self.origin.mkdir()
        self.git(self.origin, "init", "-q", "-b", "main")
        self.commit(base)
        self.base = self.git(self.origin, "rev-parse", "HEAD")
        self.git(root, "clone", "-q", str(self.origin), str(self.clone))
        self.git(self.origin, "checkout", "-q", "-b", "pr")
        self.commit(head)
        self.git(self.origin, "update-ref", "refs/pull/7/head", "HEAD")

    def git(self, where: Path, *arguments: str) -> str:
        command = ["git", "-C", str(where), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            path = self.origin / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        self.git(self.origin, "add", "-A")
        self.git(self.origin, "commit", "-q", "-m", "x")

    def taken(self) -> dict[str, set[str]]:
        """The lists that the workflow's step leaves for the next ones."""
        flow = steps(workflow("contribution-check.yml"))
        (take,) = [str(step["run"]) for step in flow if "Take the data" in str(step.get("name"))]
        environment = {**os.environ, "BASE": self.base, "NUMBER": "7"}
        subprocess.run(["bash", "-euo", "pipefail", "-c", take], cwd=self.clone, check=True, env=environment, capture_output=True)
        names = ("submissions", "datasets", "besides")
        return {name: set((self.clone / name).read_text().split("\0")) - {""} for name in names}


def test_taking_the_data_of_a_pull_request_takes_data_only(tmp_path: Path) -> None:
    name = "contrib/results/d/m/v 1;touch x.json"
    change = {
        "contrib/validate.py": "evil\n",
        "state/contrib/d.yml": "submissions: {m/v: {unverified: true}}\n",
        name: "{}\n",
        "contrib/results/d/m/v/p.json": "{}\n",
        "contrib/Experiments/d/a/f/m/curve.jsonl": "{}\n",
        "contrib/Experiments/README.md": "hello\n",
        "Makefile": "evil:\n",
    }
    request = PullRequest(tmp_path, {"contrib/validate.py": "base\n"}, change)
    assert request.taken() == {
        "submissions": {name},
        "datasets": {"contrib/Experiments/d"},
        "besides": {"contrib/validate.py", "state/contrib/d.yml", "Makefile"},
    }
    assert (request.clone / "contrib" / "validate.py").read_text() == "base\n"
    assert not (request.clone / "Makefile").exists()
    assert not (request.clone / "state").exists()
    assert (request.clone / "contrib/results/d/m/v/p.json").exists()


def test_a_submission_is_reported_on_when_only_what_stands_behind_it_changes(tmp_path: Path) -> None:
    """Another's per-task file edited, another's submission removed: nothing that could be merged unseen."""
    folder = "contrib/results/d/m"
    names = ("a.json", "a/p.json", "b.json", "b/p.json", "c.json", "c/*.json", "c/p.json")
    change = {f"{folder}/a/p.json": "{1}\n", f"{folder}/b.json": None, f"{folder}/c/*.json": None}
    request = PullRequest(tmp_path, {f"{folder}/{name}": "{}\n" for name in names}, change)
    assert request.taken() == {
        "submissions": {f"{folder}/a.json", f"{folder}/c.json"},
        "datasets": set(),
        "besides": {f"{folder}/b.json", f"{folder}/c/*.json"},
    }
    assert {path.name for path in (request.clone / folder / "c").iterdir()} == {"p.json"}


def test_a_pull_request_of_decisions_only_is_listed(tmp_path: Path) -> None:
    request = PullRequest(tmp_path, {"a": "a"}, {"state/contrib/d.yml": "methods: {}\n"})
    assert request.taken() == {"submissions": set(), "datasets": set(), "besides": {"state/contrib/d.yml"}}


def test_the_issue_form_is_what_intake_reads() -> None:
    form = yaml.safe_load((REPOSITORY / ".github" / "ISSUE_TEMPLATE" / "contributed-result.yml").read_text())
    areas = {field["id"]: field["attributes"] for field in form["body"] if field["type"] == "textarea"}
    assert areas["submission"]["render"] == "json"
    assert areas["per-task"]["render"] == "text"
    assert "per-task" in areas["per-task"]["label"].lower()
