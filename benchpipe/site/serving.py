"""Serve a lab's site while people look at it: a free port, a rebuild when something changes, an end with the parent."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from benchpipe.errors import BenchpipeError, UsageError
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.site.build import build_site
from benchpipe.site.jobs import BuildResult
from benchpipe.site.server import FIRST_PORT, PORTS_TRIED, Route, SiteServer, health_of

Say = Callable[[str], None]


def rebuild(lab: Lab, out: Path, *, public: bool, on_made: Callable[[int], None] = lambda n: None) -> BuildResult:
    """Read the registry anew and bring the site up to date."""
    return build_site(lab, load_registry(lab), out, public=public, now=datetime.now(UTC), on_made=on_made)


def open_server(
    lab: Lab,
    out: Path,
    port: int | None,
    say: Say,
    *,
    routes: Mapping[str, Route] | None = None,
    scripts: tuple[str, ...] = (),
) -> SiteServer:
    """A server on `port`, or on the first free one from 8000.

    An older server of the same lab on the way is told apart and named; it is left alone. UsageError if the wanted port
    is taken or none is free.
    """
    health = {"lab": str(lab.root), "pid": os.getpid(), "started": datetime.now(UTC).isoformat(timespec="seconds")}
    for candidate in [port] if port is not None else range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        try:
            return SiteServer(out, candidate, health=health, routes=routes, scripts=scripts)
        except OSError as error:
            there = health_of(candidate)
            if there and there.get("lab") == str(lab.root):
                since = f"process {there.get('pid')}, since {there.get('started')}"
                say(f"an older server of this lab is at http://127.0.0.1:{candidate}/ ({since})")
            if port is not None:
                whose = f"process {there['pid']}, a benchpipe server of {there['lab']}" if there else "another program"
                raise UsageError(f"port {port} is taken by {whose}: give another --port, or none for a free one") from error
    raise UsageError(f"no free port from {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1}: give one with --port")


def serve(server: SiteServer, lab: Lab, *, public: bool, say: Say) -> None:
    """Serve until the parent process ends or somebody interrupts; rebuild whenever an input of the site changes."""
    threading.Thread(target=_follow, args=(server, lab, public, say), daemon=True).start()
    threading.Thread(target=_end_with_parent, args=(server, os.getppid()), daemon=True).start()
    try:
        server.serve_forever(poll_interval=0.2)
    finally:
        server.server_close()


def watched(lab: Lab) -> list[Path]:
    """The folders whose files a site is made from, as far as they exist."""
    folders = (lab.root / "data", lab.root / "state", lab.contrib, lab.templates)
    return [folder for folder in folders if folder.is_dir()]


def _follow(server: SiteServer, lab: Lab, public: bool, say: Say) -> None:
    import watchfiles

    missed = True  # what changed between the first build and the first look
    folders = watched(lab)
    for news in watchfiles.watch(
        *folders, step=200, debounce=1000, rust_timeout=2000, yield_on_timeout=True, raise_interrupt=False
    ):
        if not (news or missed):
            continue
        missed = False
        began = time.monotonic()
        try:
            result = rebuild(lab, server.out, public=public)
        except (BenchpipeError, OSError, ValueError) as error:  # the next change is another try
            say(f"not rebuilt: {error}")
            continue
        changed = result.written + result.linked
        if changed or result.removed:
            say(f"{len(changed)} files rewritten, {len(result.removed)} removed, {time.monotonic() - began:.1f} s")
            server.bulletin.tell(changed)


def _end_with_parent(server: SiteServer, parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    server.shutdown()
