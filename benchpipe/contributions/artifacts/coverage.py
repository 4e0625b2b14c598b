"""The coverage file of a benchmark: written from what is there, and compared with it (17.5, DS-006)."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchpipe.contributions.archives import BadArchive, members
from benchpipe.contributions.artifacts import manifests
from benchpipe.contributions.artifacts.codes import CODES
from benchpipe.contributions.artifacts.layout import ROOT, Method, Scope, is_folder, tree_bytes, tree_fault
from benchpipe.contributions.artifacts.records import at
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.strict_json import Refused
from benchpipe.files import write_bytes

Key = tuple[str, str, str, int]
"""Task agent, family, method, round."""


def entry_of(place: Method, round_: int) -> dict[str, Any]:
    """The coverage entry of what is there of one round."""
    harness, patch, tasks = place.harness(round_), place.patch(round_), place.tasks(round_)
    files = {"patch": patch, "tasks": tasks}
    return {
        "task_agent": place.agent,
        "family": place.family,
        "method": place.method,
        "round": round_,
        "harness": is_folder(harness),
        "patch": _is_file(patch),
        "tasks": _is_file(tasks),
        "n_task_files": _n_files(tasks) if _is_file(tasks) else 0,
        "bytes": (tree_bytes(harness) if is_folder(harness) and not tree_fault(harness) else 0)
        + sum(path.stat().st_size for path in files.values() if _is_file(path)),
        "sha256": {name: _sha256(path) if _is_file(path) else None for name, path in files.items()},
    }


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _n_files(path: Path) -> int:
    """Files in an archive; those before the fault in one that is damaged (DS-008 says what is wrong with it)."""
    n = 0
    try:
        with open(path, "rb") as file:
            for _ in members(file):
                n += 1
    except BadArchive:
        pass
    return n


def key_of(entry: Mapping[str, Any]) -> Key:
    """What an entry is of."""
    return entry["task_agent"], entry["family"], entry["method"], entry["round"]


def present(scope: Scope, benchmark: str) -> dict[Key, dict[str, Any]]:
    """Entries of every round of which any file is there, in a scope."""
    places = [place for place in scope.methods() if place.benchmark == benchmark]
    made = [entry_of(place, round_) for place in places for round_ in place.rounds()]
    return {key_of(entry): entry for entry in made}


def write(scope: Scope, now: str) -> list[Path]:
    """Bring the coverage files of a scope's benchmarks to what is there; other directories' entries stay. The files written."""
    written = []
    for benchmark in sorted({place.benchmark for place in scope.methods()}):
        file = scope.root / benchmark / "coverage.json"
        kept = {} if not file.exists() else {key_of(e): e for e in manifests.read(file.read_bytes(), manifests.Coverage)["entries"]}
        kept = {key: entry for key, entry in kept.items() if not scope.covers(*key[:3])}
        entries = [entry for _, entry in sorted({**kept, **present(scope, benchmark)}.items())]
        text = json.dumps({"schema": manifests.COVERAGE, "generated_at": now, "entries": entries}, indent=1)
        if write_bytes(file, f"{text}\n".encode()):
            written.append(file)
    return written


def check(scope: Scope, benchmark: str, data: bytes | None) -> Iterator[Finding]:
    """DS-006: the coverage file (its bytes, None if absent) lists exactly what a scope holds, with equal hashes."""
    name = f"{ROOT}/{benchmark}/coverage.json"
    if data is None:
        yield at(CODES["DS-006"].finding(fault=f"{name} is missing"), name)
        return
    try:
        entries = manifests.read(data, manifests.Coverage)["entries"]
    except Refused as refused:
        for line, _, fault in refused.faults:
            yield at(CODES["DS-006"].finding(fault=f"{name}: {fault}"), name, line)
        return
    keys = [key_of(entry) for entry in entries]
    if keys != sorted(set(keys)):
        yield at(CODES["DS-006"].finding(fault="coverage is not sorted, or lists a round twice"), name)
    listed = {key: entry for key, entry in zip(keys, entries, strict=True) if scope.covers(*key[:3])}
    there = present(scope, benchmark)
    for key in sorted(listed.keys() | there.keys()):
        for fault in _differences("/".join(key[:3]), key[3], listed.get(key), there.get(key)):
            yield at(CODES["DS-006"].finding(fault=fault), name)


def _differences(folder: str, n: int, listed: Mapping[str, Any] | None, there: Mapping[str, Any] | None) -> Iterator[str]:
    files = {"harness": f"harness/round-{n}/", "patch": f"patches/round-{n}.patch", "tasks": f"tasks/round-{n}.tar.gz"}
    none: Mapping[str, Any] = {**dict.fromkeys(files, False), "sha256": {}}
    said, is_ = listed or none, there or none
    same_files = True
    for kind, file in files.items():
        if said[kind] and not is_[kind]:
            yield f"coverage lists {folder}/{file}, file is absent"
        elif is_[kind] and not said[kind]:
            yield f"file {folder}/{file} is not listed"
        elif kind != "harness" and said[kind] and said["sha256"][kind] != is_["sha256"][kind]:
            yield f"{folder}/{file} has sha256 {is_['sha256'][kind]}, coverage says {said['sha256'][kind]}"
        else:
            continue
        same_files = False
    if same_files and listed and there:
        for number in ("n_task_files", "bytes"):
            if listed[number] != there[number]:
                yield f"{folder} round {n} has {there[number]:,} as {number}, coverage says {listed[number]:,}"
