"""Machines that committed texts name. The public site is built where no hosts file is, so only `machine_names` hides them there."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from benchpipe.checks.findings import Spot, Workspace
from benchpipe.registry.machines import AFTER, BEFORE, machine_names
from benchpipe.registry.records import Place
from benchpipe.registry.source import Source

PROSE = frozenset({"closed", "excluded", "followups", "not_counted", "note", "notes", "others", "removed", "stopped", "withdrawn"})
"""Keys whose texts the public site shows, less the machines that it knows."""


def machine_unhidden(workspace: Workspace) -> Iterator[Spot]:
    """Says nothing where no hosts file is: there nobody knows a machine's name."""
    registry = workspace.registry
    unhidden = [name for name in machine_names(registry.hosts.values()) if not _hidden(name, registry.public.machine_names)]
    if not unhidden:
        return
    named = re.compile(f"{BEFORE}(?:{'|'.join(re.escape(name) for name in sorted(unhidden, key=len, reverse=True))}){AFTER}")
    for place, text in _texts(workspace):
        for name in sorted(set(named.findall(text))):
            yield place, f"names the machine {name}, which the public site shows: add it to `machine_names` in data/public.yml"


def _hidden(name: str, patterns: tuple[str, ...]) -> bool:
    try:
        return any(re.fullmatch(pattern, name) for pattern in patterns)
    except re.error:  # publishing refuses it
        return False


def _texts(workspace: Workspace) -> Iterator[tuple[Place, str]]:
    """Every text of the committed agents, plans and curated tasks that the public site shows as prose."""
    lab, registry = workspace.lab, workspace.registry
    for agent in registry.agents.values():
        if not agent.local:
            yield from _prose(agent.place.file, agent.raw, agent.lines)
    for plan in registry.plans.values():
        yield from _prose(plan.place.file, plan.raw, plan.lines)
    source = Source(lab)
    for path in source.yaml_files(lab.state_tasks, "task"):
        fields = source.mapping(path, "task")
        yield from _prose(fields.file, fields.data, fields.lines)


def _prose(file: str, value: Any, lines: Mapping[str, int], path: tuple[str, ...] = ()) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        if not PROSE.isdisjoint(path):
            yield Place(file, _line(lines, path)), value
        return
    if isinstance(value, Mapping):
        inner = [(str(key), one) for key, one in value.items()]
    else:
        inner = [(str(n), one) for n, one in enumerate(value)] if isinstance(value, list) else []
    for key, one in inner:
        yield from _prose(file, one, lines, (*path, key))


def _line(lines: Mapping[str, int], path: tuple[str, ...]) -> int | None:
    """Where a key path stands, else where what is around it does."""
    return next((lines[at] for n in range(len(path), 0, -1) if (at := ".".join(path[:n])) in lines), None)
