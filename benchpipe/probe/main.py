"""The probe itself: answers request after request, and ends as soon as nobody listens any more.

It writes nothing but the offset cache. What it opens is listed in `harbor`, `requests` and `liveness`.
"""

from __future__ import annotations

import _thread
import os
import sys
import time
import zlib

from benchpipe.probe.listing import Job, Listing, clean, job_fingerprint, list_jobs
from benchpipe.probe.liveness import find_runners
from benchpipe.probe.protocol import VERSION, bucket, bucket_digests, frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO, Dict, List

IDLE_S = 3600.0
"""A collector that watches asks again and again; one that asked nothing for so long is forgotten."""
GONE, LATE = 4, 5
"""Exit codes: the collector is gone; the time that the request allows is over."""


def serve(stdin: BinaryIO) -> None:
    """Run the calls that come on standard input, one after the other. Its end means that the collector is gone."""
    calls: List[bytes] = []
    ready = _thread.allocate_lock()
    ready.acquire()
    _thread.start_new_thread(_listen, (stdin, calls, ready))
    while ready.acquire(True, IDLE_S):
        exec(zlib.decompress(calls.pop(0)), {"run": run})


def run(request: Dict[str, Any]) -> None:
    """Answer `request`."""
    started = time.time()
    answered = _thread.allocate_lock()
    answered.acquire()
    _thread.start_new_thread(_limit, (answered, request["seconds"]))
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
    answered.release()


def _listen(stdin: BinaryIO, calls: List[bytes], ready: _thread.LockType) -> None:
    """The only reader of standard input once the program runs: so its end is noticed in the middle of a call too."""
    while True:
        length = stdin.readline()
        if not length:
            os._exit(GONE)
        calls.append(stdin.read(int(length)))
        ready.release()


def _limit(answered: _thread.LockType, seconds: float) -> None:
    if not answered.acquire(True, seconds):
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
    answer.update(_details(listing, changed, salt))
    return answer


def _details(listing: Listing, changed: set[str], salt: str) -> Dict[str, Any]:
    """Every job and trial of the changed buckets. The modules that read files are loaded only here."""
    from benchpipe.probe.cache import open_cursors
    from benchpipe.probe.harbor import read_job, read_scans

    cursors = open_cursors(os.environ, salt)
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
