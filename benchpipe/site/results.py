"""Pages of contributed results: all benchmarks, one benchmark, one submission, credits (contributions 13, 14, 16; D5).

Everything shown comes from the checked submissions; nothing is decided here. Verified and unverified rows stand in two
tables, stacks beside each other, and no page ranks across them.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from fractions import Fraction

from benchpipe.contributions.checking import Checked
from benchpipe.contributions.codes import CHECKS
from benchpipe.contributions.credits import Contributor, acknowledged, contributors
from benchpipe.contributions.report import WORDS, once
from benchpipe.contributions.rows import Results, key_of, results_of
from benchpipe.contributions.store import Dataset, check_dataset, datasets
from benchpipe.contributions.tables import COLUMNS, data_files
from benchpipe.files import json_bytes
from benchpipe.lab import Lab
from benchpipe.registry.records import Benchmark, Registry
from benchpipe.site.addresses import BENCHMARKS, RESULTS, results_page
from benchpipe.site.jobs import Job, digest_of
from benchpipe.site.render import Link, Page, Renderer
from benchpipe.site.results_lines import (
    STANDINGS,
    VERDICTS,
    CheckLine,
    CreditLine,
    CreditsPage,
    DatasetLine,
    DatasetPage,
    FindingLine,
    ResultsPage,
    SubmissionPage,
    TaskLine,
    change_line,
    open_line,
    row_line,
    stacks,
    state_mark,
    submission_address,
)

CREDITS = f"{RESULTS}credits/"
CREDITS_FILE = "data/results/credits.json"
ACKNOWLEDGEMENTS_FILE = "data/results/acknowledgements.json"


def results_pages(lab: Lab, registry: Registry, renderer: Renderer, *, today: date) -> Iterator[Job]:
    """Every file of the results pages: pages, row files, credits. Reads contrib/ and state/contrib/ only."""
    yield from pages_of(list(load_results(lab, registry, today=today)), renderer)


def load_results(
    lab: Lab, registry: Registry, *, today: date, remembered: bool = True
) -> Iterator[tuple[Benchmark, Dataset, Results]]:
    """Every registered benchmark that takes or has results, with its checked submissions and their rows."""
    takes = [benchmark.id for benchmark in registry.benchmarks.values() if benchmark.pools]
    for name in datasets(lab, takes):
        if benchmark := registry.benchmarks.get(name):
            dataset = check_dataset(lab, name, registry.benchmarks, today=today, remembered=remembered)
            yield benchmark, dataset, results_of(dataset)


def pages_of(loaded: Sequence[tuple[Benchmark, Dataset, Results]], renderer: Renderer) -> Iterator[Job]:
    """The jobs of checked datasets."""

    def page(address: str, digest: str, make: Callable[[], Page]) -> Job:
        return Job(f"{address}index.html", (digest,), lambda: renderer.render(make()))

    whole = digest_of(*(f"{benchmark!r}{dataset.digest}" for benchmark, dataset, _ in loaded))
    yield page(RESULTS, whole, lambda: index(loaded))
    everyone = contributors([c for _, dataset, _ in loaded for c in dataset.checked], [results for _, _, results in loaded])
    yield page(CREDITS, whole, lambda: credits_page(everyone))
    yield Job(CREDITS_FILE, (whole,), lambda: json_bytes([_credit_record(person) for person in everyone]))
    yield Job(ACKNOWLEDGEMENTS_FILE, (whole,), lambda: json_bytes(acknowledged(everyone)))
    for benchmark, dataset, results in loaded:
        digest = digest_of(repr(benchmark), dataset.digest)
        yield page(results_page(benchmark.id), digest, lambda b=benchmark, d=dataset, r=results: dataset_page(b, d, r))  # type: ignore[misc]
        for path, make in data_files(results).items():
            yield Job(path, (digest,), make)
        for checked in dataset.checked:
            address = submission_address(benchmark.id, *key_of(checked.path))
            yield page(address, digest, lambda b=benchmark, r=results, c=checked: submission_page(b, r, c))  # type: ignore[misc]


def index(loaded: Sequence[tuple[Benchmark, Dataset, Results]]) -> ResultsPage:
    """The list of benchmarks with contributed results."""
    lines = tuple(
        DatasetLine(
            name=benchmark.name,
            href=results_page(benchmark.id),
            n_verified=len(results.verified),
            n_unverified=len(results.unverified),
            n_open=len(results.open),
            pools=", ".join(f"{pool.id} ({pool.size})" for pool in benchmark.pools.values()),
        )
        for benchmark, _, results in loaded
    )
    return ResultsPage(path=RESULTS, title="Contributed results", section=RESULTS, datasets=lines)


def dataset_page(benchmark: Benchmark, dataset: Dataset, results: Results) -> DatasetPage:
    """One benchmark's results."""
    keys = {key_of(checked.path) for checked in dataset.checked}
    roles = {"exam": "published", "study": "study only, never published"}
    return DatasetPage(
        path=results_page(benchmark.id),
        title=f"{benchmark.name}: contributed results",
        section=RESULTS,
        crumbs=(Link("Results", RESULTS),),
        heading=benchmark.name,
        benchmark_href=f"{BENCHMARKS}{benchmark.id}/",
        problem=dataset.problem,
        pools=tuple((pool.id, f"{pool.size} tasks, {roles[pool.role]}") for pool in benchmark.pools.values()),
        verified=stacks(results.verified),
        unverified=stacks(results.unverified),
        n_verified=len(results.verified),
        n_unverified=len(results.unverified),
        open=tuple(open_line(results.dataset, entry) for entry in results.open),
        changes=tuple(
            change_line(results.dataset, change, has_page=(change.method, change.variant) in keys) for change in results.changes
        ),
        downloads=f"data/results/{benchmark.id}/rows",
        columns=tuple(COLUMNS.items()),
    )


def submission_page(benchmark: Benchmark, results: Results, checked: Checked) -> SubmissionPage:
    """One submission: its verdict, every check of every run with its evidence, and what to mend."""
    method, variant = key_of(checked.path)
    report = checked.report
    kind, verdict = VERDICTS[report.verdict]
    rows = [row for row in (*results.verified, *results.unverified) if row.submission_path == checked.path]
    waiting = next((entry for entry in results.open if entry.path == checked.path), None)
    if waiting and waiting.standing in ("withdrawn", "declined", "duplicate"):
        kind, verdict = (
            "warn",
            f"{STANDINGS[waiting.standing].word.capitalize()}: " + "; ".join(r.message for r in waiting.reasons),
        )
    runs = [(f"{run.run_id}, round {run.round}", run.checks, run.evidence) for run in report.runs] or [("file", report.checks, {})]
    return SubmissionPage(
        path=submission_address(benchmark.id, method, variant),
        title=f"{method} / {variant} on {benchmark.name}",
        section=RESULTS,
        crumbs=(Link("Results", RESULTS), Link(benchmark.name, results_page(benchmark.id))),
        heading=f"{method} / {variant}",
        verdict_kind=kind,
        verdict=verdict,
        runs=tuple(name for name, _, _ in runs),
        rows=tuple(row_line(row) for row in rows),
        checks=tuple(
            CheckLine(WORDS[check], tuple((state_mark(states[check]), said.get(check, "")) for _, states, said in runs))
            for check in CHECKS
        ),
        findings=tuple(
            FindingLine(
                code=said.code,
                severity=said.severity,
                place=said.file + (f":{said.line}" if said.line else "") + (f" {said.pointer}" if said.pointer else ""),
                message=said.message,
                hint=said.hint,
            )
            for said in once(report.findings)
        ),
        facts=_facts(checked),
        links=_links(checked),
        tasks=_task_lines(checked),
        changes=tuple(
            change_line(results.dataset, change, has_page=True)
            for change in results.changes
            if (change.method, change.variant) == (method, variant)
        ),
    )


def _facts(checked: Checked) -> tuple[tuple[str, str], ...]:
    doc = checked.doc
    facts = [("File", checked.path), ("sha256 of the file", checked.input_sha256)]
    if doc is None:
        return tuple(facts)
    agent, config, improver, credit = doc["task_agent"], doc["config"], doc["improver"], doc["credit"]
    facts += [
        ("Task agent", f"{agent['base_harness']} · {agent['model']} · {agent['decoding']}"),
        ("Improver", f"{improver['method']} · {improver['model']} · {improver['harness']}" if improver else "none"),
        ("Study tasks", str(config["study_ids"])),
        ("Rounds, trials, sampling", f"{config['rounds']}, {config['trials']}, {config['sampling']}"),
        ("Jobs, slots", f"{config['jobs']}, {config.get('slots') or 'not said'}"),
        ("Model server", _without_host(config.get("endpoint"))),
        ("Seed", "not fixed" if config["seed"] is None else str(config["seed"])),
        ("Platform", f"commit {doc['platform']['commit']}, content {doc['platform']['content_sha']}"),
        ("Data", _data(checked)),
        ("Sent by", f"{credit['name']} ({credit['affiliation']})" if credit.get("affiliation") else str(credit["name"])),
    ]
    return tuple(facts)


def _without_host(endpoint: str | None) -> str:
    """The address of a model server as it is shown: where it stands is nobody's business."""
    if not endpoint:
        return "not said"
    scheme, _, rest = endpoint.partition("://")
    path = rest.partition("/")[2].partition("?")[0] if rest else ""
    return f"{scheme}://…/{path}" if rest else "…"


def _data(checked: Checked) -> str:
    """The directory of the dataset repository that the row's harnesses, patches and tasks lie in."""
    paths = sorted({measured.dataset_path for measured in checked.measured if measured.dataset_path})
    revision = ((checked.doc or {}).get("artifacts") or {}).get("dataset_revision")
    return (", ".join(paths) or "none") + (f" at {revision}" if revision and paths else "")


def _links(checked: Checked) -> tuple[Link, ...]:
    doc = checked.doc
    if doc is None:
        return ()
    trajectories = doc.get("trajectories") or {}
    named = [
        ("Paper", doc["method"].get("paper")),
        ("Code", doc["method"].get("code")),
        ("Contributor", doc["credit"].get("link")),
        ("Trajectories", trajectories.get("location")),
        ("Mirror of the trajectories", (trajectories.get("mirror") or {}).get("location")),
        *(("Data", link) for link in sorted({measured.dataset_link for measured in checked.measured if measured.dataset_link})),
    ]
    return tuple(Link(text, address) for text, address in named if address)


def _task_lines(checked: Checked) -> tuple[TaskLine, ...]:
    """Every task's score per run, by task id."""
    tasks = sorted({task for measured in checked.measured for task in measured.by_task})
    return tuple(TaskLine(task, tuple(_task_cell(measured.by_task.get(task)) for measured in checked.measured)) for task in tasks)


def _task_cell(score: str | None) -> tuple[str, bool]:
    if score is None:
        return "—", False
    number = Fraction(score)
    return f"{float(number):.3g}", number >= 1


def credits_page(people: Sequence[Contributor]) -> CreditsPage:
    """Everybody who is named on a row."""
    return CreditsPage(
        path=CREDITS,
        title="Credits",
        section=RESULTS,
        crumbs=(Link("Results", RESULTS),),
        people=tuple(
            CreditLine(
                person.line,
                person.link or "",
                tuple((f"{pair.dataset} × {pair.method}", results_page(pair.dataset), pair.verified) for pair in person.pairs),
            )
            for person in people
        ),
        acknowledged=tuple(person.line for person in people if person.acknowledge),
        credits_file=CREDITS_FILE,
        acknowledgements_file=ACKNOWLEDGEMENTS_FILE,
    )


def _credit_record(person: Contributor) -> dict[str, object]:
    return {
        "name": person.name,
        "affiliation": person.affiliation,
        "link": person.link,
        "submitted": [{"dataset": pair.dataset, "method": pair.method, "verified": pair.verified} for pair in person.pairs],
    }
