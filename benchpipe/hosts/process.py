"""A process of this machine as a running program: the local transport, and what the ssh and rsync programs run in."""

import contextlib
import os
import selectors
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import IO, cast

from benchpipe.hosts.transport import TICK_S, HostError, Output, Stop, Until


class ProcessProgram:
    """Its whole process group is ended with it."""

    def __init__(self, arguments: Sequence[str], cancelled: threading.Event) -> None:
        pipe = subprocess.PIPE
        self._cancelled = cancelled
        try:
            self._process = subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        except OSError as error:
            raise HostError(f"{arguments[0]} can't be started: {error.strerror}") from error
        for stream in self._streams():
            os.set_blocking(stream.fileno(), False)

    def talk(self, said: bytes, until: Until, *, seconds: float) -> Output:
        stop, output, rest = Stop(seconds, self._cancelled), Output(), memoryview(said)
        stdin, stdout, stderr = self._streams()
        with selectors.DefaultSelector() as waiting:
            waiting.register(stdout, selectors.EVENT_READ, output.add)
            waiting.register(stderr, selectors.EVENT_READ, output.add_error)
            if rest:
                waiting.register(stdin, selectors.EVENT_WRITE, None)
            readers = 2
            while readers and not until(output):
                stop.check()
                ended = self._process.poll() is not None
                ready = waiting.select(TICK_S)
                if ended and not any(key.data for key, _ in ready):
                    break  # something it started still holds its output; nothing more of the program will come
                for key, _ in ready:
                    if key.data is None:
                        rest = _write(key.fd, rest)
                        if not rest:
                            waiting.unregister(stdin)
                    elif data := os.read(key.fd, 1 << 16):
                        key.data(data)
                    else:
                        waiting.unregister(key.fileobj)
                        readers -= 1
        if not until(output):
            output.status = self._wait(stop)
        return output

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in self._streams():
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def _streams(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        streams = self._process.stdin, self._process.stdout, self._process.stderr
        return cast(tuple[IO[bytes], IO[bytes], IO[bytes]], streams)  # all three are pipes

    def _wait(self, stop: Stop) -> int:
        while True:
            stop.check()
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(TICK_S)


def _write(handle: int, rest: memoryview) -> memoryview:
    try:
        return rest[os.write(handle, rest[: 1 << 16]) :]
    except BrokenPipeError:  # a program that ends without reading its input
        return rest[:0]
