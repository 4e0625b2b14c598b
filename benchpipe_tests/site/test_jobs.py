"""A build writes what changed, removes what is gone, and never touches a folder that is no site."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchpipe.errors import UsageError
from benchpipe.site.jobs import BuildResult, Job, digest_of, run_jobs


def job(path: str, text: str, *inputs: str) -> Job:
    return Job(path, inputs or (text,), text.encode)


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., BuildResult]:
    return lambda *jobs, always="code": run_jobs(jobs, tmp_path / "out", tmp_path / "manifest.json", always)


HOME = job("runs/overview/index.html", "overview")


def test_a_job_whose_inputs_are_the_same_is_not_even_rendered(build: Callable[..., BuildResult], tmp_path: Path) -> None:
    build(HOME, job("a.html", "1"))

    def fail() -> bytes:
        raise AssertionError("rendered")

    again = build(Job(HOME.path, HOME.inputs, fail), Job("a.html", ("1",), fail))
    assert (again.written, again.rendered) == ([], 0)


def test_a_collected_file_is_linked_and_told_apart_from_what_was_written(build: Callable[..., BuildResult], tmp_path: Path) -> None:
    collected = tmp_path / "replay.mp4"
    collected.write_bytes(b"film")
    first = build(HOME, Job("run/replay.mp4", ("1",), collected))
    assert (first.written, first.linked) == ([HOME.path], ["run/replay.mp4"])
    assert (tmp_path / "out/run/replay.mp4").samefile(collected)
    assert build(HOME, Job("run/replay.mp4", ("2",), collected)).linked == []


def test_changed_inputs_with_equal_bytes_leave_the_file_untouched(build: Callable[..., BuildResult], tmp_path: Path) -> None:
    build(job("a.html", "same", "one"))
    before = (tmp_path / "out/a.html").stat().st_mtime_ns
    again = build(job("a.html", "same", "two"))
    assert (again.written, again.rendered) == ([], 1)
    assert (tmp_path / "out/a.html").stat().st_mtime_ns == before


def test_new_code_renders_everything_again(build: Callable[..., BuildResult]) -> None:
    build(HOME)
    assert build(HOME, always="new code").rendered == 1


def test_a_file_that_somebody_deleted_comes_back(build: Callable[..., BuildResult], tmp_path: Path) -> None:
    build(HOME, job("a.html", "1"))
    (tmp_path / "out/a.html").unlink()
    assert build(HOME, job("a.html", "1")).written == ["a.html"]


def test_pages_that_no_job_names_any_more_are_removed_with_their_folders(build: Callable[..., BuildResult], tmp_path: Path) -> None:
    build(HOME, job("runs/b/old/index.html", "1"))
    again = build(HOME)
    assert again.removed == ["runs/b/old/index.html"]
    assert not (tmp_path / "out/runs/b").exists()
    assert (tmp_path / "out" / HOME.path).is_file()


def test_a_lost_manifest_costs_time_and_no_stale_page_stays(build: Callable[..., BuildResult], tmp_path: Path) -> None:
    build(HOME, job("old.html", "1"))
    (tmp_path / "manifest.json").write_text("{cut")
    again = build(HOME)
    assert (again.rendered, again.written, again.removed) == (1, [], ["old.html"])


def test_a_first_build_that_was_killed_is_gone_on_with_and_leaves_nothing_stale(
    build: Callable[..., BuildResult], tmp_path: Path
) -> None:
    def killed() -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(job("old.html", "1"), Job("b.html", (), killed))
    assert (tmp_path / "out/old.html").is_file()
    build(job("b.html", "2"))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.html"]


def test_a_folder_with_something_else_is_left_alone(build: Callable[..., BuildResult], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="no site of ours"):
        build(HOME)
    assert (tmp_path / "out/thesis.tex").read_text() == "years of work"


def test_files_that_others_put_into_a_site_stay(build: Callable[..., BuildResult], tmp_path: Path) -> None:
    build(HOME)
    (tmp_path / "out/CNAME").write_text("bench.example")
    build(HOME, always="other")
    assert (tmp_path / "out/CNAME").is_file()


def test_a_digest_knows_where_its_parts_end() -> None:
    assert digest_of("ab", "c") != digest_of("a", "bc")
    assert digest_of("\ud800") != digest_of("")


def test_manifests_of_folders_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    for name in ("one", "two"):
        run_jobs([HOME], tmp_path / name, tmp_path / "manifests" / f"{name}.json", "code")
        shutil.rmtree(tmp_path / name)
    run_jobs([HOME], tmp_path / "three", tmp_path / "manifests" / "three.json", "code")
    assert [file.name for file in (tmp_path / "manifests").iterdir()] == ["three.json"]


def test_a_manifest_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    result = run_jobs([HOME], tmp_path / "out", tmp_path / "file" / "manifest.json", "code")
    assert result.written == [HOME.path]


def test_a_site_that_cannot_be_written_is_said_and_leaves_no_half_file(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    many = [job(f"page-{i}.html", "x" * 1000) for i in range(100)]

    def broken() -> bytes:
        raise UsageError("the disk is full")

    with pytest.raises(UsageError, match="full"):
        run_jobs([*many, Job("last.html", ("1",), broken)], tmp_path / "out", tmp_path / "manifest.json", "code")
    assert {file.read_text() for file in (tmp_path / "out").iterdir()} == {"x" * 1000}
    assert json.loads((tmp_path / "manifest.json").read_bytes())["files"] == {}, "begun, and nothing is remembered as made"
