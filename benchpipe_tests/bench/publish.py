"""Redaction and scan of trial logs, beside scanners that do a part of it. Time is CPU time of this one thread: one core."""

import importlib.util
import itertools
import os
import random
import shutil
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from benchpipe.publish.find import Finder
from benchpipe.publish.redact import redact
from benchpipe.publish.rules import built_in_rules
from benchpipe.publish.scan import Scan, second_opinion
from benchpipe_tests.publish.corpus import secrets

TITLE = "redaction, own scan and second opinion of trial logs"
POOL = 40
ALTERNATIVE_BYTES = 2_000_000


def pool() -> list[bytes]:
    """Trial logs as they are stored: tool outputs cut as log pages cut them, code, remarks, robot events, a secret now and then."""
    rng = random.Random(1)
    sources = [file.read_text("utf-8", "replace") for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))]
    leaks = itertools.cycle(secret.text for secret in secrets(1, 200))
    return [orjson.dumps(log(rng, sources, leaks)) for _ in range(POOL)]


def log(rng: random.Random, sources: list[str], leaks: Iterator[str]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for n in range(rng.randint(100, 250)):
        text = rng.choice(sources)
        at = rng.randrange(max(len(text) - 2700, 1))
        out = text[at : at + rng.choice((80, 600, 2700, 2700))]
        if n == 50:
            out = f"{out[:40]}\n{next(leaks)}\n{out[40:]}"
        remark = f"I look at line {at} of the file and move the gripper {rng.random():.3f} m."
        command = f"sed -n '{at},{at + 80}p' /app/x.py"
        call = {"tool": "exec", "cmd": command, "status": "ok", "wall": 0.1, "out": out, "n": len(out), "te": n + 0.5}
        steps += [{"k": "say", "t": n + 0.1, "text": remark}, {"k": "run", "t": n + 0.2, **call}]
    robot = [{"t": n / 10, "ev": "step", "type": "qpos", "success": False} for n in range(rng.randint(0, 300))]
    calls = [[float(n), n + 0.5, 200, 23862 + n, 19192, 114, 7, None, None] for n in range(len(steps) // 2)]
    return {
        "v": 1,
        "task": "pour_water",
        "trial": "t__abc1234",
        "start": 1790616238.761,
        "calls": calls,
        "steps": steps,
        "robot": robot,
    }


def run(full: bool) -> Iterator[str]:
    logs = pool()
    size = 500_000_000 if full else 20_000_000
    work = [logs[n % len(logs)] for n in range(size // (sum(map(len, logs)) // len(logs)))]
    size = sum(map(len, work))
    finder = Finder(built_in_rules())
    scan, second = Scan(finder), second_opinion()
    yield f"{size / 1e6:,.0f} MB in {len(work):,} logs, {len(finder.rules)} rules"
    spent = {"redaction": 0.0, "own scan": 0.0, "second opinion": 0.0}
    places = findings = opinions = 0
    for data in work:
        at = time.process_time()
        document = orjson.loads(data)
        places += sum(redact(document, finder).values())
        written = orjson.dumps(document) + b"\n"
        spent["redaction"] += (now := time.process_time()) - at
        findings += len(scan.bytes("log.json", written))
        spent["own scan"] += (then := time.process_time()) - now
        opinions += len(second.find(written))
        spent["second opinion"] += time.process_time() - then
    for name, seconds in spent.items():
        yield f"{name:32} {size / 1e6 / seconds:8.1f} MB/s"
    yield f"{'all three':32} {size / 1e6 / sum(spent.values()):8.1f} MB/s"
    yield f"{places:,} places redacted, {findings} left for the own scan, {opinions} for the second opinion"
    yield from one_long_line(finder, 64_000_000 if full else 8_000_000)
    yield from alternatives(logs)


def one_long_line(finder: Finder, size: int) -> Iterator[str]:
    """The same text as lines of 100 kB and as one line."""
    text = ("the robot moves to the cube and looks at the shelf, x = 0.42; " * (size // 62))[:size]
    short = [text[at : at + 100_000] for at in range(0, size, 100_000)]
    speeds = []
    for document in ({"steps": [{"cmd": one} for one in short]}, {"steps": [{"cmd": text}]}):
        at = time.process_time()
        redact(document, finder)
        speeds.append(size / 1e6 / (time.process_time() - at))
    yield f"{size / 1e6:,.0f} MB in lines of 100 kB / in one line: {speeds[0]:.0f} / {speeds[1]:.0f} MB/s"


def alternatives(logs: list[bytes]) -> Iterator[str]:
    """Other scanners on the same bytes; they only look, and know fewer kinds."""
    sample = list(itertools.takewhile(lambda _: True, logs))[: max(ALTERNATIVE_BYTES // len(logs[0]), 1)]
    size = sum(map(len, sample))
    plain = Finder(built_in_rules(), plain=True)
    at = time.process_time()
    for data in sample:
        plain.find(data)
    yield f"{'own rules without pre-filter':32} {size / 1e6 / (time.process_time() - at):8.1f} MB/s (looks only)"
    program = os.environ.get("DETECT_SECRETS") or shutil.which("detect-secrets")
    if program is None and importlib.util.find_spec("detect_secrets") is None:
        yield "detect-secrets: not installed (DETECT_SECRETS=path of the program measures it too)"
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "log.json"
        file.write_bytes(b"\n".join(sample).replace(b"},{", b"},\n{"))
        before = os.times()
        subprocess.run([program or "detect-secrets", "scan", str(file)], capture_output=True, check=True)
        after = os.times()
        seconds = after.children_user + after.children_system - before.children_user - before.children_system
        yield f"{'detect-secrets scan':32} {size / 1e6 / seconds:8.1f} MB/s (looks only, cut into short lines for it)"
