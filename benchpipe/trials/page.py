"""The text of `docs/states.md`: what the states mean and by which rules they come about, its tables made from the code."""

from collections.abc import Iterable

from benchpipe.trials.exceptions import GROUPS, SPOILING
from benchpipe.trials.records import ACTIVE, DONE, URGENCY
from benchpipe.trials.states import ROWS
from benchpipe.trials.store import ALWAYS, SIGNATURE, SOMETIMES
from benchpipe.trials.why import OBVIOUS

LEFT_OUT_WORDS = {
    "stopped": "ended or prevented by the operators (`stopped` in `state/runs/`)",
    "uncounted": "the trial ran and must not count (`not_counted`)",
    "withdrawn": "every result of the mode was taken off (`withdrawn`)",
}

TEXT = """\
# States of a trial

For readers of the pages and for scripts that poll `data/runs/status.json`. This page is written by `benchpipe docs`;
`benchpipe explain BENCHMARK RUN TASK MODE` says the same about one trial.

## What each state means

{states}

*Active* are {active}; *done* are {done}. A rate is success out of done. `n` counts trials that have begun and are
not left out; `stopped`, `uncounted` and `withdrawn` are in no number.

The last five are never stored: pages work them out from `state/runs/<benchmark>.yml`, in the order withdrawn, not run,
stopped, not counted. Whoever sorts by state puts the most urgent first, which is the order of this table.

## From the files of a trial to its state

The first row that holds decides. A runner lives while a process on the host names the job; silence alone is never death.

{rows}

A verdict is `success` of at least 1 where the reward has that key, else `reward` of at least 1, unless the benchmark says
`verdict: {{key: …, at_least: …}}`. The reward is the first that exists of: `verifier_regrade/reward.json`, the rewards
in `result.json`, and, once there is a result, `verifier/reward.json` and `verifier/reward.txt`. An empty or cut
`result.json` counts as none; while the runner lives it is taken for one that is being written, and the record stays
as it was.

## Which exceptions spoil a reward

{exceptions}

Since Harbor 0.25 a result says so itself: `reward_valid: false` beside a reward spoils it whatever the exception is called.
A spoiled reward is kept, with `reward_counts: false`.

## Which attempt a record shows

1. The newest batch that has the job. In it the first trial that began, passing over trials without an outcome of their
   own (unreadable, stalled, cancelled) when a later one exists.
2. With `rerun_all`, a trial of an older batch that is over reads `queued` with `rerun: true`; one that is still at work
   finishes as history.
3. The same job on two hosts: more trials win, then the later activity, then a host that answered, then the first host.
   A trial that copies or links show again is one attempt.
4. A host that is down, was not asked or is no longer listed keeps its records as they were, with `stale: true` and
   `stale_reason`. A record never falls back to `queued` because a machine is silent.
5. With a trace of the run anywhere (a batch log or a job directory), a task that has not begun reads `queued`. Without
   any, nothing is written.

`supersedes` is a digest of the attempt before. `attempts` is the whole chain, oldest first, over all batches, with each
attempt's tokens and bill; what a retry deleted from its host stays in it.

## Fields of a record

Every record has `state`. One that isn't queued always has {always}, null where unknown.

Only where they say something there are {sometimes}.

A poll writes a run file at once when one of {signature} or a host's `ok` changed; other details when the file is
older than `--detail-every`.

`history.jsonl` beside the run files gets one line for each change: `at`, `run`, `task`, `mode`, `from`, `to`, `trial`.

## For scripts

```python
import json

status = json.load(open("data/runs/status.json"))
for benchmark, one in status["benchmarks"].items():
    for task, modes in one["tasks"].items():
        for mode, record in modes.items():
            print(benchmark, task, mode, record["state"], record.get("trial"))
for host, answer in status["hosts"].items():
    print(host, "answers" if answer["ok"] else answer["error"])
```

A host's `at` is the time of the answer that these records come from. Nothing is written while nothing changes, so an old `at`
beside `ok: true` means that the host had nothing new to say; a host that falls silent is told at once.
"""


def states_page() -> str:
    """The whole page."""
    return TEXT.format(
        states=_table(("state", "meaning"), ((f"`{state}`", (OBVIOUS | LEFT_OUT_WORDS)[state]) for state in URGENCY)),
        rows=_table(("state", "when"), ((f"`{row.state}`", row.when) for row in ROWS)),
        exceptions=_table(
            ("group", "the reward", "exceptions"),
            ((group, "does not count" if group in SPOILING else "counts", _list(names)) for group, names in GROUPS.items()),
        ),
        active=_list(ACTIVE),
        done=_list(DONE),
        always=_list(ALWAYS),
        sometimes=_list(SOMETIMES),
        signature=_list(SIGNATURE),
    )


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
