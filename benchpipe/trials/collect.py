"""One benchmark's run files and history from what the hosts said: reads, calls `assemble`, writes (A4a). No decisions here.

The run files' only writer. Callers hold the benchmark's lock (A6).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from benchpipe.hosts.store import load_requests
from benchpipe.lab import Lab
from benchpipe.probe.harbor import complete_mp4
from benchpipe.registry.public import read_backfill
from benchpipe.registry.records import BenchRun, Registry
from benchpipe.trials import history
from benchpipe.trials.assemble import Assembled, assemble
from benchpipe.trials.attempts import Readings, serving
from benchpipe.trials.records import RunFile
from benchpipe.trials.store import load_run_file, should_write, write_run_file


@dataclass
class Collected:
    """What one collection of a benchmark came to."""

    run_files: dict[str, RunFile] = field(default_factory=dict)
    """Of every run that has data, by run id, whether written now or not."""
    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    events: list[history.Event] = field(default_factory=list)
    """State changes that this collection was the first to see."""
    problems: list[str] = field(default_factory=list)


def assemble_runs(
    lab: Lab, registry: Registry, readings: Readings, benchmark: str, now: str
) -> list[tuple[BenchRun, RunFile | None, Assembled]]:
    """Per shown bench-run: the stored run file and what it would be now. One that fails stops no other (B11)."""
    plan = registry.plans.get(benchmark)
    made = []
    for run in plan.shown() if plan else ():
        problems: list[str] = []
        stored = load_run_file(lab, benchmark, run.run, problems)
        agent = registry.agents.get(run.run)
        try:
            assembled = assemble(
                run,
                agent.label if agent else run.run,
                serving(run, registry.hosts, readings),
                stored,
                lambda usage: load_requests(lab, usage.digest),
                now,
                billing=agent.billing if agent else "api",
                rerendered=_rerendered(lab, run),
            )
        except Exception as error:  # the other runs go on (B11)
            assembled = Assembled(None, (f"{benchmark} {run.run}: skipped: {type(error).__name__}: {error}",))
        made.append((run, stored, Assembled(assembled.run_file, (*problems, *assembled.problems))))
    return made


def collect_states(
    lab: Lab,
    registry: Registry,
    readings: Readings,
    benchmark: str,
    now: datetime,
    *,
    on_progress: Callable[[str], None] | None = None,
) -> Collected:
    """Write what changed of a benchmark's run files, and the history of the changes first."""
    result = Collected()
    for run, stored, assembled in assemble_runs(lab, registry, readings, benchmark, now.isoformat()):
        result.problems += assembled.problems
        new = assembled.run_file
        if new is None:
            continue
        result.run_files[run.run] = new
        if not should_write(new, stored, polling=True, detail_every=0, now=now):
            result.unchanged.append(run.run)
            continue
        events = history.changes(stored, new)
        history.append(lab.history_file(benchmark), events)
        write_run_file(lab, new)
        result.events += events
        result.written.append(run.run)
        if on_progress:
            on_progress(f"{benchmark} {run.run}")
    return result


def anything_to_tell(made: Sequence[tuple[BenchRun, RunFile | None, Assembled]], *, detail_every: float, now: datetime) -> bool:
    """Whether a poll has to write any of these run files already, or may wait for more detail (runs-system 6.2)."""
    return any(
        assembled.run_file is not None
        and should_write(assembled.run_file, stored, polling=True, detail_every=detail_every, now=now)
        for _, stored, assembled in made
    )


def _rerendered(lab: Lab, run: BenchRun) -> dict[str, int]:
    """`<task>/<mode>` → bytes of each complete replay that somebody rendered later (runs-system 3.8)."""
    sizes = {}
    for slot, entry in read_backfill(lab, run.benchmark, run.run).items():
        video = lab.root / entry.video if entry.video else None
        if video and video.is_file() and complete_mp4(str(video)):
            sizes[slot] = video.stat().st_size
    return sizes
