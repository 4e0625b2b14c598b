"""What is, right now: the lab, its registry and the hosts' readings, loaded once per tick, command or step.

`SceneResource` hands it to assets and sensors; the clock and the place of the lab come from here and nowhere else.
"""

import os
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from benchpipe.hosts.reading import HostReading
from benchpipe.hosts.store import load_readings
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Registry


class Scene:
    """One look at a lab. Registry and readings are read at first use and then kept."""

    def __init__(self, lab: Lab, *, hosts_files: list[Path] | None = None) -> None:
        self.lab = lab
        self._hosts_files = hosts_files
        self._registry: Registry | None = None
        self._readings: dict[str, HostReading] | None = None

    @property
    def registry(self) -> Registry:
        if self._registry is None:
            self._registry = load_registry(self.lab, hosts_files=self._hosts_files)
        return self._registry

    @property
    def readings(self) -> dict[str, HostReading]:
        if self._readings is None:
            self._readings = load_readings(self.lab, self.registry)
        return self._readings

    def forget_readings(self) -> None:
        """Read the hosts' readings anew at next use (a poll has written some)."""
        self._readings = None


def use_lab(lab: Lab, hosts_file: Path | None = None) -> None:
    """Make `lab`, with this one hosts file or all of its own, what assets of this process and its children work on."""
    os.environ["BENCHPIPE_LAB"] = str(lab.root)
    os.environ.pop("BENCHPIPE_HOSTS", None)
    if hosts_file:
        os.environ["BENCHPIPE_HOSTS"] = str(hosts_file.absolute())


class SceneResource(dg.ConfigurableResource):
    """Where the lab is. Empty: BENCHPIPE_LAB, else found from the current folder upwards. BENCHPIPE_HOSTS: its one hosts file."""

    lab_dir: str = ""

    def scene(self) -> Scene:
        """A fresh look at the lab."""
        hosts_file = os.environ.get("BENCHPIPE_HOSTS")
        lab = Lab.find(self.lab_dir or os.environ.get("BENCHPIPE_LAB"), Path.cwd())
        return Scene(lab, hosts_files=[Path(hosts_file)] if hosts_file else None)

    def now(self) -> datetime:
        """The wall clock, UTC; it ends up only in the documented time fields."""
        return datetime.now(UTC).replace(microsecond=0)
