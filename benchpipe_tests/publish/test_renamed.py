"""A run that gets another id keeps its published results, on the site and in the snapshot, until it is published anew."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from benchpipe.lab import Lab
from benchpipe.publish.published import published_logs, read_summary
from benchpipe.publish.snapshot import publish
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe_tests.publish.collected import BENCHMARK, RUN, collect, tree

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NEW = f"{RUN}-again"


def rename(lab: Lab) -> None:
    agent = lab.agents / f"{RUN}.yml"
    said = yaml.safe_load(agent.read_text()) | {"tag": "again", "formerly": [RUN]}
    agent.unlink()
    (lab.agents / f"{NEW}.yml").write_text(yaml.safe_dump(said))
    plan = lab.state_runs / f"{BENCHMARK}.yml"
    plan.write_text(plan.read_text().replace(RUN, NEW))


@pytest.fixture
def renamed(lab: Lab) -> Lab:
    """A lab whose run was published and then renamed, on a machine that has no data of it."""
    collect(lab)
    publish(lab, load_registry(lab), now=NOW)
    for file in lab.run_folder(BENCHMARK).glob(f"{RUN}*"):
        file.rename(lab.root / f"elsewhere-{file.name}")
    rename(lab)
    return lab


def test_its_results_stay_on_the_site_under_its_new_id_and_the_old_addresses_lead_there(renamed: Lab, tmp_path: Path) -> None:
    out = tmp_path / "public"
    build_site(renamed, load_registry(renamed), out, public=True, now=NOW)
    address = f"runs/{BENCHMARK}/{{}}/pour_water/limited/index.html"
    assert "I open the drawer for pour_water-limited__a" in (out / address.format(NEW)).read_text()
    assert f"{NEW}/pour_water/limited/" in (out / address.format(RUN)).read_text()
    assert f'"run":"{NEW}"' in (out / f"data/{BENCHMARK}/requests.json").read_text()


def test_publishing_without_its_data_keeps_what_is_published_of_it_to_the_byte(renamed: Lab) -> None:
    before = tree(renamed.published)
    assert not publish(renamed, load_registry(renamed), now=NOW).switched_in
    assert tree(renamed.published) == before


def test_publishing_with_its_data_moves_it_to_its_new_id(renamed: Lab) -> None:
    collect(renamed, run=NEW)
    publish(renamed, load_registry(renamed), now=NOW)
    summary = read_summary(renamed.published)
    assert summary is not None
    assert [line.run for line in summary.runs] == [NEW]
    assert {log.run for log in published_logs(renamed)} == {NEW}


@pytest.mark.parametrize("line", ["note: ours", "stopped: 3"], ids=["a note like a slip", "a fault"])
def test_publishing_is_refused_for_no_run_that_is_there_under_its_new_id(renamed: Lab, line: str) -> None:
    plan = renamed.state_runs / f"{BENCHMARK}.yml"
    plan.write_text(plan.read_text().replace(f"  {NEW}:\n", f"  {NEW}:\n    {line}\n"))
    assert load_registry(renamed).problems
    assert not publish(renamed, load_registry(renamed), now=NOW).switched_in


def test_a_note_that_looks_like_a_slip_keeps_no_removed_run_published(renamed: Lab) -> None:
    plan = renamed.state_runs / f"{BENCHMARK}.yml"
    said = yaml.safe_load(plan.read_text())
    del said["runs"][NEW]
    next(iter(said["runs"].values()))["note"] = "ours"
    plan.write_text(yaml.safe_dump(said))
    (problem,) = load_registry(renamed).problems
    assert (problem.rule, problem.slip, load_registry(renamed).faults) == ("plan-key", True, ())
    assert publish(renamed, load_registry(renamed), now=NOW).switched_in
