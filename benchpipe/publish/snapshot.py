"""The snapshot, `data/published_runs/`: everything the public site shows of the runs, and nothing else (runs-system 14, 15).

Staged beside the lab's caches, scanned, compared, and switched in as a whole. What did not change is not rewritten; a trial
with a finding stays home and the rest goes out.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import orjson

from benchpipe.errors import FoundProblems, UsageError
from benchpipe.files import lock, write_bytes
from benchpipe.lab import Lab
from benchpipe.publish.draft import Draft, fresh_trees
from benchpipe.publish.find import Finder
from benchpipe.publish.money import estimates
from benchpipe.publish.names import all_rules, machine_filter, private_places
from benchpipe.publish.published import SUMMARY, RunLine, Summary, published_id, read_document, read_summary
from benchpipe.publish.rules import kinds
from benchpipe.publish.scan import SECOND_OPINION, Scan, allowed_values, second_opinion
from benchpipe.publish.stage import Quarantined, Stage
from benchpipe.publish.switch import switch_in
from benchpipe.registry.committed import committed
from benchpipe.registry.records import BenchRun, Registry

Progress = Callable[[int, int, str], None]
"""Called with how many bench-runs are done, of how many, and the next one's name."""


class PublishReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a publication did, or would do (`dry_run`)."""

    lines: tuple[RunLine, ...]
    quarantined: tuple[Quarantined, ...]
    written: int
    removed: int
    unchanged: int
    """Files, without the summary."""
    bytes: int
    redacted: Mapping[str, int]
    differences: tuple[str, ...]
    """Records and logs that differ from what is published, a line each."""
    changed: bool
    """Whether the snapshot would be another one."""
    switched_in: bool = False
    strict: bool = False

    @property
    def exit_code(self) -> int:
        return 1 if self.quarantined else 0


def publish(
    lab: Lab,
    registry: Registry,
    benchmarks: Collection[str] | None = None,
    *,
    dry_run: bool = False,
    strict: bool = False,
    now: datetime,
    on_progress: Progress | None = None,
    wait: bool = False,
) -> PublishReport:
    """Publish every shown bench-run that has data here, or those of `benchmarks` alone.

    Other benchmarks' files stay as they are, and so does a shown bench-run that has no data on this machine. `strict`: any
    finding keeps the published snapshot as it is. UsageError for an unknown benchmark or when there is nothing to publish;
    LockHeld while another publication runs (unless `wait`).
    FoundProblems if the summary itself would leak.
    """
    chosen = _chosen(registry, benchmarks)
    with lock(lab.lock_file("publish"), wait=wait), fresh_trees(lab) as trees:
        registry = committed(registry)
        publication = _Publication(lab, registry, chosen, _published_before(lab, registry), make_scan(lab, registry))
        draft = Draft(trees)
        _fill(draft, publication, on_progress)
        report = _report(draft, publication.before, strict=strict)
        if report.changed and not dry_run and not (strict and draft.quarantined):
            _switch_in(draft, publication.scan, now)
            report = msgspec.structs.replace(report, switched_in=True)
        return report


class _Publication(NamedTuple):
    """What is published of what, onto what."""

    lab: Lab
    registry: Registry
    chosen: set[str]
    """Benchmarks whose part is rewritten."""
    before: Summary
    scan: Scan


def make_scan(lab: Lab, registry: Registry) -> Scan:
    """The scan of everything that leaves this lab: shipped and own rules, allow-list, second opinion."""
    return Scan(Finder(all_rules(lab, registry)), allowed=allowed_values(registry.public.raw), second=second_opinion())


def _chosen(registry: Registry, benchmarks: Collection[str] | None) -> set[str]:
    unknown = sorted(set(benchmarks or ()) - registry.plans.keys())
    if unknown:
        raise UsageError(
            f"no runs are registered for {', '.join(unknown)}: state/runs/ has {', '.join(registry.plans) or 'nothing'}"
        )
    return set(benchmarks) if benchmarks else set(registry.plans)


def _fill(draft: Draft, publication: _Publication, on_progress: Progress | None) -> None:
    """Bring every benchmark's part into the draft: the chosen ones from today's data, the others as they are."""
    lab, registry, chosen, before, scan = publication
    stage = Stage(lab, scan, machine_filter(private_places(lab, registry)), images=registry.public.run_media_images)
    documents = {(run.benchmark, run.run): _run_file(lab, run) for run in registry.bench_runs(benchmarks=chosen)}
    if not any(documents.values()) and not before.runs:
        raise UsageError("nothing to publish: no committed run has a run file below data/runs/; collect first (benchpipe runs)")
    lines = {(line.benchmark, line.run): line for line in before.runs}
    for plan in registry.plans.values():
        if plan.benchmark not in chosen:
            draft.keep_benchmark(plan.benchmark, before.runs)
            continue
        money = estimates(lab, plan.benchmark)
        for bench_run in plan.shown():
            if on_progress:
                on_progress(len(draft.lines), len(documents), f"{plan.benchmark} {bench_run.run}")
            if document := documents[plan.benchmark, bench_run.run]:
                draft.add(stage.run(bench_run, document, money))
            elif stored := published_id(lab, plan.benchmark, registry.ids_of(bench_run.run)):
                draft.keep_run(bench_run, lines.get((plan.benchmark, stored)))


def _report(draft: Draft, before: Summary, *, strict: bool) -> PublishReport:
    return PublishReport(
        lines=tuple(draft.lines),
        quarantined=tuple(draft.quarantined),
        written=len(draft.written),
        removed=len(draft.removed),
        unchanged=draft.unchanged,
        bytes=draft.bytes,
        redacted=dict(draft.redacted),
        differences=draft.differences(),
        changed=bool(draft.written or draft.removed or tuple(draft.lines) != before.runs),
        strict=strict,
    )


def _switch_in(draft: Draft, scan: Scan, now: datetime) -> None:
    """Make the draft whole and put it in the snapshot's place. FoundProblems if the summary itself would leak."""
    summary = Summary(
        runs=tuple(draft.lines),
        logs=sum(line.logs for line in draft.lines),
        bytes=draft.bytes,
        published_at=now.isoformat(timespec="seconds"),
        scan={"clean": True, "patterns": [*kinds(scan.finder.rules), SECOND_OPINION], "hits": {}},
    )
    data = orjson.dumps(msgspec.to_builtins(summary)) + b"\n"
    if findings := scan.bytes(SUMMARY, data):
        raise FoundProblems(f"{SUMMARY} would say what must not leave ({findings[0].rule}): nothing was published")
    write_bytes(draft.trees.new / SUMMARY, data)
    switch_in(*draft.trees)


def _published_before(lab: Lab, registry: Registry) -> Summary:
    """The published summary. UsageError if it can't be read, or if a broken plan would drop a run that it names."""
    summary = read_summary(lab.published)
    if summary is None:
        if (lab.published / SUMMARY).exists():
            raise UsageError(f"{lab.relative(lab.published / SUMMARY)} can't be read: git restore it, then publish again")
        return Summary()
    broken = {problem.place.file for problem in registry.faults}
    for line in summary.runs:
        plan = registry.plans.get(line.benchmark)
        if plan and registry.aliases.get(line.run, line.run) not in plan.runs and plan.place.file in broken:
            raise UsageError(f"{plan.place.file} has errors and {line.run} is published: mend it first (benchpipe check)")
    return summary


def _run_file(lab: Lab, bench_run: BenchRun) -> dict[str, Any] | None:
    return read_document(lab.run_file(bench_run.benchmark, bench_run.run))
