"""Is every harness tree the state that its record names, and does every patch join one state to the next? (DS-004, 005, 010)

Trees are read and hashed, two at a time; nothing in them is executed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchpipe.contributions import identity
from benchpipe.contributions.artifacts import manifests, patches
from benchpipe.contributions.artifacts.codes import CODES
from benchpipe.contributions.artifacts.layout import MAX_PATCH, MAX_TREE, is_folder, tree_fault
from benchpipe.contributions.artifacts.records import Line, MethodRecord, at
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.identity import Blob, Tree
from benchpipe.contributions.strict_json import Refused, read_limited


@dataclass(frozen=True)
class State:
    """One round's tree as published. `files` is None where there is none, or none that can be read."""

    line: Line
    folder: Path
    files: Tree | None

    def read(self, path: str, file: Blob) -> bytes:
        """The bytes of one of its files."""
        return file.data if file.data is not None else read_limited(self.folder / path, MAX_TREE)


def states(record: MethodRecord) -> Iterator[tuple[State, list[Finding]]]:
    """Each record's state, with DS-004, DS-014, DS-005, DS-015 and DS-010 of it."""
    before: State | None = None
    base: dict[str, Any] | None = None
    for line in record.lines:
        found: list[Finding] = []
        state = _state(record, line, found)
        if state.files is not None:
            manifest = _harness_manifest(record, state, base, found)
            base = base or manifest
        if before is not None:
            found += _join(record, before, state)
        yield state, found
        before = state


def _state(record: MethodRecord, line: Line, found: list[Finding]) -> State:
    folder = record.place.harness(line.round)
    tree = f"harness/round-{line.round}"
    file = f"{record.place.name}/{tree}"
    if not is_folder(folder) or tree_fault(folder):
        found.append(at(CODES["DS-014"].finding(sha=line.sha, round=line.round), file))
        return State(line, folder, None)
    try:
        files = identity.read_tree(folder, identity.algorithm_of(line.sha))
    except identity.BadTree as bad:
        found.append(at(CODES["DS-004"].finding(code=bad.code, tree=tree, fault=f"has no identity: {bad}"), file))
        return State(line, folder, None)
    match = identity.identify(files, line.sha)
    if not match.exact:
        fault = f"hashes to {match.computed}, curve.jsonl round {line.round} reports {line.sha} (closest: {match.how})"
        found.append(at(CODES["DS-004"].finding(code="ID-001", tree=tree, fault=fault), file))
    return State(line, folder, files)


def _join(record: MethodRecord, before: State, after: State) -> Iterator[Finding]:
    """DS-005 or DS-015 of the patch between two recorded states; numbers may skip, "before" is the previous record."""
    n = after.line.round
    name = f"patches/round-{n}.patch"
    path, file = record.place.patch(n), f"{record.place.name}/{name}"
    missing = next((f"harness/round-{s.line.round} is not here" for s in (before, after) if s.files is None), None)
    if not path.exists():
        missing = f"{name} is not here"
    if missing is not None or before.files is None or after.files is None:
        yield at(CODES["DS-015"].finding(fault=missing, round=n), file)
        return
    try:
        data = read_limited(path, MAX_PATCH)
        fault = _fault(data, before, after, before.files, after.files)
    except Refused as refused:
        fault = str(refused)
    if fault:
        yield at(CODES["DS-005"].finding(patch=name, before=before.line.round, after=n, fault=fault), file)


def _fault(data: bytes, before: State, after: State, old: Tree, new: Tree) -> str:
    """Why the patch does not join the states; trees are tried as published, then as staged (8.1), each with its own kind."""
    first = patches.joins(data, old, new, frozenset((after.line.sha, identity.tree_id(new))), before.read)
    staged_old, staged_new = identity.stage(old), identity.stage(new)
    if not first or (staged_old == old and staged_new == new):
        return first
    wanted = frozenset((after.line.sha, identity.tree_id(staged_new)))
    return first if patches.joins(data, staged_old, staged_new, wanted, before.read) else ""


def _harness_manifest(
    record: MethodRecord, state: State, base: dict[str, Any] | None, found: list[Finding]
) -> dict[str, Any] | None:
    """harness.json of a state; DS-010 for what it may not be. `base` is round 0's."""
    n, files = state.line.round, state.files or {}
    file = f"{record.place.name}/harness/round-{n}/harness.json"
    faults: list[str] = []
    manifest = None
    if "harness.json" not in files:
        faults.append(f"round {n} has no harness.json")
    else:
        try:
            manifest = manifests.read(state.read("harness.json", files["harness.json"]), manifests.HarnessManifest)
            faults += _changes(n, manifest, base or manifest, files)
        except Refused as refused:
            faults += [f"round {n}: harness.json: {fault}" for _, _, fault in refused.faults]
    found += [at(CODES["DS-010"].finding(fault=fault), file) for fault in faults]
    return manifest


def _changes(n: int, manifest: dict[str, Any], base: dict[str, Any], files: Tree) -> Iterator[str]:
    for key in ("name", "version", "role"):
        if (now := manifest.get(key, "harness")) != (was := base.get(key, "harness")):
            yield f"round {n} changes harness {key} {was} -> {now}"
    if manifest.get("role") == "control":
        yield f"round {n} is a control harness, which never becomes a row"
    place = manifest.get("path", ".")
    entry = manifest["entrypoint"].removeprefix("./")
    if entry not in files and (not isinstance(place, str) or f"{place.removeprefix('./').rstrip('/')}/{entry}" not in files):
        yield f"round {n}: the entry point {manifest['entrypoint']} is no file of the tree"
    if wider := set(manifest.get("env_kinds", ["files"])) - set(base.get("env_kinds", ["files"])):
        yield f"round {n} widens env_kinds by {', '.join(sorted(wider))}"
