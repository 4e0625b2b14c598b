"""One method directory's own words: its manifests and curve, read and checked for shape (DS-012). Judges nothing else."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel

from benchpipe.contributions.artifacts import manifests
from benchpipe.contributions.artifacts.codes import CODES
from benchpipe.contributions.artifacts.layout import Method
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.reading import MAX_RECORD_BYTES
from benchpipe.contributions.run_record import Record, identity_of, read_curve
from benchpipe.contributions.strict_json import Refused, decode, read_limited

Read = Callable[[Path], bytes | None]
"""The bytes of a small file, None where it is absent; Refused for a link, a device or too many bytes."""


@dataclass(frozen=True)
class Line:
    """One record of curve.jsonl and its line, from 1."""

    number: int
    record: Record

    @property
    def round(self) -> int:
        return int(self.record["round"])

    @property
    def sha(self) -> str:
        return str(identity_of(self.record, "harness_sha"))


@dataclass(frozen=True)
class MethodRecord:
    """What a method directory and the manifests above it say. A manifest that can't be read is None; so is its file's check."""

    place: Method
    agent: Record | None
    family: Record | None
    lines: tuple[Line, ...]

    @property
    def curve_file(self) -> str:
        return f"{self.place.name}/curve.jsonl"


def read_small(path: Path) -> bytes | None:
    """A manifest's or curve's bytes; None where there is none."""
    return read_limited(path, MAX_RECORD_BYTES) if path.is_symlink() or path.exists() else None


def gather(place: Method, read: Read = read_small) -> tuple[MethodRecord, list[Finding]]:
    """The record of a method directory, and DS-012 for whatever of it can't be used."""
    found: list[Finding] = []
    agent_name, family_name, _ = place.name.rsplit("/", 2)
    agent_file, family_file = f"{agent_name}/task_agent.json", f"{agent_name}/{family_name}/family.json"
    agent = _manifest(place.agent_folder / "task_agent.json", agent_file, manifests.TaskAgentManifest, read, found)
    family = _manifest(place.family_folder / "family.json", family_file, manifests.FamilyManifest, read, found)
    lines = tuple(_curve(place, read, found))
    return MethodRecord(place, agent, family, lines), found


def _manifest(path: Path, name: str, model: type[BaseModel], read: Read, found: list[Finding]) -> Record | None:
    try:
        data = read(path)
        if data is None:
            found.append(unusable(name, "is missing"))
            return None
        return manifests.read(data, model)
    except Refused as refused:
        found += [unusable(name, fault, line) for line, _, fault in refused.faults]
        return None


def _curve(place: Method, read: Read, found: list[Finding]) -> Iterator[Line]:
    name = f"{place.name}/curve.jsonl"
    try:
        data = read(place.curve)
        points = read_curve(data) if data else ()
    except Refused as refused:
        found += [unusable(name, fault, line) for line, _, fault in refused.faults]
        return
    numbers = [n for n, line in enumerate(decode(data or b"").split("\n"), 1) if line.strip()]
    usable = []
    for number, point in zip(numbers, points, strict=True):
        faults = manifests.faults(point, manifests.CurveRecord)
        found += [unusable(name, f"line {number}: {fault}", number) for fault in faults]
        usable += [] if faults else [Line(number, point)]
    rounds = [point["round"] for point in points]
    if data is not None and rounds[:1] != [0]:
        found.append(unusable(name, "has no record of round 0"))
    if "B" not in [identity_of(point, "run_mode") for point in points] and rounds != list(range(len(rounds))):
        found.append(unusable(name, "leaves rounds out, which only a run of mode B may"))
    yield from usable


def unusable(name: str, fault: str, line: int | None = None) -> Finding:
    """DS-012 of a file."""
    return at(CODES["DS-012"].finding(fault=f"{name} {fault}"), name, line)


def at(finding: Finding, file: str, line: int | None = None) -> Finding:
    """A finding with its place."""
    return replace(finding, file=file, line=line)
