"""The snapshot, `data/published_runs/`: everything the public site shows of the runs, and nothing else (runs-system 14, 15).

Staged beside the lab's caches, scanned, compared, and switched in as a whole. What did not change is not rewritten; a trial
with a finding stays home and the rest goes out.
"""

import shutil
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import orjson

from benchpipe.errors import FoundProblems, UsageError
from benchpipe.files import link_or_copy, lock, write_bytes
from benchpipe.lab import Lab
from benchpipe.publish.diff import differences
from benchpipe.publish.find import Finder
from benchpipe.publish.money import estimates
from benchpipe.publish.names import all_rules, machine_filter, private_places
from benchpipe.publish.published import SUMMARY, RunLine, Summary, published_id, read_document, read_summary
from benchpipe.publish.rules import kinds
from benchpipe.publish.scan import SECOND_OPINION, Scan, allowed_values, second_opinion
from benchpipe.publish.stage import Quarantined, Stage, StagedRun
from benchpipe.publish.switch import recover, switch_in
from benchpipe.registry.committed import committed
from benchpipe.registry.records import BenchRun, Registry

TIMES_ONLY = ("generated_at", "built")
"""A file that differs from the published one in these top-level fields alone has not changed (A5, E3)."""

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
    switched_in: bool
    strict: bool = False

    @property
    def exit_code(self) -> int:
        return 1 if self.quarantined else 0


class _Trees(NamedTuple):
    """The snapshot, the one being made, and the one before."""

    current: Path
    new: Path
    previous: Path


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
    with lock(lab.lock_file("publish"), wait=wait):
        trees = _trees(lab)
        recover(trees.new, trees.current, trees.previous)
        shutil.rmtree(trees.new, ignore_errors=True)
        try:
            return _publish(
                lab, committed(registry), chosen, trees, dry_run=dry_run, strict=strict, now=now, on_progress=on_progress
            )
        finally:
            shutil.rmtree(trees.new, ignore_errors=True)


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


def _trees(lab: Lab) -> _Trees:
    return _Trees(lab.published, lab.cache / "published_runs.new", lab.cache / "published_runs.prev")


def _publish(
    lab: Lab,
    registry: Registry,
    chosen: set[str],
    trees: _Trees,
    *,
    dry_run: bool,
    strict: bool,
    now: datetime,
    on_progress: Progress | None,
) -> PublishReport:
    before = _published_before(lab, registry)
    scan = make_scan(lab, registry)
    stage = Stage(lab, scan, machine_filter(private_places(lab, registry)), images=registry.public.run_media_images)
    writer = _Writer(trees)
    published_lines = {(line.benchmark, line.run): line for line in before.runs}
    lines: list[RunLine] = []
    quarantined: list[Quarantined] = []
    redacted: dict[str, int] = {}
    with_data = {(run.benchmark, run.run): _run_file(lab, run) for run in registry.bench_runs(benchmarks=chosen)}
    if not any(with_data.values()) and not before.runs:
        raise UsageError("nothing to publish: no committed run has a run file below data/runs/; collect first (benchpipe runs)")
    for plan in registry.plans.values():
        money = estimates(lab, plan.benchmark) if plan.benchmark in chosen else {}
        for bench_run in plan.shown() if plan.benchmark in chosen else ():
            if on_progress:
                on_progress(len(lines), len(with_data), f"{plan.benchmark} {bench_run.run}")
            document = with_data[plan.benchmark, bench_run.run]
            if document is None:
                stored = published_id(lab, plan.benchmark, registry.ids_of(bench_run.run))
                lines += writer.keep_run(bench_run, published_lines.get((plan.benchmark, stored or "")))
                continue
            staged = stage.run(bench_run, document, money)
            quarantined += staged.quarantined
            for rule, places in staged.redacted.items():
                redacted[rule] = redacted.get(rule, 0) + places
            if staged.files:
                lines.append(writer.add(staged))
        if plan.benchmark not in chosen:
            lines += writer.keep_benchmark(plan.benchmark, [line for line in before.runs if line.benchmark == plan.benchmark])
    return _finish(trees, writer, lines, quarantined, redacted, before, scan, dry_run=dry_run, strict=strict, now=now)


def _finish(
    trees: _Trees,
    writer: "_Writer",
    lines: list[RunLine],
    quarantined: list[Quarantined],
    redacted: dict[str, int],
    before: Summary,
    scan: Scan,
    *,
    dry_run: bool,
    strict: bool,
    now: datetime,
) -> PublishReport:
    removed = writer.removed()
    changed = bool(writer.written or removed or tuple(lines) != before.runs)
    summary = Summary(
        runs=tuple(lines),
        logs=sum(line.logs for line in lines),
        bytes=writer.bytes,
        published_at=now.isoformat(timespec="seconds"),
        scan={"clean": True, "patterns": [*kinds(scan.finder.rules), SECOND_OPINION], "hits": {}},
    )
    switch = changed and not dry_run and not (strict and quarantined)
    found = tuple(differences(trees.current, trees.new, sorted(writer.written), sorted(removed)))
    if switch:
        data = orjson.dumps(msgspec.to_builtins(summary)) + b"\n"
        if findings := scan.bytes(SUMMARY, data):
            raise FoundProblems(f"{SUMMARY} would say what must not leave ({findings[0].rule}): nothing was published")
        write_bytes(trees.new / SUMMARY, data)
        switch_in(trees.new, trees.current, trees.previous)
    return PublishReport(
        lines=summary.runs,
        quarantined=tuple(quarantined),
        written=len(writer.written),
        removed=len(removed),
        unchanged=writer.unchanged,
        bytes=writer.bytes,
        redacted=redacted,
        differences=found,
        switched_in=switch,
        strict=strict,
    )


def _published_before(lab: Lab, registry: Registry) -> Summary:
    """The published summary. UsageError if it can't be read, or if a broken plan would drop a run that it names."""
    summary = read_summary(lab.published)
    if summary is None:
        if (lab.published / SUMMARY).exists():
            raise UsageError(f"{lab.relative(lab.published / SUMMARY)} can't be read: git restore it, then publish again")
        return Summary()
    broken = {problem.place.file for problem in registry.problems}
    for line in summary.runs:
        plan = registry.plans.get(line.benchmark)
        if plan and line.run not in plan.runs and plan.place.file in broken:
            raise UsageError(f"{plan.place.file} has errors and {line.run} is published: mend it first (benchpipe check)")
    return summary


def _run_file(lab: Lab, bench_run: BenchRun) -> dict[str, Any] | None:
    return read_document(lab.run_file(bench_run.benchmark, bench_run.run))


class _Writer:
    """Fills the new tree. What is published already is linked and not written, so that its file stays the same one."""

    def __init__(self, trees: _Trees) -> None:
        self._trees = trees
        self._names: set[str] = set()
        self.written: set[str] = set()
        self.unchanged = 0
        self.bytes = 0

    def add(self, staged: StagedRun) -> RunLine:
        """Write a bench-run's files. Returns its line, with the collection time of the file that stays."""
        collected_at = staged.line.collected_at
        for name, data in staged.files.items():
            if not self._same(name, data):
                self._write(name, data)
                continue
            self._link(name)
            if name == f"{staged.line.benchmark}/{staged.line.run}.json":
                collected_at = (read_document(self._trees.current / name) or {}).get("generated_at", collected_at)
        return msgspec.structs.replace(staged.line, collected_at=collected_at)

    def keep_benchmark(self, benchmark: str, lines: list[RunLine]) -> list[RunLine]:
        """Another benchmark's part stays as it is, to the byte."""
        self._link_all(f"{benchmark}/**/*.json")
        return lines

    def keep_run(self, bench_run: BenchRun, line: RunLine | None) -> list[RunLine]:
        """A bench-run without data here keeps what is published of it, less the modes withdrawn since.

        Under the id of `line`, also where it has another one now: its media lie there too.
        """
        if line is None:
            return []
        name = f"{line.benchmark}/{line.run}.json"
        document = read_document(self._trees.current / name)
        if document is None:
            return []
        left = {
            task: {mode: record for mode, record in modes.items() if mode not in bench_run.withdrawn}
            for task, modes in document["tasks"].items()
        }
        tasks = {task: modes for task, modes in left.items() if modes}
        if tasks == document["tasks"]:
            self._link(name)
        else:
            self._write(name, orjson.dumps({**document, "tasks": tasks}) + b"\n")
        slots = [f"{task}/{mode}{suffix}.json" for task, modes in tasks.items() for mode in modes for suffix in ("", "-prev")]
        kept = [slot for slot in slots if (self._trees.current / line.benchmark / line.run / slot).is_file()]
        for slot in kept:
            self._link(f"{line.benchmark}/{line.run}/{slot}")
        return [msgspec.structs.replace(line, tasks=len(tasks), logs=len(kept))]

    def removed(self) -> set[str]:
        """Files of the published snapshot that the new one doesn't have."""
        published = {file.relative_to(self._trees.current).as_posix() for file in self._trees.current.rglob("*") if file.is_file()}
        return published - self._names - {SUMMARY}

    def _same(self, name: str, data: bytes) -> bool:
        try:
            published = (self._trees.current / name).read_bytes()
        except OSError:
            return False
        return published == data or _without_times(published) == _without_times(data)

    def _write(self, name: str, data: bytes) -> None:
        write_bytes(self._trees.new / name, data)
        self.written.add(name)
        self._names.add(name)
        self.bytes += len(data)

    def _link_all(self, pattern: str) -> None:
        for file in sorted(self._trees.current.glob(pattern)):
            self._link(file.relative_to(self._trees.current).as_posix())

    def _link(self, name: str) -> None:
        source, target = self._trees.current / name, self._trees.new / name
        link_or_copy(source, target)
        self._names.add(name)
        self.unchanged += 1
        self.bytes += target.stat().st_size


def _without_times(data: bytes) -> Any:
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return data
    return {key: value for key, value in document.items() if key not in TIMES_ONLY} if isinstance(document, dict) else document
