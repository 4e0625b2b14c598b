"""The gate of submissions on every record of a curve: task set, validity, score (DS-009). The rules are the gate's own."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchpipe.contributions import codes as gate_codes
from benchpipe.contributions.artifacts.codes import CODES
from benchpipe.contributions.artifacts.records import Line, MethodRecord, at
from benchpipe.contributions.decisions import Decisions
from benchpipe.contributions.evidence import Evidence, RunEvidence
from benchpipe.contributions.findings import FAIL, NOT_RUN, REFUSE, Finding
from benchpipe.contributions.gate import score, task_set, validity
from benchpipe.contributions.models import Config, Run, Submission
from benchpipe.contributions.per_task import Scores
from benchpipe.contributions.pools import TaskSet
from benchpipe.contributions.run_record import RunRecord, scores_of
from benchpipe.registry.records import Benchmark


def records(record: MethodRecord, benchmark: Benchmark, pools: Mapping[str, TaskSet]) -> Iterator[Finding]:
    """DS-009 (contradicted), DS-017 (could not be checked) or DS-018 (remark) for every finding of the gate on every record."""
    for line in record.lines:
        evidence = _as_submission(line, benchmark, pools)
        run = evidence.runs[0]
        if len(run.scores.ids if run.scores else ()) != len(line.record["per_task"]):
            message = "an entry of per_task is neither a number nor an object with one."
            said = CODES["DS-009"].finding(code="PTF-001", round=line.round, message=message, hint="Mend it.")
            yield at(said, record.curve_file, line.number)
            continue
        for check in (task_set.findings, validity.findings, score.findings):
            for finding in check(evidence, run):
                if finding.code == "PUB-002":  # SET-001 to SET-003 said it already
                    continue
                effect = gate_codes.CODES[finding.code].effect
                code = "DS-009" if effect in (FAIL, REFUSE) else "DS-017" if effect == NOT_RUN else "DS-018"
                said = CODES[code].finding(code=finding.code, round=line.round, message=finding.message, hint=finding.hint)
                yield at(said, record.curve_file, line.number)


def _as_submission(line: Line, benchmark: Benchmark, pools: Mapping[str, TaskSet]) -> Evidence:
    """One record in the form in which the gate looks at a run. Shapes were checked before; nothing is validated twice."""
    point, config = line.record, line.record["config"]
    run = Run.model_construct(
        run_id=str(point.get("run_id", "")),
        harness_sha=line.sha,
        round=line.round,
        score=point["score"],
        n_tasks=_integer(point.get("n_scored"), len(point["per_task"])),
        n_invalid=point["n_invalid"],
        n_harness_failed=point["n_harness_failed"],
        pool=point["pool"],
        per_task="curve.jsonl",
    )
    study = config.get("study_ids")
    made = Config.model_construct(
        study_ids=study if isinstance(study, str) else "",
        study_ids_sha256=config.get("study_ids_sha256"),
        trials=trials_of(point),
    )
    return Evidence(
        submission=Submission.model_construct(dataset=benchmark.id, config=made, runs=[run]),
        doc={},
        benchmark=benchmark,
        pools=pools,
        decisions=Decisions(),
        runs=(RunEvidence(0, run, Scores(scores_of(point)), RunRecord(curve=(point,)), None),),
    )


def trials_of(point: Mapping[str, Any]) -> int:
    """Trials per task that a record's numbers rest on (absent = one)."""
    return _integer(point.get("n_trials"), _integer(point["config"].get("trials"), 1))


def _integer(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default
