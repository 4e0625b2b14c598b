"""What the gate may know of a submission's trajectories: looks at its trail, asks nobody."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from benchpipe.contributions.checking import check_submission
from benchpipe.contributions.evidence import Replayed
from benchpipe.contributions.trajectories.adapters import wanted_by
from benchpipe.contributions.trajectories.declared import Declared, declared_by
from benchpipe.contributions.trajectories.trail import load_trail, trail_file
from benchpipe.errors import UsageError
from benchpipe.lab import Lab
from benchpipe.registry.records import Benchmark

Benchmarks = Mapping[str, Benchmark]


def declared_of(lab: Lab, benchmarks: Benchmarks, file: Path, today: date) -> Declared | None:
    """The trajectories that a submission's file links; None if it links none, or is refused."""
    benchmark = benchmarks.get(file.parent.parent.name)
    if benchmark is None:
        return None
    return declared_by(check_submission(file, lab, benchmarks, today=today), wanted_by(benchmark, lab))


def replayed_of(lab: Lab, benchmarks: Benchmarks, file: Path, today: date) -> Replayed | None:
    """What was found out about a submission's trajectories; None while nothing is.

    A replay speaks for exactly the scores and the archive that it was made with: a trail of another input says nothing.
    """
    if not file.is_relative_to(lab.contrib_results):
        return None
    try:
        trail = load_trail(trail_file(lab, lab.relative(file)))
    except UsageError:
        return Replayed(False, code="TRJ-000")
    if trail is None:
        return None
    declared = declared_of(lab, benchmarks, file, today)
    return trail.finding() if declared and declared.input == trail.input else None
