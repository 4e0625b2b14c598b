"""What a transport is: a connection on which programs run that are talked to, under limits.

Both streams of a program are drained together, and its standard input stays open for as long as somebody listens.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from paramiko import SFTPClient

MAX_OUTPUT = 256 << 20
KEPT_ERRORS = 64 << 10
TICK_S = 0.2
"""How often a waiting transport looks whether it should stop, and how long output may trail behind a program's end."""


class HostError(Exception):
    """One host can't be asked. The message is for people: what is wrong and, where we know it, what to do."""


class ConnectionLost(HostError):
    """The connection broke before the program had ended; a new one may work."""


class TooSlow(HostError):
    """The host answers, but not within the time it was given."""


@dataclass(frozen=True)
class Limits:
    """Wall-clock limits in seconds."""

    connect_s: float = 10.0
    """Per step: name and TCP, banner, key exchange with login, opening a channel."""
    probe_s: float = 600.0
    """A whole probe; a first scan may read gigabytes."""
    keep_alive_s: int = 15


@dataclass
class Output:
    """What a program left: its standard output, the last of its standard error, its exit status (None = no status came)."""

    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    status: int | None = None

    def add(self, data: bytes) -> None:
        """More standard output. HostError above MAX_OUTPUT."""
        self.stdout += data
        if len(self.stdout) > MAX_OUTPUT:
            raise HostError(f"it sent more than {MAX_OUTPUT >> 20} MiB and was cut off")

    def add_error(self, data: bytes) -> None:
        """More standard error; only the last KEPT_ERRORS bytes are kept."""
        self.stderr += data
        del self.stderr[:-KEPT_ERRORS]

    def words(self) -> str:
        """The end of what it said, for an error message."""
        said = bytes(self.stderr).strip() or bytes(self.stdout[-KEPT_ERRORS:]).strip()
        return " ".join(said[-600:].decode("utf-8", "replace").split())[-250:]


class Stop:
    """When to stop waiting: a deadline, or somebody's wish."""

    def __init__(self, seconds: float, cancelled: threading.Event) -> None:
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._cancelled = cancelled

    def check(self) -> None:
        """HostError when waiting is over."""
        if self._cancelled.is_set():
            raise HostError("cancelled")
        if time.monotonic() > self._deadline:
            raise TooSlow(f"no answer within {self._seconds:.0f} s; the program there was ended")


Until = Callable[[Output], bool]


class Running(Protocol):
    """A program that runs on a host. The end of its standard input tells it that nobody listens any more."""

    def talk(self, said: bytes, until: Until, *, seconds: float) -> Output:
        """Write `said`, read until `until` holds or the program has ended; only then the output has a status.

        HostError on a limit, ConnectionLost when the connection breaks.
        """

    def end(self) -> None:
        """Close its standard input, and with it the program."""


class Connection(Protocol):
    """An open way to one host."""

    def start(self, command: str) -> Running:
        """Start a program there. HostError if that is impossible."""

    def open_sftp(self) -> contextlib.AbstractContextManager["SFTPClient"]:
        """A file transfer session on the same connection, for raw copies."""

    def alive(self) -> bool:
        """Whether it may be used again."""

    def close(self) -> None:
        """End it, and with it whatever runs on it."""


def run(connection: Connection, command: str, *, seconds: float) -> Output:
    """Run a program to its end, without input."""
    return finish(connection.start(command), seconds)


def finish(running: Running, seconds: float) -> Output:
    """Let a program come to its end by itself."""
    try:
        return running.talk(b"", lambda output: False, seconds=seconds)
    finally:
        running.end()
