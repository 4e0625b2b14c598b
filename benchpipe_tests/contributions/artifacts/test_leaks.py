"""What a maintainer is shown to look at: traces of the exam; always "review", never a verdict."""

import io
import json
import random
from pathlib import Path

from benchpipe.contributions import leaks
from benchpipe.contributions.artifacts.layout import scope_of
from benchpipe.contributions.identity import blob
from benchpipe.contributions.trajectories.contents import slots
from benchpipe.registry.load import load_registry
from benchpipe_tests.contributions.artifacts.conftest import Grow, Tree
from benchpipe_tests.contributions.artifacts.mutations import repack
from benchpipe_tests.contributions.trajectories.test_way import repacked

EXAM = leaks.Exam(
    frozenset({"sum_1", "sort_2"}), {"sum_1": "42", "sort_2": "Ada\nBen\nChi Dua"}, frozenset({blob(b"def test_sum(): ...\n").id})
)


def codes(files: dict[str, bytes]) -> set[tuple[str, str]]:
    tree = {path: blob(data) for path, data in files.items()}
    return {(one.code, one.place) for one in leaks.in_tree("harness/round-1", tree, EXAM, lambda path, file: file.data or b"")}


def test_traces_of_the_exam_in_a_harness_are_listed() -> None:
    dense = "".join(random.Random(3).choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/", k=600))
    found = codes(
        {
            "by_name.py": b"if task == 'sort_2': pass\n",
            "by_heart.py": b"ANSWER = '''Ada\nBen\nChi Dua'''\n",
            "tests/test_it.py": b"def test_sum(): ...\n",
            "model.bin": b"\x7fELF\0\0",
            "packed.py": f"X = '{dense}'\n".encode(),
        }
    )
    assert found == {
        ("LEAK-001", "harness/round-1/by_name.py"),
        ("LEAK-002", "harness/round-1/by_heart.py"),
        ("LEAK-003", "harness/round-1/tests/test_it.py"),
        ("LEAK-004", "harness/round-1/model.bin"),
        ("LEAK-005", "harness/round-1/packed.py"),
    }


def test_what_means_nothing_is_not_listed() -> None:
    assert codes({"a.py": b"x = 42  # sum_10, resort_2, sum_1_old\n" + b"#" * 500 + b"\n", "b.txt": b"Ada\nBen\n"}) == set()


def reviews(tree: Tree) -> list[leaks.Review]:
    place = scope_of(tree.method).methods()[0]
    return leaks.review_directory(place, leaks.exam_of(load_registry(tree.lab).benchmarks["deskwork"], tree.lab))


def test_a_harness_that_knows_the_exam_by_heart_is_shown(grow: Grow) -> None:
    tree = grow()
    before = {one.code for one in reviews(tree)}
    exam = leaks.exam_of(load_registry(tree.lab).benchmarks["deskwork"], tree.lab)
    (tree.harness(3) / "skills" / "00_heart.py").write_text(
        f"ANSWERS = {json.dumps('x')}\nY = '''{exam.answers['initials_1']}'''\n"
    )
    (tree.harness(3) / "skills" / "01_sort.py").write_text(f"Y = '''{exam.answers['sort_names_1']}'''  # sort_names_1\n")
    found = reviews(tree)
    assert {(one.code, one.place) for one in found if one.code in ("LEAK-001", "LEAK-002")} == {
        ("LEAK-001", "harness/round-3/skills/01_sort.py"),
        ("LEAK-002", "harness/round-3/skills/00_heart.py"),
        ("LEAK-002", "harness/round-3/skills/01_sort.py"),
    }
    assert {one.severity for one in found} == {"review"}
    assert not before & {"LEAK-001", "LEAK-002"}
    assert not any(answer in one.message for one in found for answer in exam.answers.values() if len(answer) > 8)


def test_an_answer_that_was_printed_before_it_was_given_is_shown(grow: Grow) -> None:
    tree = grow()
    answer = leaks.exam_of(load_registry(tree.lab).benchmarks["deskwork"], tree.lab).answers["sort_names_1"]

    def peek(files: dict[str, bytes]) -> None:
        name = "sort_names_1/trial-0.jsonl"
        files[name] = (
            json.dumps({"step": 0, "command": "cat solution", "output": f"it is\n{answer}\n"}).encode() + b"\n" + files[name]
        )

    repack(tree, 2, peek)
    found = [one for one in reviews(tree) if one.code == "LEAK-006"]
    assert [one.place for one in found] == ["tasks/round-2.tar.gz:sort_names_1/trial-0.jsonl"]
    assert "record 1, before it was given" in found[0].message


def test_failing_trials_are_not_looked_at() -> None:
    line = json.dumps({"step": 0, "output": "Ada\nBen\nChi Dua"}) + "\n" + json.dumps({"verdict": {"score": 0}}) + "\n"
    archive = repacked(_empty(), lambda files: files.update({"sort_2/trial-0.jsonl": line.encode()}))
    assert list(leaks.in_trajectories("a", io.BytesIO(archive), slots(None, ["sort_2"], 1), EXAM)) == []


def _empty() -> bytes:
    import tarfile

    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w"):
        pass
    return out.getvalue()


def test_the_command_lists_them_and_keeps_the_verdict(grow: Grow) -> None:
    import subprocess
    import sys

    tree = grow()
    command = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab", str(tree.lab.root)]
    done = subprocess.run([*command, "contrib", "dataset", "--leaks", str(tree.experiments)], capture_output=True, text=True)
    assert done.returncode == 0
    assert "REVIEW LEAK-007" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].startswith("Experiments: verified; 1 method directory")
    assert Path(tree.lab.root).as_posix() not in done.stdout
