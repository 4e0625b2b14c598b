"""Do the records of a method agree with the manifests above them, and is its round 0 the agreed one? (DS-001 to 003, 007, 013, 019)

Pure: takes what was read, gives findings.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from benchpipe.contributions.artifacts.codes import CODES
from benchpipe.contributions.artifacts.records import Line, MethodRecord, at
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.gate.config import normal, same, shown

COMPARED = ("study_ids", "study_ids_sha256", "rounds", "trials", "sampling", "model", "temperature", "decoding")
"""Items of a config that are compared, where the baseline names them (contributions 12)."""


def names(record: MethodRecord, methods: list[str]) -> Iterator[Finding]:
    """DS-007: manifests carry their directories' names, and family.json lists exactly the method directories (`methods`)."""
    agent_folder, family, _ = record.place.name.rsplit("/", 2)
    for manifest, file, name in (
        (record.agent, f"{agent_folder}/task_agent.json", record.place.agent),
        (record.family, f"{agent_folder}/{family}/family.json", record.place.family),
    ):
        if manifest and manifest["id"] != name:
            yield at(CODES["DS-007"].finding(fault=f"{file} has id {manifest['id']}, its directory is {name}"), file)
    if record.family and sorted(record.family["methods"]) != methods:
        fault = f"family.json lists methods {', '.join(sorted(record.family['methods'])) or 'none'}; there are {', '.join(methods)}"
        yield at(CODES["DS-007"].finding(fault=fault), f"{agent_folder}/{family}/family.json")


def agents(record: MethodRecord) -> Iterator[Finding]:
    """DS-001: every record's task agent and meta agent, and the family's task agent, are those of the manifests."""
    above = record.place.name.rpartition("/")[0]
    if record.agent and record.family:
        for key in ("base_harness", "model", "decoding"):
            a, b = record.family["task_agent"][key], record.agent[key]
            if a != b:
                yield at(
                    CODES["DS-001"].finding(what=f"family.json: task agent {_word(key)}", a=a, where="task_agent.json", b=b),
                    f"{above}/family.json",
                )
    for line in record.lines:
        pairs = [
            ("task agent", line.record["task_agent"], record.agent, "task_agent.json", ("base_harness", "model", "decoding")),
            ("meta agent", line.record["meta_agent"], (record.family or {}).get("meta_agent"), "family.json", ()),
        ]
        for who, said, manifest, where, keys in pairs:
            for key in (keys or sorted(said)) if manifest else ():
                a, b = said[key], (manifest or {}).get(key)
                if a != b:
                    what = f"curve.jsonl line {line.number}: {who} {_word(key)}"
                    yield at(
                        CODES["DS-001"].finding(what=what, a=shown(a), where=where, b=shown(b)), record.curve_file, line.number
                    )


def _word(key: str) -> str:
    return key.replace("_", " ")


def baseline(record: MethodRecord, n_families: int) -> Iterator[Finding]:
    """DS-002, DS-003, DS-013: the family's and the curve's round 0 against the task agent's baseline.

    `n_families` is the number of families of the task agent.
    """
    if record.agent is None:
        return
    agreed = record.agent["baseline"]
    above = record.place.name.rpartition("/")[0]
    sides: list[tuple[str, Any, Mapping[str, Any], int | None]] = []
    if record.family:
        family = record.family["baseline"]
        sides.append((f"{above}/family.json", family["harness_sha"], family["config"], None))
    for line in record.lines:
        if line.round == 0:
            sides.append((record.curve_file, line.sha, line.record["config"], line.number))
            yield from _noise(record, line, "task_agent.json", agreed.get("score"))
    for file, sha, config, number in sides:
        if sha != agreed["harness_sha"]:
            yield at(CODES["DS-002"].finding(a=sha, agent=record.place.agent, b=agreed["harness_sha"], n=n_families), file, number)
        for item in COMPARED:
            if item in agreed["config"] and not _same(item, config.get(item), agreed["config"][item]):
                a = shown(config[item]) if item in config else "absent"
                yield at(CODES["DS-003"].finding(item=item, a=a, b=shown(agreed["config"][item])), file, number)


def started(record: MethodRecord) -> Iterator[Finding]:
    """DS-019, DS-013: what family.json says of its round 0 is what the curve's round 0 is."""
    if record.family is None:
        return
    said = record.family["baseline"]
    for line in record.lines:
        if line.round == 0:
            for item, there in (("pool", line.record["pool"]), ("n_tasks", len(line.record["per_task"]))):
                if there != said[item]:
                    finding = CODES["DS-019"].finding(item=item, a=there, b=said[item])
                    yield at(finding, record.curve_file, line.number)
            yield from _noise(record, line, "family.json", said["score"])


def _same(item: str, a: Any, b: Any) -> bool:
    if item == "study_ids" and isinstance(a, str) and isinstance(b, str):
        return PurePath(a).name == PurePath(b).name
    return same(normal(a), normal(b))


def _noise(record: MethodRecord, line: Line, where: str, agreed: Any) -> Iterator[Finding]:
    """Round 0 may score differently by chance; more than two standard errors are said."""
    point, n = line.record, len(line.record["per_task"])
    if agreed is None or not n:
        return
    p = float(agreed)
    limit = 2 * math.sqrt(p * (1 - p) / n)
    if abs(float(point["score"]) - p) > limit + 1e-9:
        finding = CODES["DS-013"].finding(a=shown(point["score"]), where=where, b=shown(agreed), n=n, limit=f"{limit:.4f}")
        yield at(finding, record.curve_file, line.number)
