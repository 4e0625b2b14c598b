"""What people wrote, as assets: run definitions, prices, benchmarks with their plans. Loading them fills the partition sets."""

from typing import Any

import dagster as dg

from benchpipe.pipeline import inputs, report
from benchpipe.pipeline.partitions import register
from benchpipe.pipeline.scene import SceneResource

GROUP: dict[str, Any] = {"group_name": "registry", "kinds": {"yaml"}, "owners": ["team:benchmark_owners"], "code_version": "1"}


@dg.asset(**GROUP)
def agent_registry(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """Run definitions (`data/agents/*.yml`): harness, model, effort, billing. One file is one run, the same on every benchmark."""
    look = scene.scene()
    register(context.instance, look.lab, look.registry)
    rows = [
        {"run": agent.id, "label": agent.label, "billing": agent.billing, "price": agent.price, "modes": ", ".join(agent.modes)}
        for agent in look.registry.agents.values()
    ]
    return report.result(
        inputs.agents_inputs(look),
        files={"folder": look.lab.agents},
        n_runs=len(rows),
        runs=report.table(rows, ("run", "label", "billing", "price", "modes")),
        **report.problems(str(p.place) + ": " + p.message for p in look.registry.problems if "/agents/" in f"/{p.place.file}"),
    )


@dg.asset(**GROUP)
def price_list(scene: SceneResource) -> dg.MaterializeResult[Any]:
    """List prices per model (`data/prices.yml`), USD per 1,000,000 tokens. A change re-prices; it touches no record."""
    look = scene.scene()
    rows = [
        {
            "model": price.key,
            "input": price.rates.input,
            "cached input": price.rates.cached_input,
            "output": price.rates.output,
            "tiers": len(price.tiers),
            "bands": len(price.bands),
            "as of": price.as_of,
        }
        for price in look.registry.prices.values()
    ]
    return report.result(
        inputs.prices_inputs(look),
        files={"file": look.lab.prices_file},
        n_prices=len(rows),
        prices=report.table(rows, ("model", "input", "cached input", "output", "tiers", "bands", "as of")),
        **report.problems(f"{p.place}: {p.message}" for p in look.registry.problems if p.place.file.endswith("prices.yml")),
    )


@dg.asset(**GROUP)
def benchmark_registry(context: dg.AssetExecutionContext, scene: SceneResource) -> dg.MaterializeResult[Any]:
    """Benchmarks, their tasks and their part in runs (`data/benchmarks`, `state/tasks`, `state/runs`)."""
    look = scene.scene()
    register(context.instance, look.lab, look.registry)
    rows = []
    for benchmark in look.registry.benchmarks.values():
        plan = look.registry.plans.get(benchmark.id)
        excluded = sum(task.excluded is not None for task in benchmark.tasks.values())
        rows.append(
            {
                "benchmark": benchmark.id,
                "tasks": len(benchmark.tasks),
                "excluded": excluded,
                "runs": len(plan.shown()) if plan else 0,
                "default run": plan.default if plan else None,
            }
        )
    files = ("/benchmarks/", "/runs/", "/tasks/")
    return report.result(
        inputs.benchmarks_inputs(look),
        files={"folder": look.lab.benchmarks},
        n_benchmarks=len(rows),
        benchmarks=report.table(rows, ("benchmark", "tasks", "excluded", "runs", "default run")),
        **report.problems(f"{p.place}: {p.message}" for p in look.registry.problems if any(part in p.place.file for part in files)),
    )
