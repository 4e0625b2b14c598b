"""Build the whole site: read once, list every file as a job, render only what changed."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

from benchpipe.files import lock
from benchpipe.lab import PACKAGE_ROOT, Lab
from benchpipe.publish.texts import public_registry
from benchpipe.registry.committed import committed
from benchpipe.registry.records import Registry
from benchpipe.site import addresses
from benchpipe.site.benchmark_page import benchmarks_page, task_list_page
from benchpipe.site.charts import benchmark_chart, overall_chart
from benchpipe.site.compare_page import compare
from benchpipe.site.data import BenchmarkData
from benchpipe.site.history_page import atom, changes, history, json_feed
from benchpipe.site.home_page import home, not_found
from benchpipe.site.jobs import BuildResult, Job, digest_of, digest_of_files, run_jobs
from benchpipe.site.logs import LogSource, log_pages
from benchpipe.site.overview_page import overview
from benchpipe.site.parts import OfBenchmark, Part, Shared, all_parts, part_of
from benchpipe.site.reading import read_benchmarks
from benchpipe.site.redirects import redirects, to_overview
from benchpipe.site.render import Chrome, Link, Page, Renderer, file_of, renderer_of
from benchpipe.site.results import results_pages
from benchpipe.site.run_panel import run_page_of
from benchpipe.site.tables import schema_page, table_jobs
from benchpipe.site.task_page import task


def default_out(lab: Lab, *, public: bool) -> Path:
    """Where a build goes without `--out`."""
    return lab.root / "public" if public else lab.site


def build_site(
    lab: Lab,
    registry: Registry,
    out: Path,
    *,
    public: bool,
    now: datetime | None = None,
    parts: Collection[Part] | None = None,
    on_made: Callable[[int], None] = lambda n: None,
) -> BuildResult:
    """Bring the site in `out`, or these parts of it, up to date and remove what an earlier build of them left over.

    The public build reads the committed snapshot and the committed registry (redacted), nothing else; a part reads what it shows.
    `now` (default: the clock) only tells dates of contributed results from future ones; it is printed nowhere, so the same
    inputs give the same bytes. `on_made` is told how many files were made so far. Builds of the lab's own site wait for each
    other. UsageError if `out` can't be written or holds something else.
    """
    registry = public_registry(lab, committed(registry)) if public else registry
    names = registry.benchmarks.keys()
    wanted = all_parts(names) if parts is None else frozenset(parts)
    renderer = renderer_of(lab.templates, _chrome(registry, public=public))
    always = digest_of(_code_digest(), digest_of_files(sorted(lab.templates.rglob("*.*ml"))), repr(renderer.chrome))
    manifest = lab.cache / "site" / f"{digest_of(str(out.resolve()))[:16]}.json"
    today = (now or datetime.now(UTC)).date()
    with lock(lab.lock_file("site"), wait=True) if out == lab.site else nullcontext():
        jobs = _jobs(lab, registry, renderer, wanted, today, public=public)
        return run_jobs(jobs, out, manifest, always, lambda path: part_of(path, names) in wanted, on_made)


def _jobs(lab: Lab, registry: Registry, renderer: Renderer, parts: Collection[Part], today: date, *, public: bool) -> Iterator[Job]:
    """The files of these parts, from what is read for them alone."""
    only = None if Shared.OVERALL in parts else {part.id for part in parts if isinstance(part, OfBenchmark)}
    benchmarks = read_benchmarks(lab, registry, public=public, only=only)
    tabs = _tabs(registry)

    def page(path: str, inputs: Iterable[str], make: Callable[[], Page]) -> Job:
        return Job(file_of(path), tuple(inputs), lambda: renderer.render(make()))

    if Shared.OVERALL in parts:
        yield from _overall_jobs(lab, registry, benchmarks, tabs, public, page)
    for data in benchmarks:
        if OfBenchmark(data.id) in parts:
            yield from _benchmark_jobs(lab, registry, renderer, data, tabs, public, page)
    if Shared.RESULTS in parts:
        yield from results_pages(lab, registry, renderer, today=today)


def _chrome(registry: Registry, *, public: bool) -> Chrome:
    nav = (
        Link("Runs", addresses.OVERVIEW),
        Link("Benchmarks", addresses.BENCHMARKS),
        Link("Results", addresses.RESULTS),
        Link("History", addresses.HISTORY),
        Link("Data", addresses.SCHEMA),
    )
    return Chrome(public=public, nav=nav, media_base=registry.public.run_media_base, contact=registry.public.contact)


def _tabs(registry: Registry) -> tuple[Link, ...]:
    """The overview and every benchmark's runs, also of benchmarks that this build doesn't read."""
    each = (Link(benchmark.name, addresses.runs_page(name)) for name, benchmark in sorted(registry.benchmarks.items()))
    return (Link("All benchmarks", addresses.OVERVIEW), *each)


@cache
def _code_digest() -> str:
    """Digest of the code that pages are made by."""
    return digest_of_files(sorted(PACKAGE_ROOT.rglob("*.py")))


def _overall_jobs(
    lab: Lab,
    registry: Registry,
    benchmarks: Sequence[BenchmarkData],
    tabs: tuple[Link, ...],
    public: bool,
    page: Callable[..., Job],
) -> Iterator[Job]:
    everything = [data.whole_digest for data in benchmarks]
    found = changes(lab, benchmarks, public=public)
    recent = digest_of(repr(found[:600]), str(len(found)))

    yield from _static(lab)
    yield page("404.html", (), not_found)
    yield page(addresses.HOME, (*everything, recent), lambda: home(benchmarks, found, public=public))
    yield page(addresses.OVERVIEW, (*everything, repr(tabs)), lambda: overview(benchmarks, overall_chart(benchmarks), tabs))
    yield page(
        addresses.BENCHMARKS, (repr([(data.digest, len(data.runs)) for data in benchmarks]),), lambda: benchmarks_page(benchmarks)
    )
    yield page(addresses.HISTORY, (recent,), lambda: history(found))
    yield page("feed.atom", (recent, registry.public.site_url), lambda: atom(found, registry.public.site_url))
    yield Job("feed.json", (recent, registry.public.site_url), lambda: json_feed(found, registry.public.site_url))
    yield page(addresses.SCHEMA, [data.benchmark.name for data in benchmarks], lambda: schema_page(benchmarks, public=public))
    yield page("runs/", (), to_overview)


def _benchmark_jobs(
    lab: Lab,
    registry: Registry,
    renderer: Renderer,
    data: BenchmarkData,
    tabs: tuple[Link, ...],
    public: bool,
    page: Callable[..., Job],
) -> Iterator[Job]:
    family = digest_of(repr([(run.bench_run, run.agent) for run in data.runs]))  # what pickers show
    default = data.default.digest if data.default else ""
    runs_page = addresses.runs_page(data.id)
    yield page(
        runs_page,
        (data.whole_digest, repr((registry.prices, tabs))),
        lambda: run_page_of(data, data.default, registry, benchmark_chart(data), tabs, public=public),
    )
    for run in data.runs[1:]:
        price = registry.price_of(run.id)
        yield page(
            addresses.run_page(data, run.id),
            (data.digest, family, run.digest, repr((price, tabs))),
            lambda run=run: run_page_of(data, run, registry, None, tabs, public=public),
        )
    yield page(addresses.compare_page(data.id), (data.whole_digest, repr(tabs)), lambda: compare(data, tabs))
    yield page(addresses.benchmark_page(data.id), (data.digest, family, default), lambda: task_list_page(data))
    for one in data.tasks.values():
        trials = [trial.digest for run in data.runs for trial in run.by_task.get(one.id, ())]
        yield page(
            addresses.task_page(data.id, one.id),
            (data.benchmark.name, repr(one), family, *trials),
            lambda one=one: task(data, one, public=public),
        )
    for redirect in redirects(data):
        yield page(redirect.path, (repr(redirect),), lambda redirect=redirect: redirect)
    source = LogSource(lab, public, registry.public)
    yield from table_jobs(source, data)
    for run in data.runs:
        yield from log_pages(source, data, run, renderer)


def _static(lab: Lab) -> Iterator[Job]:
    folder = lab.templates / "static"
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield Job(f"static/{file.relative_to(folder).as_posix()}", (digest_of_files([file]),), file.read_bytes)
