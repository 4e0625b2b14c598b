"""Declared task sets of a benchmark, and which of them a set of scored ids is (contributions 5). Pure."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from benchpipe.registry.records import Benchmark, Pool


@dataclass(frozen=True)
class TaskSet:
    """A pool with its ids; `ids` is None where only the declared size is known here."""

    pool: Pool
    ids: frozenset[str] | None

    @property
    def id(self) -> str:
        return self.pool.id

    @property
    def fault(self) -> str:
        """How the registered list contradicts its own declaration (5.3); empty if it does not."""
        if self.ids is None:
            return ""
        if len(self.ids) != self.pool.size:
            return f"declares {self.pool.size} tasks, its list has {len(self.ids)}"
        if self.pool.sha256 and list_sha256(self.ids) != self.pool.sha256:
            return "has a list whose sha256 is not the declared one"
        return ""

    def differs_by(self, scored: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        """(missing, extra) ids of a scored set. Without ids here, both are empty."""
        ids = self.ids if self.ids is not None else scored
        return ids - scored, scored - ids


def list_bytes(ids: Iterable[str]) -> bytes:
    """The bytes of an id list: one id per line, sorted by code point, final newline (5.3)."""
    return "".join(f"{task}\n" for task in sorted(ids)).encode()


def list_sha256(ids: Iterable[str]) -> str:
    """The id-set hash: sha256 of the list's bytes."""
    return hashlib.sha256(list_bytes(ids)).hexdigest()


def task_sets(benchmark: Benchmark, read: Callable[[str], bytes | None]) -> dict[str, TaskSet]:
    """The benchmark's pools with their ids. `read` gives the bytes of a lab-relative file, or None where it is absent."""
    sets = {}
    for pool in benchmark.pools.values():
        data = read(pool.file or f"data/benchmarks/{benchmark.id}/pools/{pool.id}.txt")
        ids = frozenset(data.decode("utf-8", "replace").split("\n")) - {""} if data is not None else None
        sets[pool.id] = TaskSet(pool, ids)
    return sets


def exact_pools(sets: Mapping[str, TaskSet], scored: frozenset[str]) -> list[TaskSet]:
    """The pools whose ids are exactly the scored ones."""
    return [task_set for task_set in sets.values() if task_set.ids == scored]


def nearest(sets: Mapping[str, TaskSet], scored: frozenset[str]) -> TaskSet | None:
    """The pool that differs least from the scored ids (by number where no ids are known); exam pools first."""

    def distance(task_set: TaskSet) -> tuple[int, bool, str]:
        missing, extra = task_set.differs_by(scored)
        by_number = abs(task_set.pool.size - len(scored)) if task_set.ids is None else 0
        return len(missing) + len(extra) + by_number, task_set.pool.role != "exam", task_set.id

    return min(sets.values(), key=distance, default=None)


def study_set(sets: Mapping[str, TaskSet], study_ids: str, sha256: str | None) -> TaskSet | None:
    """The pool that a submission's study list names: by hash if given, else by the file name's stem."""
    stem = PurePosixPath(study_ids).stem
    for task_set in sets.values():
        if task_set.ids is not None and (list_sha256(task_set.ids) == sha256 if sha256 else task_set.id == stem):
            return task_set
    return None


def is_binary(benchmark: Benchmark) -> bool:
    """Whether one trial of a task can only give 0 or 1; benchmarks say otherwise with `score: {binary: false}`."""
    score = benchmark.raw.get("score")
    return not (isinstance(score, Mapping) and score.get("binary") is False)
