"""Gathers everything that the gate looks at: the submission, its per-task files, run records and harness trees.

Reads and parses; judges nothing beyond "can this be read". Nothing that is read here is ever executed or unpacked.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchpipe.contributions import identity, run_record
from benchpipe.contributions.artifacts import secrets
from benchpipe.contributions.artifacts.joining import directory_of
from benchpipe.contributions.codes import CODES
from benchpipe.contributions.decisions import Decisions
from benchpipe.contributions.file_rules import field as value_at
from benchpipe.contributions.file_rules import path_fault
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.models import Run, Submission
from benchpipe.contributions.per_task import Scores, read_scores
from benchpipe.contributions.pools import TaskSet
from benchpipe.contributions.reading import MAX_RECORD_BYTES, Reader
from benchpipe.contributions.run_record import RunRecord
from benchpipe.contributions.strict_json import Refused
from benchpipe.registry.records import Benchmark

Doc = Mapping[str, Any]


class Replayed(NamedTuple):
    """What was found out about linked trajectories: fine at some level, or the code and the words of a fault."""

    fine: bool
    fault: str = ""
    code: str = "TRJ-001"
    level: str | None = None


@dataclass(frozen=True)
class HarnessTree:
    """A supplied harness tree of one round: where it lies, how it relates to the reported id, what its manifest says."""

    path: str
    match: identity.Match
    manifest: Mapping[str, Any] | None


@dataclass(frozen=True)
class RunEvidence:
    """One run of a submission with what stands behind it. `faults` are findings of reading."""

    index: int
    run: Run
    scores: Scores | None
    record: RunRecord
    tree: HarnessTree | None
    faults: tuple[Finding, ...] = ()
    per_task_file: str | None = None
    """Where its per-task file was found, which tells what its path is relative to (3.12)."""
    dataset_path: str | None = None
    """`Experiments/…` of the dataset directory that holds its artifacts, if one was found."""


@dataclass(frozen=True)
class Evidence:
    """Everything the gate knows of one submission."""

    submission: Submission
    doc: Doc
    """The parsed file, `x_` keys included."""
    benchmark: Benchmark
    pools: Mapping[str, TaskSet]
    decisions: Decisions
    runs: tuple[RunEvidence, ...]
    trajectories_overdue: str | None = None
    """Date on which trajectories were asked for, if the answer is overdue (PUB-004)."""
    replayed: Replayed | None = None
    """What was found out about the linked trajectories: None = nothing yet (15)."""
    platform_at_commit: str | None = None
    """Content identity of the platform's files at the declared commit; None = not looked up."""
    commit_known: bool | None = None
    """Whether the declared commit is in the platform's repository; None = not looked up."""


def gather_runs(reader: Reader, file: Path, submission: Submission, extra_roots: tuple[Path, ...]) -> tuple[RunEvidence, ...]:
    """What stands behind each run. `extra_roots` are checkouts of the dataset repository, searched after contrib/."""
    artifacts, declared = submission.artifacts, declared_texts(submission.model_dump())
    faults: list[Finding] = []
    named = artifacts.dataset_path if artifacts else None
    if named:
        folder = _dataset_folder(reader, named, extra_roots, faults)
    else:
        roots = (reader.lab.contrib, *extra_roots)
        folder = directory_of(reader, roots, submission.dataset, submission.method.name, submission.runs)
    curve_file = folder / "curve.jsonl" if folder else None
    if artifacts and artifacts.curve:
        curve_file = _resolved(reader, artifacts.curve, file, faults)
    meta_file = folder / "run_meta.json" if folder else None
    if artifacts and artifacts.run_meta:
        meta_file = _resolved(reader, artifacts.run_meta, file, faults)
    record = RunRecord(
        meta=_parsed(reader, meta_file, run_record.read_meta, declared, faults),
        curve=_parsed(reader, curve_file, run_record.read_curve, declared, faults) or (),
        origin={"meta": _name(meta_file, "run_meta.json"), "curve": _name(curve_file, "curve.jsonl")},
    )
    runs = (
        _gather_run(reader, file, n, run, record, folder, declared, tuple(replace(fault, run=n) for fault in faults))
        for n, run in enumerate(submission.runs)
    )
    return tuple(_with_files_of_their_own(runs))


def _with_files_of_their_own(runs: Iterable[RunEvidence]) -> Iterator[RunEvidence]:
    """The runs, with SUB-017 where one has the per-task file of a run before it under another spelling."""
    first: dict[str, int] = {}
    for run in runs:
        before = first.setdefault(run.per_task_file, run.index) if run.per_task_file else run.index
        if before != run.index:
            shared = CODES["SUB-017"].finding(
                f"/runs/{run.index}/per_task", run=run.index, n=run.index, fault=f"is the file of runs[{before}] too"
            )
            run = replace(run, faults=(*run.faults, shared))
        yield run


def declared_texts(doc: Any) -> list[str]:
    """What a submission says in fields that may look like an address: `name@version`, the model server's URL."""
    fields = ("task_agent/base_harness", "task_agent/model", "improver/method", "improver/model", "improver/harness")
    texts = [value_at(doc, *name.split("/")) for name in (*fields, "config/endpoint")]
    return [text for text in texts if isinstance(text, str)]


def _gather_run(
    reader: Reader,
    file: Path,
    n: int,
    run: Run,
    record: RunRecord,
    folder: Path | None,
    declared: list[str],
    faults: tuple[Finding, ...],
) -> RunEvidence:
    found: list[Finding] = list(faults)
    scores, path = None, None
    try:
        path = reader.resolve(run.per_task, file.parent)
        if path is None:
            found.append(missing_per_task(n))
        else:
            data = reader.read(path)
            scores, unreadable = read_scores(data, run.per_task, n)
            found += [*unreadable, *exposed(reader, path, data, declared)]
    except Refused as refused:
        found.append(CODES["PTF-001"].finding(f"/runs/{n}/per_task", run=n, name=run.per_task, fault=str(refused)))
    tree = None
    if folder and reader.exists(folder / "harness" / f"round-{run.round}"):
        tree = _tree(reader, folder / "harness" / f"round-{run.round}", run, n, found)
    there = reader.lab.relative(path) if path else None
    return RunEvidence(n, run, scores, record, tree, tuple(found), there, "/".join(folder.parts[-5:]) if folder else None)


def exposed(reader: Reader, file: Path, data: bytes, declared: Collection[str]) -> Iterator[Finding]:
    """PUB-008: what a merged file would publish that has to stay where it came from (10.3, 16.2)."""
    return secrets.in_bytes(data, reader.lab.relative(file), CODES["PUB-008"], declared)


def missing_per_task(n: int) -> Finding:
    """SUB-017 of a per-task file that does not exist."""
    return CODES["SUB-017"].finding(f"/runs/{n}/per_task", run=n, n=n, fault="names a file that is not there")


def _tree(reader: Reader, folder: Path, run: Run, n: int, found: list[Finding]) -> HarnessTree | None:
    name = f"harness/{folder.name}"
    try:
        reader.no_links(folder.parent.parent, name)
        if not folder.is_dir():
            raise Refused([(None, "", "is no folder")])
        reader.folders(folder)
        files = identity.read_tree(folder, identity.algorithm_of(run.harness_sha), reader.blocks)
    except identity.BadTree as bad:
        if bad.code == "ID-004":
            found.append(CODES["ID-004"].finding(run=n, path=f"{name}/{bad.path}"))
        else:
            found.append(CODES["ID-006"].finding(run=n, tree=name, fault=str(bad)))
        return None
    except Refused as refused:
        found.append(CODES["ID-006"].finding(run=n, tree=name, fault=str(refused)))
        return None
    manifest = None
    if (blob := files.get("harness.json")) and blob.data is not None:
        try:
            manifest = run_record.read_meta(blob.data)
        except Refused as refused:
            found.append(CODES["ID-006"].finding(run=n, tree=f"{name}/harness.json", fault=str(refused)))
    return HarnessTree(name, identity.identify(files, run.harness_sha), manifest)


def _dataset_folder(reader: Reader, path: str, extra_roots: tuple[Path, ...], faults: list[Finding]) -> Path | None:
    """The dataset directory that `artifacts.dataset_path` names, below contrib/ or a checkout."""
    if (fault := path_fault(path)) or not path.startswith("Experiments/"):
        faults.append(CODES["ID-006"].finding("/artifacts/dataset_path", tree=path, fault=fault or "is not below Experiments/"))
        return None
    for root in (reader.lab.contrib, *extra_roots):
        if reader.exists(root / path) and (root / path).resolve().is_relative_to(root.resolve()):
            return root / path
    return None


def _resolved(reader: Reader, path: str, file: Path, faults: list[Finding]) -> Path | None:
    try:
        found = reader.resolve(path, file.parent)
    except Refused as refused:
        faults.append(CODES["ID-006"].finding("/artifacts", tree=path, fault=str(refused)))
        return None
    if found is None:
        faults.append(CODES["ID-006"].finding("/artifacts", tree=path, fault="there is no such file"))
    return found


def _parsed(
    reader: Reader, file: Path | None, parse: Callable[[bytes], Any], declared: Collection[str], faults: list[Finding]
) -> Any:
    if file is None:
        return None
    try:
        data = reader.read_if_there(file, MAX_RECORD_BYTES)
        faults += exposed(reader, file, data, declared) if data is not None else ()
        return parse(data) if data is not None else None
    except Refused as refused:
        faults.append(CODES["ID-006"].finding("/artifacts", tree=file.name, fault=str(refused)))
        return None


def _name(file: Path | None, default: str) -> str:
    return file.name if file else default
