"""The probe itself: reads a request, looks, answers once, and ends as soon as nobody listens any more.

It writes nothing but the offset cache. What it opens is listed in `harbor`, `requests` and `liveness`.
"""

from __future__ import annotations

import _thread
import json
import os
import select
import sys
import time

from benchpipe.probe.listing import Job, Listing, clean, job_fingerprint, list_jobs
from benchpipe.probe.liveness import find_runners
from benchpipe.probe.protocol import VERSION, bucket, bucket_digests, frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

GONE, LATE = 4, 5
"""Exit codes: the collector is gone; the time that the request allows is over."""


def main() -> None:
    """Answer the request on standard input. Standard input stays open meanwhile: its end means the collector is gone."""
    started = time.time()
    request = json.loads(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())).decode())
    _thread.start_new_thread(_guard, (float(request["seconds"]),))
    answer = answer_to(request)
    answer.update(started=started, now=time.time(), python="%d.%d.%d" % sys.version_info[:3])
    sys.stdout.buffer.write(frame(answer))
    sys.stdout.buffer.flush()


def _guard(seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if select.select([0], [], [], max(0.0, deadline - time.monotonic()))[0] and not os.read(0, 4096):
            os._exit(GONE)
    os._exit(LATE)


def answer_to(request: Dict[str, Any], proc: str = "/proc") -> Dict[str, Any]:
    """The answer without its times: what changed since the digests in `request["known"]`, and what there is at all."""
    root = os.path.expanduser(request["jobs"])
    salt = str(request["salt"])
    try:
        listing = list_jobs(root, request["batches"], salt)
    except OSError as error:
        return {"v": VERSION, "error": "the jobs directory %s can't be read: %s" % (clean(root), error.strerror)}
    runners = find_runners(proc)
    for job in listing.jobs:
        job.alive = runners.alive(job.path)
        job.fingerprint = job_fingerprint(job, salt, listing.logs.get(job.batch))
    entries = [(job.name, "", job.fingerprint) for job in listing.jobs]
    entries += [(job.name, trial.name, trial.fingerprint) for job in listing.jobs for trial in job.trials]
    now_there = bucket_digests(entries)
    known = request["known"]
    changed = sorted(name for name in set(now_there) | set(known) if now_there.get(name) != known.get(name))
    answer = {"v": VERSION, "seen": listing.seen(), "strangers": listing.strangers, "changed": changed, "jobs": [], "trials": []}
    if changed:
        answer.update(_details(listing, set(changed)))
    return answer


def _details(listing: Listing, changed: set[str]) -> Dict[str, Any]:
    """Every job and trial of the changed buckets. The modules that read files are loaded only here."""
    from benchpipe.probe.cache import open_cursors
    from benchpipe.probe.harbor import read_job, read_scans

    cursors = open_cursors(os.environ)
    scans: Dict[str, Dict[str, int]] = {}
    jobs, trials = [], []
    for job in listing.jobs:
        if bucket(job.name, "") in changed:
            if job.batch not in scans:
                scans[job.batch] = read_scans(listing.logs[job.batch]) if job.batch in listing.logs else {}
            jobs.append(read_job(job, scans[job.batch]))
        trials += _trials(job, changed, cursors)
    cursors.close()
    return {"jobs": jobs, "trials": trials, "cache_bytes": cursors.size()}


def _trials(job: Job, changed: set[str], cursors: Any) -> List[Dict[str, Any]]:
    from benchpipe.probe.harbor import Folder, planned_tasks, read_trial
    from benchpipe.probe.requests import trial_requests

    todo = [trial for trial in job.trials if bucket(job.name, trial.name) in changed]
    planned = planned_tasks(Folder(job).mapping("lock.json")) if todo and not job.task_dir else []
    found = []
    for trial in todo:
        try:
            facts = read_trial(trial, job, planned)
            facts["requests"] = trial_requests(trial.path, cursors)
        except Exception as error:  # one bad trial never stops the others (B11); what was wrong with it travels along
            facts = {"job": job.name, "trial": trial.name, "fingerprint": trial.fingerprint}
            facts["problems"] = ["the trial can't be read: %s" % clean(repr(error))]
        found.append(facts)
    return found
