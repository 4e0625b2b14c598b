"""What is known about a run, a benchmark or a trial besides its numbers, as pairs of words and texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchpipe.registry.records import Benchmark, Metric, Price
from benchpipe.site.data import BenchmarkData, RunData, Trial
from benchpipe.site.pills import details
from benchpipe.site.render import cut
from benchpipe.usage import format as fmt

MAX_FACT = 4_000
BILLING = {
    "subscription": "subscription: a login without a bill per token",
    "openrouter": "openrouter: the provider reports its charge with each response",
    "api": "api: billed by the provider; no bill per trial is held, so only the estimate shows",
    "none": "none: nobody bills this",
}


@dataclass(frozen=True)
class Fact:
    """One line of a list of facts."""

    key: str
    value: str


def facts(pairs: Iterator[tuple[str, str]]) -> tuple[Fact, ...]:
    """Pairs as facts; those with nothing to say are left out."""
    return tuple(Fact(key, cut(value, MAX_FACT)) for key, value in pairs if value)


def run_facts(data: BenchmarkData, run: RunData, price: Price | None) -> Iterator[tuple[str, str]]:
    """The run details of runs-system 12.2."""
    agent, spec, run_file = run.agent, run.bench_run, run.run_file
    yield "run id", agent.id
    yield "formerly", ", ".join(agent.formerly)
    yield "harness", spec.harness or agent.harness or ""
    yield "model", agent.model or ""
    yield "route", agent.route or ""
    yield "settings", ", ".join(f"{key} {value}" for key, value in agent.settings.items())
    yield "modes", ", ".join(spec.modes)
    yield "batches", ", ".join(spec.batches)
    yield "progress", f"reward key {spec.progress}; a success counts 100%"
    yield "billing", BILLING[agent.billing]
    yield "list price", price_text(price) if price else "not known: no estimate"
    yield "closed", spec.closed or ""
    yield "notes", agent.notes or ""
    yield "collected", fmt.moment(run_file.generated_at) if run_file and run_file.generated_at else ""
    for host, said in sorted(run_file.hosts.items()) if run_file else ():
        answer = "answered" if said.get("ok") else f"did not answer: {said.get('error') or 'no reason given'}"
        last = f", last at {fmt.moment(str(said['at']))}" if said.get("at") else ""
        yield f"host {host}", answer + last


def price_text(price: Price) -> str:
    """A list price in words, per million tokens."""
    rates = price.rates
    parts = [f"${rates.input} input"]
    parts += [f"${rates.cached_input} cached input"] if rates.cached_input is not None else []
    parts += [f"${rates.cache_write} cache write"] if rates.cache_write is not None else []
    parts += [f"${rates.output} output"]
    more = f"; {len(price.tiers)} tiers by prompt size" if price.tiers else ""
    more += f"; {len(price.bands)} earlier prices" if price.bands else ""
    return f"{price.key}: {', '.join(parts)} per million tokens{more}{f' (as of {price.as_of})' if price.as_of else ''}"


def benchmark_facts(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    """What its file says that a sentence can hold; the structured parts have their own places."""
    yield "id", benchmark.id
    yield "simulator", benchmark.simulator or ""
    yield "status", benchmark.status or ""
    yield "skills", ", ".join(benchmark.skill_vocabulary)
    for pool in benchmark.pools.values():
        yield f"pool {pool.id}", f"{pool.size} tasks, {pool.role}{', default' if pool.default else ''}"
    shown = {"id", "name", "simulator", "status", "skill_vocabulary", "scenes", "tasks", "pools", "description"}
    for key, value in benchmark.raw.items():
        if key not in shown and isinstance(value, str | int | float) and not isinstance(value, bool):
            yield str(key), str(value)


def trial_facts(trial: Trial, run_label: str, metrics: Sequence[Metric]) -> Iterator[tuple[str, str]]:
    """Everything behind a trial's pill, and the files that its numbers were read from (D4)."""
    yield from ((key, value) for key, value in details(trial, run_label, metrics) if key != "run")
    yield "numbers from", trial.cost.files
