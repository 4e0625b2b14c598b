"""Does what is declared match what the run recorded? (contributions 12)"""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from benchpipe.contributions.codes import CODES
from benchpipe.contributions.evidence import Evidence, RunEvidence
from benchpipe.contributions.findings import Finding, short
from benchpipe.contributions.pools import list_sha256, study_set
from benchpipe.contributions.run_record import RunRecord, identity_of, plain

_THRESHOLD = re.compile(r"(below|above)_([0-9]*\.?[0-9]+)")


def findings(evidence: Evidence, run: RunEvidence) -> Iterator[Finding]:
    """CFG-001 to CFG-011 of one run: each compared item is equal, contradicted, or not recorded."""
    config, record, n = evidence.submission.config, run.record, run.index
    if record.meta is None and not record.curve:
        yield CODES["CFG-010"].finding("/config", run=n, item="the configuration")
        return
    point = record.point(run.run.round)
    model = identity_of(point, "agent_model") or record.recorded("agent_model", "model")
    compared: list[tuple[str, str, Any, Any, bool]] = [
        ("CFG-001", "trials", config.trials, record.recorded("trials"), False),
        ("CFG-003", "sampling", normal(config.sampling), normal(record.recorded("sampling_policy", "sampling")), False),
        ("CFG-004", "model", config.model, model, False),
        ("CFG-005", "temperature", config.temperature, record.recorded("temperature"), record.says("temperature")),
        ("CFG-006", "rounds", config.rounds, record.recorded("rounds"), False),
    ]
    for code, item, declared, recorded, null_counts in compared:
        if recorded is None and not null_counts:
            yield CODES["CFG-010"].finding(f"/config/{item}", run=n, item=item)
        elif not same(declared, recorded):
            yield CODES[code].finding(f"/config/{item}", run=n, a=shown(declared), b=shown(recorded))
    on_point = point.get("n_trials", 1) if point else None
    if isinstance(on_point, int) and on_point != config.trials and same(config.trials, record.recorded("trials")):
        yield CODES["CFG-001"].finding("/config/trials", run=n, a=config.trials, b=f"{on_point} in round {run.run.round}")
    yield from _study_ids(evidence, record, n)
    seed = record.recorded("seed")
    if seed is not None and config.seed is not None and str(seed) != str(config.seed):
        yield CODES["CFG-007"].finding("/config/seed", run=n, a=config.seed, b=plain(seed))


def _study_ids(evidence: Evidence, record: RunRecord, n: int) -> Iterator[Finding]:
    """Same file name and, where both are known, same id-set hash; a registered study pool knows the hash too."""
    config, recorded = evidence.submission.config, record.recorded("study_ids")
    if not isinstance(recorded, str):
        yield CODES["CFG-010"].finding("/config/study_ids", run=n, item="study_ids")
        return
    if PurePath(recorded).name != PurePath(config.study_ids).name:
        yield CODES["CFG-002"].finding("/config/study_ids", run=n, a=config.study_ids, b=PurePath(recorded).name)
        return
    pool = study_set(evidence.pools, config.study_ids, config.study_ids_sha256)
    registered = list_sha256(pool.ids) if pool and pool.ids else None
    theirs = record.recorded("study_ids_sha256")
    declared = config.study_ids_sha256 or registered
    if declared and isinstance(theirs, str) and theirs != declared:
        yield CODES["CFG-002"].finding("/config/study_ids_sha256", run=n, a=short(declared), b=short(theirs))
    elif not (declared and theirs):
        yield CODES["CFG-011"].finding("/config/study_ids", run=n)


def normal(sampling: Any) -> Any:
    """A sampling policy with its number in one form: below_.5 and below_0.50 are below_0.5."""
    match = _THRESHOLD.fullmatch(sampling) if isinstance(sampling, str) else None
    return f"{match[1]}_{float(match[2]):g}" if match else sampling


def same(a: Any, b: Any) -> bool:
    """Equal as values of one kind; true is no number."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | Decimal) and isinstance(b, int | Decimal):
        return Decimal(a) == Decimal(b)
    return type(a) is type(b) and a == b


def shown(value: Any) -> str:
    """A value as a message names it."""
    return "null" if value is None else value if isinstance(value, str) else str(value)
