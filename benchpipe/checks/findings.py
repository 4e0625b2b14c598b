"""What a check says: rules, findings and what they look at. Shapes only."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import msgspec

from benchpipe.lab import Lab
from benchpipe.registry.records import Place, Registry

Severity = Literal["error", "warning"]
Asset = Literal["agent_registry", "price_list", "benchmark_registry", "published_snapshot"]
"""The asset that a rule's findings belong to (A3)."""


class Finding(msgspec.Struct, frozen=True):
    """One place that breaks a rule. `file` is relative to the lab; `message` says what is wrong and the fix."""

    rule: str
    severity: Severity
    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        """One line in the form of compilers, which editors know how to jump to."""
        return f"{Place(self.file, self.line)}: {self.severity} {self.rule}: {self.message}"


@dataclass(frozen=True)
class Workspace:
    """What rules look at. Nothing in it needs collected data."""

    lab: Lab
    registry: Registry


Spot = tuple[Place, str]
"""Where something is wrong, and what (with the fix)."""


@dataclass(frozen=True)
class Rule:
    """One rule: `title` is a true statement about a healthy lab, `find` names every place that breaks it."""

    id: str
    title: str
    asset: Asset
    severity: Severity
    find: Callable[[Workspace], Iterable[Finding]]


Look = Callable[[Workspace], Iterable[Spot]]


def rule(asset: Asset, id: str, title: str, look: Look | None = None, *, severity: Severity = "error") -> Rule:
    """A rule whose findings are the faults that reading left under its id, then what `look` sees in the whole registry."""

    def find(workspace: Workspace) -> Iterable[Finding]:
        read = [(problem.place, problem.message) for problem in workspace.registry.problems if problem.rule == id]
        seen = look(workspace) if look else ()
        for place, message in (*read, *seen):
            yield Finding(id, severity, place.file, place.line, message)

    return Rule(id, title, asset, severity, find)


def warning(asset: Asset, id: str, title: str, look: Look | None = None) -> Rule:
    """A rule that only `--strict` enforces."""
    return rule(asset, id, title, look, severity="warning")
