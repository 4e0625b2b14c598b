"""This machine as a host: the program runs as a process here."""

import contextlib
import shlex
import threading
from typing import TYPE_CHECKING

from benchpipe.hosts.transport import HostError, Output, Stop, run_process

if TYPE_CHECKING:
    from paramiko import SFTPClient


class LocalConnection:
    """Nothing is kept open between two runs."""

    def __init__(self, cancelled: threading.Event) -> None:
        self._cancelled = cancelled

    def run(self, command: str, stdin: bytes, *, seconds: float) -> Output:
        return run_process(shlex.split(command), stdin, Stop(seconds, self._cancelled))

    def open_sftp(self) -> contextlib.AbstractContextManager["SFTPClient"]:
        raise HostError("files of this machine are read in place")

    def alive(self) -> bool:
        return True

    def close(self) -> None:
        return None
