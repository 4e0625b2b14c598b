"""What lies in a jobs directory, told from names and `stat` alone (harbor-jobs 1 and 2, runs-system 4.1).

No file is opened here: a poll without news ends with this module. So it must be fast: only what starts within a
millisecond is imported. Hidden names are passed over, links inside a trial are not followed.
"""

from __future__ import annotations

import os

try:
    from _blake2 import blake2b  # what hashlib gives too, without loading OpenSSL
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

MAX_FILES = 20_000
"""Files of one trial that are looked at; more is named as a problem."""
MAX_STRANGERS = 50
MARKERS = ("config.json", "lock.json", "result.json")
"""A directory without any of them is no trial (harbor-jobs 5.8)."""
KEPT_ARTIFACTS = ("data", "out", "trusted-recording")
"""Folders in `artifacts/` that hold facts; whatever else an agent published is of any size and is not walked."""
MIRRORED = ("codex.txt", "gateway.jsonl")
FROZEN = (
    "agent", "agent/gateway.jsonl", "agent/trajectory.json", "agent/openrouter_costs.json", "gateway/usage.jsonl",
    "verifier", "verifier/reward.json", "verifier/reward.txt", "verifier_progress/replay.json",
)  # fmt: skip
FROZEN_TREES = ("agent/sessions", "steps", "verifier_regrade")
"""What can still change once a trial has its result: a directory tells of new and deleted names, a file of its content."""


def clean(text: str, limit: int = 300) -> str:
    """Text of the host as it may travel: no lone surrogates, cut (B12)."""
    return text.encode("utf-8", "replace").decode("utf-8")[:limit]


def digest(parts: Sequence[str]) -> str:
    """A short digest that says whether anything of `parts` changed."""
    return blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


class Trial:
    """One trial directory. What is in it is there after `look`: `files` maps relative paths to their `stat`."""

    def __init__(self, job: str, name: str, path: str, mirror: Optional[str]) -> None:
        self.job = job
        self.name = name
        self.path = path
        self.mirror_path = mirror
        self.files: Dict[str, os.stat_result] = {}
        self.folders: Set[str] = set()
        self.mirror: Dict[str, os.stat_result] = {}
        self.problems: List[str] = []
        self.changed_at = 0.0
        self.fingerprint = ""

    def look(self) -> None:
        """Fill `files`, `folders`, `mirror` and `problems`. FileNotFoundError if the trial is gone (harbor-jobs 5.5)."""
        if self.files or self.problems:
            return
        self.files = dict(walk(self.path, "", self.folders, self.problems))
        for name in MIRRORED if self.mirror_path else ():
            try:
                self.mirror[name] = os.stat("%s/%s/agent/%s" % (self.mirror_path, self.name, name))
            except OSError:
                continue


class Job:
    """One job directory that belongs to a registered batch and mode."""

    def __init__(self, name: str, path: str, batch: str, mode: str, task_dir: Optional[str]) -> None:
        self.name = name
        self.path = path
        self.batch = batch
        self.mode = mode
        self.task_dir = task_dir
        self.trials: List[Trial] = []
        self.files: Dict[str, os.stat_result] = {}
        self.folders: Set[str] = set()
        self.problems: List[str] = []
        self.changed_at = 0.0
        self.alive = False
        self.fingerprint = ""


class Listing:
    """Everything that was found: jobs by name, batch logs by batch, names that fit nothing."""

    def __init__(self) -> None:
        self.jobs: List[Job] = []
        self.logs: Dict[str, str] = {}
        self.strangers: List[str] = []

    def seen(self) -> List[str]:
        """Batches with a trace: a batch log or a job directory."""
        return sorted({job.batch for job in self.jobs} | set(self.logs))


def fitting(name: str, batches: Mapping[str, Sequence[str]]) -> Optional[Tuple[str, str, Optional[str]]]:
    """`(batch, mode, task dir)` of a job directory's name; the longest registered batch wins. None = not ours."""
    for batch in sorted(batches, key=len, reverse=True):
        if not name.startswith(batch + "-"):
            continue
        for mode in sorted(batches[batch], key=len, reverse=True):
            head = "%s-%s" % (batch, mode)
            if name == head:
                return batch, mode, None
            if name.startswith(head + "-") and len(name) > len(head) + 1:
                return batch, mode, name[len(head) + 1 :]
    return None


def list_jobs(root: str, batches: Mapping[str, Sequence[str]], salt: str) -> Listing:
    """Look through the jobs directory `root`. `salt` goes into every fingerprint.

    Raises OSError if `root` itself can't be listed. A job or trial that is reached twice through links is there once,
    the one without a link first.
    """
    found = Listing()
    entries = sorted(_entries(root), key=lambda entry: (entry.is_symlink(), entry.name))
    jobs_reached: Set[Tuple[int, int]] = set()
    directories: List[Tuple[bool, Job, Trial]] = []
    mirror = root.rstrip("/") + "_mirror"
    mirrored = os.path.isdir(mirror)
    for entry in entries:
        if entry.name.endswith(".log") and entry.name[:-4] in batches and entry.is_file():
            found.logs[entry.name[:-4]] = entry.path
        if not _is_folder(entry):
            continue
        place = fitting(entry.name, batches)
        if place is None:
            if len(found.strangers) < MAX_STRANGERS and _holds_trials(entry.path):
                found.strangers.append(clean(entry.name))
            continue
        job = Job(clean(entry.name), entry.path, *place)
        inside = _scan_job(job, jobs_reached, os.path.join(mirror, entry.name) if mirrored else None)
        if inside is not None:
            found.jobs.append(job)
            directories += [(entry.is_symlink() or linked, job, trial) for linked, trial in inside]
    trials_reached: Set[Tuple[int, int]] = set()
    for _, job, trial in sorted(directories, key=lambda directory: directory[0]):
        try:
            _fingerprint(trial, trials_reached, salt)
        except FileNotFoundError:  # gone since the listing (harbor-jobs 5.5)
            continue
        if trial.fingerprint:
            job.trials.append(trial)
            job.folders.add(trial.name)
    found.strangers.sort()
    return found


def job_fingerprint(job: Job, salt: str, batch_log: Optional[str]) -> str:
    """Digest of what tells that nothing of the job itself changed; `job.alive` and the batch log belong to it."""
    parts = [salt, job.batch, job.mode, job.task_dir or "", str(job.alive), *job.problems]
    parts += [_mark(name, state) for name, state in sorted(job.files.items())]
    parts += sorted(trial.name for trial in job.trials)
    if batch_log is not None:
        try:
            parts.append(_mark("log", os.stat(batch_log)))
        except OSError as error:
            parts.append(str(error.errno))
    return digest(parts)


def _mark(name: str, state: os.stat_result) -> str:
    return "%s %d %d %d %d" % (name, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)


def _entries(path: str) -> List[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        return [entry for entry in entries if not entry.name.startswith(".")]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that runs in a circle
        return False


def _holds_trials(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return any("__" in entry.name for entry in entries)
    except OSError:
        return False


def _scan_job(job: Job, reached: Set[Tuple[int, int]], mirror: Optional[str]) -> Optional[List[Tuple[bool, Trial]]]:
    """Fill `job`; directories in it that may be trials, and whether they are links. None if it was reached before or is gone."""
    try:
        state = os.stat(job.path)
    except OSError:
        return None
    if (state.st_dev, state.st_ino) in reached:
        return None
    reached.add((state.st_dev, state.st_ino))
    job.changed_at = state.st_mtime
    try:
        entries = sorted(_entries(job.path), key=lambda entry: entry.name)
    except FileNotFoundError:
        return None
    except OSError as error:
        job.problems.append("the job directory can't be listed: %s" % error.strerror)
        return []
    directories = []
    for entry in entries:
        if entry.name in MARKERS:
            try:
                job.files[entry.name] = entry.stat()
            except OSError:
                continue
        elif "__" in entry.name and _is_folder(entry):
            directories.append((entry.is_symlink(), Trial(job.name, clean(entry.name), entry.path, mirror)))
    return directories


def _fingerprint(trial: Trial, reached: Set[Tuple[int, int]], salt: str) -> None:
    """Fill `trial.fingerprint`; it stays empty for what is no trial or was reached before."""
    state = os.stat(trial.path)
    key = (state.st_dev, state.st_ino)
    if key in reached:
        return
    trial.changed_at = state.st_mtime
    marks = _frozen_marks(trial.path, state)
    if not marks:
        trial.look()
        if not trial.problems and not any(marker in trial.files for marker in MARKERS):
            return
        marks = [_mark(path, found) for path, found in trial.files.items()]
        marks += [_mark("mirror " + name, found) for name, found in trial.mirror.items()]
        marks = sorted(marks) + sorted(trial.folders) + trial.problems
    reached.add(key)
    trial.fingerprint = digest([salt, *marks])


def _frozen_marks(path: str, state: os.stat_result) -> List[str]:
    """Of a trial that has its result: the few things that can still change. Empty for a trial that is still open."""
    try:
        marks = [_mark("", state), _mark("result.json", os.lstat(path + "/result.json"))]
    except OSError:
        return []
    for name in FROZEN:
        inside = path + "/" + name
        if os.access(inside, os.F_OK):
            marks.append(_mark(name, os.lstat(inside)))
    more = 1
    while os.access("%s/agent/trajectory.cont-%d.json" % (path, more), os.F_OK):
        name = "agent/trajectory.cont-%d.json" % more
        marks.append(_mark(name, os.lstat(path + "/" + name)))
        more += 1
    for name in FROZEN_TREES:
        if os.access(path + "/" + name, os.F_OK):
            names: Set[str] = set()
            problems: List[str] = []
            marks += sorted(_mark(inside, found) for inside, found in walk(path, name + "/", names, problems))
            marks += sorted(names) + problems
    return marks


def walk(path: str, start: str, folders: Set[str], problems: List[str]) -> Iterator[Tuple[str, os.stat_result]]:
    """Relative name and `stat` of every regular file that matters below `path/start`; folders and problems go into theirs.

    FileNotFoundError if `path` itself is gone.
    """
    waiting = [start]
    count = 0
    while waiting:
        base = waiting.pop()
        try:
            entries = os.scandir(path + "/" + base)
        except FileNotFoundError:
            if not base:
                raise
            continue
        except OSError as error:
            problems.append("%s can't be listed: %s" % (clean(base) or "the trial directory", error.strerror))
            continue
        in_artifacts = base.endswith("artifacts/")
        with entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.add(base + name)
                    if not in_artifacts or name in KEPT_ARTIFACTS:
                        waiting.append(base + name + "/")
                elif entry.is_file(follow_symlinks=False):
                    count += 1
                    if count > MAX_FILES:
                        problems.append("more than %d files: the rest was not looked at" % MAX_FILES)
                        return
                    try:
                        yield base + name, entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
