"""Where media are put: a folder, or a dataset on the Hub, behind one small interface. No decisions here.

A store works with optimistic locking: whoever writes names the state that was listed; if it is no longer the newest,
`Conflict` says so and nothing was written.
"""

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from benchpipe.errors import UsageError
from benchpipe.files import file_sha256


class Stored(NamedTuple):
    """What a store knows of a file: its sha256, or the id git gives its content (small files on the Hub)."""

    sha256: str | None
    git_id: str | None = None

    def is_same(self, file: Path) -> bool:
        """Whether it has the bytes of `file`."""
        if self.sha256 is not None:
            return self.sha256 == file_sha256(file)
        with open(file, "rb") as content:
            head = b"blob %d\0" % file.stat().st_size
            return self.git_id == hashlib.file_digest(content, lambda: hashlib.sha1(head)).hexdigest()


class Listing(NamedTuple):
    """The files below a prefix, by address, and the state they were listed in."""

    files: Mapping[str, Stored]
    state: str | None


class StoreError(Exception):
    """A store didn't take or give something; it may later. `wait_s`: how long it asks to be left alone."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class Unreachable(StoreError):
    """Nothing answered at all."""


class Conflict(StoreError):
    """Somebody else wrote since the listing; nothing was written."""


class Store(Protocol):
    """Files by address. `state` is the one of the listing that the change was planned from.

    A listing has what lies below the folder `prefix`, and of the files `beside` it those that are there.
    """

    def listed(self, prefix: str, beside: Sequence[str] = ()) -> Listing: ...
    def put(self, files: Mapping[str, Path], state: str | None, message: str) -> None: ...
    def delete(self, addresses: Sequence[str], state: str | None, message: str) -> None: ...


class FolderStore:
    """A folder on this machine: for a web server of one's own, and to look at what would be uploaded."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def listed(self, prefix: str, beside: Sequence[str] = ()) -> Listing:
        found = [*(self._root / prefix).rglob("*"), *(self._root / address for address in beside)]
        files = sorted(file for file in found if file.is_file() and not file.name.startswith("."))
        return Listing({file.relative_to(self._root).as_posix(): Stored(file_sha256(file)) for file in files}, None)

    def put(self, files: Mapping[str, Path], state: str | None, message: str) -> None:
        for address, file in files.items():
            target = self._root / address
            target.parent.mkdir(parents=True, exist_ok=True)
            beside = target.with_name(f".{target.name}.new")
            shutil.copyfile(file, beside)
            os.replace(beside, target)

    def delete(self, addresses: Sequence[str], state: str | None, message: str) -> None:
        for address in addresses:
            (self._root / address).unlink(missing_ok=True)


class HubStore:
    """A dataset on the Hub, reached with the user's own login (`hf auth login`)."""

    def __init__(self, dataset: str) -> None:
        from huggingface_hub import HfApi, get_token

        if not dataset:
            raise UsageError("data/public.yml: hub_dataset is empty: name the dataset that holds the run media")
        if not get_token():
            raise UsageError("not logged in to the Hub: run `hf auth login` with your own account")
        self._dataset = dataset
        self._api = HfApi()

    def listed(self, prefix: str, beside: Sequence[str] = ()) -> Listing:
        from huggingface_hub.errors import EntryNotFoundError, RemoteEntryNotFoundError

        with _told(self._dataset):
            state = self._api.repo_info(self._dataset, repo_type="dataset").sha
            try:
                entries = self._api.list_repo_tree(self._dataset, prefix, recursive=True, repo_type="dataset", revision=state)
                tree = list(entries)
            except (EntryNotFoundError, RemoteEntryNotFoundError):
                tree = []
            if beside:
                tree += self._api.get_paths_info(self._dataset, list(beside), repo_type="dataset", revision=state)
        return Listing({entry.path: _stored(entry) for entry in tree if hasattr(entry, "blob_id")}, state)

    def put(self, files: Mapping[str, Path], state: str | None, message: str) -> None:
        from huggingface_hub import CommitOperationAdd

        self._commit([CommitOperationAdd(address, file) for address, file in files.items()], state, message)

    def delete(self, addresses: Sequence[str], state: str | None, message: str) -> None:
        from huggingface_hub import CommitOperationDelete

        self._commit([CommitOperationDelete(address, is_folder=False) for address in addresses], state, message)

    def _commit(self, operations: list[Any], state: str | None, message: str) -> None:
        with _told(self._dataset):
            self._api.create_commit(
                self._dataset, operations, commit_message=message, repo_type="dataset", parent_commit=state, num_threads=2
            )


def _stored(entry: Any) -> Stored:
    return Stored(entry.lfs.sha256 if entry.lfs else None, entry.blob_id)


class _told:
    """Turns the client's errors into ours: wrong use for what a person has to mend, StoreError for what may pass."""

    def __init__(self, dataset: str) -> None:
        self._dataset = dataset

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        import httpx2
        from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

        if isinstance(error, HfHubHTTPError):
            status = error.response.status_code
            if isinstance(error, RepositoryNotFoundError) or status in (401, 403):
                organisation = self._dataset.partition("/")[0]
                raise UsageError(
                    f"the Hub doesn't let you write to {self._dataset}: the login must be a member of {organisation} "
                    "(data/public.yml: hub_dataset; `hf auth whoami` says who you are)"
                ) from error
            if status == 412:
                raise Conflict(f"{self._dataset} has changed meanwhile") from error
            if status == 429 or status >= 500:
                raise StoreError(f"the Hub answered {status}", _retry_after(error.response.headers)) from error
            said = str(error).strip().splitlines()
            raise UsageError(
                f"the Hub refused to serve {self._dataset} ({status}: {said[-1] if said else 'no reason given'})"
            ) from error
        if isinstance(error, httpx2.HTTPError | OSError):
            raise Unreachable(f"the Hub can't be reached ({type(error).__name__})") from error


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a `Retry-After` header; None if it says none."""
    try:
        return max(float(headers.get("Retry-After", "")), 0.0)
    except ValueError:
        return None
