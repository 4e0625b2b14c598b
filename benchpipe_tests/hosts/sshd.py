"""Real sshd processes on loopback for tests and benchmarks, each with its own keys, login key and client configuration."""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def missing_package() -> str | None:
    """The Debian package that these tests lack here."""
    if not SSHD:
        return "openssh-server"
    return None if shutil.which("ssh") and shutil.which("ssh-keygen") else "openssh-client"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def new_key(path: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path


@dataclass
class Box:
    """One sshd. `config` is the client configuration that reaches it as `name`."""

    name: str
    port: int
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def config(self) -> Path:
        return self.folder / "config"

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    @property
    def cache(self) -> Path:
        """XDG_CACHE_HOME of every session."""
        return self.folder / "cache"

    @property
    def host_line(self) -> str:
        """Its line for a known-hosts file."""
        return f"[127.0.0.1]:{self.port} {(self.folder / 'host_key.pub').read_text()}"

    def block(self, *more: str, port: int | None = None) -> str:
        """Its block of a client configuration."""
        lines = [
            f"Host {self.name}",
            "HostName 127.0.0.1",
            f"Port {port or self.port}",
            f"User {getpass.getuser()}",
            f"IdentityFile {self.folder / 'login_key'}",
            "IdentitiesOnly yes",
            "IdentityAgent none",
            f"UserKnownHostsFile {self.known_hosts}",
            "GlobalKnownHostsFile /dev/null",
            *more,
        ]
        return "\n  ".join(lines) + "\n"

    def stop(self) -> None:
        """End the listener and its sessions."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 15)
        self.process.wait()


@contextlib.contextmanager
def start(folder: Path, name: str = "box", *options: str, wrapper: str | None = None) -> Iterator[Box]:
    """An sshd that serves one login key. `wrapper`: a shell script that runs instead of each command, which it finds in
    SSH_ORIGINAL_COMMAND."""
    folder.mkdir(parents=True, exist_ok=True)
    new_key(folder / "host_key")
    new_key(folder / "login_key")
    shutil.copyfile(folder / "login_key.pub", folder / "authorized_keys")
    lines = [
        f"HostKey {folder / 'host_key'}",
        f"AuthorizedKeysFile {folder / 'authorized_keys'}",
        f"SetEnv XDG_CACHE_HOME={folder / 'cache'}",
        "ListenAddress 127.0.0.1",
        "PidFile none",
        "StrictModes no",
        "UsePAM no",
        "PasswordAuthentication no",
        "PermitRootLogin yes",
        "MaxStartups 200",
        "LogLevel QUIET",
        "Subsystem sftp internal-sftp",
        *options,
    ]
    if wrapper is not None:
        script = folder / "wrapper"
        script.write_text(f"#!/bin/sh\n{wrapper}\n")
        script.chmod(0o755)
        lines.append(f"ForceCommand {script}")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    config = folder / "sshd_config"
    config.write_text("\n".join(lines) + "\n")
    port = free_port()
    command: Sequence[str] = [str(SSHD), "-D", "-e", "-f", str(config), "-p", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    box = Box(name, port, folder, process)
    box.known_hosts.write_text(box.host_line)
    box.config.write_text(box.block())
    try:
        _wait(port)
        yield box
    finally:
        box.stop()


def _wait(port: int) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError("sshd didn't come up")
