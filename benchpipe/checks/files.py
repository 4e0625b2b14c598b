"""Rules that open one more file than the registry: pool lists, and run files where something was collected."""

import itertools
from collections.abc import Iterator
from pathlib import Path

from benchpipe.checks.findings import Spot, Workspace
from benchpipe.files import sha256
from benchpipe.registry.quoting import short
from benchpipe.registry.records import BenchRun, Place, Pool
from benchpipe.trials.store import load_run_file


def pool_lists_wrong(workspace: Workspace) -> Iterator[Spot]:
    """Size, order and hash of `data/benchmarks/<id>/pools/<pool>.txt` against what the benchmark declares (F6)."""
    for benchmark in workspace.registry.benchmarks.values():
        defaults = [pool.id for pool in benchmark.pools.values() if pool.default]
        if len(defaults) > 1:
            yield benchmark.place, f"the pools {', '.join(defaults)} are all the default one: keep one"
        for pool in benchmark.pools.values():
            if pool.file:
                for line, message in _pool_faults(pool, workspace.lab.root / pool.file):
                    yield Place(pool.file, line), message


def _pool_faults(pool: Pool, path: Path) -> Iterator[tuple[int | None, str]]:
    try:
        data = path.read_bytes()
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        yield None, f"can't be read ({error}): make it a UTF-8 file of one task id per line"
        return
    ids = text.splitlines()
    if text != "".join(f"{task}\n" for task in sorted(set(ids))) or "" in ids:
        unsorted = next((n for n, (one, two) in enumerate(itertools.pairwise(ids), 2) if one >= two), len(ids))
        yield unsorted, "has to list each task id once, sorted, one per line, with a final newline: sort it with LC_ALL=C sort -u"
    if len(ids) != pool.size:
        yield None, f"lists {len(ids)} tasks, but the pool {pool.id} declares {pool.size}: correct one of them"
    if pool.sha256 and sha256(data) != pool.sha256:
        yield None, f"has the sha256 {sha256(data)}, but the pool {pool.id} declares {short(pool.sha256)}: correct one of them"


def remark_matches_no_trial(workspace: Workspace) -> Iterator[Spot]:
    """Follow-ups, notes and exclusions that name a trial nobody has seen. Says nothing where nothing was collected."""
    for bench_run in workspace.registry.bench_runs():
        seen = _trials_seen(workspace, bench_run)
        remarks = (*bench_run.followups, *bench_run.notes, *bench_run.not_counted) if seen else ()
        for remark in remarks:
            if remark.trial and remark.trial not in seen and remark.place:
                yield remark.place, f"no collected record is the trial {short(remark.trial)}: correct its name, or remove the entry"


def _trials_seen(workspace: Workspace, bench_run: BenchRun) -> set[str]:
    """Every trial of the run file: records, what they supersede, their attempts. Empty where nothing was collected."""
    run_file = load_run_file(workspace.lab, bench_run.benchmark, bench_run.run)
    records = [record for modes in run_file.tasks.values() for record in modes.values()] if run_file else []
    named = [attempt for record in records for attempt in (record, record.supersedes, *record.attempts)]
    return {attempt.trial for attempt in named if attempt and attempt.trial}
