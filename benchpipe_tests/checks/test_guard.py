"""Guard looks at what git holds, staged files included, and lets nothing of a repository's configuration run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from benchpipe.checks import guard as guard_rules
from benchpipe.checks.findings import Finding
from benchpipe.checks.guard import MAX_BYTES, TITLES, Tracked, findings_of, guard
from benchpipe.contributions import reading, strict_json

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def git(root: Path, *arguments: str) -> None:
    if shutil.which("git") is None:
        pytest.skip("needs the Debian package git")
    identity = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, env={**os.environ, **identity})


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    return tmp_path


def stage(root: Path, name: str, data: bytes = b"x") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    git(root, "add", "-f", "--", name)


def rules(root: Path) -> list[tuple[str, str]]:
    return [(finding.rule, finding.file) for finding in guard(root)]


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("guard-run-data", "data/runs/status.json"),
        ("guard-run-data", "data/runs/hosts.me.local.yml"),
        ("guard-run-data", "docs/assets/my-bench/runs/codex/pick/limited/log.json"),
        ("guard-snapshot", "data/published_runs/my-bench/codex/pick/limited.png"),
        ("guard-results", "contrib/results/my-bench/my-method/v1/trajectories.tar.gz"),
        ("guard-results", "contrib/results/my-bench/my-method/v1/notes.md"),
        ("guard-video", "docs/screenshots/overview.mp4"),
        ("guard-video", "data/demo/gpu1/job/trial/verifier/REPLAY.MP4"),
        ("guard-video", "docs/assets/my-bench/demos/deeper/pick.webm"),
    ],
)
def test_a_staged_file_that_must_not_be_there_is_found(repository: Path, rule: str, path: str) -> None:
    stage(repository, path)
    assert rules(repository) == [(rule, path)]


def test_ordinary_files_and_demos_are_fine(repository: Path) -> None:
    for name in (
        "docs/assets/b/demos/t.mp4",
        "data/published_runs/b/r.json",
        "docs/screenshots/a.png",
        "contrib/results/.gitkeep",
        "contrib/results/b/README.md",
        "contrib/results/b/m/v.json",
        "contrib/results/b/m/v/curve.jsonl",
        "contrib/Experiments/b/a/f/m/tasks/round-0.tar.gz",
        "data/runs.yml",
        "a b\n\tc.yml",
    ):
        stage(repository, name)
    assert rules(repository) == []


def test_contributed_files_are_small() -> None:
    limits = {
        "v.json": 1 << 20,
        "v/per_task.json": 1 << 20,
        "v/run_meta.json": 32 << 20,
        "v/curve.jsonl": 32 << 20,
        "README.md": 1 << 20,
    }
    for name, limit in limits.items():
        path = f"contrib/results/my-bench/my-method/{name}"
        assert list(findings_of([Tracked(path, limit)])) == []
        assert [finding.rule for finding in findings_of([Tracked(path, limit + 1)])] == ["guard-results"]


def test_the_size_is_that_of_what_is_staged(repository: Path) -> None:
    stage(repository, "big.bin", b"\0" * (MAX_BYTES + 1))
    (repository / "big.bin").write_bytes(b"small now")
    (finding,) = guard(repository)
    assert (finding.rule, finding.file) == ("guard-size", "big.bin")
    stage(repository, "big.bin", b"\0" * MAX_BYTES)
    assert guard(repository) == []


def test_a_file_that_is_only_on_disk_is_not_gits_business(repository: Path) -> None:
    path = repository / "data/runs/status.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert rules(repository) == []


def test_a_lab_inside_a_repository_is_guarded_with_its_own_paths(repository: Path) -> None:
    stage(repository, "labs/one/data/runs/x.json")
    stage(repository, "elsewhere.mp4")
    assert rules(repository / "labs/one") == [("guard-run-data", "data/runs/x.json")]


def test_links_submodules_and_deleted_files_do_no_harm(repository: Path) -> None:
    (repository / "link.yml").symlink_to("nowhere")
    git(repository, "add", "link.yml")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    stage(repository, "gone.yml")
    (repository / "gone.yml").unlink()
    assert rules(repository) == []


def test_nothing_that_the_repository_configures_is_run(repository: Path, tmp_path: Path) -> None:
    stage(repository, "data/runs/x.json")
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "alias.ls-files", "credential.helper"):
        git(repository, "config", key, ("!" if key.startswith("alias") else "") + str(trap))
    git(repository, "config", "filter.trap.clean", str(trap))
    for hook in ("post-index-change", "pre-commit", "reference-transaction"):
        (repository / ".git/hooks" / hook).parent.mkdir(exist_ok=True)
        shutil.copy(trap, repository / ".git/hooks" / hook)
    (tmp_path / "sprung").unlink(missing_ok=True)
    assert rules(repository) == [("guard-run-data", "data/runs/x.json")]
    assert not (tmp_path / "sprung").exists()


def test_outside_a_repository_guard_passes_with_a_warning(tmp_path: Path) -> None:
    (finding,) = guard(tmp_path)
    assert (finding.rule, finding.severity) == ("guard-git", "warning")
    assert "not a git repository" in finding.message


def test_without_git_guard_passes_with_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert guard(tmp_path) == [Finding("guard-git", "warning", ".", None, "nothing was guarded: git is not installed")]


def test_a_repository_of_another_user_is_guarded_all_the_same(repository: Path) -> None:
    """A checkout in a container often belongs to somebody else; git would refuse to look at it."""
    if os.getuid() != 0:
        pytest.skip("only root can give files away")
    stage(repository, "data/runs/x.json")
    for path in (repository, *repository.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    assert rules(repository) == [("guard-run-data", "data/runs/x.json")]


def test_this_repository_holds_nothing_it_must_not() -> None:
    assert [str(finding) for finding in guard(REPOSITORY) if finding.severity == "error"] == []


def test_a_file_may_break_several_rules_and_every_rule_is_described() -> None:
    found = list(findings_of([Tracked("data/published_runs/b/r.mp4", MAX_BYTES + 1)]))
    assert {finding.rule for finding in found} == {"guard-snapshot", "guard-video", "guard-size"}
    assert {finding.rule for finding in found} < set(TITLES)


def test_what_git_may_hold_of_results_is_what_is_read_of_them() -> None:
    assert guard_rules.MAX_RESULT_BYTES == strict_json.MAX_BYTES
    assert guard_rules.MAX_RECORD_BYTES == reading.MAX_RECORD_BYTES
