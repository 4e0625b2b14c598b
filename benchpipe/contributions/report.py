"""A submission's report: checks, verdict, findings; as JSON for machines and as text for a terminal (F3, F4, commands.md).

Pure. Every text of a report went through `contacts.told` when it was made, so whatever prints it can't leak one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from benchpipe.contributions.codes import CHECKS, CODES
from benchpipe.contributions.contacts import told
from benchpipe.contributions.findings import FAIL, NOT_RUN, REFUSE, Finding

State = Literal["passed", "failed", "not_run", "not_applicable"]
Verdict = Literal["verified", "unverified", "refused"]
_WORST: tuple[State, ...] = ("failed", "not_run", "passed", "not_applicable")
MARKS: Mapping[str, str] = {
    "passed": "✓ passed",
    "failed": "✗ failed",
    "not_run": "○ not run",
    "not_applicable": "– not applicable",
}
"""State → how people see it."""
WORDS: Mapping[str, str] = {
    "schema": "Schema",
    "task_set": "Task set",
    "validity": "Validity",
    "score": "Score",
    "state": "State",
    "config": "Config",
    "trajectories": "Trajectories",
}
"""Check → its name for people."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One finding as a report keeps it."""

    code: str
    severity: Literal["error", "warning"]
    message: str
    file: str
    pointer: str
    hint: str
    line: int | None = None
    run: int | None = None

    @property
    def check(self) -> str:
        """The check it belongs to; empty for remarks on the reference and on duplicates."""
        return CODES[self.code].check


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """The checks of one run of the file. `evidence`: check → what was compared with what."""

    run_id: str
    round: int
    checks: Mapping[str, State]
    evidence: Mapping[str, str] = {}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate says about one submission file."""

    file: str
    verdict: Verdict
    checks: Mapping[str, State]
    runs: tuple[RunReport, ...] = ()
    findings: tuple[Said, ...] = ()

    @property
    def reasons(self) -> list[Said]:
        """Why it is not verified: everything that refuses, fails or leaves undecided."""
        return [said for said in self.findings if CODES[said.code].effect in (REFUSE, FAIL, NOT_RUN) and said.check]


def said(findings: Iterable[Finding], file: str, contacts: Iterable[str]) -> tuple[Said, ...]:
    """Findings as a report keeps them: sorted by file, place and code, each once, without contact data."""
    kept = {}
    for finding in findings:
        where = finding.file or file
        entry = Said(
            code=finding.code,
            severity="error" if finding.severity == "error" else "warning",
            message=told(finding.message, contacts),
            file=told(where, contacts),
            pointer=told(finding.pointer, contacts),
            hint=told(finding.hint, contacts),
            line=finding.line,
            run=finding.run,
        )
        kept[(entry.file, entry.line or 0, entry.pointer, entry.code, entry.message, entry.run or 0)] = entry
    return tuple(kept[key] for key in sorted(kept))


def check_states(findings: Sequence[Said], *, run: int | None, applies: Mapping[str, bool]) -> dict[str, State]:
    """State of every check from its findings; those of `run` and those of the whole file. `applies`: False = not applicable."""
    states: dict[str, State] = {}
    for check in CHECKS:
        effects = {CODES[s.code].effect for s in findings if s.check == check and s.run in (None, run)}
        if effects & {REFUSE, FAIL}:
            states[check] = "failed"
        elif NOT_RUN in effects:
            states[check] = "not_run"
        else:
            states[check] = "passed" if applies.get(check, True) else "not_applicable"
    return states


def worst(states: Iterable[State]) -> State:
    """The state of a file's check: that of its worst run (F3)."""
    return min(states, key=_WORST.index)


def verdict_of(checks: Mapping[str, State], findings: Iterable[Said]) -> Verdict:
    """F4: refused if anything refuses; verified if every check passed or does not apply; else unverified."""
    if any(CODES[entry.code].effect == REFUSE for entry in findings):
        return "refused"
    return "verified" if all(state in ("passed", "not_applicable") for state in checks.values()) else "unverified"


def unread(file: str, findings: tuple[Said, ...]) -> Report:
    """The report of a file that can't be looked into further than its schema."""
    checks: dict[str, State] = dict.fromkeys(CHECKS, "not_run")
    checks["schema"] = "failed"
    return Report(file=file, verdict="refused", checks=checks, findings=findings)


def as_json(report: Report) -> dict[str, Any]:
    """The report as `benchpipe contrib check --json` prints it."""
    return msgspec.to_builtins(report)


def as_text(report: Report) -> str:
    """The report for a terminal: a line per check, a line per finding, the verdict last."""
    lines = [f"{WORDS[check]:<13} {MARKS[state]}" for check, state in report.checks.items()]
    for entry in once(report.findings):
        where = f"{entry.file}:{entry.line}" if entry.line else entry.file
        lines.append(f"{entry.severity.upper()} {entry.code} {where} {entry.pointer}  {entry.message} {entry.hint}".rstrip())
    n_errors = sum(entry.severity == "error" for entry in once(report.findings))
    lines.append(f"{report.file}: {report.verdict}; {n_errors} error(s), {len(once(report.findings)) - n_errors} warning(s)")
    return "\n".join(lines)


def once(findings: Iterable[Said]) -> list[Said]:
    """Findings without those that say the same of another run of the file."""
    return list({(entry.code, entry.file, entry.pointer, entry.message): entry for entry in findings}.values())
