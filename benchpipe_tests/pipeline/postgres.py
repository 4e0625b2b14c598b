"""A real PostgreSQL server, Debian's, in a folder of its own; it refuses to run as root, so it runs as its own user then."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

USER = "postgres" if os.getuid() == 0 else None


def programs() -> Path:
    """Where initdb and pg_ctl of the newest installed release are."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not found:
        pytest.skip("needs the Debian package postgresql")
    return found[-1].parent


@contextmanager
def server() -> Iterator[str]:
    """The lines of dagster.yaml that put an instance on a fresh server."""
    bin, home = programs(), Path(tempfile.mkdtemp(prefix="benchpipe-pg-"))
    if USER:
        shutil.chown(home, USER)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]

    def call(program: str, *arguments: str) -> None:
        with (home.parent / f"{home.name}.log").open("ab") as log:
            subprocess.run([bin / program, *arguments], user=USER, cwd="/", stdout=log, stderr=log, check=True)

    data = str(home / "data")
    try:
        call("initdb", "-D", data, "-U", "dagster", "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync")
        options = f"-p {port} -k {home} -c listen_addresses=127.0.0.1 -c fsync=off"
        call("pg_ctl", "-D", data, "-w", "-o", options, "start")
        try:
            yield f"storage: {{postgres: {{postgres_url: 'postgresql+psycopg2://dagster@127.0.0.1:{port}/postgres'}}}}\n"
        finally:
            call("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)
        (home.parent / f"{home.name}.log").unlink(missing_ok=True)
