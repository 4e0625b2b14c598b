"""What the machines of hosts files are called, and where such a name stands as a word of its own."""

from collections.abc import Iterable, Iterator

from benchpipe.registry.records import Host

EVERYWHERE = frozenset({"local", "localhost", "here", "this"})
"""Names of hosts that are plain words and tell nothing."""
BEFORE = r"(?<![\w./\\@-])"
AFTER = r"(?![\w/\\-]|\.\w)"
"""What must not stand around a name in prose: then it is part of a path, an address or another word."""


def machine_names(hosts: Iterable[Host]) -> set[str]:
    """Aliases and the host parts of `ssh`."""
    return {name for host in hosts for name in _names(host)} - EVERYWHERE


def _names(host: Host) -> Iterator[str]:
    yield host.name
    if host.ssh:
        yield host.ssh.rpartition("@")[2].partition(":")[0]
