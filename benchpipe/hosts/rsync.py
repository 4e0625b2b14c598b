"""rsync as the way to fetch files, where this machine and the host both have it. It makes an ssh connection of its own."""

import shlex
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchpipe.hosts.pool import Pool
from benchpipe.hosts.process import ProcessProgram
from benchpipe.hosts.ssh_openssh import OpensshConnection
from benchpipe.hosts.transport import HostError, finish, run
from benchpipe.registry.records import Host

VANISHED = 24
"""Exit status for source files that disappeared meanwhile, which is no failure (harbor-jobs 5.5)."""
SILENCE_S = 60


class Rsync:
    """Copies folders from one host."""

    def __init__(self, host: Host, ssh: OpensshConnection, cancelled: threading.Event) -> None:
        self._alias = host.ssh or host.name
        self._ssh = ssh
        self._cancelled = cancelled

    def copy(self, source: str, target: Path, patterns: Sequence[str], file_bytes: int, seconds: float) -> list[str]:
        """Bring the files of `patterns` below `source` into `target`, in place, so that the next call goes on where one stopped.

        Returns what was left out for its size. HostError if it didn't end well.
        """
        filters = [f"--include=/{pattern}" for pattern in patterns]
        command = [
            "rsync", "-rtz", "-s", "--inplace", "--no-links", "--prune-empty-dirs", f"--max-size={file_bytes}",
            "--info=skip1", f"--timeout={SILENCE_S}", "--include=*/", *filters, "--exclude=*", "-e", shlex.join(self._ssh.command),
            f"{self._alias}:{source}/", f"{target}/",
        ]  # fmt: skip
        done = finish(ProcessProgram(command, self._cancelled), seconds)
        if done.status not in (0, VANISHED):
            raise HostError(f"rsync: {done.words()}")
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        return [f"{line} and was left out" for line in lines if line.endswith(" is over max-size")]


def both_have_rsync(host: Host, pool: Pool) -> Rsync | None:
    """An Rsync if the program is here and there and ssh can log in by itself; else None: then SFTP does it."""
    if not (shutil.which("rsync") and shutil.which("ssh")) or ":" in (host.ssh or ""):  # rsync has a meaning of its own for it
        return None
    try:
        ssh, _ = pool.connection(msgspec.structs.replace(host, transport="openssh"))
        assert isinstance(ssh, OpensshConnection)
        found = run(ssh, "command -v rsync", seconds=3 * pool.limits.connect_s)
    except HostError:
        return None
    return Rsync(host, ssh, pool.cancelled) if found.status == 0 else None
