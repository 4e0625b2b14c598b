"""Facts of Harbor's files, every release from 0.1 to 0.26 (harbor-jobs 2 to 5): plain dictionaries, no decision.

Opens a fixed list of files and nothing else, never through a link, never more than MAX_JSON bytes. Unknown keys are
ignored, absent ones mean "default". What can't be read is named in `problems` and counts as absent (B11).
"""

from __future__ import annotations

import os
import re
from decimal import Decimal

from benchpipe.probe.documents import Folder, as_count, as_list, as_map, as_number, as_text, numbers, open_plain, read_small
from benchpipe.probe.listing import Job, Trial, clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

MAX_BATCH_LOG = 1 << 30
BLOCK = 1 << 20
MOST_USD = 10**9
SCANNED = re.compile(rb"\[([^\]]{1,1000})\] scanned [0-9]+ files under .*: ([0-9]{1,9}) contain one")
OF_AGENT = re.compile(r"(steps/[^/]+/)?(agent|gateway)/")


def task_of(task: Any) -> Optional[str]:
    """The task directory's name that a `task` object names: its path, else its registry name (harbor-jobs 2.5)."""
    for key in ("path", "name"):
        value = as_map(task).get(key)
        if isinstance(value, str):
            last = value.rstrip("/").rsplit("/", 1)[-1]
            if last:
                return clean(last)
    return None


# --- a job ------------------------------------------------------------------------------------------------------------


def read_job(job: Job, scans: Dict[str, int]) -> Dict[str, Any]:
    """The facts of one job, in the fields of `JobReading` (trials apart). `scans`: key-scan count per job of its batch."""
    folder = Folder(job)
    lock = folder.mapping("lock.json")
    result = folder.mapping("result.json")
    config = job.files.get("config.json")
    return {
        "job": job.name,
        "batch": job.batch,
        "mode": job.mode,
        "task_dir": job.task_dir and clean(job.task_dir),
        "alive": job.alive,
        "created": config.st_mtime if config else job.changed_at,
        "harbor": as_text(as_map(lock.get("harbor")).get("version")),
        "planned": planned_tasks(lock),
        "waiting": sorted(_named_in_exceptions(result) - job.folders),
        "finished": bool(result.get("finished_at")),
        "scan": scans.get(job.name, scans.get(clean(os.path.basename(os.path.realpath(job.path))))),
        "fingerprint": job.fingerprint,
        "problems": folder.problems,
    }


def planned_tasks(lock: Dict[str, Any]) -> List[Dict[str, Any]]:
    """`{task_dir, n}` in planned order, from a job's lock.json."""
    planned: Dict[str, int] = {}
    for trial in as_list(lock.get("trials")):
        task = task_of(as_map(trial).get("task"))
        if task:
            planned[task] = planned.get(task, 0) + 1
    return [{"task_dir": task, "n": n} for task, n in planned.items()]


def _named_in_exceptions(result: Dict[str, Any]) -> set[str]:
    names: set[str] = set()
    for group in as_map(as_map(result.get("stats")).get("evals")).values():
        for trials in as_map(as_map(group).get("exception_stats")).values():
            names.update(clean(name) for name in as_list(trials) if isinstance(name, str))
    return names


def read_scans(path: str) -> Dict[str, int]:
    """Key-scan count per job from a batch log; the last line of a job wins (runs-system 4.1). {} if it can't be read."""
    found: Dict[str, int] = {}
    try:
        handle = open_plain(os.path.realpath(path))
    except OSError:
        return found
    for line in _lines(handle):
        match = SCANNED.match(line)
        if match:
            found[clean(match.group(1).decode("utf-8", "replace"))] = int(match.group(2))
    return found


def _lines(handle: int) -> Iterator[bytes]:
    """Lines of a file read in blocks; of a line longer than a block only pieces come."""
    with os.fdopen(handle, "rb") as file:
        rest = b""
        for _ in range(MAX_BATCH_LOG // BLOCK):
            block = file.read(BLOCK)
            if not block:
                break
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
            rest = rest[-BLOCK:]
        yield rest


# --- a trial ----------------------------------------------------------------------------------------------------------


def read_trial(trial: Trial, job: Job, planned: Sequence[Dict[str, Any]]) -> Dict[str, Any]:
    """The facts of one trial, in the fields of `TrialReading` (requests apart)."""
    folder = Folder(trial)
    config = folder.mapping("config.json")
    condition, value = folder.load("result.json")
    if condition == "whole" and not isinstance(value, dict):
        condition = "damaged"
        folder.problems.append("result.json is not an object")
    result = as_map(value)
    if result:
        config = as_map(result.get("config")) or config  # never sparse there
    task_dir, task_from = _task(trial, folder, result, job, planned)
    written = trial.files.get("config.json")
    facts: Dict[str, Any] = {
        "job": trial.job,
        "trial": trial.name,
        "fingerprint": trial.fingerprint,
        "task_dir": task_dir,
        "task_from": task_from,
        "created": written.st_mtime if written else trial.changed_at,
        "result": condition,
        "verifier_disabled": as_map(config.get("verifier")).get("disable") is True,
        "install_only": config.get("install_only") is True,
        "source_trial": as_text(config.get("source_trial")),
        "model_name": as_text(as_map(config.get("agent")).get("model_name")),
    }
    facts.update(_result_facts(result))
    facts.update(_verdict_files(trial, folder))
    facts.update(_costs_file(trial, folder))
    facts.update(_activity(trial))
    facts["logs"] = _logs(trial, folder)
    facts["problems"] = folder.problems
    return facts


def _task(
    trial: Trial, folder: Folder, result: Dict[str, Any], job: Job, planned: Sequence[Dict[str, Any]]
) -> Tuple[Optional[str], Optional[str]]:
    """The task directory's name and where it was found, by the order of harbor-jobs 2.5."""
    task = task_of(folder.mapping("config.json").get("task"))
    if task:
        return task, "config"
    task = task_of(folder.mapping("lock.json").get("task"))
    if task:
        return task, "lock"
    task = task_of(as_map(result.get("config")).get("task"))
    if task:
        return task, "result"
    if job.task_dir:
        return clean(job.task_dir), "job"
    stem = trial.name.rpartition("__")[0]
    names = [plan["task_dir"] for plan in planned]
    fitting = [name for name in names if stem in (name[:32], name[:32].rstrip("_-"))]
    return (fitting[0], "name") if len(fitting) == 1 else (None, None)


def _result_facts(result: Dict[str, Any]) -> Dict[str, Any]:
    """Times, names, exception, rewards and Harbor's own token counts (harbor-jobs 3.2, 3.3; B9 for steps)."""
    if not result:
        return {}
    steps = [as_map(step) for step in as_list(result.get("step_results"))]
    agent = as_map(result.get("agent_info"))
    exception, step = _exception(result, steps)
    facts = {
        "trial_id": as_text(result.get("id")),
        "started_at": as_text(result.get("started_at")),
        "finished_at": as_text(result.get("finished_at")),
        "agent_name": as_text(agent.get("name")),
        "agent_version": as_text(agent.get("version")),
        "exception": exception,
        "exception_step": step,
        "reward_valid": result.get("reward_valid") if isinstance(result.get("reward_valid"), bool) else None,
        "rewards": numbers(as_map(result.get("verifier_result")).get("rewards")),
        "harbor_tokens": _tokens([result, *steps]),
    }
    for name, key in (("agent", "agent_execution"), ("verifier", "verifier")):
        phases = [as_map(part.get(key)) for part in ([result] if as_map(result.get(key)) else steps)]
        facts[name + "_started_at"] = next((as_text(phase.get("started_at")) for phase in phases if phase), None)
        facts[name + "_finished_at"] = next((as_text(phase.get("finished_at")) for phase in reversed(phases) if phase), None)
    model = as_map(agent.get("model_info"))
    if as_text(model.get("name")) and not as_text(as_map(as_map(result.get("config")).get("agent")).get("model_name")):
        facts["model_name"] = "/".join(clean(str(part)) for part in (model.get("provider"), model["name"]) if part)
    return facts


def _exception(result: Dict[str, Any], steps: Sequence[Dict[str, Any]]) -> Tuple[Optional[str], Optional[str]]:
    own = as_text(as_map(result.get("exception_info")).get("exception_type"))
    if own:
        return own, None
    for step in steps:
        kind = as_text(as_map(step.get("exception_info")).get("exception_type"))
        if kind:
            return kind, as_text(step.get("step_name"))
    return None, None


def _tokens(parts: Sequence[Dict[str, Any]]) -> Optional[Dict[str, Optional[int]]]:
    """Sums over every `agent_result` there is; None = nothing was reported, which is not 0."""
    sums: Dict[str, Optional[int]] = {"input": None, "cached": None, "output": None}
    for part in parts:
        said = as_map(part.get("agent_result"))
        for name, key in (("input", "n_input_tokens"), ("cached", "n_cache_tokens"), ("output", "n_output_tokens")):
            count = as_count(said.get(key))
            if count is not None:
                sums[name] = (sums[name] or 0) + count
    return sums if any(value is not None for value in sums.values()) else None


def _verdict_files(trial: Trial, folder: Folder) -> Dict[str, Any]:
    """Verdicts that lie in files: the verifier's, a regrade's, a progress replay's (runs-system 4.2)."""
    facts: Dict[str, Any] = {}
    if "steps" not in trial.folders:  # a multi-step trial's verifier folder holds one step's verdict, not the trial's
        facts["reward_file"] = numbers(folder.load("verifier/reward.json")[1]) or _reward_text(folder)
    if "verifier_regrade" in trial.folders:
        again = numbers(folder.load("verifier_regrade/reward.json")[1])
        facts["regrade"] = "done" if again else "pending"
        facts["regrade_rewards"] = again
    replays = as_list(folder.mapping("verifier_progress/replay.json").get("replays"))
    facts["progress_q_score"] = as_number(as_map(replays[0]).get("q_score")) if replays else None
    return facts


def _reward_text(folder: Folder) -> Optional[Dict[str, float]]:
    name = "verifier/reward.txt"
    if name not in folder.files:
        return None
    try:
        text = read_small(os.path.join(folder.path, name), 4096).decode("ascii", "replace").strip()
        return numbers({"reward": float(text)})
    except OSError as error:
        folder.problems.append("%s can't be read: %s" % (name, error.strerror))
    except ValueError:
        folder.problems.append("%s holds no number" % name)
    return None


def _costs_file(trial: Trial, folder: Folder) -> Dict[str, Any]:
    """Exact sum of every numeric `total_cost` in agent/openrouter_costs.json (C4), steps included."""
    total, n = Decimal(0), 0
    for name in _copies(trial, "agent/openrouter_costs.json"):
        for generation in as_map(folder.load(name, decimals=True)[1]).values():
            cost = as_map(generation).get("total_cost")
            if isinstance(cost, (int, Decimal)) and not isinstance(cost, bool) and 0 <= cost < MOST_USD:
                total += cost
                n += 1
    return {"costs_file_usd": format(total, "f"), "costs_file_n": n} if n else {}


def _copies(trial: Trial, name: str) -> List[str]:
    """`name` at the trial's root and in its steps, where Harbor moves it after each step (harbor-jobs 2.4)."""
    steps = sorted(path for path in trial.files if path.startswith("steps/") and path.split("/", 2)[2:] == [name])
    return ([name] if name in trial.files else []) + steps


def _size(trial: Trial, name: str) -> Optional[int]:
    copies = _copies(trial, name)
    return sum(trial.files[copy].st_size for copy in copies) if copies else None


def _activity(trial: Trial) -> Dict[str, Any]:
    """What the files' presence says about a trial without a result (B5, B6, harbor-jobs 4)."""
    active = any(state.st_size and OF_AGENT.match(path) for path, state in trial.files.items())
    over = any(path in ("artifacts/manifest.json", "exception.txt") or path.startswith("verifier/") for path in trial.files)
    if "stream.json" not in trial.files:  # in stream mode the trajectory grows while the agent works
        over = over or "agent/trajectory.json" in trial.files
    times = [state.st_mtime for state in trial.files.values()]
    return {"agent_active": active, "agent_over": over, "last_activity": max(times) if times else None}


def _logs(trial: Trial, folder: Folder) -> Dict[str, Any]:
    """Sizes and facts of runs-system 5.4 `logs`; None = absent."""
    verdict = "verifier_regrade" if "verifier_regrade/reward.json" in trial.files else "verifier"
    mirror = {name: state.st_size for name, state in trial.mirror.items()}
    sessions = [path for path in trial.files if "agent/sessions/" in path and path.endswith(".jsonl")]
    published = next((name for name in ("data", "out") if "artifacts/%s/episode.jsonl" % name in trial.files), None)
    ending = next((name for name in ("data", "out") if "artifacts/%s/final.json" % name in trial.files), None)
    video = verdict + "/replay.mp4"
    return {
        "codex": _size(trial, "agent/codex.txt"),
        "gateway": _size(trial, "agent/gateway.jsonl"),
        "usage_log": _size(trial, "gateway/usage.jsonl"),
        "trajectory": _size(trial, "agent/trajectory.json"),
        "sessions": len(sessions),
        "mirror_codex": mirror.get("codex.txt"),
        "mirror_gateway": mirror.get("gateway.jsonl"),
        "episode": _size(trial, "artifacts/%s/episode.jsonl" % published) if published else None,
        "episode_end": as_text(folder.mapping("artifacts/%s/final.json" % ending).get("reason")) if ending else None,
        "reward": _size(trial, verdict + "/reward.json"),
        "grade_log": _size(trial, verdict + "/grade.log"),
        "video": _size(trial, video),
        "video_ok": complete_mp4(os.path.join(trial.path, video)) if video in trial.files else None,
    }


def complete_mp4(path: str) -> Optional[bool]:
    """Whether the top-level boxes end exactly at the file's end and one is `moov` (runs-system 5.4); None = unreadable."""
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            end, at, moov = os.fstat(file.fileno()).st_size, 0, False
            while at < end:
                file.seek(at)
                head = file.read(16)
                size = int.from_bytes(head[:4], "big")
                if size == 1:
                    size = int.from_bytes(head[8:16], "big")
                elif size == 0:
                    size = end - at
                if size < 8:
                    return False
                moov = moov or head[4:8] == b"moov"
                at += size
            return moov and at == end
    except OSError:
        return None
