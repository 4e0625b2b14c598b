"""From an experiment's folder to files for contrib/: the submission, its per-task files, its run record, its dataset directory.

python tools/toy_benchmark/submit.py OUT --contrib contrib --method skill-search --variant rules --round 5 --commit SHA

`--no-artifacts` leaves run record and trees behind, as a contributor would who did not keep them.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

import tasks


def submission(out: Path, *, method: str, variant: str, rounds: list[int], commit: str, selection: str, artifacts: bool) -> dict[str, object]:
    """The submission of some rounds of an experiment, as a Python value."""
    meta = json.loads((out / "run_meta.json").read_text())
    curve = {record["round"]: record for record in map(json.loads, (out / "curve.jsonl").read_text().splitlines())}
    folder = f"results/deskwork/{method}/{variant}"
    runs = [
        {
            "run_id": meta["run_id"],
            "harness_sha": curve[number]["identity"]["harness_sha"],
            "round": number,
            "score": round(curve[number]["score"], 4),
            "n_tasks": curve[number]["n_scored"],
            "n_invalid": curve[number]["n_invalid"],
            "n_harness_failed": curve[number]["n_harness_failed"],
            "per_task": f"{folder}/per_task-round-{number}.json",
            "pool": "exam",
            "selection": "fixed_in_advance" if number == 0 else selection,
        }
        for number in rounds
    ]
    value: dict[str, object] = {
        "schema": "harnessgrad.submission.v1",
        "dataset": "deskwork",
        "task_agent": {"base_harness": "clerk@0.1.0", "model": "rules", "decoding": "rules only (temperature=0)"},
        "improver": {"method": f"{method}@0.1.0", "model": "none", "harness": "none", "rounds": meta["rounds"]},
        "method": {"name": method, "paper": None, "code": None},
        "variant": variant,
        "platform": {"commit": commit, "content_sha": meta["platform"]["content_sha"]},
        "runs": runs,
        "config": {
            "study_ids": "study.txt",
            "study_ids_sha256": meta["config"]["study_ids_sha256"],
            "rounds": meta["rounds"],
            "jobs": meta["jobs"],
            "sampling": "all",
            "trials": meta["trials"],
            "endpoint": None,
            "model": "rules",
            "temperature": 0,
            "seed": None,
        },
        "credit": {
            "name": "benchpipe maintainers",
            "submitted": [{"dataset": "deskwork", "method": method}],
            "acknowledge_in_report": False,
        },
    }
    if artifacts:
        value["artifacts"] = {
            "run_meta": f"{folder}/run_meta.json",
            "dataset_path": f"Experiments/deskwork/rules_clerk/none-none/{method}",
        }
    return value


def write_files(out: Path, contrib: Path, value: dict[str, object], *, artifacts: bool, file: Path | None = None) -> Path:
    """Put a submission and what it points at below contrib/; the path of the JSON."""
    method, variant = value["method"]["name"], value["variant"]
    folder = contrib / "results" / "deskwork" / method
    file = file or folder / f"{variant}.json"
    (folder / variant).mkdir(parents=True, exist_ok=True)
    for run in value["runs"]:
        shutil.copyfile(out / f"per_task-round-{run['round']}.json", folder / variant / f"per_task-round-{run['round']}.json")
    if artifacts:
        shutil.copyfile(out / "run_meta.json", folder / variant / "run_meta.json")
        experiment = contrib / value["artifacts"]["dataset_path"]
        for run in value["runs"]:
            tree = experiment / "harness" / f"round-{run['round']}"
            shutil.rmtree(tree, ignore_errors=True)
            shutil.copytree(out / "harness" / f"round-{run['round']}", tree)
        shutil.copyfile(out / "curve.jsonl", experiment / "curve.jsonl")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=2) + "\n")
    return file


def write_pools(folder: Path) -> None:
    """The id lists of the task sets, for data/benchmarks/deskwork/pools/."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, pool in tasks.POOLS.items():
        (folder / f"{name}.txt").write_text("".join(f"{task}\n" for task in sorted(task.id for task in pool)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--contrib", type=Path, default=Path("contrib"))
    parser.add_argument("--method", default="skill-search")
    parser.add_argument("--variant", default="rules")
    parser.add_argument("--round", type=int, required=True)
    parser.add_argument("--commit", required=True, help="commit of the platform's repository that measured")
    parser.add_argument("--selection", default="last")
    parser.add_argument("--no-artifacts", action="store_true")
    parser.add_argument("--publish-unverified", action="store_true")
    options = parser.parse_args()
    artifacts = not options.no_artifacts
    value = submission(
        options.out,
        method=options.method,
        variant=options.variant,
        rounds=sorted({0, options.round}),
        commit=options.commit,
        selection=options.selection,
        artifacts=artifacts,
    )
    if options.publish_unverified:
        value["x_publish_unverified"] = True
    print(write_files(options.out, options.contrib, value, artifacts=artifacts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
