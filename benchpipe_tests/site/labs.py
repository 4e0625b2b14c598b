"""Labs with collected data made up from a seed: any number of runs and tasks, every view state, no host needed."""

import json
import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from benchpipe.files import write_json
from benchpipe.lab import Lab
from benchpipe.transcripts.build import Facts, build_log
from benchpipe.transcripts.records import LOG_FILE
from benchpipe.usage.costs import BenchmarkCosts, SlotCosts
from benchpipe.usage.records import Bill, Estimate
from benchpipe_tests.transcripts import made_logs as made

HARNESSES = ("codex", "claude_code", "terminus2", "opencode")
MODELS = ("gpt6_luna", "gpt6_sol", "claude_opus5_5", "gemini4_pro", "qwen5_coder")
EFFORTS = ("low", "medium", "high", "xhigh")
START = datetime(2026, 10, 1, 9, tzinfo=UTC)
STATES = ("success",) * 9 + ("failed",) * 7 + ("error", "running", "queued", "stalled", "grading", "setup")


def run_ids(n: int) -> list[str]:
    """`n` well-formed run ids; beyond the product of the fields they differ in their tag."""
    plain = [f"{h}-{m}-{e}" for m in MODELS for h in HARNESSES for e in EFFORTS]
    return [plain[i % len(plain)] + (f"-t{i // len(plain)}" if i >= len(plain) else "") for i in range(n)]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make_lab(
    root: Path, *, runs: int = 4, tasks: int = 12, modes: tuple[str, ...] = ("unlimited", "limited"), seed: int = 1
) -> Lab:
    """A lab with one benchmark `kitchen`, its registry files and a run file per run. The last task is excluded."""
    dice = random.Random(seed)
    ids, names = run_ids(runs), [f"task_{i:03}" for i in range(tasks)]
    write(root / "data/prices.yml", "".join(f"v/{m}: {{input: 0.5, cached_input: 0.05, output: 2.0, id: {m}}}\n" for m in MODELS))
    for run in ids:
        write(root / f"data/agents/{run}.yml", agent_file(run, modes))
    listed = "".join(
        f"- {{id: {name}, title: Put thing {i} into place {i % 7}, family: f{i % 4}}}\n" for i, name in enumerate(names)
    )
    write(root / "data/benchmarks/kitchen.yml", f"name: Kitchen\nsimulator: none\ntasks:\n{listed}")
    write(root / "state/tasks/kitchen.yml", f"{names[-1]}: {{excluded: its check is broken}}\n{names[0]}: {{difficulty: easy}}\n")
    write(root / "state/runs/kitchen.yml", plan_file(ids, names))
    lab = Lab(root.resolve())
    stored = {}
    for run in ids:
        stored[run] = {name: {mode: record(dice, run, name, mode) for mode in modes} for name in names}
        write_run_file(lab, run, stored[run])
    write_costs(lab, stored)
    write_history(lab, stored)
    (root / "contrib").mkdir(exist_ok=True)
    return lab


def agent_file(run: str, modes: tuple[str, ...]) -> str:
    harness, model, effort, *tag = run.split("-")
    lines = [
        f"label: {harness} with {model}, reasoning {effort}{' ' + tag[0] if tag else ''}",
        f"short: {harness} · {model} · {effort}{' ' + tag[0] if tag else ''} · login",
        f"harness_id: {harness}",
        f"model: v/{model}",
        f"settings: {{reasoning_effort: {effort}}}",
        "billing: openrouter",
        f"price: v/{model}",
        f"modes: [{', '.join(modes)}]",
        f"formerly: [{run}-old]",
        *([f"tag: {tag[0]}"] if tag else []),
    ]
    return "\n".join(lines) + "\n"


def plan_file(ids: list[str], names: list[str]) -> str:
    specs = "".join(f"  {run}:\n    batch: b{i}\n    tasks: [{', '.join(names)}]\n" for i, run in enumerate(ids))
    return f"default: {ids[0]}\nmetrics:\n- {{key: iou, label: IoU, format: '.3f'}}\nruns:\n{specs}"


def record(dice: random.Random, run: str, task: str, mode: str) -> dict[str, Any]:
    """One record as the collector stores it, every state possible."""
    state = dice.choice(STATES)
    if state == "queued":
        return {"state": "queued"}
    begun = START + timedelta(minutes=dice.randrange(40_000))
    wall = dice.randrange(120, 7200)
    done = state in ("success", "failed", "error")
    calls = dice.randrange(5, 300)
    tokens = {"input": calls * 40_000, "cached": calls * 36_000, "output": calls * 700, "reasoning": calls * 300}
    reward = (
        {"success": int(state == "success"), "final_reward": round(dice.random(), 3)} if state in ("success", "failed") else None
    )
    return {
        "state": state,
        "host": dice.choice(("gpu1", "gpu2")),
        "job": f"b-{mode}-{task}",
        "trial": f"kitchen-{task.replace('_', '-')}__{dice.randrange(16**6):06x}",
        "started": begun.isoformat(),
        "finished": (begun + timedelta(seconds=wall)).isoformat() if done else None,
        "agent_wall_s": wall if done else None,
        "calls": calls,
        "calls_failed": dice.choice((0, 0, 0, 2)),
        "tokens": tokens,
        "tokens_source": "gateway",
        "billed_usd": round(calls * 0.011, 4) if dice.random() < 0.7 else None,
        "billed_source": "gateway",
        "last_call": None,
        "exception": "AgentTimeoutError" if state == "error" else None,
        "reward": reward,
        "progress": reward["final_reward"] if reward else None,
        "metrics": {"iou": round(dice.random(), 3)} if reward else {},
        "regraded": False,
        "scan": 0,
        "logs": {},
    }


def write_run_file(lab: Lab, run: str, tasks: Mapping[str, Mapping[str, Any]], benchmark: str = "kitchen") -> None:
    said = {
        "v": 1,
        "benchmark": benchmark,
        "run": run,
        "label": run,
        "batches": ["b"],
        "hosts": {
            "gpu1": {"ok": True, "at": START.isoformat(), "error": None},
            "gpu2": {"ok": False, "at": None, "error": "no route to host"},
        },
        "tasks": tasks,
        "generated_at": (START + timedelta(days=30)).isoformat(),
    }
    write(lab.run_file(benchmark, run), json.dumps(said, indent=1, sort_keys=True) + "\n")


def write_costs(lab: Lab, runs: Mapping[str, Mapping[str, Mapping[str, Any]]], benchmark: str = "kitchen") -> None:
    """`costs.json` as `cost_estimates` writes it, at made-up prices; the last run has none."""
    last = list(runs)[-1]
    costs = {
        run: {
            task: {mode: _slot(said, priced=run != last) for mode, said in modes.items() if said["state"] != "queued"}
            for task, modes in tasks.items()
        }
        for run, tasks in runs.items()
    }
    write_json(lab.costs_file(benchmark), msgspec.to_builtins(BenchmarkCosts(benchmark=benchmark, runs=costs)))


def _slot(said: Mapping[str, Any], *, priced: bool) -> SlotCosts:
    calls = said["calls"]
    usd = Decimal(calls) * Decimal("0.0071") if priced else None
    billed = said["billed_usd"]
    return SlotCosts(
        estimate=Estimate(usd=usd, n_priced=calls if priced else 0, n_requests=calls, price="v/model", as_of="2026-09-25"),
        bill=Bill(usd=None if billed is None else Decimal(str(billed)), source="gateway", coverage="complete"),
        trial=said["trial"],
        files=("agent/gateway.jsonl",),
    )


def write_history(lab: Lab, runs: Mapping[str, Mapping[str, Mapping[str, Any]]], benchmark: str = "kitchen") -> None:
    """`history.jsonl`: every finished trial took its state when it finished."""
    events = [
        {
            "at": said["finished"],
            "run": run,
            "task": task,
            "mode": mode,
            "from": "running",
            "to": said["state"],
            "trial": said["trial"],
        }
        for run, tasks in runs.items()
        for task, modes in tasks.items()
        for mode, said in modes.items()
        if said.get("finished")
    ]
    lines = [json.dumps(event, sort_keys=True) + "\n" for event in sorted(events, key=lambda event: (event["at"], event["trial"]))]
    write(lab.history_file(benchmark), "".join(lines))


def write_logs(lab: Lab, *, steps: int, benchmark: str = "kitchen") -> int:
    """The data of a log page for every trial that has begun: one genuine kind of transcript of `steps` steps. How many."""
    trial, slot = lab.root / "made/trial", lab.root / "made/slot"
    made.write_lines(trial / "agent/gateway.jsonl", made.gateway_lines(steps // 2, output_chars=500))
    facts = Facts(benchmark=benchmark, run="run", task="task", mode="unlimited", state="success", trial="trial")
    build_log(trial, facts, made.requests_of(trial), slot=slot, now="2026-11-30T00:00:00+00:00")
    data, n = (slot / LOG_FILE).read_bytes(), 0
    for run in lab.run_folder(benchmark).glob("*-*.json"):
        for task, modes in json.loads(run.read_text())["tasks"].items():
            for mode, said in modes.items():
                if said.get("trial"):
                    folder = lab.slot_folder(benchmark, run.stem, task, mode)
                    folder.mkdir(parents=True)
                    (folder / LOG_FILE).write_bytes(data)
                    n += 1
    return n
