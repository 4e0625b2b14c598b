"""The dataset directories of a benchmark that lie in this lab, checked and remembered: an unchanged tree is not opened again (A4).

The memory is a speed-up only: it keeps the report beside the digest of what it was made from.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from benchpipe.contributions.artifacts.checking import DirectoryReport, Progress, check_directory
from benchpipe.contributions.artifacts.layout import ROOT, TooDeep, is_folder, walk
from benchpipe.contributions.reading import stamp
from benchpipe.contributions.store import code_digest
from benchpipe.contributions.trajectories.adapters import wanted_by
from benchpipe.errors import UsageError
from benchpipe.files import json_bytes, sha256, write_bytes
from benchpipe.lab import Lab
from benchpipe.registry.records import Benchmark


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """A report and the digest of everything that it was made from."""

    made_of: str
    report: DirectoryReport


def experiments_folder(lab: Lab, dataset: str) -> Path:
    """Where the lab keeps a benchmark's dataset directories."""
    return lab.contrib / ROOT / dataset


def experiments_digest(lab: Lab, dataset: str) -> str:
    """Digest of the stamps (size, times, inode, mode) of every file of a benchmark's directories; reads no content."""
    folder = experiments_folder(lab, dataset)
    found: list[object] = []
    with contextlib.suppress(TooDeep):
        for name, kind, _, path in walk(folder) if is_folder(folder) else ():
            found.append([os.fsencode(name).hex(), kind, stamp(path)])
    return sha256(json_bytes(found))


def dataset_reports(
    lab: Lab, dataset: str, benchmarks: Mapping[str, Benchmark], on_progress: Progress = lambda text: None
) -> DirectoryReport | None:
    """The report on a benchmark's dataset directories; None if there are none. An unchanged one comes from memory."""
    folder = experiments_folder(lab, dataset)
    if not is_folder(folder):
        return None
    benchmark = benchmarks.get(dataset)
    pools = [stamp(path) for path in sorted((lab.benchmarks / dataset).rglob("*"))]
    wanted = wanted_by(benchmark, lab).facts if benchmark else ()
    facts = [experiments_digest(lab, dataset), code_digest(), msgspec.json.encode(benchmark, enc_hook=str).decode(), pools, *wanted]
    made_of = sha256(json_bytes(facts))
    memory = lab.cache / "contrib" / "experiments" / f"{dataset}.json"
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        remembered = msgspec.json.decode(memory.read_bytes(), type=Remembered)
        if remembered.made_of == made_of:
            return remembered.report
    report = check_directory(folder, lab, benchmarks, on_progress)
    with contextlib.suppress(UsageError):  # without a memory the next check is slower, nothing else
        write_bytes(memory, msgspec.json.encode(Remembered(made_of=made_of, report=report)))
    return report


def report_digest(report: DirectoryReport) -> str:
    """Digest of what a report says: equal reports have equal digests, whenever they were made."""
    return sha256(json_bytes(msgspec.to_builtins(report)))
