"""Pages that lead on (runs-system 12.8): former run ids, withdrawn modes, and `runs/`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchpipe.site.addresses import OVERVIEW, log_page, run_page, trial_page
from benchpipe.site.data import BenchmarkData, RunData, Trial
from benchpipe.site.render import Page, cut


@dataclass(frozen=True, kw_only=True)
class Redirect(Page):
    """`to` is the address below the site root; `note` says why, and then the page waits a moment before it goes on."""

    template: ClassVar[str] = "redirect.html"
    to: str
    note: str = ""
    seconds: int = 0


def to_overview() -> Redirect:
    """`runs/` itself."""
    return Redirect(path="runs/", title="Runs", to=OVERVIEW)


def redirects(data: BenchmarkData) -> Iterator[Redirect]:
    """Every redirect and stub of one benchmark."""
    if data.default:  # so that every run has an address of its own, the default one too
        yield Redirect(
            path=f"runs/{data.id}/{data.default.id}/", title=data.default.agent.label, to=run_page(data, data.default.id)
        )
    for run in data.runs:
        yield from _of_run(data, run)


def _of_run(data: BenchmarkData, run: RunData) -> Iterator[Redirect]:
    for old in run.agent.formerly:
        yield Redirect(path=f"runs/{data.id}/{old}/", title=run.agent.label, to=run_page(data, run.id))
    for trial in run.trials:
        for slot, log in ((trial.mode, trial.log), (f"{trial.mode}-prev", trial.previous)):
            if log:
                for old in run.agent.formerly:
                    yield Redirect(path=log_page(data.id, old, trial.task, slot), title=f"{trial.task_title}, {trial.mode}", to=log)
            elif trial.state == "withdrawn":
                yield from _stubs(data, run, trial, slot)


def _stubs(data: BenchmarkData, run: RunData, trial: Trial, slot: str) -> Iterator[Redirect]:
    """A withdrawn trial's addresses lead to its task and say what happened."""
    note = cut(": ".join(part for part in (trial.seen.withdrawn, trial.seen.withdrawn_note) if part), 2_000)
    for run_id in (run.id, *run.agent.formerly):
        yield Redirect(
            path=log_page(data.id, run_id, trial.task, slot),
            title=f"{trial.task_title}, {trial.mode}: withdrawn",
            to=trial_page(data, run.id, trial.task),
            note=note,
            seconds=8,
        )
