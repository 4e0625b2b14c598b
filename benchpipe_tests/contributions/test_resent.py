"""A measurement that the lab has already: its author hears so from `contrib check`, before it is sent."""

import json
import subprocess
import sys
from pathlib import Path

from benchpipe.contributions.checking import Checked
from benchpipe.contributions.resent import with_duplicates
from benchpipe.files import sha256
from benchpipe_tests.contributions.conftest import TODAY, Contribute, Contribution

PROGRAM = Path(sys.executable).parent / "benchpipe"


def checked(contribution: Contribution) -> Checked:
    return with_duplicates(contribution.check(), contribution.file, contribution.lab, contribution.benchmarks(), today=TODAY)


def duplicates(contribution: Contribution) -> list[tuple[str, str, str]]:
    found = checked(contribution).report.findings
    return [(said.code, said.pointer, said.message) for said in found if said.code.startswith("DUP")]


def merge(contribution: Contribution, at: str) -> None:
    """Enter the platform's verdict, as it is entered at the merge."""
    status = {"verified": True, "mirrored": False, "reasons": [], "checked_at": at, "checker": "benchpipe@1"}
    contribution.edit(lambda doc: doc.update(status={**status, "input_sha256": "0" * 64}))
    written = sha256(contribution.file.read_bytes())
    key = f"{contribution.doc['method']['name']}/{contribution.doc['variant']}"
    (contribution.lab.state_contrib / "deskwork.yml").write_text(f"submissions:\n  {key}: {{written: {written}}}\n")


def test_the_same_measurement_under_another_name_is_said_and_changes_no_verdict(contribute: Contribute) -> None:
    first = contribute(variant="a")
    second = contribute(variant="b", method="mine", lab=first.lab)
    message = "the measurement deskwork/first-come/a#toy-1@3 has the same harness, tasks and scores under another name."
    assert duplicates(second) == [("DUP-001", "/runs/1", message)]
    assert checked(second).report.verdict == second.check().report.verdict == "verified"


def test_a_measurement_that_was_merged_before_is_a_copy_and_no_longer_verified(contribute: Contribute) -> None:
    first = contribute(variant="a")
    merge(first, "2026-11-01T00:00:00Z")
    assert first.check().report.verdict == "verified"
    second = contribute(variant="b", method="mine", lab=first.lab)
    assert duplicates(second) == [("DUP-002", "/runs/1", "this is the measurement deskwork/first-come/a#toy-1@3, sent before.")]
    assert (second.check().report.verdict, checked(second).report.verdict) == ("verified", "unverified")
    assert duplicates(first) == []


def test_a_submission_is_no_copy_of_what_it_replaces_nor_of_what_was_taken_off(contribute: Contribute) -> None:
    first = contribute(variant="a")
    assert duplicates(first) == []
    second = contribute(variant="b", method="mine", lab=first.lab)
    for decision in ("withdrawn: {at: 2026-11-20, reason: wrong}", "declined: wrong"):
        (first.lab.state_contrib / "deskwork.yml").write_text(f"submissions:\n  first-come/a:\n    {decision}\n")
        assert duplicates(second) == []


def test_a_broken_neighbour_keeps_nobody_from_being_checked(contribute: Contribute) -> None:
    first = contribute(variant="a")
    second = contribute(variant="b", method="mine", lab=first.lab)
    first.file.write_text("{not json " + second.doc["runs"][1]["harness_sha"])
    assert duplicates(second) == []


def test_the_command_says_it_at_its_line_and_exits_with_one(contribute: Contribute) -> None:
    first = contribute(variant="a")
    merge(first, "2026-11-01T00:00:00Z")
    second = contribute(variant="b", method="mine", lab=first.lab)
    command = [PROGRAM, "--lab", first.lab.root, "contrib", "check", second.file]
    plain = subprocess.run(command, capture_output=True, text=True, check=False)
    line = [n for n, text in enumerate(second.file.read_text().splitlines(), 1) if text.strip() == "{"][2]
    assert plain.returncode == 1
    assert f"ERROR DUP-002 contrib/results/deskwork/mine/b.json:{line} /runs/1  this is" in plain.stdout
    assert plain.stdout.splitlines()[-1].endswith("mine/b.json: unverified; 1 error(s), 0 warning(s)")
    said = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=False).stdout)
    assert (said["verdict"], set(said["checks"].values())) == ("unverified", {"passed", "not_applicable"})
    assert not (first.lab.cache / "contrib").exists()


def test_a_folder_instead_of_a_file_is_a_finding(honest: Contribution) -> None:
    command = [PROGRAM, "--lab", honest.lab.root, "contrib", "check", honest.file.parent]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "is not a regular file; links, folders and devices are not read." in done.stdout) == (1, True)
