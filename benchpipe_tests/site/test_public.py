"""The public build: the snapshot and committed registry files, nothing of this machine, and nothing that left the site."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe_tests.site.labs import agent_file, make_lab, run_ids, write

NOW = datetime(2026, 11, 30, tzinfo=UTC)
RUN = run_ids(1)[0]
MINE, SECRET = "codex-gpt6_luna-low-mine", "claude_code-gpt6_luna-low-secret"


def build(lab: Lab, out: Path, *, public: bool = True) -> Mapping[str, bytes]:
    build_site(lab, load_registry(lab), out, public=public, now=NOW)
    return {file.relative_to(out).as_posix(): file.read_bytes() for file in sorted(out.rglob("*")) if file.is_file()}


@pytest.fixture
def kitchen(tmp_path: Path) -> Lab:
    return make_lab(tmp_path / "kitchen", runs=2, tasks=3)


def keep_at_home(lab: Lab) -> None:
    """Everything that a person can keep out of git, of a benchmark that lists its tasks, of one that doesn't, of a new one."""
    for run in (MINE, SECRET):
        write(lab.agents / f"{run}.local.yml", agent_file(run, ("unlimited",)))
    mine = f"  {MINE}: {{batch: mine, tasks: [{{task}}], others: my own try, withdrawn: {{unlimited: mine}}}}\n"
    for benchmark, task in (("kitchen", "task_001"), ("garden", "rake_leaves"), ("cellar", "count_bottles")):
        write(lab.state_runs / f"{benchmark}.local.yml", "runs:\n" + mine.replace("{task}", task))


def test_the_public_site_is_the_same_to_the_byte_with_and_without_what_is_kept_out_of_git(kitchen: Lab, tmp_path: Path) -> None:
    write(kitchen.benchmarks / "garden.yml", "name: Garden\n")
    write(
        kitchen.state_runs / "garden.yml", f"runs:\n  {RUN}: {{batch: b, tasks: [mow]}}\n  {SECRET}: {{batch: b, tasks: [mow]}}\n"
    )
    write(kitchen.state_tasks / "garden.yml", "weed: {note: by hand}\n")
    before = build(kitchen, tmp_path / "before")
    keep_at_home(kitchen)
    assert MINE in load_registry(kitchen).plans["cellar"].runs
    after = build(kitchen, tmp_path / "after")
    assert after.keys() == before.keys()
    assert [name for name in after if after[name] != before[name]] == []
    local = build(kitchen, tmp_path / "local", public=False)
    assert f"runs/kitchen/{MINE}/index.html" in local
    assert "benchmarks/garden/tasks/rake_leaves/index.html" in local
