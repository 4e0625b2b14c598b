"""Which trials belong to which task, mode and batch, on whichever host they lie (B7, B8, runs-system 4.1, 5.3 and 6.4).

From readings to `Hit`s: no states, no money.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from benchpipe.hosts.reading import HostReading, JobReading, TrialReading
from benchpipe.registry.records import BenchRun, Host
from benchpipe.times import parse_time

Readings = Mapping[str, HostReading]
"""Host name → its reading, in the order of the hosts files."""
Slot = tuple[str, str]
"""Task and mode."""


@dataclass(frozen=True)
class Found:
    """The trials of one task in one job on one host, first started first. None at all only where a job of the task is empty."""

    host: str
    job: JobReading
    trials: tuple[TrialReading, ...]


@dataclass(frozen=True)
class Hit:
    """What a batch has of a task and mode: the job that counts, and the same batch's other trials elsewhere."""

    batch: str
    best: Found
    others: tuple[Found, ...] = ()


def silent(host: str | None, readings: Readings) -> str | None:
    """Why a host's word is not of today; None when it answered (B10)."""
    reading = readings.get(host or "")
    if reading is None or not reading.asked:
        return f"{host} was not asked"
    return None if reading.ok else f"{host} did not answer: {reading.error}" if reading.error else f"{host} did not answer"


def host_state(reading: HostReading) -> dict[str, object]:
    """What run files and status.json say of a host (runs-system 8.2)."""
    return {"ok": reading.ok, "at": reading.at, "error": reading.error}


def serving(bench_run: BenchRun, hosts: Mapping[str, Host], readings: Readings) -> dict[str, HostReading]:
    """The readings that concern a bench-run: of hosts that serve it, then of those that are no longer listed."""
    listed = {name: readings[name] for name, host in hosts.items() if name in readings and host.serves(bench_run)}
    return listed | {name: reading for name, reading in sorted(readings.items()) if name not in hosts}


def task_of(bench_run: BenchRun, mode: str, directory: str | None) -> str | None:
    """The task a directory name stands for, with or without the mode's twin suffix (B8); None = not one of this bench-run."""
    return _task_of(_tasks_by_directory(bench_run), bench_run.task_suffixes.get(mode, ()), directory)


def jobs_of(bench_run: BenchRun, reading: HostReading) -> list[JobReading]:
    """The jobs of a host that belong to one of the bench-run's batches and modes."""
    return [job for job in reading.jobs if job.batch in bench_run.batches and job.mode in bench_run.modes]


def _tasks_by_directory(bench_run: BenchRun) -> dict[str, str]:
    return {bench_run.task_directory(task): task for task in bench_run.tasks}


def _task_of(tasks: Mapping[str, str], suffixes: Iterable[str], directory: str | None) -> str | None:
    if directory is None or directory in tasks:
        return tasks.get(directory or "")
    twins = (tasks.get(directory.removesuffix(suffix)) for suffix in suffixes if directory.endswith(suffix))
    return next((task for task in twins if task), None)


def find_hits(bench_run: BenchRun, readings: Readings) -> dict[Slot, tuple[Hit, ...]]:
    """Per task and mode the batches that have it, oldest first, every trial in one place only.

    The same job on two hosts: the larger pair (number of trials, last activity) wins, then a host that answered, then the
    first host. A trial that several jobs show (links, copies) belongs to the newest batch among them.
    """
    tasks = _tasks_by_directory(bench_run)
    found: dict[tuple[str, str, str], list[Found]] = defaultdict(list)
    for host, reading in readings.items():
        for job in sorted(jobs_of(bench_run, reading), key=lambda job: job.job):
            for task, trials in _by_task(job, tasks, bench_run.task_suffixes.get(job.mode, ())).items():
                found[task, job.mode, job.batch].append(Found(host, job, trials))
    return {
        (task, mode): hits
        for task in bench_run.tasks
        for mode in bench_run.modes
        if (hits := _hits(bench_run, task, mode, found, readings))
    }


def without_task(bench_run: BenchRun, readings: Readings) -> list[str]:
    """A sentence for each trial of which nobody can say what task it is: it is in no record (B11)."""
    return [
        f"{host}: {job.job}/{trial.trial}: neither its files nor its job's name say which task it is"
        for host, reading in readings.items()
        for job in jobs_of(bench_run, reading)
        if job.task_dir is None
        for trial in job.trials
        if trial.task_dir is None
    ]


def unread(bench_run: BenchRun, readings: Readings) -> list[str]:
    """A sentence for everything that the probe could not read or count in the jobs and trials of a bench-run (B11, C2)."""
    tasks = _tasks_by_directory(bench_run)
    said = []
    for host, reading in readings.items():
        for job in jobs_of(bench_run, reading):
            said += [f"{host}: {job.job}: {problem}" for problem in job.problems]
            for trials in _by_task(job, tasks, bench_run.task_suffixes.get(job.mode, ())).values():
                for trial in trials:
                    counted = trial.usage.problems if trial.usage else ()
                    said += [f"{host}: {job.job}/{trial.trial}: {problem}" for problem in (*trial.problems, *counted)]
    return said


def _by_task(job: JobReading, tasks: Mapping[str, str], suffixes: Iterable[str]) -> dict[str, tuple[TrialReading, ...]]:
    """A trial's own word on its task goes before the job's name (harbor-jobs 2.5)."""
    named = _task_of(tasks, suffixes, job.task_dir)
    groups: dict[str, list[TrialReading]] = {named: []} if named and not job.trials else {}
    for trial in sorted(job.trials, key=started):
        task = _task_of(tasks, suffixes, trial.task_dir) or named
        if task:
            groups.setdefault(task, []).append(trial)
    return {task: tuple(trials) for task, trials in groups.items()}


def started(trial: TrialReading) -> tuple[float, str]:
    """When a trial began, in epoch seconds: its result's own word, else the time of its config; then its name."""
    time = parse_time(trial.started_at)
    return (time.timestamp() if time else trial.created or 0.0, trial.trial)


def _hits(
    bench_run: BenchRun, task: str, mode: str, found: Mapping[tuple[str, str, str], list[Found]], readings: Readings
) -> tuple[Hit, ...]:
    seen: set[str] = set()
    hits: list[Hit] = []
    for batch in reversed(bench_run.batches):
        ranked = sorted(found.get((task, mode, batch), ()), key=lambda f: _weight(f, readings), reverse=True)
        fresh = [_without(one, seen) for one in ranked]
        fresh = [one for one, before in zip(fresh, ranked, strict=True) if one.trials or not before.trials]
        if fresh:
            hits.append(Hit(batch, fresh[0], tuple(fresh[1:])))
    return tuple(reversed(hits))


def _without(found: Found, seen: set[str]) -> Found:
    """`found` less the trials seen before; what is left counts as seen."""
    trials = tuple(trial for trial in found.trials if trial.trial not in seen)
    seen.update(trial.trial for trial in trials)
    return replace(found, trials=trials)


def _weight(found: Found, readings: Readings) -> tuple[int, float, bool]:
    activity = max((trial.last_activity or 0.0 for trial in found.trials), default=0.0)
    return (len(found.trials), activity, silent(found.host, readings) is None)


def why_not_begun(bench_run: BenchRun, task: str, mode: str, readings: Readings) -> str | None:
    """Why a planned trial has no directory, by the newest job that plans it; None where it simply waits its turn."""
    directories = {bench_run.task_directory(task) + suffix for suffix in ("", *bench_run.task_suffixes.get(mode, ()))}
    jobs = [
        job
        for reading in readings.values()
        for job in reading.jobs
        if job.mode == mode and job.batch in bench_run.batches and any(planned.task_dir in directories for planned in job.planned)
    ]
    if not jobs:
        return None
    job = max(jobs, key=lambda job: (bench_run.batches.index(job.batch), job.alive, job.job))
    if job.alive:
        cut_names = {directory[:32].rstrip("_-") for directory in directories}
        retried = any(name.rsplit("__", 1)[0] in cut_names for name in job.waiting)
        return f"{job.job} is about to try it again" if retried else None
    if job.finished:
        return f"{job.job} has ended and planned it, but its directory is gone"
    return f"{job.job} planned it, and no live process names the job"
