"""Genuine Harbor jobs, asked by the real probe: every trial is read as its list of expectations says."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec.structs import replace

from benchpipe import demo
from benchpipe.hosts.poll import poll_hosts
from benchpipe.hosts.reading import HostReading
from benchpipe.hosts.store import load_requests
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import BenchRun, Host, Place, Plan, Registry
from benchpipe.trials.assemble import assemble
from benchpipe.trials.collect import collect_states
from benchpipe.trials.records import Attempt, Record

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HERE = Place("x.yml")

GRADED = {True: "success", False: "failed"}
STATES: dict[str, str | Mapping[bool, str]] = {
    "graded": GRADED,
    "graded-with-exception": GRADED,
    "errored": "error",
    "not-graded": "error",
    "cancelled": "error",
    "unreadable": "stalled",
    "starting": "setup",
    "running": "running",
    "verifying": "grading",
    "no-sign-of-life": "stalled",
    "queued": "queued",
    "waiting-for-retry": "queued",
    "never-begun": "queued",
    "gone": "queued",
}
"""The word of expected.jsonl → our state; a graded trial's depends on its verdict."""

REASONS = {
    "not-graded": "grading was switched off",
    "cancelled": "it was cancelled (CancelledError)",
    "unreadable": "result.json is empty or cut",
    "no-sign-of-life": "there is no result and no live process",
    "waiting-for-retry": "is about to try it again",
    "never-begun": "planned it, and no live process",
    "gone": "planned it, but its directory is gone",
}
"""What tells words apart that share a state."""
KNOWN_FAULTS = ("result.json is empty", "result.json is not whole JSON", "verifier/reward.txt holds no number")
"""What the samples have wrong on purpose, in the probe's words."""


def benchmark_of(line: Mapping[str, str]) -> str:
    """One host and one benchmark for each folder of jobs: the same batch names lie in several."""
    return str(PurePosixPath(line["job"]).parent).replace("/", "_").replace(".", "_")


def batch_of(line: Mapping[str, str]) -> str:
    return line["batch"] or PurePosixPath(line["job"]).name


def job_of(line: Mapping[str, str]) -> str:
    """Jobs outside the runner's naming get the name of a SEQ=0 job."""
    name = PurePosixPath(line["job"]).name
    return name if line["batch"] else f"{name}-unlimited"


def task_of(line: Mapping[str, str]) -> str:
    return line["task"].removeprefix("tabletop-").removesuffix("-i00").replace("-", "_")


def bench_run(lines: list[dict[str, str]]) -> BenchRun:
    return BenchRun(
        benchmark=benchmark_of(lines[0]),
        run=batch_of(lines[0]),
        place=HERE,
        batch=batch_of(lines[0]),
        tasks=tuple(dict.fromkeys(task_of(line) for line in lines)),
        task_dir="tabletop-{task_dashed}-i00",
    )


def grouped(lines: list[dict[str, str]]) -> dict[tuple[str, str], list[dict[str, str]]]:
    groups = defaultdict(list)
    for line in lines:
        groups[benchmark_of(line), batch_of(line)].append(line)
    return dict(groups)


def asked(samples: Path, lab: Lab, groups: dict[tuple[str, str], list[dict[str, str]]]) -> dict[str, HostReading]:
    """Copies of all jobs on one local host per folder, polled; the runners of `live/` are alive, which files can't tell."""
    hosts, runs = {}, defaultdict(dict)
    for (benchmark, batch), lines in groups.items():
        for source, target in {line["job"]: job_of(line) for line in lines}.items():
            demo.copy_jobs(samples / source, lab.root / "jobs" / benchmark / target)
        hosts[benchmark] = Host(name=benchmark, place=HERE, jobs=f"jobs/{benchmark}", benchmarks=(benchmark,))
        runs[benchmark][batch] = bench_run(lines)
    plans = {benchmark: Plan(benchmark=benchmark, place=HERE, runs=own) for benchmark, own in runs.items()}
    readings = poll_hosts(lab, Registry(plans=plans, hosts=hosts), now=NOW).readings
    return {
        name: replace(one, jobs=tuple(replace(job, alive=name.startswith("live_")) for job in one.jobs))
        for name, one in readings.items()
    }


def test_every_line_of_the_expectations_comes_out_right(shared: Path, tmp_path: Path) -> None:
    samples, lab = shared / "samples" / "harbor-jobs", Lab(tmp_path)
    lines = [json.loads(line) for line in (samples / "expected.jsonl").read_text().splitlines()]
    groups = grouped(lines)
    readings = asked(samples, lab, groups)
    assert all(reading.ok for reading in readings.values()), [reading.error for reading in readings.values()]
    wrong = []
    for (benchmark, _), own in groups.items():
        made = assemble(
            bench_run(own), "L", {benchmark: readings[benchmark]}, None, lambda usage: load_requests(lab, usage.digest), "now",
            billing="api",
        )  # fmt: skip
        assert [said for said in made.problems if not said.endswith(KNOWN_FAULTS)] == []
        assert made.run_file is not None
        for line in own:
            record = made.run_file.tasks[task_of(line)][line["mode"] or "unlimited"]
            if said(record, line) != expected(line) or not told_apart(record, line):
                wrong.append((line["job"], line["trial"], expected(line), said(record, line)))
    assert not wrong, wrong
    assert len(lines) > 60


COUNTS = ("n_input_tokens", "n_cache_tokens", "n_output_tokens")


def expected(line: Mapping[str, Any]) -> dict[str, object]:
    """What the line wants to see, in our words."""
    state = STATES[line["state"]]
    return {
        "state": state if isinstance(state, str) else state[line["rewards"]["reward"] >= 1],
        "exception": line["exception"],
        "rewards": line["rewards"],
        "tokens": None if line["n_input_tokens"] is None else tuple(line[key] for key in COUNTS),
    }


def said(record: Record, line: Mapping[str, Any]) -> dict[str, object]:
    """The same of what was made of it. A line's tokens are Harbor's own; where those are null, a trajectory may know more."""
    one = shown(record, line)
    silent = line["n_input_tokens"] is None and one.tokens_source == "trajectory"
    tokens = None if one.tokens is None or silent else (one.tokens.input, one.tokens.cached, one.tokens.output)
    return {"state": one.state, "exception": one.exception, "rewards": one.reward, "tokens": tokens}


def shown(record: Record, line: Mapping[str, Any]) -> Record | Attempt:
    """The trial's attempt in the chain; a planned trial without a directory is the record's own affair."""
    if line["trial"] is None:
        return record
    return next(attempt for attempt in record.attempts if attempt.trial == line["trial"])


def told_apart(record: Record, line: Mapping[str, Any]) -> bool:
    """Whether the reason tells words apart that share a state, and a reward that doesn't count is said not to."""
    reason = shown(record, line).reason
    if line["state"] == "queued" and reason is not None:
        return False
    if line["trial"] == record.trial and line["rewards"] and (record.reward_counts is None) != line["reward_counts"]:
        return False
    return REASONS.get(line["state"], "") in (reason or "")


def test_layouts_and_releases_are_recognised(shared: Path, tmp_path: Path) -> None:
    samples, lab = shared / "samples" / "harbor-jobs", Lab(tmp_path)
    lines = [json.loads(line) for line in (samples / "expected.jsonl").read_text().splitlines()]
    jobs = {(name, job.job): job for name, one in asked(samples, lab, grouped(lines)).items() for job in one.jobs}
    for line in lines:
        job = jobs[benchmark_of(line), job_of(line)]
        assert job.harbor == (None if line["harbor"] == "0.1.45" else line["harbor"])
        assert (job.task_dir is None) == (line["layout"] != "SEQ=1")


SHIPPED = {
    "bench_literal-gpt6_luna-xhigh": {"success": 3, "failed": 11, "error": 4, "queued": 8},
    "bench_literal-gpt6_luna-xhigh-harbor024": {"success": 1, "failed": 4, "error": 1, "queued": 4},
    "oracle-none-default": {"success": 3},
    "nop-none-default": {"failed": 2},
}
"""States of shipped runs, counted by hand from the jobs' files."""


def test_the_shipped_lab_collects_into_the_states_that_its_files_show(lab: Lab) -> None:
    registry = load_registry(lab)
    readings = poll_hosts(lab, registry, now=NOW).readings
    done = collect_states(lab, registry, readings, "tabletop", NOW)
    bad = "gpu1: tabletop-lunaxh-1001-0900-unlimited/tabletop-bad-verdict-i00__5qWszPj"
    assert done.problems == [f"{bad}: verifier/reward.txt holds no number"]
    counts = {
        run: Counter(one.state for modes in file.tasks.values() for one in modes.values()) for run, file in done.run_files.items()
    }
    assert {run: counts[run] for run in SHIPPED} == SHIPPED
    trials = {path.name for path in (lab.root / "jobs").glob("*/*/*__*")}
    records = [one for file in done.run_files.values() for modes in file.tasks.values() for one in modes.values()]
    assert {attempt.trial for one in records for attempt in one.attempts} == trials


def test_a_damaged_run_file_is_said_and_written_anew(lab: Lab) -> None:
    registry = load_registry(lab)
    readings = poll_hosts(lab, registry, now=NOW).readings
    collect_states(lab, registry, readings, "tabletop", NOW)
    path = lab.run_file("tabletop", "oracle-none-default")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    again = collect_states(lab, registry, readings, "tabletop", NOW)
    assert [said.partition(": ")[0] for said in again.problems] == ["gpu1", "data/runs/tabletop/oracle-none-default.json"]
    assert (again.written, path.read_bytes()) == (["oracle-none-default"], whole)


def test_collecting_twice_writes_and_tells_nothing_new(lab: Lab) -> None:
    registry = load_registry(lab)
    readings = poll_hosts(lab, registry, now=NOW).readings
    first = collect_states(lab, registry, readings, "tabletop", NOW)
    told = lab.history_file("tabletop").read_bytes()
    again = collect_states(lab, registry, readings, "tabletop", NOW + timedelta(hours=1))
    assert (first.written, again.written, again.events) == (list(first.run_files), [], [])
    assert lab.history_file("tabletop").read_bytes() == told
