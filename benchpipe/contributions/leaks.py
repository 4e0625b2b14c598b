"""What a maintainer should look at before believing a result: traces of the exam in harnesses and passing trajectories.

Every finding is "review": a reason to look, never an accusation and never a verdict. An answer may stand in a harness by
chance, a binary may be a font. Nothing here changes a check. Pure but for `review_directory`, which reads.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from benchpipe.contributions.artifacts.gate import trials_of
from benchpipe.contributions.artifacts.layout import MAX_TREE, Method, is_folder, tree_fault, walk
from benchpipe.contributions.artifacts.records import gather
from benchpipe.contributions.findings import WARN, Code, code_table
from benchpipe.contributions.identity import Blob, Tree, blob_id
from benchpipe.contributions.pools import task_sets
from benchpipe.contributions.strict_json import Refused, read_limited
from benchpipe.contributions.trajectories.adapters import expected_by
from benchpipe.contributions.trajectories.contents import Slot, read_contents, score_of, slots
from benchpipe.lab import Lab
from benchpipe.registry.records import Benchmark

REVIEW = "review"
MIN_ANSWER = 8
"""Shorter answers ("42") stand everywhere."""
MIN_BLOB, HIGH_ENTROPY = 200, 5.0
"""Characters of a run without spaces that is looked at, and bits per character from which it is no language."""
MAX_NAMED = 5
_LONG_RUN = re.compile(rb"[A-Za-z0-9+/=_-]{%d,}" % MIN_BLOB)


LEAKS = code_table(
    Code(f"LEAK-00{number}", "", WARN, template, hint)
    for number, (template, hint) in enumerate(
        (
            ("names exam tasks: {tasks}.", "A harness needs no task by name."),
            ("holds what is expected as the answer of: {tasks}.", "An answer may stand there by chance."),
            ("has the bytes of a test file of the exam.", "Tests are no part of a harness."),
            ("is binary ({size:,} bytes); it can't be read through here.", "It may be a font or a picture."),
            ("holds {size:,} characters without a space that are no language ({bits:.1f} bits each).", "It may be a picture."),
            ("the expected answer is printed in record {record}, before it was given.", "The task itself may show it."),
            ("answers equal to the reference to the letter: {tasks}.", "Where one form only is right, that is nothing."),
        ),
        1,
    )
)
"""What is looked for, by code, and why it may be nothing."""


class Review(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Something to look at: where, what, and why it may be nothing."""

    code: str
    place: str
    message: str
    severity: str = REVIEW


def _review(code: str, place: str, **values: object) -> Review:
    return Review(code=code, place=place, message=f"{LEAKS[code].template.format(**values)} {LEAKS[code].hint}")


@dataclass(frozen=True)
class Exam:
    """What a harness is not supposed to know: ids of the exam's tasks, expected answers by task, contents of test files.

    `answers` and `tests` are empty where the benchmark keeps none on this machine.
    """

    ids: frozenset[str]
    answers: Mapping[str, str]
    tests: frozenset[str] = frozenset()
    """Git ids of the exam's test files."""


def in_tree(place: str, files: Tree, exam: Exam, read: Callable[[str, Blob], bytes]) -> Iterator[Review]:
    """LEAK-001 to LEAK-005 for one harness tree: ids, answers, test files; binaries and dense texts are listed."""
    for path, file in sorted(files.items()):
        where = f"{place}/{path}"
        if file.id in exam.tests:
            yield _review("LEAK-003", where)
            continue
        data = read(path, file)
        if b"\0" in data[:8192]:
            yield _review("LEAK-004", where, size=len(data))
            continue
        text = data.decode("utf-8", "replace")
        if named := _named(exam.ids, text):
            yield _review("LEAK-001", where, tasks=named)
        if known := _named((task for task, answer in exam.answers.items() if _tells(answer) and answer in text), None):
            yield _review("LEAK-002", where, tasks=known)
        for run in _LONG_RUN.findall(data)[:MAX_NAMED]:
            if entropy(run) >= HIGH_ENTROPY:
                yield _review("LEAK-005", where, size=len(run), bits=entropy(run))


def _named(ids: Iterable[str], text: str | None) -> str:
    """The ids that stand in a text as whole words (all, without a text), a few of them, for a message."""
    found = [task for task in sorted(ids) if text is None or re.search(rf"(?<![\w-]){re.escape(task)}(?![\w-])", text)]
    more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    return ", ".join(found[:MAX_NAMED]) + more


def _tells(answer: str) -> bool:
    """Whether an answer is long enough that it stands nowhere by chance."""
    return len(answer.strip()) >= MIN_ANSWER


def entropy(data: bytes) -> float:
    """Bits per character."""
    return -sum(n / len(data) * math.log2(n / len(data)) for n in Counter(data).values()) if data else 0.0


class Watch:
    """Looks at one trial's records: was the expected answer seen before it was given, is it the reference to the letter?"""

    def __init__(self, expected: str | None) -> None:
        self._expected = expected if expected is not None and _tells(expected) else None
        self._reply: str | None = None
        self._score: Fraction | None = None
        self.seen_at: int | None = None
        self._n = 0

    def step(self, record: Mapping[str, Any]) -> None:
        """Take one record in."""
        self._n += 1
        if "verdict" in record:
            self._score = score_of(record["verdict"])
        if self._expected is None:
            return
        shown = record.get("output")
        if self._reply is None and self.seen_at is None and isinstance(shown, str) and self._expected in shown:
            self.seen_at = self._n
        if isinstance(reply := record.get("reply"), str):
            self._reply = reply

    def verdict(self) -> Fraction | None:
        """The recorded one."""
        return self._score

    @property
    def to_the_letter(self) -> bool:
        """Whether the last reply is exactly the reference, which tells where references have more than one right form."""
        return self._expected is not None and self._reply == self._expected


def in_trajectories(place: str, stream: Any, wanted: Iterable[Slot], exam: Exam) -> Iterator[Review]:
    """LEAK-006 and LEAK-007 for one archive: in passing trials, the answer was printed before it was given, or is the
    reference to the letter in every trial."""
    watches: dict[Slot, Watch] = {}

    def player(slot: Slot) -> Watch:
        watches[slot] = Watch(exam.answers.get(slot.task))
        return watches[slot]

    read_contents(stream, list(wanted), player=player)
    passing = {slot: watch for slot, watch in watches.items() if (watch.verdict() or 0) >= 1}
    for slot, watch in sorted(passing.items(), key=lambda item: item[0].name):
        if watch.seen_at is not None:
            yield _review("LEAK-006", f"{place}:{slot.name}", record=watch.seen_at)
    same = {slot.task for slot, watch in passing.items() if watch.to_the_letter}
    if same:
        yield _review("LEAK-007", place, tasks=_named(same, None))


def exam_of(benchmark: Benchmark, lab: Lab) -> Exam:
    """What this machine knows of a benchmark's exam: ids of its exam pools, answers of its adapter, its `exam_tests` files."""
    pools = task_sets(benchmark, lambda file: _bytes(lab.root / file))
    ids = frozenset(task for pool in pools.values() if pool.pool.role == "exam" for task in pool.ids or ())
    named = benchmark.raw.get("exam_tests")
    tests = [data for file in (named if isinstance(named, list) else ()) if (data := _bytes(lab.root / str(file)))]
    answers = {task: answer for task, answer in expected_by(benchmark, lab).items() if task in ids}
    return Exam(ids, answers, frozenset(blob_id(data) for data in tests))


def _bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def review_directory(place: Method, exam: Exam) -> list[Review]:
    """Everything to look at in one method directory: trees and task archives of every round. Reads, executes nothing."""
    found: list[Review] = []
    record, _ = gather(place)
    trials = {line.round: trials_of(line.record) for line in record.lines}
    for number in place.rounds():
        folder = place.harness(number)
        if is_folder(folder) and not tree_fault(folder):
            found += in_tree(f"harness/round-{number}", _files(folder), exam, lambda path, file: file.data or b"")
        archive = place.tasks(number)
        if archive.is_file() and not archive.is_symlink():
            with open(archive, "rb") as stream:
                found += in_trajectories(f"tasks/round-{number}.tar.gz", stream, slots(None, exam.ids, trials.get(number, 1)), exam)
    return sorted(set(found))


def _files(folder: Path) -> dict[str, Blob]:
    """A tree's plain files with their bytes, whatever else is wrong with it."""
    files = {}
    for name, kind, size, path in walk(folder):
        if kind == "file" and size <= MAX_TREE:
            try:
                data = read_limited(path, MAX_TREE)
            except Refused:
                continue
            files[name] = Blob("100644", blob_id(data), data)
    return files
