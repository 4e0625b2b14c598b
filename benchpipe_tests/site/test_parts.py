"""A site built part by part is the site built at once, and a part touches nothing that another part owns."""

import itertools
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from benchpipe import demo
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe.site.jobs import BuildResult
from benchpipe.site.parts import OfBenchmark, Part, Shared, all_parts, part_of
from benchpipe_tests.site.labs import make_lab, run_ids, write, write_run_file
from benchpipe_tests.site.test_build import NOW, build, files

KITCHEN, GARAGE = OfBenchmark("kitchen"), OfBenchmark("garage")


def build_part(lab: Lab, *parts: Part) -> BuildResult:
    return build_site(lab, load_registry(lab), lab.site, public=False, now=NOW, parts=parts)


def make_two(root: Path) -> Lab:
    """A lab with two benchmarks that share their runs, and one contributed result."""
    lab = make_lab(root, runs=3, tasks=4)
    runs = run_ids(3)
    write(root / "data/benchmarks/garage.yml", "name: Garage\ntasks: [park, turn]\n")
    specs = "".join(f"  {run}: {{batch: g{i}, tasks: [park, turn]}}\n" for i, run in enumerate(runs[:2]))
    write(root / "state/runs/garage.yml", f"default: {runs[1]}\nruns:\n{specs}")
    for run in runs[:2]:
        said = json.loads(lab.run_file("kitchen", run).read_text())["tasks"]
        write_run_file(lab, run, {"park": said["task_000"], "turn": said["task_001"]}, benchmark="garage")
    for folder in ("contrib/results", "data/benchmarks/deskwork"):
        shutil.copytree(demo.REPOSITORY / folder, root / folder, dirs_exist_ok=True)
    shutil.copy(demo.REPOSITORY / "data/benchmarks/deskwork.yml", root / "data/benchmarks/deskwork.yml")
    return lab


@pytest.fixture
def two(tmp_path: Path) -> Lab:
    return make_two(tmp_path / "two")


def test_parts_in_any_order_are_the_whole_site_byte_for_byte(two: Lab, tmp_path: Path) -> None:
    whole = build(two, tmp_path / "whole")
    expected = files(tmp_path / "whole")
    parts = sorted(all_parts(load_registry(two).benchmarks), key=str)
    assert len(parts) == 5
    for order in (parts, parts[::-1], parts[2:] + parts[:2]):
        shutil.rmtree(two.site, ignore_errors=True)
        shutil.rmtree(two.cache, ignore_errors=True)
        built = [build_part(two, part) for part in order]
        assert files(two.site) == expected
        assert sum(result.files for result in built) == whole.files
        again = build(two)
        assert (again.rendered, again.written, again.removed) == (0, [], [])


def test_every_file_of_a_part_is_written_by_that_part_alone(two: Lab) -> None:
    names = load_registry(two).benchmarks
    for part in all_parts(names):
        written = build_part(two, part).written
        assert written
        assert {part_of(path, names) for path in written} == {part}


def test_a_part_reads_no_run_file_of_another_benchmark(two: Lab) -> None:
    """The other benchmark's files are opened by nobody: a hook on every file that is opened tells."""
    opened: list[str] = []
    watching = [True]
    sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" and watching[0] else None)
    build_part(two, KITCHEN)
    watching[0] = False
    data = [os.path.relpath(path, two.runs) for path in opened if path.startswith(str(two.runs))]
    assert any(path.startswith("kitchen") for path in data)
    assert not any(path.startswith("garage") for path in data)


def test_a_part_removes_its_own_stale_pages_and_keeps_those_of_others(two: Lab) -> None:
    build(two)
    runs = run_ids(3)
    for name in ("kitchen", "garage"):  # the last run leaves both benchmarks
        plan = two.state_runs / f"{name}.yml"
        plan.write_text(plan.read_text().replace(runs[2], f"{runs[2]}-gone").replace(runs[0], f"{runs[0]}-gone"))
    result = build_part(two, GARAGE)
    assert f"runs/garage/{runs[0]}/index.html" in result.removed
    assert all(part_of(path, ("kitchen", "garage")) == GARAGE for path in result.removed + result.written)
    assert (two.site / f"runs/kitchen/{runs[2]}/index.html").is_file()
    assert f"runs/kitchen/{runs[2]}/index.html" in build_part(two, KITCHEN).removed


def test_what_is_left_of_a_benchmark_that_is_gone_goes_with_the_overall_part(two: Lab, tmp_path: Path) -> None:
    build(two)
    (two.state_runs / "garage.yml").unlink()
    (two.root / "data/benchmarks/garage.yml").unlink()
    others = (KITCHEN, OfBenchmark("deskwork"), Shared.RESULTS)  # their tabs named it
    assert build_part(two, *others).removed == []
    build_part(two, Shared.OVERALL)
    assert not (two.site / "runs/garage").exists()
    build(two, tmp_path / "fresh")
    assert files(two.site) == files(tmp_path / "fresh")


@pytest.mark.parametrize("first", [KITCHEN, Shared.OVERALL, Shared.RESULTS])
def test_a_lost_manifest_after_any_first_part_is_no_fault(two: Lab, first: Part, tmp_path: Path) -> None:
    build_part(two, first)
    shutil.rmtree(two.cache)
    build(two)
    build(two, tmp_path / "fresh")
    assert files(two.site) == files(tmp_path / "fresh")


def test_every_address_has_one_part() -> None:
    names = ("kitchen",)
    expected = {
        "index.html": Shared.OVERALL,
        "runs/index.html": Shared.OVERALL,
        "runs/overview/index.html": Shared.OVERALL,
        "benchmarks/index.html": Shared.OVERALL,
        "data/schema/index.html": Shared.OVERALL,
        "runs/gone/index.html": Shared.OVERALL,
        "runs-data/kitchen/r/t/unlimited/log.json": KITCHEN,
        "results/kitchen/index.html": Shared.RESULTS,
        "data/results/credits.json": Shared.RESULTS,
        "runs/kitchen/index.html": KITCHEN,
        "benchmarks/kitchen/tasks/kitchen/index.html": KITCHEN,
        "data/kitchen/runs.csv": KITCHEN,
    }
    assert {path: part_of(path, names) for path in expected} == expected
    assert not any(a == b for a, b in itertools.combinations(all_parts(names), 2))
