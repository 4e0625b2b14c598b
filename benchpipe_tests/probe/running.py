"""Runs the real probe as a host would: its own interpreter, the program on standard input, nothing of ours importable."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchpipe.hosts.frames import unframe
from benchpipe.probe import program, protocol


def request(jobs: Path, batches: Mapping[str, Sequence[str]], known: Mapping[str, str] | None = None) -> dict[str, object]:
    """A request for everything, or for what differs from `known`."""
    return {
        "jobs": str(jobs),
        "batches": {batch: list(modes) for batch, modes in batches.items()},
        "known": dict(known or {}),
        "salt": program.salt(),
        "seconds": 60.0,
    }


def run_probe(
    asked: dict[str, object], *, cache: Path, python: str = sys.executable, before: Sequence[str] = ()
) -> tuple[dict[str, Any], bytes]:
    """The answer and the bytes it came in. `before` stands in front of the interpreter (strace, say)."""
    command = [*before, python, "-I", "-S", "-c", program.BOOT]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"XDG_CACHE_HOME": str(cache), "PATH": ""},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(program.start() + program.call(asked))
        process.stdin.flush()  # and stays open: its end would end the probe
        output = b""
        while protocol.END not in output and (piece := process.stdout.read1(1 << 16)):  # type: ignore[attr-defined]
            output += piece
        process.stdin.close()
        errors = process.stderr.read()
    assert protocol.END in output, errors.decode()
    answer = json.loads(unframe(output))
    assert isinstance(answer, dict)
    return answer, output


def digests(answer: Mapping[str, Any]) -> dict[str, str]:
    """What a collector that got `answer` to a request for everything knows."""
    entries = [(job["job"], "", job["fingerprint"]) for job in answer["jobs"]]
    entries += [(trial["job"], trial["trial"], trial["fingerprint"]) for trial in answer["trials"]]
    return protocol.bucket_digests(entries, answer["seen"], answer["strangers"])


def old_python() -> str | None:
    """A Python 3.8 on PATH or in ~/.pyenv."""
    places = [*os.environ.get("PATH", "").split(":"), *map(str, Path("~/.pyenv/versions").expanduser().glob("3.8*/bin"))]
    found = [Path(place) / "python3.8" for place in places if "shims" not in place]
    return next((str(path) for path in found if path.is_file()), None)
