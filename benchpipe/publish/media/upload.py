"""Upload: bring a benchmark's folder of a store to what the snapshot names. Level-triggered: what is there is listed, and only
what is missing is sent, in batches; after any error the listing says where to go on. So nothing is sent twice or lost, whatever
was cut.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from benchpipe.publish.media.export import MANIFEST
from benchpipe.publish.media.stores import Conflict, Listing, Store, StoreError, Unreachable

BATCH_FILES = 256
BATCH_BYTES = 1 << 30
MAX_TRIES = 8
"""Errors in a row without any batch that got through."""
FIRST_TRIES = 3
"""So many where nothing has answered yet: the address or the network is more likely wrong than busy."""
LONGEST_WAIT_S = 600.0

Progress = Callable[[int, int, str], None]
"""Called with how many files are done, of how many, and what is going on."""


class Uploaded(msgspec.Struct, frozen=True, kw_only=True):
    """What an upload did, or would do (`dry_run`). Addresses in the store."""

    sent: tuple[str, ...]
    deleted: tuple[str, ...]
    unchanged: int
    bytes: int


def upload(
    store: Store,
    source: Path,
    benchmark: str,
    named: Iterable[str],
    *,
    beside: Mapping[str, Path] = MappingProxyType({}),
    dry_run: bool = False,
    on_progress: Progress | None = None,
    sleep: Callable[[float], None] = time.sleep,
    batch_files: int = BATCH_FILES,
) -> Uploaded:
    """Send the files below `source/<benchmark>` and delete those of the store that no published log names any more.

    `named`: every address of the benchmark that the snapshot names, also of media that are not on this machine: those stay.
    `beside`: files outside of the benchmark's folder, by address, that are sent where they differ.
    StoreError after MAX_TRIES errors in a row, after FIRST_TRIES where nothing answers from the beginning.
    """
    local = {**beside, **{file.relative_to(source).as_posix(): file for file in _media(source / benchmark)}}
    wanted = {*named, *local}
    sent: dict[str, Path] = {}
    deleted: dict[str, None] = {}
    errors = 0
    answered = False
    while True:
        try:
            listing = store.listed(benchmark, tuple(beside))
            answered = True
            missing, stale = _missing(local, listing), sorted(listing.files.keys() - wanted)
            sent |= missing
            deleted |= dict.fromkeys(stale)
            if dry_run or not (missing or stale):
                size = sum(file.stat().st_size for file in sent.values())
                return Uploaded(sent=tuple(sent), deleted=tuple(deleted), unchanged=len(local) - len(sent), bytes=size)
            if on_progress:
                on_progress(len(local) - len(missing), len(local), f"{len(stale)} to delete")
            if missing:
                batch = _first_batch(missing, batch_files)
                store.put(batch, listing.state, f"{benchmark}: {len(batch)} files")
            else:
                store.delete(stale[:batch_files], listing.state, f"{benchmark}: {len(stale[:batch_files])} withdrawn")
            errors = 0
        except StoreError as error:
            errors += 1
            answered = answered or not isinstance(error, Unreachable)
            if errors >= (MAX_TRIES if answered else FIRST_TRIES):
                raise
            wait_s = _wait(error, errors)
            if on_progress:
                on_progress(0, len(local), f"{error}; looking again in {wait_s:.0f} s")
            sleep(wait_s)


def _wait(error: StoreError, errors: int) -> float:
    """Seconds before the next try: what the store asks for, nothing after a conflict, else longer each time."""
    if error.wait_s is not None:
        return min(error.wait_s, LONGEST_WAIT_S)
    return 0.0 if isinstance(error, Conflict) else min(2.0**errors, LONGEST_WAIT_S)


def _media(part: Path) -> list[Path]:
    return [file for file in sorted(part.rglob("*")) if file.is_file() and file.name != MANIFEST and not file.name.startswith(".")]


def _missing(local: Mapping[str, Path], listing: Listing) -> dict[str, Path]:
    """What the store doesn't have as it is here."""
    return {
        address: file
        for address, file in local.items()
        if (stored := listing.files.get(address)) is None or not stored.is_same(file)
    }


def _first_batch(files: Mapping[str, Path], most: int) -> dict[str, Path]:
    """As many files as one commit may have."""
    batch: dict[str, Path] = {}
    size = 0
    for address, file in files.items():
        size += file.stat().st_size
        if batch and (len(batch) >= most or size > BATCH_BYTES):
            break
        batch[address] = file
    return batch
