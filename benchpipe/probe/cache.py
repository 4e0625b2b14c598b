"""The offset cache on a host, `~/.cache/benchpipe/cursors.sqlite`: the only thing the probe writes, and worth nothing.

A speed-up only (C1): whatever goes wrong with it (full disk, no rights, damage, two collectors at once) the probe works
without. Values carry a checksum, so that a damaged one is a missing one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Mapping, Optional

KEEP_DAYS = 60
MAX_BYTES = 64 << 20
BUSY_S = 2.0


def cache_path(environment: Mapping[str, str]) -> str:
    """Where the cache lies, XDG_CACHE_HOME honoured."""
    base = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "benchpipe", "cursors.sqlite")


class Cursors:
    """`get(key) -> bytes | None` and `put(key, value)`, kept from poll to poll. Opens nothing before its first use.

    `version` is that of the program: what another one counted is not there for this one, since it may count otherwise.

    Every `put` is a transaction of its own: a probe that is killed keeps what it had, two collectors keep both.
    """

    def __init__(self, path: str, version: str, now: float) -> None:
        self.path = path
        self.version = version
        self.now = int(now)
        self.failed = False
        self.database: Optional[sqlite3.Connection] = None

    def get(self, key: str) -> Optional[bytes]:
        """The value put last under `key`, None if there is none that is whole."""
        row = self._run("SELECT value FROM cursors WHERE key = ?", (self._stored(key),))
        if not row or not isinstance(row[0], bytes):
            return None
        value = bytes(row[0][32:])
        return value if hashlib.sha256(value).digest() == row[0][:32] else None

    def put(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`; silently not, where that is impossible."""
        stored = hashlib.sha256(value).digest() + value
        self._run("INSERT OR REPLACE INTO cursors (key, used, value) VALUES (?, ?, ?)", (self._stored(key), self.now, stored))

    def close(self) -> None:
        """Drop what nobody used for KEEP_DAYS, and the longest unused above MAX_BYTES."""
        if self.database is None or self.failed:
            return
        self._run("DELETE FROM cursors WHERE used < ?", (self.now - KEEP_DAYS * 86400,))
        size = self._run("SELECT SUM(LENGTH(value)) FROM cursors", ())
        if size and (size[0] or 0) > MAX_BYTES:
            self._run(
                "DELETE FROM cursors WHERE key IN (SELECT key FROM cursors ORDER BY used LIMIT (SELECT COUNT(*) / 2 FROM cursors))",
                (),
            )
        self.database.close()

    def size(self) -> int:
        """Bytes of the cache file, 0 if there is none."""
        try:
            return os.stat(self.path).st_size
        except OSError:
            return 0

    def _stored(self, key: str) -> str:
        return "%s:%s" % (self.version, key)

    def _run(self, statement: str, values: tuple) -> Optional[tuple]:
        if self.failed:
            return None
        try:
            import sqlite3
        except ImportError:  # a Python built without it
            self.failed = True
            return None
        try:
            if self.database is None:
                self.database = self._open(sqlite3)
            with self.database:
                return self.database.execute(statement, values).fetchone()
        except sqlite3.OperationalError:  # busy, full, read-only: somebody else may still need the file
            self.failed = True
        except (sqlite3.DatabaseError, OSError):
            self.failed = True
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        return None

    def _open(self, sqlite3):  # type: ignore[no-untyped-def]
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        database = sqlite3.connect(self.path, timeout=BUSY_S)
        database.execute("PRAGMA synchronous = OFF")
        database.execute("CREATE TABLE IF NOT EXISTS cursors (key TEXT PRIMARY KEY, used INTEGER, value BLOB)")
        return database


def open_cursors(environment: Mapping[str, str], version: str) -> Cursors:
    """The cursors of this login, for this version of the program."""
    return Cursors(cache_path(environment), version, time.time())
