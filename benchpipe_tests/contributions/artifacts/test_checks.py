"""Mechanical checks of a dataset directory: honest ones pass untouched, every mutation is caught by the right code (17.7)."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchpipe.contributions.artifacts.codes import CODES
from benchpipe.errors import UsageError
from benchpipe_tests.contributions.artifacts.conftest import METHOD, Grow, Tree
from benchpipe_tests.contributions.artifacts.mutations import MUTATIONS, Mutation, announced_binary, repack, scripted


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.name)
def test_each_mutation_is_caught_by_its_code(mutation: Mutation, grow: Grow) -> None:
    tree = grow(mutation.trials)
    mutation.change(tree)
    if mutation.covered:
        tree.cover()
    report = tree.check()
    said = [one for one in report.findings if one.code == mutation.code and mutation.words in one.message]
    assert said, [(one.code, one.message) for one in report.findings]
    assert {one.code for one in report.findings} <= {mutation.code, *mutation.also}
    assert report.verdict == {"fail": "refused", "not_run": "unverified", "warn": "verified"}[CODES[mutation.code].effect]
    assert str(tree.lab.root) not in json.dumps([one.message for one in report.findings])


def test_every_code_has_a_mutation() -> None:
    assert len(MUTATIONS) >= 40
    assert CODES.keys() - {mutation.code for mutation in MUTATIONS} <= {"DS-017", "DS-018"}


def as_published_unstaged(tree: Tree) -> None:
    """Trees without the platform's .gitignore and with scratch; patches are between the staged states."""
    for folder in (tree.method / "harness").iterdir():
        (folder / ".gitignore").unlink()
        (folder / ".state").mkdir()
        (folder / ".state" / "cache.json").write_text("{}")


def mode_b_with_a_gap(tree: Tree) -> None:
    tree.curve(lambda points: [points.pop(2), *[point["identity"].update(run_mode="B") for point in points]])
    tree.patch(2).unlink()
    tree.tasks(2).unlink()
    shutil.rmtree(tree.harness(2))
    tree.patch(3).write_bytes(tree.tool.difference(tree.method / "harness", "round-1", "round-3"))


def nothing_changed(tree: Tree) -> None:
    """A round whose edit was nothing: equal trees, an empty patch."""
    shutil.rmtree(tree.harness(3))
    shutil.copytree(tree.harness(2), tree.harness(3))
    tree.adopt()
    assert tree.patch(3).read_bytes() == b""


def second_method(tree: Tree) -> None:
    shutil.copytree(tree.method, tree.method.with_name("other"))
    tree.edit(tree.family_file, lambda value: value.update(methods=["first-come", "other"]))


def objects_as_verdicts(tree: Tree) -> None:
    tree.curve(
        lambda points: [p.update(per_task={k: {"score": v, "kind": "answer"} for k, v in p["per_task"].items()}) for p in points]
    )


def old_names(tree: Tree) -> None:
    def rename(files: dict[str, bytes]) -> None:
        for name in list(files):
            files[f"./{name.partition('/')[0]}.jsonl"] = files.pop(name)

    repack(tree, 2, rename)


def nan_interval(tree: Tree) -> None:
    file = tree.method / "curve.jsonl"
    file.write_text(file.read_text().replace('"n_scored"', '"score_ci95": [NaN, NaN], "n_scored"'))


HONEST: dict[str, tuple[int, Callable[[Tree], Any]]] = {
    "one trial": (1, lambda tree: None),
    "two trials": (2, lambda tree: None),
    "scripts and binary files": (1, scripted),
    "binary changes only announced": (1, lambda tree: announced_binary(tree, lie=False)),
    "trees as they lay on disk": (1, as_published_unstaged),
    "mode B leaves a round out": (1, mode_b_with_a_gap),
    "a round without an edit": (1, nothing_changed),
    "two methods": (1, second_method),
    "verdicts as objects": (1, objects_as_verdicts),
    "names of one trial": (1, old_names),
    "an interval that is not a number": (1, nan_interval),
    "a read-me": (1, lambda tree: (tree.method / "README.md").write_text("What I tried.\n")),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_directories_pass_without_a_word(name: str, grow: Grow) -> None:
    trials, change = HONEST[name]
    tree = grow(trials)
    change(tree)
    tree.cover()
    report = tree.check()
    assert report.findings == ()
    assert report.verdict == "verified"
    assert set(report.checks.values()) == {"passed"}


def test_checking_changes_no_file(grow: Grow) -> None:
    tree = grow()
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in tree.lab.root.rglob("*")}
    tree.check()
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in tree.lab.root.rglob("*")} == before


@pytest.mark.parametrize("depth", range(6))
def test_any_level_can_be_checked(depth: int, grow: Grow) -> None:
    tree = grow()
    path = Path(tree.lab.contrib, "Experiments", *METHOD.split("/"))
    for _ in range(depth):
        path = path.parent
    report = tree.check(path)
    assert report.verdict == "verified"
    assert [run.path for run in report.runs] == [f"Experiments/{METHOD}"]


def test_a_narrow_path_leaves_other_directories_alone(grow: Grow) -> None:
    tree = grow()
    second_method(tree)
    tree.cover()
    (tree.method.with_name("other") / "junk").write_text("x")
    assert tree.check(tree.method).verdict == "verified"
    assert tree.check().verdict == "refused"
    by_path = {run.path.rpartition("/")[2]: run.checks["layout"] for run in tree.check().runs}
    assert by_path == {"first-come": "passed", "other": "failed"}


def test_writing_coverage_of_a_part_keeps_the_rest(grow: Grow) -> None:
    from benchpipe.contributions.artifacts import coverage
    from benchpipe.contributions.artifacts.layout import scope_of

    tree = grow()
    second_method(tree)
    tree.cover()
    before = json.loads(tree.coverage_file.read_text())["entries"]
    tree.tasks(2).unlink()
    coverage.write(scope_of(tree.method), "2026-11-30T09:00:00Z")
    after = json.loads(tree.coverage_file.read_text())["entries"]
    assert [entry for entry in after if entry["method"] == "other"] == [entry for entry in before if entry["method"] == "other"]
    assert [entry["tasks"] for entry in after if entry["method"] == "first-come"] == [True, True, False, True]


def test_a_path_elsewhere_is_wrong_use(tmp_path: Path, grow: Grow) -> None:
    tree = grow()
    for path in (tmp_path, tree.harness(1), tmp_path / "nowhere"):
        with pytest.raises(UsageError):
            tree.check(path)


def test_an_unregistered_benchmark_is_said(grow: Grow) -> None:
    tree = grow()
    (tree.experiments / "deskwork").rename(tree.experiments / "homework")
    assert any("SET-009" in one.message for one in tree.check().findings)


def test_nothing_to_look_at_is_never_passed(grow: Grow) -> None:
    tree = grow()
    (tree.method / "curve.jsonl").write_text("")
    report = tree.check()
    assert report.verdict == "refused"
    assert report.checks["identity"] == report.checks["gate"] == "not_run"


def deep(tree: Tree) -> None:
    """Directories inside each other, more than any path can name at once."""
    here = os.getcwd()
    try:
        os.chdir(tree.harness(2))
        for _ in range(1500):
            os.mkdir("d" * 3)
            os.chdir("d" * 3)
        Path("x").write_text("x")
    finally:
        os.chdir(here)


HOSTILE: dict[str, Callable[[Tree], Any]] = {
    "a name that is no text": lambda t: (t.method / os.fsdecode(b"\xff\xfe")).write_bytes(b"x"),
    "a name with terminal codes": lambda t: (t.method / "\x1b[2J\u202etxt").write_text("x"),
    "names that are no text in a tree": lambda t: (t.harness(2) / os.fsdecode(b"\xff")).write_bytes(b"x"),
    "directories without end": deep,
    "a curve of one long line": lambda t: (t.method / "curve.jsonl").write_text("[" * 200_000),
    "a mode that is a list": lambda t: t.point(
        2, lambda point: (point.update(n_invalid=[]), point["identity"].update(run_mode=[]))
    ),
    "a link instead of a manifest": lambda t: (t.family_file.unlink(), t.family_file.symlink_to("/etc/passwd")),
    "a link instead of a tree": lambda t: (shutil.rmtree(t.harness(2)), t.harness(2).symlink_to("/etc")),
    "a link instead of a patch": lambda t: (t.patch(2).unlink(), t.patch(2).symlink_to("/etc/passwd")),
    "a patch of one huge hunk": lambda t: t.patch(2).write_bytes(
        b"diff --git a/a b/a\n@@ -1,99999999 +1,99999999 @@\n" + b" x\n" * 9999
    ),
    "a coverage file of numbers": lambda t: t.coverage_file.write_text("[1e999999999]"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_directories_get_a_report_that_can_be_printed(name: str, grow: Grow) -> None:
    from benchpipe.contributions.artifacts.checking import as_json, as_text

    tree = grow()
    HOSTILE[name](tree)
    try:
        report = tree.check()
        assert report.verdict == "refused"
        text = as_text(report) + json.dumps(as_json(report), ensure_ascii=False)
        text.encode("utf-8")
        assert not any(char in text for char in "\x1b\u202e\r")
        assert "root:" not in text
    finally:
        if name == "directories without end":
            subprocess.run(["rm", "-rf", str(tree.harness(2))], check=True)
