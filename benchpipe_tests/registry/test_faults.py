"""One bad file, line or owner never stops the others (B11): every fault is a problem with its place, the rest is there."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Registry
from benchpipe.registry.yaml_text import MAX_BYTES

Write = Callable[[str, str], Path]
FOLDERS = ("data/agents", "data/benchmarks", "state/runs", "state/tasks")


@pytest.fixture
def healthy(write: Write, tmp_path: Path) -> Lab:
    """A lab of one good file per kind, all about `good`."""
    write("data/agents/good.yml", "label: Good")
    write("data/benchmarks/good.yml", "tasks: [t]")
    write("state/runs/good.yml", "runs: {good: {batch: x, tasks: [t]}}")
    write("state/tasks/good.yml", "t: {difficulty: easy}")
    write("data/prices.yml", "p: {input: 1, output: 2}")
    write("data/runs/hosts.local.yml", "here: {jobs: jobs}")
    return Lab(tmp_path)


def the_good_is_there(registry: Registry) -> bool:
    run = registry.plans["good"].runs["good"]
    task = registry.benchmarks["good"].tasks["t"]
    return (registry.agents["good"].label, run.tasks, task.difficulty) == ("Good", ("t",), "easy") and "here" in registry.hosts


def only_problem(lab: Lab) -> str:
    registry = load_registry(lab)
    assert the_good_is_there(registry)
    (problem,) = {(p.place.file, p.message) for p in registry.problems if not p.rule.endswith("-benchmark")}
    return f"{problem[0]}: {problem[1]}"


@pytest.mark.parametrize("folder", FOLDERS)
class TestInEveryFolder:
    def test_a_directory_named_like_a_file(self, healthy: Lab, folder: str) -> None:
        (healthy.root / folder / "bad.yml").mkdir()
        assert only_problem(healthy) == f"{folder}/bad.yml: can't be read (not a file): make it a readable file or remove it"

    def test_a_link_to_nothing_and_a_link_to_itself(self, healthy: Lab, folder: str) -> None:
        bad = healthy.root / folder / "bad.yml"
        bad.symlink_to("nowhere")
        assert "can't be read (No such file or directory)" in only_problem(healthy)
        bad.unlink()
        bad.symlink_to("bad.yml")
        assert "can't be read (Too many levels of symbolic links)" in only_problem(healthy)

    def test_a_pipe_that_nobody_writes_to(self, healthy: Lab, folder: str) -> None:
        os.mkfifo(healthy.root / folder / "bad.yml")
        assert "can't be read (not a file)" in only_problem(healthy)

    def test_text_that_is_not_utf_8(self, healthy: Lab, folder: str) -> None:
        (healthy.root / folder / "bad.yml").write_bytes(b"a: 1\nb: caf\xe9\n")
        assert only_problem(healthy) == f"{folder}/bad.yml: is not UTF-8: save it as UTF-8"

    def test_an_empty_file(self, healthy: Lab, folder: str) -> None:
        (healthy.root / folder / "bad.yml").write_text("# nothing yet\n")
        assert "is empty" in only_problem(healthy)

    def test_a_tab(self, healthy: Lab, folder: str) -> None:
        (healthy.root / folder / "bad.yml").write_text("a:\n\tb: 1\n")
        assert "a tab stands where YAML wants blanks" in only_problem(healthy)

    def test_a_top_level_that_is_a_list(self, healthy: Lab, folder: str) -> None:
        (healthy.root / folder / "bad.yml").write_text("- a\n")
        assert "has no `key: value` pairs at its top level" in only_problem(healthy)

    def test_a_huge_file(self, healthy: Lab, folder: str) -> None:
        with open(healthy.root / folder / "bad.yml", "wb") as file:
            file.truncate(MAX_BYTES + 1)
        assert "larger than 10 MB" in only_problem(healthy)

    def test_a_name_that_can_be_no_id(self, healthy: Lab, folder: str) -> None:
        Path(os.fsdecode(os.fsencode(healthy.root / folder) + b"/caf\xe9 au lait.yml")).write_text("label: x")
        assert "its name can't be an id" in only_problem(healthy)

    def test_a_file_in_place_of_the_folder(self, healthy: Lab, folder: str) -> None:
        path = healthy.root / folder
        path.rename(path.with_name("moved"))
        path.write_text("")
        found = [p for p in load_registry(healthy).problems if p.place.file == folder]
        assert "can't be listed (Not a directory)" in found[0].message


def test_files_without_rights_are_named_and_the_rest_is_there(healthy: Lab) -> None:
    """Root reads everything, so an ordinary user asks, in a folder that this user may enter."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "lab"
        shutil.copytree(healthy.root, root)
        os.chmod(folder, 0o755)
        os.chmod(root, 0o755)
        for name in FOLDERS:
            bad = root / name / "bad.yml"
            bad.write_text("label: x")
            bad.chmod(0)
        program = f"""
import os, pathlib
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
registry = load_registry(Lab(pathlib.Path({str(root)!r})))
print(registry.plans["good"].runs["good"].tasks)
for problem in registry.problems:
    print(problem.place, problem.message)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0] == "('t',)"
    for name in FOLDERS:
        assert f"{name}/bad.yml can't be read (Permission denied): make it a readable file or remove it" in said


def test_a_run_that_nobody_registered_is_still_collected(healthy: Lab, write: Write) -> None:
    write("state/runs/good.yml", "runs: {good: {batch: x, tasks: [t]}, stranger: {batch: y, tasks: [t]}}")
    registry = load_registry(healthy)
    assert registry.plans["good"].runs["stranger"].batch == "y"
    assert the_good_is_there(registry)


def test_bench_runs_of_a_benchmark_without_a_file_are_still_collected(healthy: Lab, write: Write) -> None:
    write("state/runs/lost.yml", "runs: {good: {batch: x, tasks: [t]}}")
    write("state/tasks/lost.yml", "u: {difficulty: hard}")
    registry = load_registry(healthy)
    assert list(registry.benchmarks["lost"].tasks) == ["u", "t"]
    assert [str(p.place) for p in registry.problems] == ["state/runs/lost.yml"]


def test_broken_files_count_as_empty(healthy: Lab, write: Write) -> None:
    write("data/agents/good.yml", "label: [")
    write("data/benchmarks/good.yml", "tasks: [")
    write("data/prices.yml", "[")
    registry = load_registry(healthy)
    assert registry.agents["good"].label == "good"
    assert registry.plans["good"].runs["good"].tasks == ("t",)
    assert list(registry.benchmarks["good"].tasks) == ["t"]
    assert registry.prices == {}
    assert {p.rule for p in registry.problems} == {"agent-file", "benchmark-file", "price-file"}


def test_wrong_values_are_left_out_item_by_item(healthy: Lab, write: Write) -> None:
    write(
        "state/runs/good.yml",
        "runs:\n  good:\n    batch: x\n    tasks: [t, 5, ../up, u]\n    rerun_batches: [a, {b: c}]\n"
        "    followups: [5, {task: t}]\n    removed: [x]\n    closed: true\n  other: just text\n",
    )
    registry = load_registry(healthy)
    run = registry.plans["good"].runs["good"]
    assert (run.tasks, run.rerun_batches, run.followups, run.removed, run.closed) == (("t", "u"), ("a",), (), {}, None)
    assert [(p.place.line, p.rule) for p in registry.problems] == [
        (4, "plan-field"), (4, "plan-field"), (5, "plan-field"), (6, "run-followups"), (6, "run-followups"), (7, "plan-field"),
        (8, "plan-field"), (9, "run-batch"),
    ]  # fmt: skip


def test_no_name_becomes_an_id_that_leads_out_of_its_folder(healthy: Lab, write: Write) -> None:
    up = "../../up"
    write(
        "state/runs/good.yml",
        f"runs: {{good: {{batch: x, tasks: [t, {up}], modes: [{up}, slow], withdrawn: {{{up}: x}}}}, {up}: {{batch: y}}}}",
    )
    write("data/agents/good.yml", f"label: Good\nformerly: [{up}, old]")
    write("data/benchmarks/good.yml", f"tasks: [t, {up}]\npools: {{{up}: {{size: 1}}}}")
    write("state/tasks/good.yml", f"t: {{difficulty: easy}}\n{up}: {{}}")
    write("data/runs/hosts.local.yml", f"here: {{jobs: jobs}}\n{up}: {{jobs: jobs}}")
    registry = load_registry(healthy)
    assert the_good_is_there(registry)
    run = registry.plans["good"].runs["good"]
    ids = {
        *registry.plans["good"].runs, *run.tasks, *run.modes, *run.withdrawn, *registry.aliases, *registry.hosts,
        *registry.benchmarks["good"].tasks, *registry.benchmarks["good"].pools,
    }  # fmt: skip
    assert ids == {"good", "t", "slow", "old", "here"}


@pytest.mark.parametrize("text", ["{", "[" * 200_000, '{"tasks": 5}', '{"tasks": [{"id": "../x"}, 7]}', "\x00", '{"tasks": [{}]}'])
def test_a_damaged_task_cache_is_named_and_the_benchmark_stays(healthy: Lab, write: Write, text: str) -> None:
    write("data/benchmarks/good.yml", "name: Good")
    write("data/benchmarks/good.tasks.upstream.json", text)
    registry = load_registry(healthy)
    assert the_good_is_there(registry)
    assert any(p.place.file == "data/benchmarks/good.tasks.upstream.json" for p in registry.problems)


TEXTS = ["", "t", "good", "x" * 300, "../..", "{task", "y" * 150, "{0}", "limited"]
INNER_KEYS = [
    "runs", "good", "../../up", "z" * 300, "task", "mode", "trial", "note", "key", "label", "format", "input", "output", "until",
    "above", "id", "t", "limited", "batch",
]  # fmt: skip
VALUES = st.recursive(
    st.sampled_from(TEXTS) | st.integers() | st.booleans() | st.none() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(INNER_KEYS), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["label", "settings", "modes", "formerly", "billing", "price", "tasks", "pools", "scenes", "default", "task_dir", "metrics",
     "per_family", "verdict", "task_suffixes", "runs", "good", "bands", "above", "input", "link_demos", "jobs", "removed", "hidden"]
)  # fmt: skip
FILES = (
    "data/agents/good.yml", "data/benchmarks/good.yml", "state/runs/good.yml", "state/tasks/good.yml", "data/prices.yml",
    "data/public.yml", "state/runs/good.local.yml",
)  # fmt: skip


def loads(files: dict[str, dict[str, object]]) -> None:
    """Read a lab of such files, and use what was read as other rooms do."""
    overrides = {Path(name): json.dumps(value).replace("NaN", ".nan").replace("Infinity", ".inf") for name, value in files.items()}
    lab = Lab(Path("/nonexistent"))
    registry = load_registry(lab, overrides=overrides)
    for run in registry.bench_runs():
        run.task_directory("t")
        lab.run_file(run.benchmark, run.run)
        for task, mode in product(run.tasks, (*run.modes, *run.withdrawn)):
            lab.slot_folder(run.benchmark, run.run, task, mode)
        assert run.benchmark in registry.benchmarks
        assert all(isinstance(mode, str) for mode in run.modes)
        assert all(format(1.0, metric.format) for metric in run.metrics)
    assert all(price.rates.input >= 0 for price in registry.prices.values())
    assert all(p.message and p.place.file for p in registry.problems)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.dictionaries(st.sampled_from(FILES), st.dictionaries(KEYS, VALUES, max_size=5), max_size=4))
def test_no_content_raises(files: dict[str, dict[str, object]]) -> None:
    loads(files)


@pytest.mark.long
@settings(max_examples=3_000, deadline=None)
@given(st.dictionaries(st.sampled_from(FILES), st.dictionaries(KEYS, VALUES, max_size=6), max_size=7))
def test_no_content_raises_at_length(files: dict[str, dict[str, object]]) -> None:
    loads(files)
