"""`benchpipe runs` as a process on a lab, everything it wrote, and whether all of that is whole."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from benchpipe import demo
from benchpipe.lab import Lab

COMMAND = Path(sys.executable).with_name("benchpipe")
OUTPUTS = ("data/runs", "site")
TIMES = {"generated_at", "published_at", "at", "built"}
"""The only fields of data that the wall clock may end up in (A5)."""


def start(lab: Lab, clock: int, environment: Mapping[str, str] | None = None, *, log: Path) -> subprocess.Popen[bytes]:
    """`benchpipe runs` on a lab in a process group of its own, its wall clock standing at `clock` (epoch seconds)."""
    if not shutil.which("faketime"):
        pytest.skip("needs the Debian package faketime")
    with log.open("ab") as said:
        return subprocess.Popen(
            ["faketime", "--exclude-monotonic", "-f", str(clock), COMMAND, "--lab", lab.root, "runs"],
            env={**os.environ, "FAKETIME_FMT": "%s", **(environment or {})},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )


def run(lab: Lab, clock: int, environment: Mapping[str, str] | None = None, *, log: Path) -> None:
    """`benchpipe runs` to its end, which has to be a good one."""
    assert start(lab, clock, environment, log=log).wait(150) == 0, log.read_text(errors="replace")[-3000:]


def shuffled_copy(source: Path, target: Path, seed: int) -> None:
    """A copy of a folder with every time kept, its files made in another order, so that listing it gives another one."""
    paths = list(source.rglob("*"))
    random.Random(seed).shuffle(paths)
    for path in paths:
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            copy.symlink_to(path.readlink())
        elif path.is_dir():
            copy.mkdir(exist_ok=True)
        else:
            shutil.copy2(path, copy)
    for path in sorted(source.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            shutil.copystat(path, target / path.relative_to(source))


def small_lab(root: Path) -> Lab:
    """The shipped lab with two of its hosts: ways to end, a gateway log, regrades; quick to collect."""
    lab = demo.make_lab(root)
    for host in ("archive", "gpu1", "gpu2"):
        shutil.rmtree(root / "jobs" / host)
    (lab.runs / "hosts.demo.local.yml").write_text("cpu1: {jobs: jobs/cpu1}\ngpu3: {jobs: jobs/gpu3}\n")
    return lab


def outputs(lab: Lab) -> dict[str, Any]:
    """Every file that the build wrote, as bytes, without what the collector remembers of files on the disk.

    That is the `stamp` of each log page and the `fingerprint`s of readings: inodes and times, other ones in every copy.
    """
    found: dict[str, Any] = {}
    for folder in OUTPUTS:
        for path in sorted((lab.root / folder).rglob("*")):
            if path.is_file() and not path.name.startswith(".") and path.name != "stamp":
                reading = path.is_relative_to(lab.readings)
                data = path.read_bytes()
                found[path.relative_to(lab.root).as_posix()] = without(json.loads(data), {"fingerprint"}) if reading else data
    return found


def differing(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Names of files that differ or that only one side has."""
    return sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))


def without(value: Any, keys: Set[str]) -> Any:
    """JSON without the values of these keys."""
    if isinstance(value, dict):
        return {key: None if key in keys else without(item, keys) for key, item in value.items()}
    return [without(item, keys) for item in value] if isinstance(value, list) else value


def check_whole(lab: Lab) -> None:
    """Every file that a reader could pick up is whole. A crash may leave hidden `.….new` files, which nobody takes for data."""
    for folder in OUTPUTS:
        for path in (lab.root / folder).rglob("*"):
            if not path.is_file() or path.name.startswith("."):
                continue
            assert path.suffix != ".new", path
            if path.suffix == ".parquet":
                pyarrow.parquet.read_table(path)
            elif path.suffix == ".json":
                json.loads(path.read_bytes())
            elif path.suffix == ".jsonl":
                [json.loads(line) for line in path.read_bytes().splitlines()]
            elif path.suffix == ".html":
                assert path.read_text(encoding="utf-8").rstrip().endswith("</html>"), path
