"""What the probe opens, writes and sends, seen from outside (strace)."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchpipe import demo
from benchpipe.probe import program
from benchpipe_tests.probe.running import digests, request, run_probe

BATCHES = {"tabletop-lunaxh-1001-0900": ["unlimited", "limited"]}
OPENED = re.compile(r'(?:open|openat|creat)\((?:AT_FDCWD, )?"([^"]*)", ([A-Z_|]+)[^=]*= (-?\d+)')
CHANGED = re.compile(r'(?:mkdir|mkdirat|rename\w*|unlink\w*|rmdir|chmod|symlink\w*|truncate|utimens\w*)\((?:AT_FDCWD, )?"([^"]*)"')


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    demo.copy_jobs(demo.JOBS / "gpu1", tmp_path / "jobs")
    return tmp_path / "jobs"


def traced(tmp_path: Path, asked: dict[str, object]) -> tuple[dict[str, object], bytes, str]:
    if not shutil.which("strace"):
        pytest.skip("needs the Debian package strace")
    trace = tmp_path / "trace"
    before = [str(shutil.which("strace")), "-f", "-e", "trace=file", "-s", "4096", "-o", str(trace)]
    answer, output = run_probe(asked, cache=tmp_path / "cache", before=before)
    return answer, output, trace.read_text()


def test_a_credential_is_never_opened_and_nothing_is_written_but_the_cache(tmp_path: Path, jobs: Path) -> None:
    job = jobs / "tabletop-lunaxh-1001-0900-limited"
    trial = sorted(job.glob("*__*"))[0]
    forbidden = ["auth.json", ".netrc", ".env", ".codex/auth.json", ".codex/config.toml", "credentials.json"]
    for place in (jobs, job, trial, trial / "agent", trial / "agent/sessions", trial / "verifier", trial / "steps/one/agent"):
        for name in forbidden:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text("{}")
    (trial / "agent" / "gateway.jsonl").write_text(json.dumps({"t": 1, "method": "POST", "status": 200, "response": "{}"}) + "\n")
    _, _, trace = traced(tmp_path, request(jobs, BATCHES))
    opened = OPENED.findall(trace)
    assert len(opened) > 50
    touched = [path for path, _, _ in opened if any(part in path for part in (*forbidden, ".codex"))]
    assert touched == []
    cache = str(tmp_path / "cache")
    written = [path for path, flags, _ in opened if re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", flags)]
    written += CHANGED.findall(trace)
    assert any(path.startswith(cache) for path in written)
    assert [path for path in written if not path.startswith((cache, "/dev/null"))] == []


def test_a_poll_without_news_opens_no_file_of_a_job_and_sends_next_to_nothing(tmp_path: Path, jobs: Path) -> None:
    first, _ = run_probe(request(jobs, BATCHES), cache=tmp_path / "cache")
    asked = request(jobs, BATCHES, digests(first))
    answer, output, trace = traced(tmp_path, asked)
    assert "changed" not in answer
    assert len(output) < 500
    files = [path for path, flags, _ in OPENED.findall(trace) if path.startswith(str(jobs)) and "O_DIRECTORY" not in flags]
    assert files == []
    assert "sqlite" not in trace


@pytest.mark.parametrize(
    "change",
    ["agent/gateway.jsonl", "agent/trajectory.json", "agent/sessions/2026/x.jsonl", "gateway/usage.jsonl", "result.json",
     "agent/openrouter_costs.json", "verifier/reward.json", "verifier_regrade/reward.json", "verifier_progress/replay.json",
     "steps/one/agent/gateway.jsonl", "agent/trajectory.cont-1.json"],
)  # fmt: skip
@pytest.mark.parametrize("way", ["appears", "grows"])
def test_whatever_changes_in_a_finished_trial_is_noticed(tmp_path: Path, jobs: Path, change: str, way: str) -> None:
    trial = sorted((jobs / "tabletop-lunaxh-1001-0900-limited").glob("*__*"))[0]
    path = trial / change
    path.parent.mkdir(parents=True, exist_ok=True)
    if way == "grows" and not path.exists():
        path.write_text("{}\n")
    first, _ = run_probe(request(jobs, BATCHES), cache=tmp_path / "cache")
    with path.open("a") as file:
        file.write("{}\n")
    second, _ = run_probe(request(jobs, BATCHES, digests(first)), cache=tmp_path / "cache")
    assert (trial.parent.name, trial.name) in {(one["job"], one["trial"]) for one in second.get("trials", [])}


def test_the_probe_ends_when_its_collector_is_gone(tmp_path: Path, jobs: Path) -> None:
    if not shutil.which("strace"):
        pytest.skip("needs the Debian package strace")
    slow = [str(shutil.which("strace")), "-f", "-o", str(tmp_path / "trace"), "-e", "inject=getdents64:delay_enter=500000"]
    process = subprocess.Popen(
        [*slow, sys.executable, "-I", "-S", "-c", program.BOOT], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stdin is not None
    process.stdin.write(program.start() + program.call(request(jobs, BATCHES)))
    process.stdin.close()
    assert process.wait(timeout=30) == 4
