"""This machine as a host: the program runs as a process here."""

import contextlib
import shlex
import threading
from typing import TYPE_CHECKING

from benchpipe.hosts.process import ProcessProgram
from benchpipe.hosts.transport import HostError, Running

if TYPE_CHECKING:
    from paramiko import SFTPClient


class LocalConnection:
    """There is nothing to connect to."""

    def __init__(self, cancelled: threading.Event) -> None:
        self._cancelled = cancelled

    def start(self, command: str) -> Running:
        return ProcessProgram(shlex.split(command), self._cancelled)

    def open_sftp(self) -> contextlib.AbstractContextManager["SFTPClient"]:
        raise HostError("files of this machine are read in place")

    def alive(self) -> bool:
        return True

    def close(self) -> None:
        return None
