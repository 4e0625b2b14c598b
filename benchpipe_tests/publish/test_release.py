"""The one-shot publication: every gate stops it, and a stopped one leaves the checkout as it was."""

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchpipe.errors import FoundProblems, LockHeld
from benchpipe.files import lock
from benchpipe.lab import Lab
from benchpipe.publish.media.stores import FolderStore
from benchpipe.publish.release import Released, Steps, release
from benchpipe.registry.load import load_registry
from benchpipe_tests.publish.collected import BENCHMARK, RUN, collect, record, tree

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True).stdout.strip()


def nothing() -> None:
    """A step that finds nothing."""


def found() -> None:
    raise FoundProblems("something is wrong")


@pytest.fixture
def checkout(lab: Lab, tmp_path: Path) -> Lab:
    """The lab as a clone of a bare repository, with collected data and nothing published yet."""
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "remote.git")
    (lab.root / ".gitignore").write_text("/data/runs/\n/.cache/\n/jobs/\n/site/\n/public/\n")
    git(lab.root, "init", "--quiet", "--initial-branch=main")
    for key, value in (("user.name", "A Person"), ("user.email", "person@example.org"), ("commit.gpgsign", "false")):
        git(lab.root, "config", key, value)
    git(lab.root, "add", ".")
    git(lab.root, "commit", "--quiet", "-m", "begin")
    git(lab.root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(lab.root, "push", "--quiet", "-u", "origin", "main")
    collect(lab)
    return lab


def run(lab: Lab, *, push: bool = True, said: list[str] | None = None, **steps: Callable[[], None]) -> Released:
    lines = said if said is not None else []
    chosen = Steps(
        **{
            "collect": nothing,
            "check": nothing,
            "build_public": nothing,
            "store": lambda: FolderStore(lab.root / ".cache" / "dataset"),
            **steps,
        }
    )  # type: ignore[arg-type]
    return release(lab, load_registry(lab), chosen, push=push, now=NOW, say=lines.append)


def remote_files(lab: Lab) -> set[str]:
    return set(git(lab.root, "ls-tree", "-r", "--name-only", "origin/main", "--", "data/published_runs").splitlines())


def test_a_release_commits_the_snapshot_alone_and_pushes_it(checkout: Lab) -> None:
    (checkout.root / "notes.txt").write_text("mine")
    said: list[str] = []
    done = run(checkout, said=said)
    assert done.pushed
    assert f"data/published_runs/{BENCHMARK}/{RUN}.json" in remote_files(checkout)
    assert git(checkout.root, "status", "--porcelain") == "?? notes.txt"
    assert git(checkout.root, "log", "-1", "--format=%B").splitlines()[2] == f"{BENCHMARK}: 3 tasks (+3), 6 logs (+6)"
    assert said == ["on branch main, nothing foreign in the snapshot", "collecting", "publishing the snapshot", "uploading media",
                    f"{BENCHMARK}: 0 media sent, 0 deleted", "check", "public build", "check again", "pushing"]  # fmt: skip


def test_a_second_release_without_change_ends_well_and_does_nothing(checkout: Lab) -> None:
    run(checkout)
    head = git(checkout.root, "rev-parse", "HEAD")
    assert run(checkout).commit is None
    assert git(checkout.root, "rev-parse", "HEAD") == head


def test_without_push_the_next_release_pushes_what_was_committed(checkout: Lab) -> None:
    assert not run(checkout, push=False).pushed
    assert remote_files(checkout) == set()
    assert run(checkout).pushed
    assert remote_files(checkout)


@pytest.mark.parametrize("step", ["collect", "check", "build_public"])
def test_a_gate_that_finds_something_stops_and_leaves_the_checkout_as_it_was(checkout: Lab, step: str) -> None:
    run(checkout)
    before = {name: data for name, (data, _) in tree(checkout.published).items()}
    collect(checkout, records={"pour_water": {"limited": record("t2")}})
    with pytest.raises(FoundProblems, match=r"stopped at .*something is wrong"):
        run(checkout, **{step: found})
    assert {name: data for name, (data, _) in tree(checkout.published).items()} == before
    assert git(checkout.root, "status", "--porcelain") == ""
    assert "something is wrong" in (checkout.cache / "publish.log").read_text()


def test_a_first_release_that_stops_leaves_no_snapshot(checkout: Lab) -> None:
    with pytest.raises(FoundProblems):
        run(checkout, check=found)
    assert git(checkout.root, "status", "--porcelain") == ""


def test_another_branch_foreign_changes_and_a_finding_stop_it(checkout: Lab) -> None:
    git(checkout.root, "switch", "--quiet", "-c", "mine")
    with pytest.raises(FoundProblems, match="git switch main"):
        run(checkout)
    git(checkout.root, "switch", "--quiet", "main")
    (checkout.published).mkdir()
    (checkout.published / "x.json").write_text("{}")
    with pytest.raises(FoundProblems, match="not committed"):
        run(checkout)
    (checkout.published / "x.json").unlink()
    collect(checkout, records={"pour_water": {"limited": record("t", metrics={"ghp" + "_" + "a1B2" * 9: 1.0})}})
    with pytest.raises(FoundProblems, match="stopped at snapshot: the scan found something in tabletop"):
        run(checkout)


def test_commits_that_this_checkout_lacks_stop_the_push(checkout: Lab, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(tmp_path / "remote.git"), "other")
    other = tmp_path / "other"
    (other / "theirs.txt").write_text("x")
    git(other, "add", ".")
    git(other, "-c", "user.name=B", "-c", "user.email=b@example.org", "commit", "--quiet", "-m", "theirs")
    git(other, "push", "--quiet")
    with pytest.raises(FoundProblems, match="git pull"):
        run(checkout)
    git(checkout.root, "pull", "--quiet", "--rebase")
    assert run(checkout).pushed


def test_a_second_release_at_the_same_time_is_told(checkout: Lab) -> None:
    with lock(checkout.lock_file("release")), pytest.raises(LockHeld):
        run(checkout)
