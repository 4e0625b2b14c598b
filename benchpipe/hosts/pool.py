"""Connections that outlive a poll, and what is remembered of hosts that failed. One pool per watching process."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchpipe.hosts.local import LocalConnection
from benchpipe.hosts.transport import Connection, ConnectionLost, HostError, Limits, Running
from benchpipe.registry.records import Host

FIRST_PAUSE_S = 120.0
LONGEST_PAUSE_S = 1800.0
SHORTEST_PATIENCE_S = 60.0
MANY_TIMES = 20


_Way = tuple[str, str | None, str]


def _way(host: Host) -> _Way:
    """What of a host's entry decides which connection it needs."""
    return host.name, host.ssh, host.transport


@dataclass
class _Failures:
    count: int
    not_before: float


@dataclass
class Pool:
    """Opens connections, keeps them, and closes all of them at the end (`with Pool() as pool`).

    `ssh_config` replaces the user's own configuration file (tests). `patient=True` is watch mode: a host that failed is
    left alone for a while that doubles with every failure, and asked again at once after a success.
    """

    ssh_config: Path | None = None
    limits: Limits = field(default_factory=Limits)
    patient: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event)
    _open: dict[_Way, Connection] = field(default_factory=dict)
    _running: dict[_Way, Running] = field(default_factory=dict)
    _failures: dict[str, _Failures] = field(default_factory=dict)
    _usual: dict[str, float] = field(default_factory=dict)

    def connection(self, host: Host) -> tuple[Connection, bool]:
        """A connection to `host`, and whether it was open before. HostError if there is no way to it."""
        if self.cancelled.is_set():
            raise HostError("cancelled")
        kept = self._open.get(_way(host))
        if kept is not None and kept.alive():
            return kept, True
        self.drop(host)
        opened = self._connect(host)
        self._open[_way(host)] = opened
        return opened, False

    def running(self, host: Host) -> Running | None:
        """The program that was started on `host` and waits to be talked to."""
        return self._running.get(_way(host))

    def start(self, host: Host, command: str) -> Running:
        """Start a program on `host` and keep it; a kept connection that turns out dead is opened anew. HostError."""
        connection, kept = self.connection(host)
        try:
            running = connection.start(command)
        except ConnectionLost:
            if not kept:
                raise
            self.drop(host)
            running = self.connection(host)[0].start(command)
        self._running[_way(host)] = running
        return running

    def drop(self, host: Host) -> None:
        """End the program on `host` and close the connection, where there are any."""
        running = self._running.pop(_way(host), None)
        if running is not None:
            running.end()
        kept = self._open.pop(_way(host), None)
        if kept is not None:
            kept.close()

    def patience(self, host: str) -> float:
        """Seconds that `host` may take to answer. While watching, one that used to answer soon isn't waited for long."""
        usual = self._usual.get(host)
        if not self.patient or usual is None:
            return self.limits.probe_s
        return min(self.limits.probe_s, max(SHORTEST_PATIENCE_S, MANY_TIMES * usual))

    def failed(self, host: str) -> None:
        """Remember that `host` failed just now."""
        self._usual.pop(host, None)
        count = self._failures[host].count + 1 if host in self._failures else 1
        pause = min(FIRST_PAUSE_S * 2 ** (count - 1), LONGEST_PAUSE_S)
        self._failures[host] = _Failures(count, time.monotonic() + pause)

    def worked(self, host: str, seconds: float) -> None:
        """Forget the failures of `host`, and remember that it took so long."""
        self._usual[host] = seconds
        self._failures.pop(host, None)

    def resting(self, host: str) -> bool:
        """Whether a patient pool leaves `host` alone for now."""
        failures = self._failures.get(host)
        return self.patient and failures is not None and time.monotonic() < failures.not_before

    def doubtful(self, host: str) -> bool:
        """Whether `host` failed the last time it was asked; such hosts are asked after the others."""
        return host in self._failures

    def close(self) -> None:
        """End every connection, and with them whatever still runs on a host."""
        self.cancelled.set()
        while self._running:
            self._running.popitem()[1].end()
        while self._open:
            self._open.popitem()[1].close()

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self, host: Host) -> Connection:
        if host.transport == "paramiko":
            from benchpipe.hosts.ssh_paramiko import connect

            return connect(host.ssh or host.name, self.ssh_config, self.limits, self.cancelled)
        if host.transport == "openssh":
            from benchpipe.hosts.ssh_openssh import OpensshConnection

            return OpensshConnection(host.ssh or host.name, self.ssh_config, self.limits, self.cancelled)
        return LocalConnection(self.cancelled)


def open_pool(environment: Mapping[str, str], *, patient: bool = False) -> Pool:
    """A pool as a command or asset opens it. BENCHPIPE_SSH_CONFIG names a client configuration other than the user's own."""
    config = environment.get("BENCHPIPE_SSH_CONFIG")
    return Pool(ssh_config=Path(config) if config else None, patient=patient)
