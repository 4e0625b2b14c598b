"""Reports on a lab's dataset directories are remembered by content; an unchanged tree is not opened again."""

import pytest

from benchpipe.contributions.artifacts import store
from benchpipe.registry.load import load_registry
from benchpipe_tests.contributions.artifacts.conftest import Grow


def test_an_unchanged_tree_is_not_checked_again(grow: Grow, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = grow()
    benchmarks = load_registry(tree.lab).benchmarks
    first = store.dataset_reports(tree.lab, "deskwork", benchmarks)
    assert first is not None
    assert first.verdict == "verified"
    with monkeypatch.context() as patched:
        patched.setattr(store, "check_directory", lambda *_: pytest.fail("checked again"))
        assert store.dataset_reports(tree.lab, "deskwork", benchmarks) == first
    (tree.harness(2) / "agent.py").write_text("x = 1\n")
    second = store.dataset_reports(tree.lab, "deskwork", benchmarks)
    assert second is not None
    assert second.verdict == "refused"
    assert store.report_digest(second) != store.report_digest(first)


def test_a_mode_that_changes_is_a_change(grow: Grow) -> None:
    tree = grow()
    before = store.experiments_digest(tree.lab, "deskwork")
    (tree.harness(2) / "agent.py").chmod(0o755)
    assert store.experiments_digest(tree.lab, "deskwork") != before


def test_a_benchmark_without_directories_has_no_report(grow: Grow) -> None:
    tree = grow()
    assert store.dataset_reports(tree.lab, "alfworld", load_registry(tree.lab).benchmarks) is None
