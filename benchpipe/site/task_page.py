"""One task of a benchmark with what every run did on it (runs-system 12.6): the page on which every number of a trial opens."""

from dataclasses import dataclass
from typing import ClassVar

from benchpipe.registry.records import Task
from benchpipe.site.addresses import BENCHMARKS, benchmark_page, run_page, task_page
from benchpipe.site.benchmark_page import plural
from benchpipe.site.data import BenchmarkData, RunData, Trial
from benchpipe.site.facts import Fact, facts, trial_facts
from benchpipe.site.pills import pill
from benchpipe.site.render import Link, Page, cut
from benchpipe.trials.records import Attempt
from benchpipe.usage import format as fmt


@dataclass(frozen=True)
class ModeBlock:
    """One trial: its state, its facts, and the chain of attempts where there was more than one."""

    mode: str
    short: str
    state: str
    text: str
    log: str
    prev: str
    facts: tuple[Fact, ...]
    attempts: tuple[str, ...]


@dataclass(frozen=True)
class RunBlock:
    """One run's trials of the task; `reason` says why it has none."""

    id: str
    label: str
    href: str
    reason: str
    modes: tuple[ModeBlock, ...]


@dataclass(frozen=True, kw_only=True)
class TaskPage(Page):
    template: ClassVar[str] = "task.html"
    heading: str
    lede: str
    tags: tuple[str, ...]
    excluded: str
    note: str
    instruction: str
    blocks: tuple[RunBlock, ...]


def task(data: BenchmarkData, task: Task, *, public: bool) -> TaskPage:
    """The page of one task; the default run first. The public page names no host and no file of ours."""
    tags = [task.difficulty] if task.difficulty != "unrated" else []
    tags += [task.status] if task.status != "pending" else []
    owner = f"owner {cut(task.owner, 100)}" if task.owner else ""
    return TaskPage(
        path=task_page(data.id, task.id),
        section=BENCHMARKS,
        crumbs=(Link("Benchmarks", BENCHMARKS), Link(data.benchmark.name, benchmark_page(data.id))),
        title=f"{cut(task.title, 200)} · {data.benchmark.name}",
        heading=cut(task.title, 400),
        lede=" · ".join(part for part in (task.id, task.family or "", owner, plural(len(data.runs), "run")) if part),
        tags=(*tags, *task.labels),
        excluded=cut(task.excluded or "", 2_000),
        note=cut(task.note or "", 4_000),
        instruction=cut(task.instruction or "", 20_000),
        blocks=tuple(_block(data, run, task, public) for run in data.runs),
    )


def _block(data: BenchmarkData, run: RunData, task: Task, public: bool) -> RunBlock:
    seen = run.seen.tasks[task.id]
    return RunBlock(
        id=run.id,
        label=run.agent.label,
        href=run_page(data, run.id),
        reason="" if seen.inside else cut(seen.reason or "", 600),
        modes=tuple(_mode(run, trial, public) for trial in run.by_task.get(task.id, [])),
    )


def _mode(run: RunData, trial: Trial, public: bool) -> ModeBlock:
    shown = pill(trial, run.agent.label)
    hidden = {"host", "numbers from"} if public else set()
    return ModeBlock(
        mode=trial.mode,
        short=shown.short,
        state=trial.state,
        text=shown.text,
        log=trial.log,
        prev=trial.previous,
        facts=facts((key, value) for key, value in trial_facts(trial, run.agent.label, run.bench_run.metrics) if key not in hidden),
        attempts=tuple(_attempt(attempt) for attempt in trial.record.attempts) if len(trial.record.attempts) > 1 else (),
    )


def _attempt(attempt: Attempt) -> str:
    """One attempt of the chain in a line."""
    parts = [attempt.trial or attempt.job or "no trial yet", attempt.state or "no state"]
    parts += [f"started {fmt.moment(attempt.started)}"] if attempt.started else []
    parts += [f"{fmt.tokens(attempt.tokens.input)} in, {fmt.tokens(attempt.tokens.output)} out"] if attempt.tokens else []
    parts += [attempt.reason] if attempt.reason else []
    return cut(" · ".join(parts), 600) + (" ← counts" if attempt.counts else "")
