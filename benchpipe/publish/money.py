"""The estimates that are published with the records (decision E5), from a benchmark's `costs.json`. It prices nothing."""

from collections.abc import Mapping
from typing import Any

from benchpipe.lab import Lab
from benchpipe.publish.published import read_document

Estimates = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""(run, task, mode) → the published estimate of its record: `usd`, `n_priced` of `n_requests`, `price` and its `as_of`."""

FIELDS = ("usd", "n_priced", "n_requests", "price", "as_of", "flat")


def estimates(lab: Lab, benchmark: str) -> Estimates:
    """The estimates of a benchmark's records; none where it has no readable `costs.json`."""
    costs = read_document(lab.costs_file(benchmark)) or {}
    return {
        (run, task, mode): {field: trial["estimate"].get(field) for field in FIELDS}
        for run, tasks in (costs.get("runs") or {}).items()
        for task, modes in tasks.items()
        for mode, trial in modes.items()
        if isinstance(trial, dict) and isinstance(trial.get("estimate"), dict)
    }
