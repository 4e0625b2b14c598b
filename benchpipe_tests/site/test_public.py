"""The public build: the snapshot and committed registry files, nothing of this machine, and nothing that left the site."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
import yaml

from benchpipe.lab import Lab
from benchpipe.publish.snapshot import publish
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe_tests.publish.collected import BENCHMARK, OTHER_RUN, collect
from benchpipe_tests.publish.collected import RUN as PUBLISHED
from benchpipe_tests.publish.corpus import characters
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
    for benchmark, begun in (("attic", ""), ("loft", "runs: [")):
        write(lab.state_runs / f"{benchmark}.local.yml", begun)


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


def test_downloads_lose_hidden_runs_and_withdrawn_modes_before_anybody_publishes_again(lab: Lab, tmp_path: Path) -> None:
    for run in (PUBLISHED, OTHER_RUN):
        collect(lab, run=run)
    publish(lab, load_registry(lab), now=NOW)

    def told(table: str) -> set[tuple[str, str]]:
        return {(row["run"], row["mode"]) for row in orjson.loads(build(lab, tmp_path / "out")[f"data/{BENCHMARK}/{table}.json"])}

    everything = {(PUBLISHED, "unlimited"), (PUBLISHED, "limited"), (OTHER_RUN, "unlimited")}
    assert told("requests") == told("attempts") == everything
    file = lab.state_runs / f"{BENCHMARK}.yml"
    plan = yaml.safe_load(file.read_text())
    plan["runs"][PUBLISHED]["withdrawn"] = {"limited": "wrong camera"}
    plan["runs"][OTHER_RUN]["hidden"] = True
    file.write_text(yaml.safe_dump(plan))
    assert told("requests") == told("attempts") == {(PUBLISHED, "unlimited")}


def test_what_people_wrote_leaves_without_secrets_paths_and_machines_and_with_their_addresses(kitchen: Lab, tmp_path: Path) -> None:
    key = "ghp" + "_" + characters(random.Random(1), "b62", 36)
    agent = kitchen.agents / f"{RUN}.yml"
    said = yaml.safe_load(agent.read_bytes())
    said["notes"] = f"uses {key} on gpu1 at /home/janeroe/x, 10.1.2.3"
    said["route"], said["settings"] = f"through {key}", {"api_base": f"http://{key}@10.1.2.3/v1"}
    agent.write_text(yaml.safe_dump(said))
    plan = kitchen.state_runs / "kitchen.yml"
    document = yaml.safe_load(plan.read_bytes())
    document["runs"][RUN]["closed"] = f"ask us@lab.example.org about {key}"
    plan.write_text(yaml.safe_dump(document))
    pages = build(kitchen, tmp_path / "public")
    assert [name for name, data in pages.items() for text in (key, "janeroe", "10.1.2.3") if text.encode() in data] == []
    assert any(b"us@lab.example.org" in data for data in pages.values())
    assert any(key.encode() in data for data in build(kitchen, tmp_path / "local", public=False).values())
