"""docs/registering.md tells the truth: its files form a lab without a finding, and it names every field."""

import re
from pathlib import Path

import msgspec
import pytest

from benchpipe.checks.rules import Workspace, run_rules
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import (
    Agent,
    Backfill,
    Band,
    Benchmark,
    BenchRun,
    Host,
    Metric,
    Plan,
    Pool,
    Public,
    Rates,
    Remark,
    Task,
    Verdict,
)

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "registering.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))
WHOLE_CHANGE = [
    "data/agents/claude_code-claude_opus_5_5-adaptive.yml",
    "state/runs/my-bench.yml",
    "data/runs/hosts.me.local.yml",
]
OURS = {"place", "raw", "lines", "local", "listed", "file", "benchmark", "run", "key", "rates", "tiers", "id"}
"""Fields of records that are no fields of a file, or stand under another name on the page."""


def write(root: Path, names: list[str]) -> Lab:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BLOCKS[name], encoding="utf-8")
    return Lab(root)


def test_the_pages_files_form_a_lab_without_a_finding(tmp_path: Path) -> None:
    assert PAGE.count("```yaml") == len(BLOCKS) > 5
    lab = write(tmp_path, list(BLOCKS))
    assert [str(finding) for finding in run_rules(Workspace(lab, load_registry(lab)))] == []


def test_the_whole_change_adds_three_files_and_touches_none(tmp_path: Path) -> None:
    """G1: the benchmark is registered already; three new files bring both runs, the order and the host."""
    before = ["data/benchmarks/my-bench.yml", "data/agents/codex-gpt6_luna-xhigh.yml", "data/prices.yml"]
    lab = write(tmp_path, before)
    assert load_registry(lab).plans == {}
    kept = {name: (tmp_path / name).read_bytes() for name in before}
    write(tmp_path, WHOLE_CHANGE)
    registry = load_registry(lab)
    assert run_rules(Workspace(lab, registry)) == []
    plan = registry.plans["my-bench"]
    assert [run.run for run in plan.shown()] == ["codex-gpt6_luna-xhigh", "claude_code-claude_opus_5_5-adaptive"]
    assert [run.tasks for run in plan.shown()] == [("pick_cube", "open_drawer"), ("pick_cube",)]
    assert [run.modes for run in plan.shown()] == [("unlimited", "limited"), ("unlimited",)]
    assert plan.runs["codex-gpt6_luna-xhigh"].task_directory("pick_cube") == "my-bench-pick-cube-i00"
    assert registry.hosts["mybox"].serves(plan.runs["codex-gpt6_luna-xhigh"])
    assert {name: (tmp_path / name).read_bytes() for name in before} == kept


@pytest.mark.parametrize(
    "record", [Agent, Rates, Band, Benchmark, Pool, Task, Plan, BenchRun, Metric, Verdict, Remark, Host, Public, Backfill]
)
def test_every_field_is_on_the_page(record: type[msgspec.Struct]) -> None:
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))
    names = set(record.__struct_fields__) - OURS - {"name", "specs"}
    assert names - named == set()
