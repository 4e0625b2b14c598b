"""Where everything is. The only module that joins paths of a lab; it reads and writes nothing.

A lab is a directory with `data/`, `state/` and `contrib/` (decision A1). Names that come from hosts (jobs, trials) never
become parts of a path here: what is stored for them lies under a digest.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchpipe.errors import UsageError

PACKAGE_ROOT = Path(__file__).resolve().parent
PATH_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def path_part(name: str) -> str:
    """`name` if it is safe as one part of a path, else a UsageError. Guards every id that ends up in a file name."""
    if not PATH_PART.fullmatch(name) or len(name) > 200:
        raise UsageError(f"{name!r} can't be part of a file name: use letters, digits, '_', '-' and '.'")
    return name


@dataclass(frozen=True)
class Lab:
    """All paths of one lab. `root` is absolute."""

    root: Path

    @classmethod
    def find(cls, explicit: Path | str | None, start: Path) -> "Lab":
        """The lab named by `--lab` or BENCHPIPE_LAB, else the first folder from `start` upwards that has `data/agents/`."""
        if explicit:
            root = Path(explicit).expanduser().resolve()
            if not root.is_dir():
                raise UsageError(f"{root}: no such directory; --lab wants the folder that holds data/ and state/")
            return cls(root)
        for folder in (start.resolve(), *start.resolve().parents):
            if (folder / "data" / "agents").is_dir():
                return cls(folder)
        raise UsageError(f"no lab found from {start} upwards: go into one (a folder with data/agents/) or give --lab DIR")

    def relative(self, path: Path) -> str:
        """`path` as messages show it: relative to the lab where it lies inside."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)

    # --- what people write -------------------------------------------------------------------------------------------

    @property
    def agents(self) -> Path:
        return self.root / "data" / "agents"

    @property
    def benchmarks(self) -> Path:
        return self.root / "data" / "benchmarks"

    @property
    def prices_file(self) -> Path:
        return self.root / "data" / "prices.yml"

    @property
    def public_file(self) -> Path:
        return self.root / "data" / "public.yml"

    @property
    def media_card(self) -> Path:
        """What the dataset of run media says about itself."""
        return self.root / "data" / "media-card.md"

    @property
    def state_runs(self) -> Path:
        return self.root / "state" / "runs"

    @property
    def state_tasks(self) -> Path:
        return self.root / "state" / "tasks"

    @property
    def state_contrib(self) -> Path:
        return self.root / "state" / "contrib"

    @property
    def contrib(self) -> Path:
        return self.root / "contrib"

    @property
    def contrib_results(self) -> Path:
        return self.contrib / "results"

    @property
    def templates(self) -> Path:
        """The lab's own `site_templates/` where it has one, else the ones beside the package."""
        own = self.root / "site_templates"
        return own if own.is_dir() else PACKAGE_ROOT.parent / "site_templates"

    def hosts_files(self) -> list[Path]:
        """Every `data/runs/hosts*.local.yml`, in name order."""
        return sorted(self.runs.glob("hosts*.local.yml"))

    def backfill_file(self, benchmark: str, run: str) -> Path:
        return self.run_folder(benchmark) / f"{path_part(run)}.backfill.yml"

    # --- what the collector writes (git-ignored) ---------------------------------------------------------------------

    @property
    def runs(self) -> Path:
        return self.root / "data" / "runs"

    @property
    def status_file(self) -> Path:
        return self.runs / "status.json"

    @property
    def readings(self) -> Path:
        return self.runs / "hosts"

    def reading_file(self, host: str) -> Path:
        return self.readings / f"{path_part(host)}.json"

    def requests_file(self, digest: str) -> Path:
        """The requests of one trial, addressed by the sha256 of the file's bytes."""
        return self.readings / "requests" / digest[:2] / f"{path_part(digest)}.json"

    def raw_folder(self, host: str) -> Path:
        """Copies of a remote host's raw records (log pages are built from them)."""
        return self.cache / "raw" / path_part(host)

    def run_folder(self, benchmark: str) -> Path:
        return self.runs / path_part(benchmark)

    def run_file(self, benchmark: str, run: str) -> Path:
        return self.run_folder(benchmark) / f"{path_part(run)}.json"

    def history_file(self, benchmark: str) -> Path:
        return self.run_folder(benchmark) / "history.jsonl"

    def costs_file(self, benchmark: str) -> Path:
        return self.run_folder(benchmark) / "costs.json"

    def attempts_table(self, benchmark: str) -> Path:
        return self.run_folder(benchmark) / "attempts.parquet"

    def requests_table(self, benchmark: str) -> Path:
        return self.run_folder(benchmark) / "requests.parquet"

    def slot_folder(self, benchmark: str, run: str, task: str, slot: str) -> Path:
        """Log page data of one trial: `log.json` with its media beside it."""
        return self.run_folder(benchmark) / path_part(run) / path_part(task) / path_part(slot)

    # --- what is derived or leaves the lab ---------------------------------------------------------------------------

    @property
    def site(self) -> Path:
        return self.root / "site"

    @property
    def published(self) -> Path:
        return self.root / "data" / "published_runs"

    @property
    def cache(self) -> Path:
        return self.root / ".cache"

    def unfinished_logs(self, benchmark: str) -> Path:
        """Log pages that could not be made whole the last time."""
        return self.cache / "unfinished-logs" / f"{path_part(benchmark)}.json"

    @property
    def dagster_home(self) -> Path:
        return self.root / ".dagster"

    def lock_file(self, name: str) -> Path:
        return self.cache / "locks" / f"{path_part(name)}.lock"

    def yaml_files(self, folder: Path) -> Iterator[Path]:
        """The `*.yml` files of a registry folder in name order, without editors' leftovers."""
        yield from sorted(p for p in folder.glob("*.yml") if not p.name.startswith((".", "#")))
