"""Level L3 for deskwork: recorded actions are played onto a desk, and the benchmark's own verifier looks at what lies on it.

The tasks and the verifier are those of `tools/toy_benchmark/tasks.py`, beside this package.
"""

import importlib.util
import sys
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from types import ModuleType
from typing import Any

from benchpipe.files import sha256
from benchpipe.lab import PACKAGE_ROOT

TASKS = PACKAGE_ROOT.parent / "tools" / "toy_benchmark" / "tasks.py"


def missing() -> str:
    """Why this adapter can't be used here; empty if it can."""
    return "" if TASKS.is_file() else "deskwork's tasks (tools/toy_benchmark) are not beside this package"


def digest() -> str:
    """Digest of tasks and verifier."""
    return sha256(TASKS.read_bytes())


@cache
def _tasks() -> ModuleType:
    name = "benchpipe_deskwork_tasks"
    spec = importlib.util.spec_from_file_location(name, TASKS)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@cache
def _by_id() -> dict[str, Any]:
    return {task.id: task for pool in _tasks().POOLS.values() for task in pool}


def expected() -> dict[str, str]:
    """The right answer of every task."""
    return {name: task.answer for name, task in _by_id().items()}


class Desk:
    """One task's desk: a reply lies on it as a draft, submitting hands the draft in, nothing counts after that."""

    def __init__(self, task: Any) -> None:
        self._task = task
        self._draft: str | None = None
        self._handed_in: str | None = None

    def step(self, record: Mapping[str, Any]) -> None:
        """Do what one record says was done."""
        if self._handed_in is not None:
            return
        if isinstance(reply := record.get("reply"), str):
            self._draft = reply
        if record.get("submitted") is True:
            self._handed_in = self._draft

    def verdict(self) -> Fraction | None:
        """What the benchmark's verifier says of what was handed in; None for a task that deskwork has not."""
        if self._task is None:
            return None
        return Fraction(self._handed_in is not None and _tasks().is_right(self._task, self._handed_in))


def player(task: str) -> Desk:
    """A desk with the task on it."""
    return Desk(_by_id().get(task))
