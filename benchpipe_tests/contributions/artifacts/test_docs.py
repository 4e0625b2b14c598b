"""The guide's commands and examples, run; the shipped family, checked."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchpipe.contributions.artifacts import manifests
from benchpipe.contributions.artifacts.checking import check_directory
from benchpipe.contributions.leaks import LEAKS
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe_tests.conftest import REPOSITORY

GUIDE = (REPOSITORY / "docs" / "experiments.md").read_text(encoding="utf-8")
SHIPPED = REPOSITORY / "contrib" / "Experiments"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^ *```{kind}\n(.*?)^ *```", GUIDE, re.DOTALL | re.MULTILINE)


def run(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """One line of a shell block, with this Python, in a folder where `out` may be written."""
    words = shlex.split(line)
    if words[0] == "benchpipe":
        words[:1] = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab", str(REPOSITORY)]
    else:
        words[0] = sys.executable
    words = [str(REPOSITORY / word) if word.startswith(("tools/", "contrib/")) else word for word in words]
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"}
    )


def test_the_commands_of_the_guide_do_what_it_says(tmp_path: Path) -> None:
    first, second = blocks("sh")
    for line in [*first.splitlines(), *second.splitlines()]:
        done = run(line, tmp_path)
        assert done.returncode == 0, (line, done.stderr, done.stdout)
    made = check_directory(tmp_path / "out" / "Experiments", Lab(REPOSITORY), load_registry(Lab(REPOSITORY)).benchmarks)
    assert made.verdict == "verified"


@pytest.mark.parametrize(("n", "model"), [(0, manifests.FamilyManifest), (1, manifests.CurveRecord)])
def test_the_examples_of_the_guide_have_the_right_form(n: int, model: type) -> None:
    assert manifests.read(blocks("json")[n].encode(), model)


def test_every_code_of_a_review_stands_among_the_codes_with_why_it_may_be_nothing() -> None:
    page = (REPOSITORY / "docs" / "experiments-fields.md").read_text(encoding="utf-8")
    for code in LEAKS.values():
        assert f"\n| {code.id} | " in page
        assert f" | {code.hint} |\n" in page


def test_the_guide_names_every_check_and_every_state() -> None:
    from benchpipe.contributions.artifacts.codes import CHECKS

    for check in CHECKS:
        assert f"\n| {check} | " in GUIDE
    for state in ("declared", "downloaded", "hash_ok", "format_ok", "replayed", "mirrored"):
        assert f"\n| {state} | " in GUIDE


def test_the_shipped_family_passes_every_check() -> None:
    report = check_directory(SHIPPED, Lab(REPOSITORY), load_registry(Lab(REPOSITORY)).benchmarks)
    assert report.findings == ()
    assert report.verdict == "verified"


@pytest.mark.long
def test_the_shipped_family_is_what_the_tool_measures_again(tmp_path: Path) -> None:
    method = SHIPPED / "deskwork" / "rules_clerk" / "none-none" / "skill-search"
    meta = json.loads((method / "run_meta.json").read_text())
    command = [sys.executable, str(REPOSITORY / "tools" / "make_experiments.py"), str(tmp_path / "Experiments")]
    command += ["--method", "skill-search", "--rounds", str(meta["rounds"]), "--run-id", meta["run_id"]]
    subprocess.run(command, check=True, capture_output=True, env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"})
    again = tmp_path / "Experiments" / method.relative_to(SHIPPED)
    for name in ("curve.jsonl", "tasks/round-5.tar.gz", "patches/round-3.patch", "harness/round-5/agent.py"):
        assert (again / name).read_bytes() == (method / name).read_bytes()
