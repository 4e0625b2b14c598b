"""Every mechanical check on a directory of the dataset repository, at any level below `Experiments/` (contributions 17.7).

`check_directory` is what `benchpipe contrib dataset` and the assets call. Trees are held two at a time, archives and
texts stream; nothing contributed is executed or unpacked.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchpipe.contributions.artifacts import agreement, coverage, gate, layout, secrets, states, tasks
from benchpipe.contributions.artifacts.codes import CHECKS, CODES
from benchpipe.contributions.artifacts.layout import ROOT, Scope, scope_of
from benchpipe.contributions.artifacts.records import MethodRecord, at, gather, read_small, unusable
from benchpipe.contributions.contacts import told
from benchpipe.contributions.findings import FAIL, NOT_RUN, Finding
from benchpipe.contributions.pools import TaskSet, task_sets
from benchpipe.contributions.report import MARKS, State, Verdict, worst
from benchpipe.contributions.strict_json import Refused
from benchpipe.contributions.trajectories.adapters import Wanted, wanted_by
from benchpipe.lab import Lab
from benchpipe.registry.records import Benchmark

Progress = Callable[[str], None]
"""Told in words what is being looked at."""


class Told(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """One finding as the report keeps it. `file` is a path in the dataset repository."""

    file: str
    line: int | None
    code: str
    severity: Literal["error", "warning"]
    message: str
    pointer: str = ""
    hint: str = ""


class MethodReport(msgspec.Struct, frozen=True, kw_only=True):
    """The checks of one method directory. `round` is its last one."""

    path: str
    run_id: str
    round: int | None
    checks: Mapping[str, State]


class DirectoryReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks say about a directory: verified (all passed), unverified (some could not run), refused (some failed)."""

    path: str
    verdict: Verdict
    checks: Mapping[str, State]
    runs: tuple[MethodReport, ...] = ()
    findings: tuple[Told, ...] = ()


def check_directory(
    path: Path, lab: Lab, benchmarks: Mapping[str, Benchmark], on_progress: Progress = lambda text: None
) -> DirectoryReport:
    """The report on `Experiments/` or any directory below it. UsageError if the path is none; never raises for what is in it.

    `benchmarks` are the registered ones, whose pools the gate compares with.
    """
    scope = scope_of(path)
    findings = [at(CODES["DS-007"].finding(fault=fault), place) for place, fault in layout.strays(scope)]
    methods = scope.methods()
    for benchmark in sorted({place.benchmark for place in methods}):
        on_progress(f"{ROOT}/{benchmark}: coverage")
        findings += _coverage(scope, benchmark)
    records = []
    for place in methods:
        record, found = gather(place)
        records.append(record)
        findings += found
        findings += _method(record, lab, benchmarks.get(place.benchmark), on_progress)
    findings_told = tuple(sorted({_told(finding) for finding in findings}, key=lambda t: (t.file, t.line or 0, t.code, t.message)))
    runs = tuple(_method_report(record, findings_told) for record in records)
    checks = {check: worst([_state(check, findings_told), *(run.checks[check] for run in runs)]) for check in CHECKS}
    checks = checks if runs else _undecided(checks, _OF_RECORDS)
    name = "/".join((ROOT, *scope.parts))
    return DirectoryReport(path=name, verdict=_verdict(checks), checks=checks, runs=runs, findings=findings_told)


def _coverage(scope: Scope, benchmark: str) -> list[Finding]:
    file = scope.root / benchmark / "coverage.json"
    try:
        return list(coverage.check(scope, benchmark, read_small(file)))
    except Refused as refused:
        return [unusable(f"{ROOT}/{benchmark}/coverage.json", str(refused))]


def _method(record: MethodRecord, lab: Lab, benchmark: Benchmark | None, on_progress: Progress) -> list[Finding]:
    """Findings of every check on one method directory."""
    place = record.place
    found = [
        *agreement.names(record, layout.folders(place.family_folder)),
        *agreement.agents(record),
        *agreement.baseline(record, len(layout.folders(place.agent_folder))),
        *agreement.started(record),
    ]
    pools: Mapping[str, TaskSet] = {}
    wanted = Wanted("L1", None)
    if benchmark is None:
        found.append(at(CODES["DS-007"].finding(fault=f"SET-009 no benchmark {place.benchmark} is registered here"), place.name))
    else:
        pools = task_sets(benchmark, lambda file: read_small(lab.root / file))
        found += gate.records(record, benchmark, pools)
        wanted = wanted_by(benchmark, lab)
    for state, of_state in states.states(record):
        on_progress(f"{place.name}: round {state.line.round}")
        found += of_state
    for line in record.lines:
        on_progress(f"{place.name}: tasks of round {line.round}")
        found += tasks.archive(record, line, pools, wanted)
    found += _unrecorded(record)
    on_progress(f"{place.name}: secrets")
    with contextlib.suppress(layout.TooDeep):  # DS-007 says it
        found += secrets.in_texts(place.folder, place.name)
    for manifest in (place.agent_folder / "task_agent.json", place.family_folder / "family.json"):
        if manifest.is_file():
            found += secrets.in_file(manifest, f"{ROOT}/{manifest.relative_to(place.root).as_posix()}")
    return found


def _unrecorded(record: MethodRecord) -> list[Finding]:
    """Files of rounds that the curve does not know."""
    known = {line.round for line in record.lines}
    name = record.place.name
    return [
        at(
            CODES["DS-007"].finding(fault=f"{name} holds files of round {n}, curve.jsonl has no usable record of it"),
            name,
        )
        for n in record.place.rounds()
        if known and n not in known
    ]


def _told(finding: Finding) -> Told:
    severity: Literal["error", "warning"] = "error" if finding.severity == "error" else "warning"
    return Told(
        file=_printable(finding.file),
        line=finding.line,
        code=finding.code,
        severity=severity,
        message=_printable(finding.message),
        hint=finding.hint,
    )


def _printable(text: str) -> str:
    """A stranger's text as it may be shown: file names may hold any byte."""
    return told(text.encode("utf-8", "backslashreplace").decode(), ())


def _state(check: str, told: Sequence[Told]) -> State:
    """State of a check from findings."""
    effects = {CODES[one.code].effect for one in told if CODES[one.code].check == check}
    return "failed" if FAIL in effects else "not_run" if NOT_RUN in effects else "passed"


def _concerns(file: str, name: str) -> bool:
    """A finding concerns a method if it is on a file of it, or on one in a directory above it."""
    return file == name or file.startswith(f"{name}/") or name.startswith(f"{file.rpartition('/')[0]}/")


_OF_MANIFESTS = ("agents", "baseline")
_OF_RECORDS = (*_OF_MANIFESTS, "identity", "patches", "tasks", "gate", "manifest")


def _undecided(checks: Mapping[str, State], names: Sequence[str]) -> dict[str, State]:
    """Checks that had nothing to look at are not run, whatever was (not) found."""
    return {check: "not_run" if check in names and state == "passed" else state for check, state in checks.items()}


def _method_report(record: MethodRecord, told: Sequence[Told]) -> MethodReport:
    last = record.lines[-1] if record.lines else None
    mine = [one for one in told if _concerns(one.file, record.place.name)]
    checks: Mapping[str, State] = {check: _state(check, mine) for check in CHECKS}
    if last is None:
        checks = _undecided(checks, _OF_RECORDS)
    elif record.agent is None or record.family is None:
        checks = _undecided(checks, _OF_MANIFESTS)
    return MethodReport(
        path=record.place.name,
        run_id=str(last.record.get("run_id", "")) if last else "",
        round=last.round if last else None,
        checks=checks,
    )


def _verdict(checks: Mapping[str, State]) -> Verdict:
    states_ = set(checks.values())
    return "refused" if "failed" in states_ else "unverified" if "not_run" in states_ else "verified"


def as_json(report: DirectoryReport) -> dict[str, Any]:
    """The report as `benchpipe contrib dataset --json` prints it."""
    value: dict[str, Any] = msgspec.to_builtins(report)
    return value


def as_text(report: DirectoryReport) -> str:
    """The report for a terminal: a line per check, a line per finding, the verdict last."""
    lines = [f"{check:<9} {MARKS[state]}" for check, state in report.checks.items()]
    for one in report.findings:
        where = f"{one.file}:{one.line}" if one.line else one.file
        lines.append(f"{one.severity.upper()} {one.code} {where}  {one.message} {one.hint}".rstrip())
    n_errors = sum(one.severity == "error" for one in report.findings)
    n_methods = len(report.runs)
    lines.append(
        f"{report.path}: {report.verdict}; {n_methods} method director{'y' if n_methods == 1 else 'ies'}, "
        f"{n_errors} error(s), {len(report.findings) - n_errors} warning(s)"
    )
    return "\n".join(lines)
