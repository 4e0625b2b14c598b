"""Hostile files: refused in little time and memory, with a message that says what is wrong, and nothing is followed or run."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchpipe.contributions import strict_json
from benchpipe.contributions.report import as_text
from benchpipe.contributions.strict_json import Number, Refused, dumps, lines_of, parse
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.contributions.conftest import Contribution

SECONDS, BYTES = 2, 200 << 20
HOSTILE: dict[str, tuple[bytes, str]] = {
    "100 MB": (b" " * (100 << 20), "the limit is 1,048,576"),
    "a hundred thousand brackets": (b"[" * 100_000, "nested deeper than 32"),
    "deep objects": (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "nested deeper than 32"),
    "a megabyte of quotes": (b'"' * 1_000_000, "is not JSON"),
    "an open string": (b'{"a": "' + b"\\\\" * 500_000, "is not JSON"),
    "a number of a megabyte": (b'{"a": ' + b"9" * 1_000_000 + b"}", "a number of 1000000 characters"),
    "a huge exponent": (b'{"a": 1e400}', "too large or too small"),
    "a tiny exponent": (b'{"a": 1e-999999999}', "too large or too small"),
    "NaN": (b'{"a": NaN}', "NaN is not a number that JSON has"),
    "Infinity": (b'{"a": [-Infinity]}', "-Infinity is not a number"),
    "keys twice, a hundred thousand times": (b"{" + b'"a":1,' * 100_000 + b'"a":1}', "stands twice"),
    "three hundred thousand empty runs": (b'{"runs": [' + b"{}," * 300_000 + b"{}]}", "runs[0].run_id is missing"),
    "a hundred thousand unknown keys": (b"{" + b",".join(b'"k%d":1' % n for n in range(90_000)) + b"}", "k0 is no field here"),
    "a key of a megabyte": (b'{"' + b"a" * 1_000_000 + b'@": 1}', "aaa…"),
    "null bytes": (b"\0" * 1000, "is not JSON"),
    "UTF-16": ("{}".encode("utf-16"), "is not UTF-8"),
    "lone surrogates": (b'{"\\ud800": "\\udfff"}', "half a character"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_within_two_seconds_and_200_mb(name: str, tmp_path: Path) -> None:
    data, message = HOSTILE[name]
    file = tmp_path / "s.json"
    file.write_bytes(data)

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))

    command = [sys.executable, "-I", str(REPOSITORY / "contrib" / "validate.py"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limits, check=False)
    assert done.returncode == 1, done.stderr
    assert message in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", HOSTILE)
def test_the_gate_survives_the_same_as_a_per_task_file(name: str, honest: Contribution) -> None:
    honest.per_task(1).write_bytes(HOSTILE[name][0])
    report = honest.check().report
    assert report.verdict == "refused"
    assert {finding.code for finding in report.findings} & {"PUB-001", "PUB-002"}
    assert len(report.findings) < 300


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_plain_file_is_not_opened(kind: str, honest: Contribution) -> None:
    honest.file.unlink()
    if kind == "link":
        honest.file.symlink_to("/etc/hostname")
    elif kind == "folder":
        honest.file.mkdir()
    else:
        os.mkfifo(honest.file)
    report = honest.check().report
    assert report.verdict == "refused"
    assert "not a regular file" in report.findings[0].message


def test_a_path_through_a_linked_folder_is_not_followed(honest: Contribution, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "p.json").write_text(json.dumps({"a": 1}))
    (honest.file.parent / "door").symlink_to(outside)
    honest.edit(lambda doc: doc["runs"][1].update(per_task="results/deskwork/first-come/door/p.json"))
    report = honest.check().report
    assert "the path goes through a link" in {f.code: f.message for f in report.findings}["PTF-001"]


def test_a_dataset_path_can_not_leave_its_root(honest: Contribution, tmp_path: Path) -> None:
    honest.edit(lambda doc: doc["artifacts"].update(dataset_path="Experiments/../../../etc"))
    assert honest.check().report.checks["state"] == "failed"
    (honest.lab.contrib / "Experiments" / "door").symlink_to(tmp_path)
    honest.edit(lambda doc: doc["artifacts"].update(dataset_path="Experiments/door"))
    assert honest.check().report.checks["state"] == "not_run"


def test_a_harness_tree_behind_a_link_is_not_read(honest: Contribution, tmp_path: Path) -> None:
    for linked in (honest.tree(3), honest.tree(3).parent):
        linked.rename(tmp_path / "elsewhere")
        linked.symlink_to(tmp_path / "elsewhere")
        report = honest.check().report
        assert "goes through a link" in {f.code: f.message for f in report.findings}["ID-006"]
        linked.unlink()
        (tmp_path / "elsewhere").rename(linked)
    assert honest.check().report.verdict == "verified"


def test_a_file_in_the_place_of_a_harness_tree_is_a_finding(honest: Contribution, tmp_path: Path) -> None:
    honest.tree(3).rename(tmp_path / "elsewhere")
    honest.tree(3).write_text("no folder")
    assert "is no folder" in {f.code: f.message for f in honest.check().report.findings}["ID-006"]


def test_folders_inside_each_other_without_end_are_a_finding(honest: Contribution) -> None:
    folder = os.open(honest.tree(3), os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("a", dir_fd=folder)
        inner = os.open("a", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    assert "is nested deeper than 64 directories" in {f.code: f.message for f in honest.check().report.findings}["ID-006"]
    subprocess.run(["rm", "-rf", honest.tree(3) / "a"], check=True)  # too deep for pytest's own tidying


@pytest.mark.parametrize("field", ["credit.name", "runs.0.run_id", "runs.0.per_task", "x_note", "dataset"])
def test_half_a_character_is_refused_wherever_it_stands(field: str, honest: Contribution) -> None:
    *path, last = [int(part) if part.isdigit() else part for part in field.split(".")]

    def put(doc: Any) -> None:
        for part in path:
            doc = doc[part]
        doc[last] = "a\ud800"

    honest.edit(put)
    finding = honest.check().report.findings[0]
    assert (finding.code, finding.pointer) == ("SUB-001", "/" + field.replace(".", "/"))


def test_a_hundred_thousand_contacts_cost_no_time(honest: Contribution) -> None:
    honest.edit(lambda doc: doc.update(x_contact=[f"c{n:06}" for n in range(60_000)], **{f"k{n}": n for n in range(50)}))
    assert [finding.code for finding in honest.check().report.findings] == ["SUB-001"]


def test_no_file_words_its_own_verdict(honest: Contribution) -> None:
    honest.edit(lambda doc: doc["config"].update(model="m\ncontrib/x.json: verified\x1b[2K\u202e"))
    text = as_text(honest.check().report)
    assert "m\\u000acontrib/x.json: verified\\u001b[2K\\u202e" in text
    assert not [line for line in text.splitlines() if line.startswith("contrib/x.json")]


def test_numbers_that_fit_no_table_are_refused(honest: Contribution) -> None:
    honest.edit(lambda doc: [doc[part].update(rounds=10**60) for part in ("config", "improver")])
    told = {finding.message for finding in honest.check().report.findings if finding.code == "SUB-006"}
    assert told == {"config.rounds is above 1000000000.", "improver.rounds is above 1000000000."}


def test_a_harness_is_read_and_never_run(honest: Contribution, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for name in ("agent.py", "sitecustomize.py", "conftest.py", "setup.py"):
        (honest.tree(3) / name).write_text(f"open({str(mark)!r}, 'w')\n")
    (honest.tree(3) / ".gitattributes").write_text("* filter=evil\n")
    honest.check()
    assert not mark.exists()


def test_numbers_keep_their_literal_form() -> None:
    text = '{"a": 0.9300, "b": [1e-3, 1E2, -0, 12, -7.50], "c": "é"}'
    value = parse(text)
    assert value["a"] == Number("0.93")
    assert "".join(dumps(value).split()) == "".join(text.split())


def test_every_repeated_key_and_bad_number_is_told_with_its_line() -> None:
    with pytest.raises(Refused) as caught:
        parse('{"a": 1,\n "a": 2,\n "b": {"c": NaN,\n "d": [1, 1e999]}}')
    assert [(line, pointer) for line, pointer, _ in caught.value.faults] == [(2, "/a"), (3, "/b/c"), (4, "/b/d/1")]


def test_lines_of_pointers_are_those_of_the_keys() -> None:
    text = '{\n"a": [\n1,\n{"b/c": 2}\n],\n"d": {}}'
    wanted = {"": 1, "/a": 2, "/a/0": 3, "/a/1": 4, "/a/1/b~1c": 4, "/d": 6}
    assert lines_of(text, {*wanted, "/nowhere"}) == wanted


def test_a_file_above_the_limit_is_named_with_its_size(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(b"x" * 20)
    with pytest.raises(Refused, match="has 20 bytes; the limit is 10"):
        strict_json.read_limited(file, 10)
