"""A submission that names no directory of the dataset repository finds its own by what was measured (run, round, identity).

A directory is never taken on its name alone.
"""

from collections.abc import Iterable
from pathlib import Path

from benchpipe.contributions.artifacts.layout import ROOT, folders, is_folder
from benchpipe.contributions.models import Run
from benchpipe.contributions.reading import MAX_RECORD_BYTES, Reader
from benchpipe.contributions.run_record import Record, identity_of, read_curve
from benchpipe.contributions.strict_json import Refused

Measurement = tuple[str, int, str]
"""Run id, round, harness_sha."""


def directory_of(reader: Reader, roots: Iterable[Path], dataset: str, method: str, runs: Iterable[Run]) -> Path | None:
    """The method directory below one of `roots` (folders that hold `Experiments/`) whose curve has every one of these runs."""
    wanted = {(run.run_id, run.round, run.harness_sha) for run in runs}
    for root in roots:
        above = root / ROOT / dataset
        if not reader.exists(above) or not is_folder(above):
            continue
        for agent in _folders(reader, above):
            for family in _folders(reader, above / agent):
                folder = above / agent / family / method
                if wanted <= measured_in(_curve(reader, folder / "curve.jsonl")):
                    return folder
    return None


def _folders(reader: Reader, folder: Path) -> list[str]:
    reader.exists(folder)  # so that a directory added later is noticed
    return folders(folder)


def _curve(reader: Reader, file: Path) -> tuple[Record, ...]:
    try:
        data = reader.read_if_there(file, MAX_RECORD_BYTES)
        return read_curve(data) if data else ()
    except Refused:
        return ()


def measured_in(curve: Iterable[Record]) -> set[Measurement]:
    """What a curve's records measured."""
    return {(str(point.get("run_id")), point["round"], str(identity_of(point, "harness_sha"))) for point in curve}
