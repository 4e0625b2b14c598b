"""Goes on with one submission's trajectories in a process of its own, which the test kills.

python -m benchpipe_tests.contributions.trajectories.mirror_process LAB FILE STORE PORT CERTIFICATE

STORE is a folder, or hub:DATASET.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path
from ssl import create_default_context

from benchpipe.contributions.trajectories.fetching import Policy
from benchpipe.contributions.trajectories.known import declared_of
from benchpipe.contributions.trajectories.mirroring import advance_submission
from benchpipe.contributions.trajectories.mirrors import FolderMirror, HubMirror, Mirror
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


def main(root: str, file: str, store: str, port: str, certificate: str) -> int:
    lab = Lab(Path(root))
    benchmarks = load_registry(lab).benchmarks
    declared = declared_of(lab, benchmarks, Path(file), NOW.date())
    assert declared is not None
    print("ready", flush=True)
    policy = Policy(trusted=frozenset({("127.0.0.1", int(port))}), tls=lambda: create_default_context(cafile=certificate))
    hub = store.removeprefix("hub:")
    mirror: Mirror = HubMirror(hub) if hub != store else FolderMirror(Path(store), "https://mirror.example/data")
    done = advance_submission(lab, benchmarks, declared, mirror=mirror, now=lambda: NOW, policy=policy)
    print(done.after, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
