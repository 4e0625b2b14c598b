"""An unchanged submission costs nothing: its files are not even opened; what matters changes its report (A4)."""

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from benchpipe.contributions.store import Dataset, check_dataset
from benchpipe_tests.contributions.conftest import TODAY, Contribute, Contribution

_opened: list[str] = []
_listening = False


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _listening and event == "open":
        _opened.append(str(arguments[0]))


sys.addaudithook(_hook)


def opened(root: Path, call: Callable[[], object]) -> list[str]:
    """Files below `root` that were opened during a call, from the interpreter's own audit events."""
    global _listening
    _opened.clear()
    _listening = True
    try:
        call()
    finally:
        _listening = False
    return [name for name in _opened if name.startswith(str(root))]


def check(contribution: Contribution, **options: object) -> Dataset:
    return check_dataset(contribution.lab, "deskwork", contribution.benchmarks(), **{"today": TODAY, **options})  # type: ignore[arg-type]


def test_the_second_time_no_file_of_a_submission_is_opened(contribute: Contribute) -> None:
    first = contribute(variant="a")
    contribute(variant="b", method="other", lab=first.lab)
    contrib = first.lab.contrib
    benchmarks = first.benchmarks()
    before: list[Dataset] = []
    files = opened(contrib, lambda: before.append(check_dataset(first.lab, "deskwork", benchmarks, today=TODAY)))
    assert len(files) >= 2 * (1 + 2 + 2 + 2 * 5)
    after: list[Dataset] = []
    assert opened(contrib, lambda: after.append(check_dataset(first.lab, "deskwork", benchmarks, today=TODAY))) == []
    assert (before[0].n_checked, after[0].n_checked) == (2, 0)
    assert (before[0].checked, before[0].digest) == (after[0].checked, after[0].digest)


def test_a_touched_file_is_hashed_and_not_checked_again(honest: Contribution) -> None:
    check(honest)
    os.utime(honest.per_task(1))
    assert check(honest).n_checked == 0


CHANGES: dict[str, Callable[[Contribution], object]] = {
    "the submission": lambda c: c.edit(lambda doc: doc["credit"].update(name="Ada")),
    "a per-task file": lambda c: c.edit(lambda doc: doc["tasks"]["backwards_1"].update(detail="x"), c.per_task(1)),
    "the run record": lambda c: c.edit(lambda doc: doc.update(note="x"), c.run_meta),
    "the curve": lambda c: c.edit_curve(lambda points: points[3].update(label="x")),
    "a file of the harness": lambda c: (c.tree(3) / "agent.py").write_text("pass\n"),
    "a file more in the harness": lambda c: (c.tree(3) / "skills" / "new.py").write_text("pass\n"),
    "a file less in the harness": lambda c: (c.tree(3) / "agent.py").unlink(),
    "a mode in the harness": lambda c: (c.tree(3) / "agent.py").chmod(0o755),
    "the declared pool": lambda c: (c.lab.benchmarks / "deskwork" / "pools" / "exam.txt").write_text("a\n"),
    "the benchmark's file": lambda c: (c.lab.benchmarks / "deskwork.yml").open("a").write("note: x\n"),
    "the maintainers' decisions": lambda c: (c.lab.state_contrib / "deskwork.yml").write_text(
        "methods: {first-come: {author: X}}\n"
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_the_gate_looked_at_makes_a_new_check(what: str, honest: Contribution) -> None:
    before = check(honest)
    CHANGES[what](honest)
    after = check(honest)
    assert after.n_checked == 1
    assert after.digest != before.digest or what in ("a per-task file", "the run record", "the curve")


def test_a_file_that_was_missing_is_noticed_when_it_comes(honest: Contribution) -> None:
    path = honest.per_task(1)
    data = path.read_bytes()
    path.unlink()
    assert check(honest).checked[0].report.verdict == "refused"
    path.write_bytes(data)
    assert check(honest).checked[0].report.verdict == "verified"


def test_a_request_that_runs_out_changes_the_verdict_by_itself(honest: Contribution) -> None:
    state = honest.lab.state_contrib / "deskwork.yml"
    state.write_text(f"submissions:\n  first-come/v1:\n    trajectories: {{asked: {TODAY}, reason: spot check}}\n")
    assert check(honest).checked[0].report.verdict == "verified"
    assert check(honest, today=TODAY + timedelta(days=30)).n_checked == 0
    assert check(honest, today=TODAY + timedelta(days=31)).checked[0].report.verdict == "refused"


def test_a_lost_or_broken_memory_changes_nothing(honest: Contribution) -> None:
    before = check(honest)
    memory = honest.lab.cache / "contrib" / "deskwork.json"
    memory.write_bytes(b"{")
    assert check(honest).checked == before.checked
    memory.unlink()
    assert check(honest).digest == before.digest


def test_decisions_that_can_not_be_read_show_nothing_and_say_where(honest: Contribution) -> None:
    (honest.lab.state_contrib / "deskwork.yml").write_text("submissions:\n  first-come/v1: {withdrawn: yes}\n")
    dataset = check(honest)
    assert dataset.checked == ()
    assert dataset.problem.startswith("state/contrib/deskwork.yml: ")
