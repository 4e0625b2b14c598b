"""What goes into the cost-against-score charts: one of a benchmark's runs, one of all runs over all benchmarks."""

from collections.abc import Iterator, Sequence

from benchpipe.site.addresses import OVERVIEW, run_page
from benchpipe.site.data import BenchmarkData, RunData
from benchpipe.site.figures import totals_of
from benchpipe.site.frontier import Candidate, Chart, chart
from benchpipe.site.overview_page import parts_of, totals_over
from benchpipe.usage.totals import Totals


def benchmark_chart(data: BenchmarkData) -> Chart | None:
    """The chart of one benchmark's runs; None before any trial is done."""
    candidates = [
        found
        for run in data.runs
        for mode in _modes(run)
        if (found := _candidate(run.agent.short, run_page(data, run.id), mode, totals_of(run, "bench")))
    ]
    return chart(candidates, data.benchmark.name)


def overall_chart(benchmarks: Sequence[BenchmarkData]) -> Chart | None:
    """The chart of every run over all its benchmarks; None before any trial is done."""
    candidates = []
    for run, parts in parts_of(benchmarks).items():
        summed = totals_over(parts)
        label, modes = parts[0][1].agent.short, dict.fromkeys(mode for _, one in parts for mode in _modes(one))
        candidates += [found for mode in modes if (found := _candidate(label, f"{OVERVIEW}?run={run}", mode, summed))]
    return chart(candidates, "All benchmarks together (runs may have taken part in different ones)")


def _modes(run: RunData) -> Iterator[str]:
    """Modes whose results stand."""
    yield from (mode for mode in run.bench_run.modes if mode not in run.bench_run.withdrawn)


def _candidate(label: str, href: str, mode: str, summed: Totals) -> Candidate | None:
    of = summed.modes.get(mode)
    if of is None or of.rate is None:
        return None
    return Candidate(label, mode, href, of.rate, of.est, of.est_n, of.trials)
