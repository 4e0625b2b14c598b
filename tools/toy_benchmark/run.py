"""One experiment: measure H0 on the exam, improve round by round, measure each round, write everything down.

OUT/run_meta.json, OUT/curve.jsonl, OUT/per_task-round-N.json, OUT/harness/round-N/ (the tree as measured),
OUT/tasks/round-N/<task>/trial-<k>.jsonl (the traces with their verdicts).
"""

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path

import measuring
import method as methods
import tasks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--method", choices=["skill-search", "first-come"], default="skill-search")
    parser.add_argument("--run-id", default="desk-001")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    experiment(options.out, options.run_id, options.method, options.rounds, options.trials)
    return 0


def experiment(out: Path, run_id: str, method: str, rounds: int, trials: int) -> None:
    """The whole experiment into `out`."""
    study = "".join(f"{task.id}\n" for task in sorted(tasks.POOLS["study"], key=lambda task: task.id))
    config = {
        "study_ids": "study.txt",
        "study_ids_sha256": hashlib.sha256(study.encode()).hexdigest(),
        "rounds": rounds,
        "sampling": "all",
        "trials": trials,
        "model": "rules",
        "temperature": 0,
        "seed": None,
    }
    curve = []
    with tempfile.TemporaryDirectory() as place:
        work = Path(place) / "harness"
        measuring.copy_harness(measuring.HERE / "harness", work)
        for number in range(rounds + 1):
            edit = methods.improve(work, method) if number else ""
            deployed = out / "harness" / f"round-{number}"
            measuring.stage(work, deployed)
            point = measuring.measure(deployed, "exam", trials)
            write(out / f"per_task-round-{number}.json", measuring.per_task_file(point, run_id, number))
            curve.append(measuring.curve_record(point, run_id, number, config, edit))
            for (task, trial), words in point.traces.items():
                trace = out / "tasks" / f"round-{number}" / task / f"trial-{trial}.jsonl"
                trace.parent.mkdir(parents=True, exist_ok=True)
                trace.write_text(words)
            print(f"round {number} {point.harness_sha[:12]} score {point.score:.4f} {edit}", file=sys.stderr)
    (out / "curve.jsonl").write_text("".join(json.dumps(record) + "\n" for record in curve))
    write(
        out / "run_meta.json",
        {
            "run_id": run_id,
            "mode": "A",
            "harness": "clerk",
            "dataset": "deskwork",
            "sampling_policy": "all",
            "agent_model": "rules",
            "agent_backend": "cli",
            "framework_version": "0.1.0",
            "trials": trials,
            "jobs": 1,
            "rounds": rounds,
            "rounds_measured": rounds + 1,
            "final_score": curve[-1]["score"],
            "end_state": "complete",
            "platform": {"content_sha": measuring.content_sha()},
            "config": config,
        },
    )


def write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
