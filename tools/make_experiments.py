"""From experiments on the toy benchmark to a family of the dataset repository, the way a contributor would.

python tools/make_experiments.py contrib/Experiments --method skill-search --rounds 5 --run-id skill-search-1
python tools/make_experiments.py OUT/Experiments --from FOLDER --method first-come

Improves the toy harness for real (tools/toy_benchmark/run.py), unless --from names the folder of an experiment that is
done, and writes manifests, curve, trees, patches and task archives. `benchpipe contrib dataset PATH --write-coverage`
adds the coverage file. The same experiment gives the same bytes.
"""

import argparse
import gzip
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TOY = Path(__file__).resolve().parent / "toy_benchmark"
AGENT, FAMILY = "rules_clerk", "none-none"
GIT = ["git", "-c", "core.autocrlf=false", "-c", "core.quotePath=true"]


def family(out: Path, experiments: Path, method: str) -> Path:
    """Write one method directory, and the manifests above it, from an experiment's folder; its path."""
    curve = [json.loads(line) for line in (out / "curve.jsonl").read_text().splitlines()]
    agent = experiments / "deskwork" / AGENT
    folder = agent / FAMILY / method
    shutil.rmtree(folder, ignore_errors=True)
    for record in curve:
        shutil.copytree(out / "harness" / f"round-{record['round']}", folder / "harness" / f"round-{record['round']}")
        pack(out / "tasks" / f"round-{record['round']}", folder / "tasks" / f"round-{record['round']}.tar.gz")
    for before, after in zip(curve, curve[1:]):
        patch = folder / "patches" / f"round-{after['round']}.patch"
        patch.parent.mkdir(exist_ok=True)
        patch.write_bytes(difference(folder / "harness", f"round-{before['round']}", f"round-{after['round']}"))
    shutil.copyfile(out / "curve.jsonl", folder / "curve.jsonl")
    shutil.copyfile(out / "run_meta.json", folder / "run_meta.json")
    manifests(agent, curve[0])
    return folder


def manifests(agent: Path, h0: dict) -> None:
    """task_agent.json and family.json, from what round 0 recorded."""
    stack = h0["task_agent"]
    conditions = {key: h0["config"][key] for key in ("study_ids", "study_ids_sha256", "sampling", "trials", "model", "temperature")}
    baseline = {"harness_sha": h0["identity"]["harness_sha"], "config": conditions, "score": round(h0["score"], 12)}
    write(agent / "task_agent.json", {"schema": "benchpipe.task_agent.v1", "id": AGENT, **stack, "baseline": baseline})
    methods = sorted(path.name for path in (agent / FAMILY).iterdir() if path.is_dir())
    write(
        agent / FAMILY / "family.json",
        {
            "schema": "benchpipe.family.v1",
            "id": FAMILY,
            "task_agent": stack,
            "meta_agent": {**h0["meta_agent"], "harness_version": None, "modified": False},
            "baseline": {**baseline, "n_tasks": h0["n_scored"], "pool": h0["pool"]},
            "methods": methods,
        },
    )


def difference(folder: Path, before: str, after: str) -> bytes:
    """The patch between two trees, with binary content and full ids, as if both had been one repository's states."""
    with tempfile.TemporaryDirectory() as place:
        git = [*GIT, "--git-dir", f"{place}/git"]
        environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
        subprocess.run(["git", "init", "-q", "--bare", f"{place}/git"], check=True, env=environment)
        trees = []
        for name in (before, after):
            add = [*git, "--work-tree", str(folder / name), "add", "-A", "--force", "."]
            subprocess.run(add, check=True, env=environment, cwd=folder / name)
            wrote = subprocess.run([*git, "write-tree"], check=True, env=environment, capture_output=True, text=True)
            trees.append(wrote.stdout.strip())
        diff = [*git, "diff-tree", "-p", "--binary", "--full-index", "--no-renames", *trees]
        return subprocess.run(diff, check=True, env=environment, capture_output=True).stdout


def pack(folder: Path, target: Path) -> None:
    """A tar.gz of `<task>/trial-<k>.jsonl` that is the same for the same files."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for file in sorted(folder.rglob("*.jsonl")):
            data = file.read_bytes()
            info = tarfile.TarInfo(file.relative_to(folder).as_posix())
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))


def write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", type=Path, help="the Experiments folder to write into")
    parser.add_argument("--from", dest="done", type=Path, help="folder of an experiment that was run already")
    parser.add_argument("--method", default="skill-search", choices=["skill-search", "first-come"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--run-id", default="desk-001")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        out = options.done or Path(place)
        if not options.done:
            run = [sys.executable, str(TOY / "run.py"), str(out), "--method", options.method, "--rounds", str(options.rounds)]
            subprocess.run([*run, "--trials", str(options.trials), "--run-id", options.run_id], check=True)
        print(family(out.resolve(), options.experiments.resolve(), options.method))
    return 0


if __name__ == "__main__":
    sys.exit(main())
