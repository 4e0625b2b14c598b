"""SSH by the OpenSSH client: for hardware keys, multi-factor sessions and whatever else only it can do.

The first call leaves a master connection behind that later calls use. Where the user's configuration has a ControlPath of
its own that one is used, and left alone at the end.
"""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchpipe.hosts.process import ProcessProgram
from benchpipe.hosts.resolve import Target, resolve, ssh_command
from benchpipe.hosts.transport import ConnectionLost, HostError, Limits, Output, Running, Until

if TYPE_CHECKING:
    from paramiko import SFTPClient

OWN_FAILURE = 255
"""Exit status by which ssh says that the failure is its own."""


class _Stream:
    """A socket as the channel that paramiko's SFTP wants. For data on a bare socket it would wait without limit."""

    def __init__(self, plain: socket.socket) -> None:
        self.send = plain.send
        self.recv = plain.recv
        self.close = plain.close

    def get_name(self) -> str:
        return "ssh"


class _SshProgram(ProcessProgram):
    """A program on the host, behind the ssh program here."""

    def __init__(self, ssh: list[str], alias: str, command: str, cancelled: threading.Event) -> None:
        super().__init__([*ssh, "--", alias, command], cancelled)
        self._alias = alias

    def talk(self, said: bytes, until: Until, *, seconds: float) -> Output:
        output = super().talk(said, until, seconds=seconds)
        if output.status == OWN_FAILURE and not output.stdout:
            raise ConnectionLost(f"ssh: {output.words()} (see `ssh {self._alias} true`)")
        return output


class OpensshConnection:
    """Calls of `ssh` that share one connection."""

    def __init__(self, alias: str, config: Path | None, limits: Limits, cancelled: threading.Event) -> None:
        if not shutil.which("ssh"):
            raise HostError("transport: openssh needs the ssh program on this machine: install openssh-client")
        target = resolve(alias, config)
        self._alias = alias
        self._limits = limits
        self._cancelled = cancelled
        self._own = None if target.control_path else tempfile.mkdtemp(prefix="benchpipe-")
        self.command = [*ssh_command(config), *_options(target, limits, self._own)]
        """The call of ssh without a host, for programs that call it themselves."""

    def start(self, command: str) -> Running:
        return _SshProgram(self.command, self._alias, command, self._cancelled)

    @contextlib.contextmanager
    def open_sftp(self) -> Iterator["SFTPClient"]:
        from benchpipe.hosts.ssh_paramiko import sftp_session

        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.settimeout(self._limits.connect_s)
            command = [*self.command, "-s", "--", self._alias, "sftp"]
            with subprocess.Popen(command, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=subprocess.DEVNULL) as process:
                theirs.close()
                try:
                    with sftp_session(_Stream(ours)) as session:  # type: ignore[arg-type]
                        yield session
                finally:
                    process.terminate()

    def alive(self) -> bool:
        return True  # ssh itself opens the connection anew where it has to

    def close(self) -> None:
        if self._own is None:
            return
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            end = [*self.command, "-O", "exit", "--", self._alias]
            subprocess.run(end, stdin=subprocess.DEVNULL, capture_output=True, timeout=self._limits.connect_s, check=False)
        shutil.rmtree(self._own, ignore_errors=True)


def _options(target: Target, limits: Limits, own: str | None) -> list[str]:
    strict = "accept-new" if target.accept_new else "yes"  # also where the user's file says "no": a changed key is an error
    options = [
        f"StrictHostKeyChecking={strict}",
        "BatchMode=yes",
        f"ConnectTimeout={limits.connect_s:.0f}",
        f"ServerAliveInterval={limits.keep_alive_s}",
    ]
    options += ["ServerAliveCountMax=3"]
    if own:
        options += ["ControlMaster=auto", "ControlPersist=120", f"ControlPath={own}/%C"]
    return [part for option in options for part in ("-o", option)]
