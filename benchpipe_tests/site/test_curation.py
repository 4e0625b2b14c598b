"""Curation: one decision changes, and nothing else of a file that somebody wrote by hand."""

import difflib
import re
from pathlib import Path

import pytest
import yaml

from benchpipe.site.curation import Change, NoSuchPlace, changed, difference

PLAN = """\
# RoboThings: who runs what. Ask before you touch `batch`.
default: codex-m-high   # shown first
task_dir: "robo-{task_dashed}-i00"
runs:
  codex-m-high:
    batch: b1
    followups:
    - {task: pour, mode: limited, trial: pour__1, note: "regrade queued on gpu1: wait"}   # since Monday
    tasks:
    - pour      # the hard one
    - wipe
    removed:
      stack: 'one step: 1 object'

  claude-m-low:   # second
    batch: b2
    tasks: [pour]
"""
TASKS = """\
# Curated by hand.
pour: {difficulty: hard, status: keep}
wipe:
  excluded: its check is broken   # see issue 7
"""


def run_change(kind: str, **fields: str) -> Change:
    return Change(benchmark="robo", run="codex-m-high", kind=kind, **fields)  # type: ignore[arg-type]


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came."""
    diff = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [line[2:] for line in diff if line.startswith("- ")], [line[2:] for line in diff if line.startswith("+ ")]


@pytest.mark.parametrize(
    ("change", "gone", "new"),
    [
        (
            run_change("not_counted", task="pour", mode="limited", trial="pour__1", value="wrong robot"),
            [],
            ["    not_counted:", "    - {task: pour, mode: limited, trial: pour__1, note: wrong robot}"],
        ),
        (
            run_change("followups", task="wipe", mode="limited", trial="wipe__2", value="rerun: asked"),
            [],
            ["    - {task: wipe, mode: limited, trial: wipe__2, note: 'rerun: asked'}"],
        ),
        (
            run_change("stopped", task="pour", mode="limited", value="out of money", trial="ignored"),
            [],
            ["    stopped:", "    - {task: pour, mode: limited, note: out of money}"],
        ),
        (
            run_change("withdrawn", mode="limited", value="wrong camera"),
            [],
            ["    withdrawn:", "      limited: {label: rerun pending, note: wrong camera}"],
        ),
        (run_change("removed", task="wipe", value="too wet"), ["    - wipe"], ["      wipe: too wet"]),
        (run_change("removed", task="stack", value=""), ["    removed:", "      stack: 'one step: 1 object'"], ["    - stack"]),
    ],
)
def test_a_decision_about_a_run_is_the_only_difference(change: Change, gone: list[str], new: list[str]) -> None:
    after = changed(PLAN, change)
    assert changed_lines(PLAN, after) == (gone, new)
    assert yaml.safe_load(after)["default"] == "codex-m-high"


def test_a_note_is_replaced_in_its_place_with_its_comment() -> None:
    after = changed(PLAN, run_change("followups", task="pour", mode="limited", trial="pour__1", value="done"))
    assert re.search(r'\n    - \{task: pour, mode: limited, trial: pour__1, note: "?done"?\} +# since Monday\n', after)


def test_an_empty_text_takes_the_entry_away_and_the_list_with_it() -> None:
    after = changed(PLAN, run_change("followups", task="pour", mode="limited", trial="pour__1"))
    assert "followups" not in after
    assert "# Ask before you touch" not in after.replace("# RoboThings: who runs what. Ask before you touch `batch`.", "")


def test_a_comment_after_an_entry_that_goes_stays_with_what_follows() -> None:
    plan = PLAN.replace("\n  claude-m-low:", "\n  # the second sweep, careful\n  claude-m-low:")
    after = changed(plan, run_change("removed", task="stack"))
    assert "\n  # the second sweep, careful\n  claude-m-low:" in after
    assert "stack: 'one step" not in after


def test_taking_away_what_is_not_there_is_said() -> None:
    with pytest.raises(NoSuchPlace, match="any more"):
        changed(PLAN, run_change("notes", task="pour", mode="limited", trial="pour__1"))
    with pytest.raises(NoSuchPlace, match=r"\.local\.yml"):
        changed(PLAN, Change(benchmark="robo", run="nobody", kind="notes", task="pour", mode="limited", value="x"))


@pytest.mark.parametrize(
    ("kind", "value", "line"),
    [
        ("excluded", "needs two arms", "  excluded: needs two arms"),
        ("labels", "wet, slow", ""),
        ("owner", "ann", ""),
        ("status", "drop", ""),
    ],
)
def test_a_decision_about_a_task_stays_in_its_task(kind: str, value: str, line: str) -> None:
    after = changed(TASKS, Change(benchmark="robo", kind=kind, task="pour", value=value))  # type: ignore[arg-type]
    said = yaml.safe_load(after)
    assert said["pour"][kind] == (value.split(", ") if kind == "labels" else value)
    assert "  excluded: its check is broken   # see issue 7\n" in after
    assert after.startswith("# Curated by hand.\n")


def test_a_default_is_not_stored_and_an_empty_task_goes() -> None:
    after = changed(TASKS, Change(benchmark="robo", kind="status", task="pour", value="pending"))
    assert yaml.safe_load(after)["pour"] == {"difficulty": "hard"}
    assert "wipe" not in yaml.safe_load(
        changed("wipe: {excluded: x}\npour: {status: keep}\n", Change(benchmark="b", kind="excluded", task="wipe"))
    )


def test_the_first_decision_makes_the_file() -> None:
    assert (
        changed("", Change(benchmark="robo", kind="excluded", task="pour", value="why: wet")) == "pour:\n  excluded: 'why: wet'\n"
    )


def test_files_with_indented_lists_keep_their_indentation() -> None:
    plan = "runs:\n  codex-m-high:\n    batch: b\n    tasks:\n      - pour\n      - wipe\n"
    after = changed(plan, run_change("removed", task="wipe", value="wet"))
    assert "      - pour\n" in after


def test_real_files_of_another_registry_differ_only_where_the_decision_is(shared: Path) -> None:
    folder = shared / "samples/eai/state/runs"
    for file in sorted(folder.glob("*.yml")):
        text = file.read_text()
        plan = yaml.safe_load(text)
        run, spec = next(iter(plan["runs"].items()))
        task = spec["tasks"][0]
        change = Change(benchmark="b", run=run, kind="not_counted", task=task, mode="limited", trial="t__9", value="a reason")
        gone, new = changed_lines(text, changed(text, change))
        assert gone == [], file.name
        assert len(new) <= 2, file.name


def test_the_diff_names_the_file_and_the_lines() -> None:
    diff = difference("a: 1\nb: 2\n", "a: 1\nb: 3\n", "state/x.yml")
    assert diff.splitlines()[:2] == ["--- state/x.yml", "+++ state/x.yml"]
    assert "-b: 2\n+b: 3" in diff
