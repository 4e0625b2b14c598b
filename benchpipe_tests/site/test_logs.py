"""Log pages as part of a built site: which files there are, what a change rewrites, and the public build."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
import yaml

from benchpipe.checks.links import broken_links
from benchpipe.hosts.poll import poll_hosts
from benchpipe.hosts.store import load_readings, load_requests
from benchpipe.lab import Lab
from benchpipe.publish.snapshot import publish
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Registry
from benchpipe.site.build import build_site
from benchpipe.site.logs import LARGE, published_log
from benchpipe.transcripts.records import Step, load_log, log_bytes
from benchpipe.transcripts.update import update_logs
from benchpipe.trials.assemble import assemble
from benchpipe.trials.collect import collect_states
from benchpipe.trials.store import write_run_file
from benchpipe.trials.view import view
from benchpipe.usage.collect import collect_costs

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def collect(lab: Lab, registry: Registry) -> None:
    """Poll, decide, build logs: the collector's steps without its pipeline."""
    poll_hosts(lab, registry, now=NOW)
    readings = load_readings(lab, registry)
    for bench_run in registry.bench_runs():
        billing = registry.agents[bench_run.run].billing
        done = assemble(
            bench_run,
            bench_run.run,
            readings,
            None,
            lambda usage: load_requests(lab, usage.digest),
            NOW.isoformat(),
            billing=billing,
        )
        if done.run_file:
            write_run_file(lab, done.run_file)
            update_logs(lab, registry, [done.run_file], now=NOW.isoformat())


@pytest.fixture
def collected(lab: Lab) -> tuple[Lab, Registry]:
    registry = load_registry(lab)
    collect(lab, registry)
    return lab, registry


def test_every_trial_has_a_page_whose_links_lead_somewhere(collected: tuple[Lab, Registry], tmp_path: Path) -> None:
    lab, registry = collected
    out = tmp_path / "site"
    build_site(lab, registry, out, public=False)
    logs = sorted(path.parent.relative_to(lab.run_folder("tabletop")) for path in lab.runs.glob("tabletop/*/*/*/log.json"))
    pages = sorted(path.parent.relative_to(out / "runs/tabletop") for path in out.glob("runs/tabletop/*/*/*/index.html"))
    assert len(logs) > 35
    assert pages == logs
    assert [finding for finding in broken_links(out) if finding.file.count("/") == 5] == []
    page = (out / "runs/tabletop/bench_scripted-scripted-default/stack_blocks/unlimited/index.html").read_text()
    assert "✗</span> 503" in page
    assert "agent/gateway.jsonl @ 0" in page
    assert 'src="img/001.png"' in page


def test_one_trial_that_goes_on_rewrites_its_own_page_and_little_else(collected: tuple[Lab, Registry], tmp_path: Path) -> None:
    lab, registry = collected
    out = tmp_path / "site"
    build_site(lab, registry, out, public=False)
    assert build_site(lab, registry, out, public=False).written == []
    job = next((lab.root / "jobs/gpu3").glob("*-limited/tabletop-stack-blocks*"))
    log = job / "agent/gateway.jsonl"
    last = json.loads(log.read_text().splitlines()[-1])
    with log.open("a") as file:
        file.write(json.dumps(last | {"t": last["t"] + 1, "response": last["response"].replace("resp_", "resp_x")}) + "\n")
    collect(lab, registry)
    result = build_site(lab, registry, out, public=False)
    mine = "runs/tabletop/bench_scripted-scripted-default/stack_blocks/limited/"
    logs = [path for path in result.written + result.linked if path.count("/") >= 5]
    assert logs[0] == mine + "index.html"
    assert len(logs) == 3  # with its data and their one part, which are linked
    assert all(path.startswith(mine) for path in logs)
    assert len(result.written) <= 10


def public_lab(shared: Path, root: Path) -> Lab:
    shutil.copytree(shared / "samples/eai", root)
    return Lab(root)


def test_the_public_build_reads_only_the_snapshot_and_says_that_media_are_elsewhere(shared: Path, tmp_path: Path) -> None:
    lab = public_lab(shared, tmp_path / "lab")
    registry = load_registry(lab)
    out = tmp_path / "public"
    build_site(lab, registry, out, public=True)
    place = "mujoco-playground/codex-gpt6_luna-xhigh/panda_open_cabinet/unlimited"
    page = (out / "runs" / place / "index.html").read_text()
    assert f"{registry.public.run_media_base}{place}/replay.mp4" in page
    assert (out / "runs-data" / place / "log.json").read_bytes() == (lab.published / f"{place}.json").read_bytes()
    assert not list((out / "runs" / place).glob("*.mp4"))
    bare = msgspec.structs.replace(registry, public=msgspec.structs.replace(registry.public, run_media_base=""))
    build_site(lab, bare, out, public=True)
    page = (out / "runs" / place / "index.html").read_text()
    assert "not published yet" in page
    assert "<video" not in page


def test_a_long_published_log_is_cut_into_parts_and_a_short_one_is_not(shared: Path, tmp_path: Path) -> None:
    lab = public_lab(shared, tmp_path / "lab")
    file = lab.published / "mujoco-playground/codex-gpt6_luna-xhigh/panda_open_cabinet/unlimited.json"
    assert published_log(file, file.stat().st_mtime_ns).files == {}
    log = load_log(file)
    log.steps = [Step(k="say", t=float(n), text=f"\x1b[1mstep\x1b[0m {n} " + "x" * 500) for n in range(2_000)]
    file.write_bytes(log_bytes(log))
    assert file.stat().st_size > LARGE
    out = tmp_path / "public"
    build_site(lab, load_registry(lab), out, public=True)
    folder = out / "runs" / file.relative_to(lab.published).with_suffix("")
    steps = [step for part in sorted(folder.glob("chunks/*.json")) for step in json.loads(part.read_bytes())["steps"]]
    assert {step["text"] for step in steps} == {f"step {n} " + "x" * 500 for n in range(2_000)}
    assert (folder / "index.html").stat().st_size < 600_000


def test_a_log_that_can_not_be_read_has_a_page_that_says_so(collected: tuple[Lab, Registry], tmp_path: Path) -> None:
    lab, registry = collected
    lab.slot_folder("tabletop", "bench_scripted-scripted-default", "stack_blocks", "limited").joinpath("log.json").write_text("{")
    out = tmp_path / "site"
    build_site(lab, registry, out, public=False)
    pages = out / "runs/tabletop/bench_scripted-scripted-default"
    assert "can&#39;t be read" in (pages / "stack_blocks/limited/index.html").read_text()
    assert "can&#39;t be read" not in (pages / "stack_blocks/unlimited/index.html").read_text()


def test_log_pages_of_a_withdrawn_mode_stay_in_the_local_build_and_say_so(collected: tuple[Lab, Registry], tmp_path: Path) -> None:
    lab, run = collected[0], "bench_scripted-scripted-default"
    file = lab.state_runs / "tabletop.yml"
    plan = yaml.safe_load(file.read_text())
    plan["runs"][run]["withdrawn"] = {"limited": {"label": "rerun pending", "note": "the camera was off"}}
    file.write_text(yaml.safe_dump(plan))
    registry, out = load_registry(lab), tmp_path / "site"
    build_site(lab, registry, out, public=False)
    page = (out / f"runs/tabletop/{run}/stack_blocks/limited/index.html").read_text()
    assert "Withdrawn: rerun pending." in page
    assert "the camera was off" in page
    assert broken_links(out) == []
    publish(lab, registry, now=NOW)
    build_site(lab, registry, tmp_path / "public", public=True)
    stub = (tmp_path / f"public/runs/tabletop/{run}/stack_blocks/limited/index.html").read_text()
    assert "rerun pending: the camera was off" in stub
    assert "noindex" in stub


def test_the_log_page_of_a_withdrawn_trial_still_says_what_it_cost(lab: Lab, tmp_path: Path) -> None:
    run = "bench_literal-gpt6_luna-xhigh"
    file = lab.state_runs / "tabletop.yml"
    plan = yaml.safe_load(file.read_text())
    plan["runs"][run]["withdrawn"] = {"limited": "rerun pending"}
    file.write_text(yaml.safe_dump(plan))
    registry = load_registry(lab)
    files = collect_states(lab, registry, poll_hosts(lab, registry, now=NOW).readings, "tabletop", NOW).run_files
    update_logs(lab, registry, files.values(), now=NOW.isoformat())
    views = [view(one, files[one.run], registry.benchmarks["tabletop"].tasks) for one in registry.plans["tabletop"].shown()]
    collect_costs(lab, registry, "tabletop", views, lambda digest: load_requests(lab, digest))
    build_site(lab, registry, tmp_path / "site", public=False)
    own, before = (
        (tmp_path / f"site/runs/tabletop/{run}/stack_blocks/{slot}/index.html").read_text() for slot in ("limited", "limited-prev")
    )
    assert own.count("$0.0002") == before.count("$0.0002") > 1, "the card of the page, and both attempts in the table"
