"""The built site: whole, the same everywhere, small steps, and nothing of the lab in the public one."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from benchpipe.checks.links import broken_links
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe.site.jobs import BuildResult
from benchpipe_tests.site.labs import make_lab, run_ids, write, write_logs, write_run_file

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def build(lab: Lab, out: Path | None = None, *, public: bool = False) -> BuildResult:
    return build_site(lab, load_registry(lab), out or lab.site, public=public, now=NOW)


def files(site: Path) -> Mapping[str, bytes]:
    return {file.relative_to(site).as_posix(): file.read_bytes() for file in sorted(site.rglob("*")) if file.is_file()}


@pytest.fixture
def kitchen(tmp_path: Path) -> Lab:
    return make_lab(tmp_path / "kitchen", runs=3, tasks=5)


def test_every_link_of_the_site_leads_somewhere(kitchen: Lab) -> None:
    build(kitchen)
    assert broken_links(kitchen.site) == []
    assert len(files(kitchen.site)) > 40


def test_the_shipped_registry_makes_a_whole_site_without_any_data(lab: Lab) -> None:
    """Sections for every benchmark, also those without runs or results (the page's last check)."""
    build(lab)
    assert broken_links(lab.site) == []
    for benchmark in load_registry(lab).benchmarks:
        assert (lab.site / "runs" / benchmark / "index.html").is_file()
        assert (lab.site / "benchmarks" / benchmark / "index.html").is_file()


def test_an_empty_lab_has_a_site_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "data/agents").mkdir(parents=True)
    lab = Lab(tmp_path)
    build(lab)
    assert broken_links(lab.site) == []
    assert "make runs" in (lab.site / "index.html").read_text()


def test_the_whole_change_of_the_page_shows_up(kitchen: Lab) -> None:
    """Three new files, nothing else touched: picker, overview row, benchmarks row, Run menu (G1)."""
    build(kitchen)
    write(kitchen.root / "data/benchmarks/my-bench.yml", "name: My Bench\ntasks: [pick_cube, open_drawer]\n")
    write(
        kitchen.root / "data/agents/claude_code-claude_opus_5_5-adaptive.yml",
        "label: Claude Code 2.1 + Claude Opus 5.5 (subscription)\n"
        "short: Claude Code 2.1 · Claude Opus 5.5 · adaptive · subscription\n"
        "harness_id: claude_code\nmodel_id: claude_opus_5_5\nsettings: {reasoning_effort: adaptive}\n"
        "billing: subscription\nmodes: [unlimited]\n",
    )
    first, new = run_ids(1)[0], "claude_code-claude_opus_5_5-adaptive"
    write(
        kitchen.root / "state/runs/my-bench.yml",
        f"default: {first}\nruns:\n  {first}: {{batch: b1, tasks: [pick_cube, open_drawer]}}\n"
        f"  {new}: {{batch: b2, tasks: [pick_cube], others: first try on one task}}\n",
    )
    build(kitchen)
    site = kitchen.site
    page = (site / "runs/my-bench/index.html").read_text()
    assert f'data-run="{first}"' in page
    assert f'data-run="{new}"' in page
    assert f'data-run-card="{new}"' in (site / "runs/overview/index.html").read_text()
    assert "My Bench" in (site / "runs/overview/index.html").read_text()
    assert "My Bench" in (site / "benchmarks/index.html").read_text()
    assert f'data-run="{new}"' in (site / "benchmarks/my-bench/index.html").read_text()
    assert broken_links(site) == []


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("now", ["grading", "failed", "success"])
def test_one_changed_trial_writes_ten_files_at_most(kitchen: Lab, number: int, now: str) -> None:
    """Of the default run (0), which the first pages show, or another; there and back."""
    write_logs(kitchen, steps=4)
    build(kitchen)
    run = run_ids(2)[number]
    before = json.loads(kitchen.run_file("kitchen", run).read_text())["tasks"]
    task = before["task_001"]
    for tasks in (before | {"task_001": task | {"limited": task["limited"] | {"state": now}}}, before):
        write_run_file(kitchen, run, tasks)
        result = build(kitchen)
        logs = [path for path in result.written if path.startswith("runs/") and path.count("/") == 5]
        assert logs == [f"runs/kitchen/{run}/task_001/limited/index.html"]
        assert 4 <= len(result.written) <= 10
        assert f"runs/kitchen/{run_ids(3)[2]}/index.html" not in result.written


def test_one_changed_trial_rewrites_only_what_shows_it(kitchen: Lab) -> None:
    build(kitchen)
    run = run_ids(2)[1]
    said = json.loads(kitchen.run_file("kitchen", run).read_text())
    said["tasks"]["task_001"]["limited"] = {"state": "queued"}
    write_run_file(kitchen, run, said["tasks"])
    result = build(kitchen)
    assert f"runs/kitchen/{run}/index.html" in result.written
    assert "benchmarks/kitchen/tasks/task_001/index.html" in result.written
    assert not any("task_002" in path for path in result.written)
    assert f"runs/kitchen/{run_ids(3)[2]}/index.html" not in result.written


def test_nothing_new_writes_nothing(kitchen: Lab) -> None:
    build(kitchen)
    again = build(kitchen)
    assert (again.written, again.removed, again.rendered) == ([], [], 0)


def test_pages_of_a_run_that_left_are_removed(kitchen: Lab) -> None:
    build(kitchen)
    plan = kitchen.state_runs / "kitchen.yml"
    run = run_ids(3)[2]
    plan.write_text(re.sub(rf"  {run}:\n.*\n.*\n", "", plan.read_text()))
    assert f"runs/kitchen/{run}/index.html" in build(kitchen).removed
    assert broken_links(kitchen.site) == []


BUILD = """
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
lab = Lab(Path(sys.argv[1]))
build_site(lab, load_registry(lab), Path(sys.argv[2]), public=False, now=datetime.now(UTC))
"""


def test_the_same_inputs_give_the_same_bytes_anywhere(kitchen: Lab, tmp_path: Path) -> None:
    """Another time zone, locale, hash seed, path and order of directory entries."""
    other = tmp_path / "elsewhere" / "lab"
    for file in sorted(kitchen.root.rglob("*"), reverse=True):
        if file.is_file():
            target = other / file.relative_to(kitchen.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    built = []
    for root, zone, locale, seed in ((kitchen.root, "UTC", "C.UTF-8", "1"), (other, "Asia/Kathmandu", "C", "4711")):
        out = tmp_path / f"site-{seed}"
        env = {**os.environ, "TZ": zone, "LC_ALL": locale, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", BUILD, root, out], env=env, check=True)
        built.append(files(out))
    assert built[0].keys() == built[1].keys()
    assert [name for name in built[0] if built[0][name] != built[1][name]] == []


# --- the public build -------------------------------------------------------------------------------------------------


def test_the_public_build_never_looks_at_local_data(kitchen: Lab, tmp_path: Path) -> None:
    """Local data is there, the snapshot is not: no result, no host, no trial, no log."""
    out = tmp_path / "public"
    build(kitchen, out, public=True)
    trials = re.findall(r'"trial": "(kitchen-[^"]+)"', kitchen.run_file("kitchen", run_ids(1)[0]).read_text())
    whole = b"".join(files(out).values()).decode("utf-8", "replace")
    assert trials
    assert not any(trial in whole for trial in trials)
    assert "gpu1" not in whole
    assert "not published" in (out / "runs/kitchen/index.html").read_text()
    assert broken_links(out) == []


def test_the_public_build_shows_the_snapshots_records_and_their_money(kitchen: Lab, tmp_path: Path) -> None:
    run = run_ids(1)[0]
    record = {
        "state": "success",
        "trial": "kitchen-task-000__abc",
        "finished": "2026-10-02T10:00:00Z",
        "agent_wall_s": 600,
        "billed_usd": 0.5,
        "billed_source": "gateway",
        "estimate": {"usd": "0.123456789", "n_priced": 3, "n_requests": 4, "price": "v/m", "as_of": "2026-09-25"},
    }
    said = {"v": 1, "benchmark": "kitchen", "run": run, "label": run, "batches": ["b"], "generated_at": "2026-10-02T11:00:00+00:00"}
    write(kitchen.published / "kitchen" / f"{run}.json", json.dumps({**said, "tasks": {"task_000": {"limited": record}}}))
    out = tmp_path / "public"
    build(kitchen, out, public=True)
    page = (out / "benchmarks/kitchen/tasks/task_000/index.html").read_text()
    assert "$0.123: 3 of 4 requests at v/m of 2026-09-25" in page
    assert "$0.500" in page
    rows = json.loads((out / "data/kitchen/attempts.json").read_text())
    assert [(row["trial"], row["estimate_usd"], row["billed_usd"]) for row in rows] == [
        ("kitchen-task-000__abc", "0.123456789", "0.500000000")
    ]
    assert not {"host", "job"} & rows[0].keys()
    assert "kitchen-task-000__abc" not in (out / "feed.json").read_text().replace("/kitchen-task-000__abc/", "")


def test_a_real_snapshot_without_estimates_shows_what_a_hand_count_gives(shared: Path, tmp_path: Path) -> None:
    """Older snapshots hold tokens only: (input − cached) × input + cached × cached + output × output, summed per run."""
    for name in ("data", "state"):
        shutil.copytree(shared / "samples/eai" / name, tmp_path / "lab" / name)
    lab, out = Lab(tmp_path / "lab"), tmp_path / "out"
    build(lab, out, public=True)
    assert broken_links(out) == []
    rows = json.loads((out / "data/mujoco-playground/runs.json").read_text())
    stored = json.loads((lab.published / "mujoco-playground/codex-gpt6_luna-xhigh.json").read_text())["tasks"]
    for row in (row for row in rows if row["scope"] == "all"):
        tokens = [modes[row["mode"]]["tokens"] for modes in stored.values() if row["mode"] in modes]
        usd = sum(
            (t["input"] - t["cached"]) * Decimal("0.10") + t["cached"] * Decimal("0.01") + t["output"] * Decimal("0.50")
            for t in tokens
        )
        assert Decimal(row["estimate_usd"]) == (usd / 1_000_000).quantize(Decimal("0.000000001"))
        assert row["success"] == sum(modes[row["mode"]]["state"] == "success" for modes in stored.values() if row["mode"] in modes)


def test_withdrawn_trials_and_former_ids_lead_to_where_it_is_told(kitchen: Lab) -> None:
    run = run_ids(1)[0]
    plan = kitchen.state_runs / "kitchen.yml"
    plan.write_text(
        plan.read_text().replace(
            "    batch: b0\n", "    batch: b0\n    withdrawn: {limited: {label: rerun pending, note: wrong camera}}\n"
        )
    )
    build(kitchen)
    for name in (run, f"{run}-old"):
        stub = (kitchen.site / f"runs/kitchen/{name}/task_001/limited/index.html").read_text()
        assert 'rel="canonical" href="../../../../../benchmarks/kitchen/tasks/task_001/"' in stub
        assert "rerun pending: wrong camera" in stub
        assert "noindex" in stub
    page = (kitchen.site / "runs/kitchen/index.html").read_text()
    assert "rerun pending" in page
    assert broken_links(kitchen.site) == []


# --- texts from hosts and YAML ----------------------------------------------------------------------------------------


HOSTILE = [
    "<script>window.bad = 1</script>",
    '"><img src=x onerror="window.bad = 1">',
    "' onmouseover='window.bad=1",
    "javascript:alert(1)",
    "</td></tr></table><h1>gone</h1>",
    "<!-- -->",
    "{{ 7 * 7 }}{% raw %}",
    "]]>&lt;&amp;&#x3c;script>",
    "\x1b[31mred\x1b[0m\x07",
    "abc\u202ecba\u2066",
    "\x00\x01\u0085",
    "e" + "\u0301" * 500,
    "W" * 1_000_000,
    "line\nbreak\r\nand\ttab",
    "\ufeff\u200b\u200d",
    "${jndi:ldap://x}",
    "=HYPERLINK(1)",
    "<svg onload=window.bad=1>",
    "<a href='//evil.example'>x</a>",
    '\\"\\u003cscript\\u003e',
]


def hostile_texts(n: int) -> list[str]:
    """`n` texts: the list above, then mixtures of its parts, from a seed."""
    dice = random.Random(5)
    return HOSTILE + ["".join(dice.choice(HOSTILE)[:200] for _ in range(3)) for _ in range(n - len(HOSTILE))]


class Markup(HTMLParser):
    """What a page really consists of."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.addresses: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.handlers.append(f"{tag} {name}")
            if name in ("href", "src"):
                self.addresses.append(value or "")
            if tag == "script" and name == "src":
                self.scripts.append(value or "")


def hostile_lab(root: Path, texts: list[str]) -> Lab:
    """Every field that a host or a YAML file can fill holds one of the texts."""
    lab = make_lab(root, runs=2, tasks=max(2, len(texts) // 4))
    text = iter(texts * 50)
    run = run_ids(1)[0]
    said = json.loads(lab.run_file("kitchen", run).read_text())
    for modes in said["tasks"].values():
        for mode in modes:
            modes[mode] = hostile_record(text)
    said["hosts"] = {next(text)[:300]: {"ok": False, "at": next(text)[:300], "error": next(text)}}
    write(lab.run_file("kitchen", run), json.dumps(said))
    agent = {name: next(text)[:5000] for name in ("label", "short", "harness", "model", "route", "notes")}
    write(
        lab.agents / f"{run}.yml",
        json.dumps({**agent, "settings": {next(text)[:300]: next(text)[:300]}, "modes": ["unlimited", "limited"]}),
    )
    tasks = [{"id": task, "title": next(text), "family": next(text)} for task in said["tasks"]]
    write(lab.benchmarks / "kitchen.yml", json.dumps({"name": next(text)[:2000], "simulator": next(text)[:2000], "tasks": tasks}))
    curated = {task: {"excluded": next(text), "note": next(text), "labels": [next(text)[:300]]} for task in list(said["tasks"])[:3]}
    write(lab.state_tasks / "kitchen.yml", json.dumps(curated))
    return lab


def hostile_record(text: Any) -> dict[str, Any]:
    return {
        "state": "error",
        "host": next(text),
        "job": next(text),
        "trial": next(text),
        "exception": next(text),
        "reason": next(text),
        "followup": next(text),
        "billed_source": next(text),
        "stale": True,
        "stale_reason": next(text),
        "reward": {next(text)[:200]: 1.0},
        "supersedes": {"trial": next(text), "state": next(text)},
        "attempts": [{"trial": next(text), "state": next(text), "reason": next(text)}, {"trial": next(text), "counts": True}],
    }


def test_two_hundred_hostile_texts_in_every_field_stay_texts(tmp_path: Path) -> None:
    lab = hostile_lab(tmp_path / "lab", hostile_texts(200))
    build(lab)
    plain = set()
    for file in sorted(lab.site.rglob("*.html")):
        page = Markup()
        page.feed(file.read_text())
        plain |= page.tags
        assert page.handlers == [], file
        assert not any(":" in a.split("?")[0] or a.startswith("//") for a in page.addresses), file
        assert all("static/" in script for script in page.scripts), file
        assert file.stat().st_size < 3_000_000, file
    assert not plain & {"img", "iframe", "object", "h5"}
    assert broken_links(lab.site) == []
    task = (lab.site / "benchmarks/kitchen/tasks/task_001/index.html").read_text()
    assert "&lt;script&gt;window.bad = 1&lt;/script&gt;" in "".join(f.read_text() for f in lab.site.rglob("index.html"))
    assert "\x1b" not in task
    assert "\u202e" not in task
