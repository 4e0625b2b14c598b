"""What a transport is: a connection that runs one program with given standard input, under limits.

Both streams are drained together and standard input stays open until the program has ended, because its end tells the
program that nobody listens any more. Here are also the parts that transports share.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
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
            raise HostError(f"no answer within {self._seconds:.0f} s; the program there was ended")


class Connection(Protocol):
    """An open way to one host."""

    def run(self, command: str, stdin: bytes, *, seconds: float) -> Output:
        """Run `command` with `stdin`; returns when it has ended. HostError on a limit, ConnectionLost when it breaks."""

    def open_sftp(self) -> contextlib.AbstractContextManager["SFTPClient"]:
        """A file transfer session on the same connection, for raw copies."""

    def alive(self) -> bool:
        """Whether it may be used again."""

    def close(self) -> None:
        """End it, and with it whatever runs on it."""


def run_process(arguments: Sequence[str], stdin: bytes, stop: Stop) -> Output:
    """Run a local process as a `Connection.run` does. Its whole process group is ended on a limit or cancellation."""
    output = Output()
    with _process(arguments) as process, selectors.DefaultSelector() as waiting:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for stream in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
        waiting.register(process.stdout, selectors.EVENT_READ, output.add)
        waiting.register(process.stderr, selectors.EVENT_READ, output.add_error)
        waiting.register(process.stdin, selectors.EVENT_WRITE, None)
        rest, readers = memoryview(stdin), 2
        while readers:
            stop.check()
            ended = process.poll() is not None
            ready = waiting.select(TICK_S)
            if ended and not any(key.data for key, _ in ready):
                break  # something it started still holds its output; nothing more of the program will come
            for key, _ in ready:
                if key.data is None:
                    rest = _write(process.stdin.fileno(), rest)
                    if not rest:
                        waiting.unregister(process.stdin)
                elif data := os.read(key.fd, 1 << 16):
                    key.data(data)
                else:
                    waiting.unregister(key.fileobj)
                    readers -= 1
        while process.poll() is None:
            stop.check()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(TICK_S)
        output.status = process.returncode
    return output


def _write(handle: int, rest: memoryview) -> memoryview:
    try:
        return rest[os.write(handle, rest[: 1 << 16]) :]
    except BrokenPipeError:  # a program that ends without reading its input
        return rest[:0]


@contextlib.contextmanager
def _process(arguments: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    except OSError as error:
        raise HostError(f"{arguments[0]} can't be started: {error.strerror}") from error
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
