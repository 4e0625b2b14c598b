"""A new snapshot while it is being made, beside the published one. What is published already is linked and not written."""

import shutil
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import orjson

from benchpipe.files import link_or_copy, write_bytes
from benchpipe.lab import Lab
from benchpipe.publish.diff import differences
from benchpipe.publish.published import SUMMARY, RunLine, read_document
from benchpipe.publish.stage import Quarantined, StagedRun
from benchpipe.publish.switch import recover
from benchpipe.registry.records import BenchRun

TIMES_ONLY = ("generated_at", "built")
"""A file that differs from the published one in these top-level fields alone has not changed (A5, E3)."""


class Trees(NamedTuple):
    """The snapshot that is being made, the published one, and the one before."""

    new: Path
    current: Path
    previous: Path


@contextmanager
def fresh_trees(lab: Lab) -> Iterator[Trees]:
    """The trees with nothing in the new one; what is left in it at the end goes."""
    trees = Trees(new=lab.cache / "published_runs.new", current=lab.published, previous=lab.cache / "published_runs.prev")
    recover(*trees)
    shutil.rmtree(trees.new, ignore_errors=True)
    try:
        yield trees
    finally:
        shutil.rmtree(trees.new, ignore_errors=True)


class Draft:
    """Fills the new tree, and counts what is in it and what stayed home."""

    def __init__(self, trees: Trees) -> None:
        self.trees = trees
        self.lines: list[RunLine] = []
        self.quarantined: list[Quarantined] = []
        self.redacted: Counter[str] = Counter()
        """Rule → places."""
        self._names: set[str] = set()
        self.written: set[str] = set()
        self.unchanged = 0
        self.bytes = 0

    def add(self, staged: StagedRun) -> None:
        """A bench-run's files, unless none are left; where its run file stays, the collection time of that one stays too."""
        self.quarantined += staged.quarantined
        self.redacted.update(staged.redacted)
        if not staged.files:
            return
        collected_at = staged.line.collected_at
        for name, data in staged.files.items():
            if not self._same(name, data):
                self._write(name, data)
                continue
            self._link(name)
            if name == f"{staged.line.benchmark}/{staged.line.run}.json":
                collected_at = (read_document(self.trees.current / name) or {}).get("generated_at", collected_at)
        self.lines.append(msgspec.structs.replace(staged.line, collected_at=collected_at))

    def keep_benchmark(self, benchmark: str, lines: Collection[RunLine]) -> None:
        """Another benchmark's part stays as it is, to the byte."""
        for file in sorted((self.trees.current / benchmark).rglob("*.json")):
            self._link(file.relative_to(self.trees.current).as_posix())
        self.lines += [line for line in lines if line.benchmark == benchmark]

    def keep_run(self, bench_run: BenchRun, line: RunLine | None) -> None:
        """A bench-run without data here keeps what is published of it, less the modes withdrawn since.

        Under the id of `line`, also where it has another one now: its media lie there too.
        """
        if line is None:
            return
        name = f"{line.benchmark}/{line.run}.json"
        document = read_document(self.trees.current / name)
        if document is None:
            return
        left = {
            task: {mode: record for mode, record in modes.items() if mode not in bench_run.withdrawn}
            for task, modes in document["tasks"].items()
        }
        tasks = {task: modes for task, modes in left.items() if modes}
        if tasks == document["tasks"]:
            self._link(name)
        else:
            self._write(name, orjson.dumps({**document, "tasks": tasks}) + b"\n")
        slots = [f"{task}/{mode}{suffix}.json" for task, modes in tasks.items() for mode in modes for suffix in ("", "-prev")]
        kept = [slot for slot in slots if (self.trees.current / line.benchmark / line.run / slot).is_file()]
        for slot in kept:
            self._link(f"{line.benchmark}/{line.run}/{slot}")
        self.lines.append(msgspec.structs.replace(line, tasks=len(tasks), logs=len(kept)))

    def differences(self) -> tuple[str, ...]:
        """Records and logs that differ from the published ones, a line each."""
        return tuple(differences(self.trees.current, self.trees.new, sorted(self.written), sorted(self.removed)))

    @cached_property
    def removed(self) -> set[str]:
        """Files of the published snapshot that the new one doesn't have."""
        published = {file.relative_to(self.trees.current).as_posix() for file in self.trees.current.rglob("*") if file.is_file()}
        return published - self._names - {SUMMARY}

    def _same(self, name: str, data: bytes) -> bool:
        try:
            published = (self.trees.current / name).read_bytes()
        except OSError:
            return False
        return published == data or _without_times(published) == _without_times(data)

    def _write(self, name: str, data: bytes) -> None:
        write_bytes(self.trees.new / name, data)
        self.written.add(name)
        self._names.add(name)
        self.bytes += len(data)

    def _link(self, name: str) -> None:
        source, target = self.trees.current / name, self.trees.new / name
        link_or_copy(source, target)
        self._names.add(name)
        self.unchanged += 1
        self.bytes += target.stat().st_size


def _without_times(data: bytes) -> Any:
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return data
    return {key: value for key, value in document.items() if key not in TIMES_ONLY} if isinstance(document, dict) else document
