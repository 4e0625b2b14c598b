"""The platform's own copy of an archive: put into a store, read back, compared. Stores are those of run media (publishing)."""

import hashlib
import tempfile
from pathlib import Path
from typing import NamedTuple, Protocol

from benchpipe.publish.media.stores import FolderStore, HubStore, StoreError

PUBLIC_HUB = "https://huggingface.co"
"""What links of copies begin with, whichever way this machine reaches the Hub."""


class Copied(NamedTuple):
    """Where a copy lies now, and what was read back from there."""

    location: str
    repository: str
    revision: str
    sha256: str
    bytes: int


class Mirror(Protocol):
    """Takes archives. `name` tells stores apart."""

    name: str

    def copy(self, archive: Path, address: str, message: str) -> Copied:
        """Put an archive at an address (nothing is sent if it is there already) and read it back.

        StoreError for what may pass, UsageError for what a person has to mend.
        """


class FolderMirror:
    """A folder behind a web server of one's own; `base` is the https address of the folder. Its revision is the content's hash."""

    def __init__(self, root: Path, base: str) -> None:
        self.name = base.rstrip("/")
        self._root = root
        self._store = FolderStore(root)

    def copy(self, archive: Path, address: str, message: str) -> Copied:
        there = self._root / address
        if not there.is_file() or digest(there) != digest(archive):
            self._store.put({address: archive}, None, message)
        read, n_bytes = digest(there)
        return Copied(f"{self.name}/{address}", self.name, read, read, n_bytes)


class HubMirror:
    """A dataset on the Hub."""

    def __init__(self, dataset: str) -> None:
        self._store = HubStore(dataset)
        self._dataset = dataset
        self.name = f"hub:{dataset}"

    def copy(self, archive: Path, address: str, message: str) -> Copied:
        from huggingface_hub import hf_hub_download, hf_hub_url

        listing = self._store.listed(address.rpartition("/")[0])
        known = listing.files.get(address)
        if known is None or known.sha256 != digest(archive)[0]:
            self._store.put({address: archive}, listing.state, message)
            listing = self._store.listed(address.rpartition("/")[0])
        revision = listing.state or "main"
        with tempfile.TemporaryDirectory() as place:
            try:
                read = hf_hub_download(self._dataset, address, repo_type="dataset", revision=revision, local_dir=place)
            except OSError as error:
                raise StoreError(f"the copy can't be read back ({type(error).__name__})") from error
            found, n_bytes = digest(Path(read))
        location = hf_hub_url(self._dataset, address, repo_type="dataset", revision=revision, endpoint=PUBLIC_HUB)
        return Copied(location, self._dataset, revision, found, n_bytes)


def digest(path: Path) -> tuple[str, int]:
    """(sha256, bytes) of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
