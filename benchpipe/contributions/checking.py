"""The whole gate on one submission: read, check the file, gather what stands behind it, run every check, report.

`check_submission` is what `benchpipe contrib check`, the assets and the site call, so that a contributor hears the
maintainers' verdict word for word (F2).
"""

import contextlib
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from benchpipe.contributions import file_rules
from benchpipe.contributions.codes import CODES
from benchpipe.contributions.contacts import contacts_of, told, without_contacts
from benchpipe.contributions.decisions import Decisions, overdue, parse_decisions
from benchpipe.contributions.door import document_findings, placed, unreadable
from benchpipe.contributions.evidence import Evidence, Replayed, RunEvidence, declared_texts, exposed, gather_runs, missing_per_task
from benchpipe.contributions.findings import Finding, listed
from benchpipe.contributions.gate import config, publication, score, state, task_set, validity
from benchpipe.contributions.gate.shown import evidence_of
from benchpipe.contributions.models import Submission
from benchpipe.contributions.platform_git import PlatformLook
from benchpipe.contributions.pools import is_binary, task_sets
from benchpipe.contributions.reading import Reader
from benchpipe.contributions.report import Report, RunReport, Said, State, check_states, said, unread, verdict_of, worst
from benchpipe.contributions.stacks import agent_key, stack_key
from benchpipe.contributions.strict_json import Number, Refused, decode
from benchpipe.files import sha256
from benchpipe.lab import Lab
from benchpipe.registry.records import Benchmark

RUN_CHECKS = (task_set.findings, validity.findings, score.findings, state.findings, config.findings, publication.run_findings)
PUBLISH_UNVERIFIED = "x_publish_unverified"
"""The key by which an author asks for an unverified row (14)."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What rows and duplicates need of one run besides the submission: pool, exact score, tasks. Scores are fractions."""

    pool: str | None
    stack_key: str
    agent_key: str
    """Both of the names as they were written; `Checked.doc` has them without contact data."""
    score: str
    by_task: Mapping[str, str]
    replay_level: str | None = None
    dataset_path: str | None = None
    dataset_link: str | None = None

    def fractions(self) -> dict[str, Fraction]:
        """Task → exact score."""
        return {task: Fraction(text) for task, text in self.by_task.items()}


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """One submission after the gate. `doc` is the file as read, its numbers as text where they are no integers, without contact.

    `doc` is None for a file that could not be read as a submission; `measured` is empty for a refused one.
    """

    path: str
    report: Report
    input_sha256: str
    doc: Mapping[str, Any] | None = None
    measured: tuple[Measured, ...] = ()


@cache
def submission_schema() -> dict[str, Any]:
    """The JSON Schema of a submission, as the models declare it."""
    return Submission.model_json_schema()


def check_submission(
    path: Path,
    lab: Lab,
    benchmarks: Mapping[str, Benchmark],
    *,
    today: date,
    reader: Reader | None = None,
    roots: tuple[Path, ...] = (),
    platform: PlatformLook | None = None,
    replayed: Replayed | None = None,
) -> Checked:
    """Every check on one submission file.

    `roots` are checkouts of the dataset repository; `platform` looks a commit up (`--artifacts`); `replayed` is what was
    found out about the linked trajectories. Never raises for what is in the file.
    """
    reader = reader or Reader(lab)
    name = lab.relative(path.absolute())
    try:
        data = reader.read(path)
    except Refused as refused:
        return Checked(path=name, report=unread(name, said([unreadable(*f) for f in refused.faults], name, ())), input_sha256="")
    first = _decisions(reader, lab, path.absolute())
    key = f"{path.parent.name}/{path.stem}"
    doc, findings = document_findings(data, path.absolute().as_posix(), submission_schema(), written=first.on(key).own)
    contacts, exposed_here = contacts_of(doc), list(exposed(reader, path.absolute(), data, declared_texts(doc)))
    dataset = file_rules.field(doc, "dataset")
    benchmark = benchmarks.get(dataset) if isinstance(dataset, str) else None
    if doc is not None and isinstance(dataset, str) and benchmark is None:
        known = listed(name for name, one in benchmarks.items() if one.pools) or "none"
        findings.append(CODES["SET-009"].finding("/dataset", dataset=dataset, known=known))
    if benchmark and not is_binary(benchmark):
        findings = [finding for finding in findings if finding.code != "SUB-018"]
    if benchmark is None or any(finding.severity == "error" for finding in findings):
        findings += [*exposed_here, *_unresolved(reader, path.absolute(), doc)]
        findings = placed(findings, decode(data)) if doc is not None else findings
        return Checked(path=name, report=unread(name, said(findings, name, contacts)), input_sha256=sha256(data))
    submission = Submission.model_validate(doc)
    pools = task_sets(benchmark, lambda file: reader.read_if_there(lab.root / file))
    decided = first.on(f"{submission.method.name}/{submission.variant}")
    evidence = Evidence(
        submission=submission,
        doc=doc,
        benchmark=benchmark,
        pools=pools,
        decisions=first,
        runs=gather_runs(reader, path.absolute(), submission, roots),
        trajectories_overdue=overdue(decided, today),
        replayed=replayed,
        commit_known=platform.known(submission.platform.commit) if platform else None,
        platform_at_commit=platform.content_sha(benchmark, submission.platform) if platform else None,
    )
    entries = said(placed([*findings, *exposed_here, *judge(evidence)], decode(data)), name, ())
    report = report_of(name, evidence, entries)
    return Checked(
        path=name,
        report=report,
        input_sha256=sha256(data),
        doc=public_doc(doc),
        measured=tuple(_measured(evidence, run) for run in evidence.runs) if report.verdict != "refused" else (),
    )


def _unresolved(reader: Reader, path: Path, doc: Any) -> list[Finding]:
    """SUB-017 for per-task files that are not there, said even when the rest of the file has to be mended first."""
    findings = []
    for n, run in file_rules.runs_of(doc):
        per_task = run.get("per_task")
        if isinstance(per_task, str) and not file_rules.path_fault(per_task):
            with contextlib.suppress(Refused):
                if reader.resolve(per_task, path.parent) is None:
                    findings.append(missing_per_task(n))
    return findings


def _decisions(reader: Reader, lab: Lab, path: Path) -> Decisions:
    """The decisions of the dataset whose folder the file lies in."""
    dataset = path.parent.parent.name
    if path.parent.parent.parent != lab.contrib_results.absolute():
        return Decisions()
    file = lab.state_contrib / f"{dataset}.yml"
    return parse_decisions(reader.read_if_there(file), lab.relative(file))


def judge(evidence: Evidence) -> list[Finding]:
    """Findings of every check on every run. Pure."""
    found = [finding for run in evidence.runs for finding in run.faults]
    found += [finding for run in evidence.runs for check in RUN_CHECKS for finding in check(evidence, run)]
    return [*found, *publication.file_findings(evidence)]


def report_of(name: str, evidence: Evidence, entries: tuple[Said, ...]) -> Report:
    """The report from all findings. Pure."""
    applies = {"trajectories": evidence.submission.trajectories is not None}
    runs = tuple(
        RunReport(
            run_id=without_contacts(run.run.run_id),
            round=run.run.round,
            checks=_run_states(entries, run, applies),
            evidence={check: told(text, ()) for check, text in evidence_of(evidence, run).items()},
        )
        for run in evidence.runs
    )
    checks = {check: worst([run.checks[check] for run in runs]) for check in runs[0].checks}
    return Report(file=name, verdict=verdict_of(checks, entries), checks=checks, runs=runs, findings=entries)


def _run_states(entries: tuple[Said, ...], run: RunEvidence, applies: Mapping[str, bool]) -> dict[str, State]:
    """A run without readable scores has nothing that its numbers could be checked on."""
    states = check_states(entries, run=run.index, applies=applies)
    if run.scores is None:
        for check in ("task_set", "validity", "score"):
            states[check] = "not_run" if states[check] == "passed" else states[check]
    return states


def _measured(evidence: Evidence, run: RunEvidence) -> Measured:
    pool = task_set.pool_of(evidence, run)
    agent = evidence.submission.task_agent
    return Measured(
        pool=pool.id if pool else None,
        stack_key=stack_key(evidence.submission.dataset, pool.id if pool else "", agent.base_harness, agent.model, agent.decoding),
        agent_key=agent_key(f"{agent.model}_{agent.base_harness.partition('@')[0]}"),
        score=str(run.scores.mean if run.scores else Fraction(run.run.score)),
        by_task={task: str(score) for task, score in run.scores.shown.items()} if run.scores else {},
        replay_level=evidence.replayed.level if evidence.replayed else None,
        dataset_path=run.dataset_path,
        dataset_link=_dataset_link(evidence, run.dataset_path),
    )


def _dataset_link(evidence: Evidence, path: str | None) -> str | None:
    """Address of a dataset directory, where the benchmark's file says which repository holds them (`experiments: https://…`)."""
    base, artifacts = evidence.benchmark.raw.get("experiments"), evidence.submission.artifacts
    if path is None or not isinstance(base, str) or not base.startswith("https://"):
        return None
    return f"{base.rstrip('/')}/tree/{(artifacts and artifacts.dataset_revision) or 'main'}/{path}"


def public_doc(value: Any) -> Any:
    """A sound submission as pages and rows may use it: no addresses in any text, numbers as literals, of the `x_` keys only
    the one that asks for something. Its own contact keys are empty (SUB-021)."""
    if isinstance(value, dict):
        return {key: public_doc(item) for key, item in value.items() if not key.startswith("x_") or key == PUBLISH_UNVERIFIED}
    if isinstance(value, list):
        return [public_doc(item) for item in value]
    if isinstance(value, Number):
        return value.literal
    return without_contacts(value) if isinstance(value, str) else value
