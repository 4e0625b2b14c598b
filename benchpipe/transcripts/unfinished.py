"""Log pages that could not be made whole, remembered so that they are tried again when their hosts answer anew.

A run file that never changes again asks for nothing; without this the last trials of a sweep whose fetch broke would stay
as they are.
"""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from benchpipe.files import json_bytes, write_bytes
from benchpipe.lab import Lab

MAX_TRIES: Final = 10
"""After so many it waits for other inputs, or for somebody who types `benchpipe runs`: some things never come."""


class Unfinished(msgspec.Struct, frozen=True):
    """One slot that failed or shows less than its host has. `tries` counts the host's answers since, not the builds."""

    host: str
    answered: str | None = None
    """When the host had answered, at the last try."""
    tries: int = 1


def load(lab: Lab, benchmark: str) -> dict[str, Unfinished]:
    """Slot → what is known of it. Forgetting costs one more try."""
    try:
        return msgspec.json.decode(lab.unfinished_logs(benchmark).read_bytes(), type=dict[str, Unfinished])
    except (OSError, msgspec.DecodeError):
        return {}


def waiting(lab: Lab, benchmark: str) -> dict[str, str]:
    """Slot → the host whose next answer is a reason to try it again."""
    return {slot: one.host for slot, one in load(lab, benchmark).items() if one.tries < MAX_TRIES}


def remember(lab: Lab, benchmark: str, hosts: Mapping[str, str], answered: Mapping[str, str | None]) -> None:
    """These slots (slot → host) are unfinished after a try, and no others. `answered`: host → time of its newest answer."""
    before = load(lab, benchmark)
    now = {slot: _tried(before.get(slot), host, answered.get(host)) for slot, host in hosts.items()}
    if now != before:
        write_bytes(lab.unfinished_logs(benchmark), json_bytes(msgspec.to_builtins(now)))


def _tried(before: Unfinished | None, host: str, answered: str | None) -> Unfinished:
    """Builds for the sake of other trials, while this one's host is silent, are no tries: else none would be left for it."""
    if before is None or before.host != host:
        return Unfinished(host, answered)
    return before if before.answered == answered else Unfinished(host, answered, before.tries + 1)


def forget(lab: Lab, benchmarks: Collection[str]) -> None:
    """Somebody wants them tried now, however often that failed."""
    for benchmark in benchmarks:
        lab.unfinished_logs(benchmark).unlink(missing_ok=True)
