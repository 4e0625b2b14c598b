"""All submissions of a lab after the gate, remembered by content: an unchanged one is not even opened (A4, issue "cost nothing").

The memory (`.cache/contrib/<dataset>.json`) is a speed-up only. It keeps, with each report, what was read for it and what
was looked for in vain; a file whose stamp differs is hashed, and only different bytes mean a new check.
"""

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from pathlib import Path

import msgspec

from benchpipe.contributions.artifacts.secrets import finder
from benchpipe.contributions.baselines import baselines_of
from benchpipe.contributions.checking import Checked, check_submission
from benchpipe.contributions.decisions import Decisions, due, parse_decisions
from benchpipe.contributions.evidence import Replayed
from benchpipe.contributions.reading import Reader, Stamp, stamp
from benchpipe.contributions.stacks import Baseline
from benchpipe.contributions.trajectories.known import replayed_of
from benchpipe.errors import UsageError
from benchpipe.files import sha256, write_bytes
from benchpipe.lab import Lab
from benchpipe.publish.redact import redact
from benchpipe.registry.records import Benchmark


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One remembered check: its result, everything it looked at, and the day from which it is no longer true by itself."""

    checked: Checked
    seen: Mapping[str, tuple[Stamp, str]]
    replayed: Replayed | None = None
    until: str | None = None


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """The file of one dataset. `made_of` is the digest of code and benchmark."""

    made_of: str
    entries: Mapping[str, Entry] = {}


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    """Every submission of one benchmark after the gate. `digest` changes when any report may have changed."""

    id: str
    checked: tuple[Checked, ...]
    decisions: Decisions
    digest: str
    baselines: Mapping[str, Baseline] = {}
    """The agreed round 0 of each task agent, by `stacks.agent_key`."""
    n_checked: int = 0
    """How many were checked again now."""
    problem: str = ""
    """Why nothing is shown: the maintainers' decisions can't be read, and rows without them might be withdrawn ones (B11)."""


def datasets(lab: Lab, benchmarks: Iterable[str]) -> list[str]:
    """Benchmarks that take or have contributed results: those with pools, and those with a folder in contrib/results/."""
    folders = {path.name for path in lab.contrib_results.glob("*") if path.is_dir()}
    return sorted(folders | set(benchmarks))


def submission_files(lab: Lab, dataset: str) -> list[Path]:
    """`contrib/results/<dataset>/<method>/<variant>.json` in name order."""
    return sorted(path for path in (lab.contrib_results / dataset).glob("*/*.json") if not path.name.startswith("."))


def read_decisions(lab: Lab, dataset: str) -> Decisions:
    """Maintainers' decisions on a dataset."""
    file = lab.state_contrib / f"{dataset}.yml"
    return parse_decisions(Reader(lab).read_if_there(file), lab.relative(file))


def check_dataset(lab: Lab, dataset: str, benchmarks: Mapping[str, Benchmark], *, today: date, remembered: bool = True) -> Dataset:
    """The gate on every submission of a dataset; unchanged ones come from memory, unless nothing is to be `remembered`."""
    try:
        decisions = read_decisions(lab, dataset)
    except UsageError as error:
        return Dataset(id=dataset, checked=(), decisions=Decisions(), digest=sha256(str(error).encode()), problem=str(error))
    memory_file = lab.cache / "contrib" / f"{dataset}.json"
    made_of = _made_of(benchmarks.get(dataset))
    memory = _remembered(memory_file, made_of) if remembered else Memory(made_of=made_of)
    entries: dict[str, Entry] = {}
    n_checked = 0
    for path in submission_files(lab, dataset):
        name, replayed = lab.relative(path), replayed_of(lab, benchmarks, path, today)
        known = memory.entries.get(name)
        entry = _still_true(lab, known, replayed, today) if known else None
        if entry is None:
            n_checked += 1
            reader = Reader(lab)
            checked = check_submission(path, lab, benchmarks, today=today, reader=reader, replayed=replayed)
            until = due(decisions.on(f"{path.parent.name}/{path.stem}"), today)
            entry = Entry(checked=_redacted(checked), seen=reader.seen, replayed=replayed, until=until)
        entries[name] = entry
    now = Memory(made_of=made_of, entries=entries)
    if remembered and now != memory:
        with contextlib.suppress(UsageError):  # without a memory the next check is slower, nothing else
            write_bytes(memory_file, msgspec.json.encode(now))
    benchmark, reader = benchmarks.get(dataset), Reader(lab)
    baselines = baselines_of(benchmark, lambda file: reader.read_if_there(lab.root / file)) if benchmark else {}
    return Dataset(
        id=dataset,
        checked=tuple(entry.checked for entry in entries.values()),
        decisions=decisions,
        baselines=baselines,
        digest=sha256(msgspec.json.encode([made_of, decisions, repr(baselines), *(entry.checked for entry in entries.values())])),
        n_checked=n_checked,
    )


def _redacted(checked: Checked) -> Checked:
    """Without what must not leave a lab (credentials, machine names, local paths): the rules of every publication (E1)."""
    value = msgspec.to_builtins(checked)
    redact(value, finder())
    return msgspec.convert(value, Checked)


def _remembered(file: Path, made_of: str) -> Memory:
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        memory = msgspec.json.decode(file.read_bytes(), type=Memory)
        if memory.made_of == made_of:
            return memory
    return Memory(made_of=made_of)


def _still_true(lab: Lab, entry: Entry, replayed: Replayed | None, today: date) -> Entry | None:
    """The entry, with fresh stamps, if nothing it looked at has other bytes now; else None."""
    if entry.replayed != replayed or (entry.until is not None and today.isoformat() > entry.until):
        return None
    seen = dict(entry.seen)
    for name, (before, digest) in entry.seen.items():
        path = lab.root / name
        now = stamp(path)
        if now == before:
            continue
        if not digest or not now or not before or now[0] != before[0] or _sha256_of(path) != digest:
            return None
        seen[name] = (now, digest)
    return msgspec.structs.replace(entry, seen=seen) if seen != entry.seen else entry


def _sha256_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _made_of(benchmark: Benchmark | None) -> str:
    return sha256(code_digest().encode() + msgspec.json.encode(benchmark, enc_hook=str))


@cache
def code_digest() -> str:
    """Digest of this room's code: another gate may say something else."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files))
