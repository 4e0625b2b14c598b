"""What each asset would be built from now, as one digest per asset and partition.

An asset records the digest of its inputs with its materialisation (metadata `inputs`), computed before it reads them. The
reconciling sensor and `benchpipe runs` compare that with the digest of today: no cursor, so nothing can be remembered as
done that was not done. Inputs that people write count by what they say; files of other assets count by size and time.
"""

import hashlib
import os
from collections.abc import Callable, Iterable
from glob import glob
from pathlib import Path
from typing import Any

import msgspec

from benchpipe import __version__
from benchpipe.contributions.artifacts.store import experiments_digest
from benchpipe.pipeline.scene import Scene
from benchpipe.registry.public import read_backfill
from benchpipe.transcripts.records import LOG_FILE
from benchpipe.transcripts.unfinished import waiting
from benchpipe.trials.digest import inputs_digest, plain
from benchpipe.trials.status import default_runs


def digest(*parts: Any) -> str:
    """A short digest of plain values and records, the same in every process. On which line something is written doesn't count."""
    text = msgspec.json.encode(
        [__version__, *(plain(part) for part in parts)],
        order="deterministic",
    )
    return hashlib.sha256(text).hexdigest()[:24]


def stamps(files: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Name, size and time of each file that is there, in name order."""
    found = []
    for path in sorted(files):
        try:
            stat = path.stat()
        except OSError:
            continue
        found.append((os.fsencode(path).decode("utf-8", "replace"), stat.st_size, stat.st_mtime_ns))
    return found


def _run_files(scene: Scene, benchmark: str) -> list[Path]:
    plan = scene.registry.plans.get(benchmark)
    return [scene.lab.run_file(benchmark, run.run) for run in plan.shown()] if plan else []


def _additions(scene: Scene, benchmark: str) -> list[Path]:
    """The files of hand-made additions to log pages, and the videos and recordings that they name."""
    lab, files = scene.lab, sorted(scene.lab.run_folder(benchmark).glob("*.backfill.yml"))
    entries = [one for file in files for one in read_backfill(lab, benchmark, file.name.removesuffix(".backfill.yml")).values()]
    return [*files, *(lab.root / name for one in entries for name in (one.video, one.episode) if name)]


def agents_inputs(scene: Scene) -> str:
    """Every run definition."""
    return digest(scene.registry.agents)


def prices_inputs(scene: Scene) -> str:
    """The price list."""
    return digest(scene.registry.prices)


def benchmarks_inputs(scene: Scene) -> str:
    """Every benchmark with its tasks, and every plan."""
    return digest(scene.registry.benchmarks, scene.registry.plans)


def scopes_inputs(scene: Scene, benchmark: str) -> str:
    """The benchmark's plan, tasks and the definitions of its runs."""
    registry = scene.registry
    plan = registry.plans.get(benchmark)
    agents = [registry.agents.get(run) for run in plan.runs] if plan else []
    return digest(plan, registry.benchmarks.get(benchmark), agents)


def states_inputs(scene: Scene, benchmark: str) -> str:
    """The bench-runs, their agents' labels and billing, and what the hosts' readings say about their batches."""
    registry = scene.registry
    plan = registry.plans.get(benchmark)
    runs = plan.shown() if plan else []
    agents = [(agent.label, agent.billing) for run in runs if (agent := registry.agents.get(run.run))]
    return digest(inputs_digest(runs, registry.hosts, scene.readings), agents, stamps(_additions(scene, benchmark)))


def costs_inputs(scene: Scene, benchmark: str) -> str:
    """The run files, what counts of them (plan and tasks), and the prices and billing of their runs."""
    registry = scene.registry
    plan = registry.plans.get(benchmark)
    runs = [run.run for run in plan.shown()] if plan else []
    priced = [(run, registry.price_of(run), registry.agents[run].billing) for run in runs if run in registry.agents]
    return digest(stamps(_run_files(scene, benchmark)), plan, registry.benchmarks.get(benchmark), priced)


def logs_sources(scene: Scene, benchmark: str) -> list[tuple[str, int, int]]:
    """What log pages are made from: the run files and the hand-made additions."""
    return stamps([*_run_files(scene, benchmark), *_additions(scene, benchmark)])


def logs_inputs(scene: Scene, benchmark: str, sources: list[tuple[str, int, int]] | None = None) -> str:
    """The sources (those that pages were just made from, or today's), which pages there are, and what deserves another try.

    A page whose data somebody removed is made again, and one that failed or is a partial copy when its host has answered anew.
    """
    there = sorted(glob(f"*/*/*/{LOG_FILE}", root_dir=scene.lab.run_folder(benchmark)))
    hosts = {slot: scene.readings.get(host) for slot, host in waiting(scene.lab, benchmark).items()}
    again = sorted((slot, reading.at) for slot, reading in hosts.items() if reading and reading.at)
    return digest(logs_sources(scene, benchmark) if sources is None else sources, there, again)


def pages_inputs(scene: Scene, benchmark: str) -> str:
    """Everything a benchmark's pages show: run files, costs, history, log pages' stamps, registry texts, templates.

    Of the other benchmarks, to which its pages have tabs, the names.
    """
    lab = scene.lab
    files = [
        *_run_files(scene, benchmark),
        lab.costs_file(benchmark),
        lab.history_file(benchmark),
        *lab.run_folder(benchmark).glob("*/*/*/stamp"),
    ]
    registry = scene.registry
    names = {name: one.name for name, one in registry.benchmarks.items()}
    return digest(scopes_inputs(scene, benchmark), registry.prices, registry.aliases, names, stamps(files), look_inputs(scene))


def look_inputs(scene: Scene) -> str:
    """What every page of the site is made with: templates, and where the site and its media are."""
    return digest(stamps(scene.lab.templates.rglob("*.*")), scene.registry.public)


def status_inputs(scene: Scene) -> str:
    """Every benchmark's default run and its file, and the hosts' answers."""
    registry = scene.registry
    defaults = [(run.benchmark, run.run, run.batch) for run in default_runs(registry)]
    files = [scene.lab.run_file(benchmark, run) for benchmark, run, _ in defaults]
    hosts = [(name, reading.ok, reading.error) for name, reading in sorted(scene.readings.items())]
    return digest(defaults, stamps(files), hosts, sorted(registry.hosts), registry.agents)


def overview_inputs(scene: Scene) -> str:
    """What the pages over all benchmarks show: something of every benchmark; also of none, style and scripts."""
    return digest([pages_inputs(scene, benchmark) for benchmark in sorted(scene.registry.benchmarks)], look_inputs(scene))


BY_BENCHMARK: dict[str, Callable[[Scene, str], str]] = {
    "run_scopes": scopes_inputs,
    "run_states": states_inputs,
    "cost_estimates": costs_inputs,
    "trial_logs": logs_inputs,
    "site_pages": pages_inputs,
}
"""Assets of a benchmark in the order of the graph."""

OF_REGISTRY: dict[str, Callable[[Scene], str]] = {
    "agent_registry": agents_inputs,
    "price_list": prices_inputs,
    "benchmark_registry": benchmarks_inputs,
}

OVER_ALL: dict[str, Callable[[Scene], str]] = {"status_json": status_inputs, "site_overview": overview_inputs}
"""Unpartitioned assets that sum the benchmarks up."""


def submissions_inputs(scene: Scene, dataset: str) -> str:
    """The contributed files of a dataset."""
    return digest(stamps((scene.lab.contrib_results / dataset).rglob("*.*")))


def reports_inputs(scene: Scene, dataset: str) -> str:
    """The contributed files and trees, the benchmark with its pools, decisions, and what became of linked trajectories."""
    lab = scene.lab
    trails = (lab.state_contrib / "trajectories" / dataset).rglob("*.*")
    files = [*(lab.benchmarks / dataset).rglob("*.*"), lab.state_contrib / f"{dataset}.yml", *trails]
    trees = experiments_digest(lab, dataset)
    return digest(submissions_inputs(scene, dataset), scene.registry.benchmarks.get(dataset), stamps(files), trees)


def results_inputs(scene: Scene, dataset: str) -> str:
    """What a dataset's pages are made from: its checked submissions and what every page is made with."""
    return digest(reports_inputs(scene, dataset), look_inputs(scene))


BY_DATASET: dict[str, Callable[[Scene, str], str]] = {
    "submissions": submissions_inputs,
    "dataset_reports": reports_inputs,
    "submission_reports": reports_inputs,
    "result_rows": reports_inputs,
    "contribution_pages": results_inputs,
}
"""Assets of a dataset that outsiders contribute to, in the order of the graph."""
