"""The probe itself: reads a request, looks, answers once, and ends as soon as nobody listens any more.

It writes nothing but the offset cache. What it opens is listed in `harbor`, `requests` and `liveness`.
"""

from __future__ import annotations

import _thread
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


def run(request: Dict[str, Any]) -> None:
    """Answer `request`. Standard input stays open meanwhile: its end means that the collector is gone."""
    started = time.time()
    _thread.start_new_thread(_guard, (request["seconds"],))
    answer = answer_to(request)
    python = "%d.%d.%d" % sys.version_info[:3]
    if answer:
        import json

        answer.update(v=VERSION, python=python, started=started, now=time.time())
        text = json.dumps(answer, separators=(",", ":"))
    else:
        text = '{"v":%d,"python":"%s","started":%r,"now":%r}' % (VERSION, python, started, time.time())
    sys.stdout.buffer.write(frame(text.encode()))
    sys.stdout.buffer.flush()


def _guard(seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if select.select([0], [], [], max(0.0, deadline - time.monotonic()))[0] and not os.read(0, 4096):
            os._exit(GONE)
    os._exit(LATE)


def answer_to(request: Dict[str, Any], proc: str = "/proc") -> Dict[str, Any]:
    """What differs from the digests in `request["known"]`, without times; empty if nothing does."""
    root = os.path.expanduser(request["jobs"])
    salt = request["salt"]
    try:
        listing = list_jobs(root, request["batches"], salt)
    except OSError as error:
        return {"error": "the jobs directory %s can't be read: %s" % (clean(root), error.strerror)}
    runners = find_runners(proc)
    for job in listing.jobs:
        job.alive = runners.alive(job.path)
        job.fingerprint = job_fingerprint(job, salt, listing.logs.get(job.batch))
    entries = [(job.name, "", job.fingerprint) for job in listing.jobs]
    entries += [(job.name, trial.name, trial.fingerprint) for job in listing.jobs for trial in job.trials]
    there = bucket_digests(entries, listing.seen(), listing.strangers)
    known = request["known"]
    changed = {name for name in set(there) | set(known) if there.get(name) != known.get(name)}
    if not changed:
        return {}
    answer = {"changed": sorted(changed), "seen": listing.seen(), "strangers": listing.strangers}
    answer.update(_details(listing, changed))
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
    from benchpipe.probe.documents import Folder
    from benchpipe.probe.harbor import planned_tasks, read_trial
    from benchpipe.probe.requests import trial_requests

    todo = [trial for trial in job.trials if bucket(job.name, trial.name) in changed]
    planned = planned_tasks(Folder(job).mapping("lock.json")) if todo and not job.task_dir else []
    found = []
    for trial in todo:
        try:
            trial.look()
            facts = read_trial(trial, job, planned)
            facts["requests"] = trial_requests(trial.path, cursors)
        except FileNotFoundError:  # gone since the listing: the next poll doesn't see it
            continue
        except Exception as error:  # one bad trial never stops the others (B11); what was wrong with it travels along
            facts = {"job": job.name, "trial": trial.name, "fingerprint": trial.fingerprint}
            facts["problems"] = ["the trial can't be read: %s" % clean(repr(error))]
        found.append(facts)
    return found
