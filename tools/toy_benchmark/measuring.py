"""The platform of deskwork: runs a harness on tasks, asks the verifier, and writes down what happened.

A harness is run as a process of its own in a folder of its own, without the answers. What it leaves is its answer and its
trace; a run without a trace is a failed harness, a run that can't be started an invalid task.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import tasks
from benchpipe.contributions import identity

HERE = Path(__file__).resolve().parent
SECONDS = 20


@dataclass
class Point:
    """One measurement of one harness on one pool. `traces` are (task, trial) → the harness's own words."""

    harness_sha: str
    pool: str
    trials: int
    by_task: dict[str, list[float]] = field(default_factory=dict)
    invalid: dict[str, dict[str, str]] = field(default_factory=dict)
    failed: dict[str, dict[str, object]] = field(default_factory=dict)
    traces: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def score(self) -> float:
        return statistics.fmean(statistics.fmean(trials) for trials in self.by_task.values()) if self.by_task else 0.0


def content_sha() -> str:
    """Identity of the platform: every file of this folder, named as in the repository (`platform.paths` of the benchmark)."""
    root = HERE.parent.parent
    files = [file for file in HERE.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return identity.content_sha({file.relative_to(root).as_posix(): file.read_bytes() for file in files})


def stage(source: Path, target: Path) -> str:
    """Copy a harness as it will be measured (with the ignore rules) and return its identity."""
    staged = identity.stage(identity.read_tree(source))
    for path, blob in staged.items():
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(blob.data or b"")
        file.chmod(0o755 if blob.mode == identity.EXECUTABLE else 0o644)
    return identity.tree_id(staged)


def measure(harness: Path, pool: str, trials: int = 1) -> Point:
    """Run every task of a pool `trials` times."""
    point = Point(identity.tree_id(identity.read_tree(harness)), pool, trials)
    for task in tasks.POOLS[pool]:
        for trial in range(trials):
            run_task(harness, task, trial, point)
    return point


def run_task(harness: Path, task: tasks.Task, trial: int, point: Point) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "goal.txt").write_text(task.goal + "\n")
        (folder / "input.txt").write_text(task.text)
        try:
            done = subprocess.run(
                [sys.executable, "-IB", str(harness / "agent.py"), str(folder)], capture_output=True, text=True, timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            point.invalid[task.id] = {"stage": "start", "detail": type(error).__name__}
            return
        answer, trace = folder / "answer.txt", folder / "trace.jsonl"
        score = float(tasks.is_right(task, answer.read_text())) if answer.is_file() else 0.0
        point.by_task.setdefault(task.id, []).append(score)
        words = trace.read_text() if trace.is_file() else ""
        if not words.strip():
            point.failed[task.id] = {"exit_code": done.returncode, "stderr": done.stderr[-1500:].replace(str(harness), "<harness>")}
        verdict = json.dumps({"verdict": {"score": score, "kind": "answer"}})
        point.traces[task.id, trial] = f"{words.rstrip()}\n{verdict}\n".lstrip()


def per_task_file(point: Point, run_id: str, round_: int) -> dict[str, object]:
    """The per-task file of a measurement (benchpipe.per_task.v1)."""
    entries = {}
    for task, trials in sorted(point.by_task.items()):
        entries[task] = {"score": _plain(statistics.fmean(trials)), "kind": "answer"}
        if point.trials > 1:
            entries[task] |= {"trials": [_plain(score) for score in trials], "std": round(statistics.pstdev(trials), 6)}
    return {
        "schema": "benchpipe.per_task.v1",
        "dataset": "deskwork",
        "pool": point.pool,
        "run_id": run_id,
        "harness_sha": point.harness_sha,
        "round": round_,
        "trials": point.trials,
        "score_kind": "exam" if point.pool == "exam" else "training",
        "tasks": entries,
        "invalid": point.invalid,
        "harness_failed": point.failed,
    }


def curve_record(point: Point, run_id: str, round_: int, config: dict[str, object], edit: str) -> dict[str, object]:
    """One line of curve.jsonl."""
    return {
        "run_id": run_id,
        "round": round_,
        "label": "H0" if round_ == 0 else f"round {round_}: {edit}",
        "score": point.score,
        "score_kind": "exam",
        "side": "eval",
        "pool": point.pool,
        "per_task": {task: statistics.fmean(trials) for task, trials in sorted(point.by_task.items())},
        "n_scored": len(point.by_task),
        "n_trials": point.trials,
        "n_invalid": len(point.invalid),
        "n_harness_failed": len(point.failed),
        "measured_by_platform": True,
        "identity": {
            "harness_sha": point.harness_sha,
            "harness_name": "clerk",
            "harness_version": "0.1.0",
            "agent_model": "rules",
            "agent_backend": "cli",
            "run_mode": "A",
        },
        "task_agent": {"base_harness": "clerk@0.1.0", "model": "rules", "decoding": "rules only (temperature=0)"},
        "meta_agent": {"harness": "none", "model": "none"},
        "config": config,
    }


def _plain(score: float) -> float | int:
    return int(score) if score in (0.0, 1.0) else round(score, 12)


def copy_harness(source: Path, target: Path) -> None:
    """A harness as files, without what Python leaves behind."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
