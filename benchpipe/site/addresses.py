"""Where each page is (D5, runs-system 12): the only module that spells addresses below the site root."""

from benchpipe.site.data import BenchmarkData

HOME = ""
OVERVIEW = "runs/overview/"
BENCHMARKS = "benchmarks/"
HISTORY = "history/"
RESULTS = "results/"
SCHEMA = "data/schema/"


def runs_page(benchmark: str) -> str:
    """A benchmark's runs; shows the default one, or the one of `?run=`."""
    return f"runs/{benchmark}/"


def run_page(data: BenchmarkData, run: str) -> str:
    """The page that shows a run without scripts: the default run's is the benchmark's own."""
    return runs_page(data.id) if data.default and data.default.id == run else f"runs/{data.id}/{run}/"


def compare_page(benchmark: str) -> str:
    return f"runs/{benchmark}/compare/"


def log_page(benchmark: str, run: str, task: str, slot: str) -> str:
    return f"runs/{benchmark}/{run}/{task}/{slot}/"


def benchmark_page(benchmark: str) -> str:
    return f"benchmarks/{benchmark}/"


def results_page(benchmark: str) -> str:
    """A benchmark's contributed results."""
    return f"{RESULTS}{benchmark}/"


def task_page(benchmark: str, task: str) -> str:
    return f"benchmarks/{benchmark}/tasks/{task}/"


def trial_page(data: BenchmarkData, run: str, task: str) -> str:
    """Where a trial without a log page is told of: its task's page, or its run's if the benchmark has no such task."""
    return task_page(data.id, task) if task in data.tasks else run_page(data, run)


def table(benchmark: str, name: str) -> str:
    """A download without its ending."""
    return f"data/{benchmark}/{name}"
