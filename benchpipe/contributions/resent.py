"""Does a submission send a measurement again that the lab has? Said to its author before it is sent, as the pages say it later."""

import contextlib
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

import msgspec

from benchpipe.contributions.checking import Checked, check_submission
from benchpipe.contributions.door import placed
from benchpipe.contributions.duplicates import twins
from benchpipe.contributions.reading import Reader
from benchpipe.contributions.report import said
from benchpipe.contributions.rows import candidates_of, key_of, taken_off
from benchpipe.contributions.store import read_decisions, submission_files
from benchpipe.contributions.strict_json import Refused, decode
from benchpipe.contributions.trajectories.known import replayed_of
from benchpipe.lab import Lab
from benchpipe.registry.records import Benchmark


def with_duplicates(checked: Checked, path: Path, lab: Lab, benchmarks: Mapping[str, Benchmark], *, today: date) -> Checked:
    """The submission with DUP-001 and DUP-002 among its findings. A copy has no rows, so its verdict is no longer "verified"."""
    rows = candidates_of(checked)
    others = [row for other in _others(checked, lab, benchmarks, today) for row in candidates_of(other)] if rows else []
    doubled = twins([*rows, *others])
    repeats = [(row, doubled[row.key]) for row in rows if row.key in doubled]
    if not repeats:
        return checked
    findings = [twin.finding(f"/runs/{row.index}", row.index) for row, twin in repeats]
    report = checked.report
    return msgspec.structs.replace(
        checked,
        report=msgspec.structs.replace(
            report,
            verdict="unverified" if report.verdict == "verified" and any(twin.copy for _, twin in repeats) else report.verdict,
            findings=(*report.findings, *said(placed(findings, decode(path.read_bytes())), checked.path, ())),
        ),
    )


def _others(checked: Checked, lab: Lab, benchmarks: Mapping[str, Benchmark], today: date) -> Iterator[Checked]:
    """The other submissions of its dataset that measured one of its harnesses; those that were taken off are nobody's first.

    Whatever lies where the file belongs is what it replaces.
    """
    doc = checked.doc or {}
    dataset = doc["dataset"]
    replaced = {checked.path, f"contrib/results/{dataset}/{doc['method']['name']}/{doc['variant']}.json"}
    shas = [run["harness_sha"].encode() for run in doc["runs"] if run["round"]]
    decisions = read_decisions(lab, dataset)
    for file in submission_files(lab, dataset):
        name = lab.relative(file)
        if name in replaced or taken_off(decisions.on("/".join(key_of(name)))):
            continue
        with contextlib.suppress(Refused):
            data = Reader(lab).read(file)
            if any(sha in data for sha in shas):
                yield check_submission(file, lab, benchmarks, today=today, replayed=replayed_of(lab, benchmarks, file, today))
