"""A directory of the dataset repository on the Hub, at a revision or a pull request, brought here to be checked (17).

Only what the path covers is downloaded, with the manifests above it; a revision that is here already is not asked for again.
The Hub's interface does not tell executable bits: trees with scripts are best checked in a git checkout.
"""

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from benchpipe.contributions.artifacts.layout import MAX_ARCHIVE, MAX_OTHER, ROOT
from benchpipe.contributions.file_rules import path_fault
from benchpipe.errors import UsageError

MANIFESTS = ("coverage.json", "task_agent.json", "family.json")
_PLACE = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@((?:refs/pr/\d+)|[\w.-]+))?/(.+)")


class Place(NamedTuple):
    """A directory of a dataset at a revision (a branch, a commit, `refs/pr/N`)."""

    dataset: str
    revision: str
    path: str


def place_of(text: str) -> Place | None:
    """The place that `hf://datasets/OWNER/NAME[@REVISION]/Experiments/…` means; None for anything without `hf:`. UsageError if
    it is none."""
    if not text.startswith("hf:"):
        return None
    match = _PLACE.fullmatch(re.sub("^hf:/+", "hf://", text).rstrip("/"))
    if not match or path_fault(match[3]) or match[3].split("/")[0] != ROOT:
        raise UsageError(f"{text}: write hf://datasets/OWNER/NAME@REVISION/{ROOT}/…; REVISION may be refs/pr/N")
    return Place(match[1], match[2] or "main", match[3])


def bring(place: Place, folder: Path, on_progress: Callable[[str], None]) -> Path:
    """Download a place below `folder`; the directory to check. UsageError if there is nothing, or it can't be reached.

    Directories beside the path are made but stay empty, so that manifests which list them can be compared.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api = HfApi()
    try:
        commit = api.repo_info(place.dataset, repo_type="dataset", revision=place.revision).sha or place.revision
        target = folder / commit
        files = _files(api, place, commit, target)
        for number, (name, size) in enumerate(files, 1):
            if (target / name).is_file() and (target / name).stat().st_size == size:
                continue
            on_progress(f"{number} of {len(files)}: {name} ({size:,} bytes)")
            api.hf_hub_download(place.dataset, name, repo_type="dataset", revision=commit, local_dir=target)
    except (HfHubHTTPError, OSError) as error:
        raise UsageError(f"{place.dataset}@{place.revision}: can't be read from the Hub ({type(error).__name__})") from error
    return target / place.path


def _files(api: Any, place: Place, commit: str, target: Path) -> list[tuple[str, int]]:
    """(path, bytes) of everything to download. The listing is a stranger's: its names are looked at before they become paths."""
    found: list[tuple[str, int]] = []
    above = [parent.as_posix() for parent in PurePosixPath(place.path).parents if parent.parts]
    for folder, recursive in [(place.path, True), *((parent, False) for parent in above)]:
        for entry in api.list_repo_tree(place.dataset, folder, recursive=recursive, repo_type="dataset", revision=commit):
            if path_fault(entry.path) or not entry.path.startswith(f"{folder}/"):
                raise UsageError(f"{place.dataset}: holds {entry.path[:200]!r}, which can't be a path here")
            size = getattr(entry, "size", None)
            if size is None:
                (target / entry.path).mkdir(parents=True, exist_ok=True)
            elif recursive or PurePosixPath(entry.path).name in MANIFESTS:
                limit = MAX_ARCHIVE if entry.path.endswith(".tar.gz") else MAX_OTHER * 8
                if size > limit:
                    raise UsageError(f"{place.dataset}: {entry.path} has {size:,} bytes; the limit is {limit:,}")
                found.append((entry.path, size))
    return found
