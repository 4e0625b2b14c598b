"""The Dagster instance of a lab, opened the same way by every command whatever the current folder is."""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from benchpipe.files import write_bytes
from benchpipe.lab import Lab

SETTINGS = Path(__file__).with_name("dagster.yaml")
IN_FLIGHT = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
PROCESS_TAG = "benchpipe/process"


def prepare_home(lab: Lab) -> Path:
    """The lab's `.dagster/` with a dagster.yaml in it; one that is there already is kept as its owner left it."""
    settings = lab.dagster_home / "dagster.yaml"
    if not settings.exists():
        write_bytes(settings, SETTINGS.read_bytes())
    return lab.dagster_home


@contextlib.contextmanager
def open_instance(lab: Lab) -> Iterator[dg.DagsterInstance]:
    """The lab's own instance; storage lies in `<lab>/.dagster/`."""
    with dg.DagsterInstance.from_config(str(prepare_home(lab))) as instance:
        yield instance


def process_tags() -> dict[str, str]:
    """Tags that tell later whether the process that executes a run in itself is still there."""
    return {PROCESS_TAG: f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"}


def _started(pid: int | str) -> str:
    """When a living process started, in the kernel's ticks since boot; "" if there is none. Process numbers come again."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if facts[0] == "Z" else facts[19]


def _may_live(process: str) -> bool:
    """Whether the process of a run's tag is there, or is one of another machine."""
    machine, pid, started = process.rsplit(":", 2)
    return machine != socket.gethostname() or _started(pid) == started


def bury_dead_runs(instance: dg.DagsterInstance) -> int:
    """End runs that a killed `benchpipe` command on this machine left as started; returns how many.

    Nothing else would: Dagster's run monitoring watches runs that it launched itself.
    """
    buried = 0
    for run in instance.get_runs(dg.RunsFilter(statuses=IN_FLIGHT)):
        process = run.tags.get(PROCESS_TAG)
        if process and not _may_live(process):
            instance.report_run_canceled(run, message="the command that executed this run is gone")
            buried += 1
    return buried
