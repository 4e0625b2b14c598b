"""What people see of a bench-run: view states and the pages of its trials (runs-system 7.2 and 10.1). Computed, never stored.

Pages, totals and the publisher read records through here, so that curation means the same everywhere.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec

from benchpipe.registry.records import BenchRun, Remark, Task
from benchpipe.trials.build import attempt_of
from benchpipe.trials.records import DONE, URGENCY, Attempt, Record, RunFile

LEFT_OUT = ("stopped", "uncounted", "withdrawn")
"""In no count, rate, mean, time, token or cost (7.2, C7)."""
NOT_BEGUN = ("queued", "notrun", "nodata")
QUEUED = Record(state="queued")


class SlotPage(msgspec.Struct, frozen=True, kw_only=True):
    """A log page's address and whose log it is (10.1)."""

    slot: str
    """`<mode>`, or `<mode>-prev` for the attempt that was replaced."""
    mode: str
    previous: bool
    attempt: Attempt


class ViewRecord(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One task in one mode as it is shown."""

    task: str
    mode: str
    state: str
    record: Record
    """As stored; a bare queued one where nothing is."""
    state_was: str | None = None
    """The state under a withdrawn, stopped or uncounted one."""
    withdrawn: str | None = None
    withdrawn_note: str | None = None
    stopped: str | None = None
    uncounted: str | None = None
    note: str | None = None
    supersedes_followup: str | None = None
    """What was arranged for the attempt that this one replaced."""

    @property
    def counts(self) -> bool:
        """One of `n`: it has begun and isn't left out (C7)."""
        return self.state not in (*LEFT_OUT, *NOT_BEGUN)

    @property
    def done(self) -> bool:
        return self.state in DONE

    @cached_property
    def pages(self) -> tuple[SlotPage, ...]:
        """Its log pages. A queued rerun has no trial of its own: the replaced attempt's page stays at `<mode>`."""
        return slot_pages(self.mode, self.record)


class ViewTask(msgspec.Struct, frozen=True, kw_only=True):
    """One task of the benchmark or of the run."""

    task: str
    inside: bool
    """Part of this run."""
    removed: bool = False
    reason: str | None = None
    """Why it is not part of the run."""
    known: bool = True
    """False: the run names a task that the benchmark doesn't have; no total counts it (9.4)."""
    excluded: str | None = None
    """Why the task isn't part of the final benchmark."""
    records: Mapping[str, ViewRecord] = {}
    """By mode, in the run's order; empty outside the run."""


class View(msgspec.Struct, frozen=True, kw_only=True):
    """A bench-run as it is shown. `tasks`: the benchmark's in its order, then the run's unknown ones."""

    benchmark: str
    run: str
    has_data: bool
    tasks: Mapping[str, ViewTask]

    def records(self, scope: str = "bench") -> Iterator[ViewRecord]:
        """Records of the known tasks of a scope (9.4): `bench` without excluded tasks, `excluded` only those, `all` both."""
        for task in self.tasks.values():
            if task.known and (scope == "all" or bool(task.excluded) == (scope == "excluded")):
                yield from task.records.values()


def urgency(state: str) -> int:
    """Sort key: the most urgent state first (7.2)."""
    return URGENCY.index(state)


def view(bench_run: BenchRun, run_file: RunFile | None, tasks: Mapping[str, Task]) -> View:
    """Every task of the benchmark as this bench-run shows it. `run_file` None: nothing was collected or published."""
    unknown = [task for task in bench_run.tasks if task not in tasks]
    return View(
        benchmark=bench_run.benchmark,
        run=bench_run.run,
        has_data=run_file is not None,
        tasks={task: _task(bench_run, run_file, task, tasks.get(task)) for task in (*tasks, *unknown)},
    )


def _task(bench_run: BenchRun, run_file: RunFile | None, task: str, info: Task | None) -> ViewTask:
    known, excluded = info is not None, info.excluded if info else None
    if task not in bench_run.tasks:
        return ViewTask(
            task=task,
            inside=False,
            removed=task in bench_run.removed,
            reason=bench_run.removed.get(task) or bench_run.others or "not in this run",
            known=known,
            excluded=excluded,
        )
    records = {}
    for mode in bench_run.modes:
        stored = run_file.tasks.get(task, {}).get(mode, QUEUED) if run_file else None
        records[mode] = view_record(bench_run, task, mode, stored)
    return ViewTask(task=task, inside=True, known=known, excluded=excluded, records=records)


def view_record(bench_run: BenchRun, task: str, mode: str, record: Record | None) -> ViewRecord:
    """The rules of 7.2 in their order. `record` None: the bench-run has no data at all."""
    if record is None:
        return ViewRecord(task=task, mode=mode, state="nodata", record=QUEUED)
    withdrawal = bench_run.withdrawn.get(mode)
    if withdrawal:
        return ViewRecord(
            task=task, mode=mode, state="withdrawn", record=record, state_was=record.state,
            withdrawn=withdrawal.label, withdrawn_note=withdrawal.note,
        )  # fmt: skip
    state = "notrun" if bench_run.closed and record.state == "queued" else record.state
    stopped = next((remark for remark in bench_run.stopped if (remark.task, remark.mode) == (task, mode)), None)
    uncounted = None if stopped else _remark(bench_run.not_counted, task, mode, record.trial)
    note = _remark(bench_run.notes, task, mode, record.trial)
    replaced = record.supersedes.trial if record.supersedes else None
    followup = _remark(bench_run.followups, task, mode, replaced)
    return ViewRecord(
        task=task,
        mode=mode,
        state="stopped" if stopped else "uncounted" if uncounted else state,
        record=record,
        state_was=state if stopped or uncounted else None,
        stopped=stopped.note if stopped else None,
        uncounted=uncounted.note if uncounted else None,
        note=note.note if note else None,
        supersedes_followup=followup.note if followup else None,
    )


def _remark(remarks: tuple[Remark, ...], task: str, mode: str, trial: str | None) -> Remark | None:
    """The remark that names this trial of a task and mode."""
    named = (r for r in remarks if trial and (r.task, r.mode, r.trial) == (task, mode, trial))
    return next(named, None)


def slot_pages(mode: str, record: Record) -> tuple[SlotPage, ...]:
    """The log pages of one task and mode (10.1)."""
    replaced = record.supersedes if record.supersedes and record.supersedes.trial else None
    pages = []
    if record.trial:
        own = next((attempt for attempt in record.attempts if attempt.counts), None)
        pages.append(SlotPage(slot=mode, mode=mode, previous=False, attempt=own or attempt_of(record, batch=None)))
    if replaced:
        slot = mode if record.rerun else f"{mode}-prev"
        whole = next((attempt for attempt in record.attempts if attempt.trial == replaced.trial), replaced)
        pages.append(SlotPage(slot=slot, mode=mode, previous=not record.rerun, attempt=whole))
    return tuple(pages)
