"""The shipped genuine jobs as they lay on their hosts: copies that tests and `benchpipe demo` collect from.

Git keeps neither empty folders nor times. So the copies get rid of the `.gitkeep` files and get back the times that the
runner's own files name.
"""

import json
import os
import shutil
from datetime import datetime
from pathlib import Path

from benchpipe.files import write_bytes
from benchpipe.lab import PACKAGE_ROOT, Lab

REPOSITORY = PACKAGE_ROOT.parent
JOBS = REPOSITORY / "data" / "demo"
"""One folder per host, jobs directories in it."""


def copy_jobs(source: Path, target: Path) -> None:
    """Copy a jobs directory (or one job) without `.gitkeep` files, every file with the time at which its trial wrote it.

    `config.json` and everything else of a trial get the trial's start, `result.json` and `verifier/` its end. Where no
    result names times the copy's own time stays.
    """
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(".gitkeep"), dirs_exist_ok=True)
    for result in target.rglob("result.json"):
        try:
            said = json.loads(result.read_bytes())
            if "trial_name" not in said:
                continue
            start, end = (datetime.fromisoformat(said[key]).timestamp() for key in ("started_at", "finished_at"))
        except (ValueError, KeyError, TypeError):
            continue
        trial = result.parent
        for path in sorted(trial.rglob("*"), reverse=True):
            late = path == result or "verifier" in path.relative_to(trial).parts
            os.utime(path, (end, end) if late else (start, start), follow_symlinks=False)
        os.utime(trial, (end, end))
        if not trial.parent.samefile(target):
            os.utime(trial.parent, (start, start))


def make_lab(root: Path) -> Lab:
    """A lab at `root` with the shipped registry and the shipped jobs under `jobs/<host>/`, each a local host.

    What is there already is refreshed; what was collected stays.
    """
    for name in ("agents", "benchmarks"):
        shutil.copytree(REPOSITORY / "data" / name, root / "data" / name, dirs_exist_ok=True)
    for name in ("prices.yml", "public.yml"):
        shutil.copyfile(REPOSITORY / "data" / name, root / "data" / name)
    for name in ("state", "contrib"):
        shutil.copytree(REPOSITORY / name, root / name, dirs_exist_ok=True)
    lab = Lab(root.resolve())
    hosts = sorted(folder.name for folder in JOBS.iterdir() if folder.is_dir())
    for host in hosts:
        if not (root / "jobs" / host).exists():
            copy_jobs(JOBS / host, root / "jobs" / host)
    lines = [f"{host}: {{jobs: jobs/{host}}}\n" for host in hosts]
    write_bytes(lab.runs / "hosts.demo.local.yml", "".join(lines).encode())
    return lab
