"""Dagster's own sensor daemon, stepped by hand: real ticks in the instance, runs executed in this process, a clock that is ours."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import dagster as dg
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.remote_origin import InProcessCodeLocationOrigin
from dagster._core.test_utils import InProcessTestWorkspaceLoadTarget, freeze_time
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._daemon.sensor import execute_sensor_iteration

from benchpipe.lab import Lab
from benchpipe.pipeline.instance import SETTINGS, open_instance

AT_ONCE = """
run_coordinator: {module: dagster._core.run_coordinator, class: DefaultRunCoordinator}
run_launcher: {module: dagster._core.launcher.sync_in_memory_run_launcher, class: SyncInMemoryRunLauncher}
"""
"""Requested runs are executed at once in this process, instead of waiting for a queue and a process of their own."""


def settings(text: str = "") -> str:
    """The lab's dagster.yaml as shipped, with runs executed at once instead of queued, and `text` added."""
    kept = [line for line in SETTINGS.read_text().splitlines() if "max_concurrent_runs" not in line]
    return "\n".join(kept) + AT_ONCE + text


class Daemon:
    """`tick` evaluates every sensor that is on, as the daemon would at this time of day."""

    def __init__(self, workspace: WorkspaceProcessContext) -> None:
        self.workspace = workspace
        self.instance: dg.DagsterInstance = workspace.instance
        self._log = logging.getLogger("benchpipe_tests.daemon")

    def tick(self, now: datetime) -> None:
        with freeze_time(now):
            list(execute_sensor_iteration(self.workspace, self._log, None, None))

    def idle(self, sensor: str, now: datetime, every: timedelta, n: int) -> None:
        """Store `n` more ticks of a sensor like its last one, without evaluating it (a day has 1,440 of them)."""
        (state,) = (one for one in self.instance.all_instigator_state() if one.instigator_name == sensor)
        last = self.instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=1)[0].tick_data
        for number in range(1, n + 1):
            at = (now + number * every).timestamp()
            self.instance.create_tick(last._replace(timestamp=at, end_timestamp=at))

    def switch_on(self, sensor: str) -> None:
        """What the switch in the UI does."""
        context = self.workspace.create_request_context()
        (entry,) = context.get_code_location_entries().values()
        assert entry.code_location, entry.load_error
        (repository,) = entry.code_location.get_repositories().values()
        self.instance.start_sensor(repository.get_sensor(sensor))


@contextmanager
def daemon(lab: Lab, text: str = "") -> Iterator[Daemon]:
    """The daemon on a lab's own instance. `text`: more lines for its dagster.yaml."""
    lab.dagster_home.mkdir(parents=True, exist_ok=True)
    (lab.dagster_home / "dagster.yaml").write_text(settings(text))
    target = LoadableTargetOrigin(module_name="benchpipe.definitions", working_directory=str(lab.root))
    origin = InProcessCodeLocationOrigin(target, location_name="benchpipe")
    with open_instance(lab) as instance, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Property `ScheduleDefinition.environment_vars`", DeprecationWarning)  # Dagster's own
        with WorkspaceProcessContext(instance, InProcessTestWorkspaceLoadTarget(origin)) as workspace:
            yield Daemon(workspace)


def size(home: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in home.rglob("*") if path.is_file())


def run_job(instance: dg.DagsterInstance, name: str) -> None:
    """Run a job that needs the whole code location, as a schedule would."""
    repository = ReconstructableRepository.for_module("benchpipe.definitions", "defs")
    assert dg.execute_job(repository.get_reconstructable_job(name), instance=instance).success
