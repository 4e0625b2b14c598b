"""One bench-run on its way out: whitelist, redaction, scan, quarantine. It reads local files and returns bytes; writes nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import orjson

from benchpipe.lab import Lab
from benchpipe.publish.money import Estimates
from benchpipe.publish.published import RunLine, read_document
from benchpipe.publish.redact import redact
from benchpipe.publish.scan import Finding, Scan, forbidden_fields
from benchpipe.publish.whitelist import RUN_FIELDS, Filter, published_log, published_record
from benchpipe.registry.records import BenchRun

Json = dict[str, Any]


class Quarantined(msgspec.Struct, frozen=True, kw_only=True):
    """Something that stays home because a scan found something in it: a trial, or (task None) the whole bench-run."""

    benchmark: str
    run: str
    task: str | None
    mode: str | None
    findings: tuple[Finding, ...]

    @property
    def place(self) -> str:
        return " ".join(part for part in (self.benchmark, self.run, self.task, self.mode) if part)

    def __str__(self) -> str:
        found = ", ".join(f"{one.rule} in {one.file}:{one.line} (sha256 {one.sha256})" for one in self.findings)
        return f"{self.place}: {found}"


class StagedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A bench-run as it would be published: files by their path in the snapshot, and what is left out."""

    line: RunLine
    files: Mapping[str, bytes]
    quarantined: tuple[Quarantined, ...] = ()
    redacted: Mapping[str, int] = {}
    """Rule → places."""


class Stage:
    """What staging needs besides the run: built once per command."""

    def __init__(self, lab: Lab, scan: Scan, no_machines: Filter, *, images: str) -> None:
        self._lab = lab
        self._scan = scan
        self._no_machines = no_machines
        self._images = images

    def run(self, bench_run: BenchRun, document: Json, estimates: Estimates) -> StagedRun:
        """Stage the run file `document` (runs-system 8.2) and the logs its records name."""
        benchmark, run = bench_run.benchmark, bench_run.run
        files: dict[str, bytes] = {}
        quarantined: list[Quarantined] = []
        counts: dict[str, int] = {}
        tasks: dict[str, Json] = {}
        for task, mode, record in _records(document):
            public = published_record(record, estimates.get((run, task, mode)), self._no_machines)
            if mode in bench_run.withdrawn or public is None:
                continue
            staged = {f"{benchmark}/{run}/{task}/{slot}.json": log for slot, log in self._logs(bench_run, task, mode, record)}
            name = f"{benchmark}/{run}.json"
            findings, written = self._out({name: {"tasks": {task: {mode: public}}}, **staged}, counts)
            if findings:
                quarantined.append(Quarantined(benchmark=benchmark, run=run, task=task, mode=mode, findings=tuple(findings)))
                continue
            del written[name]
            files |= written
            tasks.setdefault(task, {})[mode] = public
        logs = len(files)
        head = {key: document[key] for key in RUN_FIELDS if key in document}
        findings, written = self._out({f"{benchmark}/{run}.json": {**head, "tasks": tasks}}, counts)
        if findings:
            whole = Quarantined(benchmark=benchmark, run=run, task=None, mode=None, findings=tuple(findings))
            return StagedRun(line=_line(bench_run, {}, 0, document), files={}, quarantined=(*quarantined, whole))
        return StagedRun(
            line=_line(bench_run, tasks, logs, document), files=files | written, quarantined=tuple(quarantined), redacted=counts
        )

    def _logs(self, bench_run: BenchRun, task: str, mode: str, record: Json) -> Iterator[tuple[str, Json]]:
        """Slot and log of the trials that the record names now: a slot's log of an older trial is not one of them."""
        named = {mode: record.get("trial"), f"{mode}-prev": (record.get("supersedes") or {}).get("trial")}
        for slot, trial in named.items():
            folder = self._lab.slot_folder(bench_run.benchmark, bench_run.run, task, slot)
            log = read_document(folder / "log.json") if trial else None
            if log and log.get("trial") == trial:
                yield slot, published_log(log, self._no_machines, images=self._images)

    def _out(self, documents: Mapping[str, Json], counts: dict[str, int]) -> tuple[list[Finding], dict[str, bytes]]:
        """Redact documents and scan the bytes that would be written."""
        findings: list[Finding] = []
        written: dict[str, bytes] = {}
        for name, document in documents.items():
            for rule, places in redact(document, self._scan.finder).items():
                counts[rule] = counts.get(rule, 0) + places
            written[name] = orjson.dumps(document) + b"\n"
            findings += [*self._scan.bytes(name, written[name]), *forbidden_fields(name, document)]
        return findings, written


def _records(document: Json) -> Iterator[tuple[str, str, Json]]:
    for task, modes in (document.get("tasks") or {}).items():
        for mode, record in modes.items():
            yield task, mode, record


def _line(bench_run: BenchRun, tasks: Mapping[str, Any], logs: int, document: Json) -> RunLine:
    return RunLine(
        benchmark=bench_run.benchmark,
        run=bench_run.run,
        tasks=len(tasks),
        logs=logs,
        collected_at=str(document.get("generated_at", "")),
    )
