"""In which order tasks stand (runs-system 12.6): sort keys as texts, so that scripts and templates only compare."""

import re
from collections.abc import Sequence

from benchpipe.registry.benchmarks import DIFFICULTIES
from benchpipe.registry.records import Task
from benchpipe.site.data import Trial
from benchpipe.trials.records import ACTIVE, DONE
from benchpipe.trials.view import ViewTask, urgency

CURATION = {"keep": 0, "needs-review": 1, "pending": 1, "drop": 2}
OUTSIDE_RANK = 90


def difficulty_rank(task: Task) -> int:
    """Easy first, unrated last."""
    return DIFFICULTIES.index(task.difficulty)


def default_order(task: Task, seen: ViewTask | None, trials: Sequence[Trial]) -> str:
    """The key of the default order: excluded last; in the run, not in it, removed (without a run: keep, undecided, drop);
    more modes done; more active or stalled; easier; title."""
    if seen is None:
        part = CURATION[task.status]
    else:
        part = 0 if seen.inside else 2 if seen.removed else 1
    done = sum(trial.state in DONE for trial in trials)
    busy = sum(trial.state in (*ACTIVE, "stalled") for trial in trials)
    return f"{int(bool(task.excluded))}{part}{99 - done:02}{99 - busy:02}{difficulty_rank(task)} {natural(task.title)}"


def natural(title: str) -> str:
    """A title as a sort key in which 9 comes before 10."""
    return re.sub(r"\d{1,9}", lambda number: number.group().zfill(9), title.casefold())


def state_rank(seen: ViewTask | None, trials: Sequence[Trial]) -> int:
    """Most urgent state first; tasks outside the run last."""
    if trials:
        return min(urgency(trial.state) for trial in trials)
    return OUTSIDE_RANK + int(bool(seen and seen.removed))


def states_of(seen: ViewTask | None, trials: Sequence[Trial]) -> str:
    """The values of the run-state facet, blank-separated."""
    if trials:
        return " ".join(dict.fromkeys(trial.state for trial in trials))
    return "" if seen is None else "removed" if seen.removed else "outside"
