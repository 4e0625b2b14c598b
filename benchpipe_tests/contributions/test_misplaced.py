"""A submission that lies where none is looked for is named, with its place; what belongs to a submission is not."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchpipe.contributions.misplaced import misplaced
from benchpipe.contributions.store import check_dataset
from benchpipe_tests.contributions.conftest import TODAY, Contribution


def found(contribution: Contribution) -> list[str]:
    lab = contribution.lab
    return list(misplaced(lab, [check_dataset(lab, "deskwork", contribution.benchmarks(), today=TODAY)]))


def test_everything_that_a_submission_names_is_its_own(honest: Contribution) -> None:
    assert found(honest) == []


def test_a_file_whose_name_looks_like_an_address_is_its_submissions_too(honest: Contribution) -> None:
    file = honest.per_task(1)
    named = file.rename(file.with_name("per_task-" + "loop@" + "v1.2.json"))
    honest.edit(lambda doc: doc["runs"][1].update(per_task=named.relative_to(honest.lab.contrib).as_posix()))
    assert honest.check().report.verdict == "verified"
    assert found(honest) == []


@pytest.mark.parametrize(
    "place", ["v1.json", "deskwork/v1.json", "deskwork/first-come/x/v1.json", "deskwork/first-come/v1/v2.json"]
)
def test_a_submission_anywhere_else_is_named(place: str, honest: Contribution) -> None:
    target = honest.lab.contrib_results / place
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(honest.file.read_bytes())
    assert found(honest) == [f"contrib/results/{place}"]


def test_files_without_their_submission_are_named_and_those_of_a_broken_one_are_left_alone(honest: Contribution) -> None:
    honest.file.write_text("{")
    assert found(honest) == []
    honest.file.unlink()
    assert len(found(honest)) == len(list(Path(honest.lab.contrib_results).rglob("*.json"))) > 0


def test_nothing_is_misplaced_where_the_decisions_can_not_be_read(honest: Contribution) -> None:
    (honest.lab.state_contrib / "deskwork.yml").write_text("submissions: [")
    assert found(honest) == []


def test_the_check_of_a_lab_says_it(honest: Contribution) -> None:
    honest.file.rename(honest.lab.contrib_results / "v1.json")
    command = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab", str(honest.lab.root), "check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "contrib/results/v1.json: error SUB-010: is no submission's" in done.stdout
