"""Collected data for the tests of publishing: run files and log pages of the shipped benchmark, in the collector's own form."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchpipe.files import write_bytes, write_json
from benchpipe.lab import Lab
from benchpipe.transcripts.records import Log, Media, Snapshot, Step, log_bytes
from benchpipe.trials.records import Attempt, Record, RunFile
from benchpipe.trials.store import write_run_file
from benchpipe.usage.records import Tokens

BENCHMARK = "tabletop"
RUN = "bench_literal-gpt6_luna-xhigh"
OTHER_RUN = "oracle-none-default"
TASKS = ("stack_blocks", "open_drawer", "pour_water")


def record(trial: str, *, state: str = "success", **fields: Any) -> Record:
    """A finished record with everything a collector stores, hosts and jobs included."""
    return Record(
        state=state, host="gpu1", job="tabletop-lunaxh-1001-0900-limited", trial=trial, started="2026-10-01T09:00:00+00:00",
        finished="2026-10-01T09:30:00.123456Z", agent_wall_s=1800, calls=3, calls_failed=0,
        tokens=Tokens(input=1000, cached=400, output=50, reasoning=10), tokens_source="gateway", reward={"success": 1.0},
        progress=1.0, scan=0, logs={"codex": 10}, stale=True, stale_reason="gpu1 is down", reason="because of gpu1",
        attempts=(
            Attempt(job="j0", host="gpu1", trial=f"{trial}-old", state="failed", batch="b", tokens=Tokens(input=7)),
            Attempt(job="j1", host="gpu1", trial=trial, state=state, batch="b", counts=True),
        ), **fields,
    )  # fmt: skip


def log(task: str, mode: str, trial: str, run: str = RUN, **fields: Any) -> Log:
    """A trial log with its machine's name, path and checks in it, media and a step."""
    steps = fields.pop(
        "steps",
        [
            Step(k="say", t=1.0, text=f"I open the drawer for {trial}"),
            Step(k="run", t=2.0, tool="exec", cmd="ls", out="a\nb", img=["img/001.png"]),
        ],
    )
    return Log(
        benchmark=BENCHMARK, run=run, task=task, mode=mode, state="success", trial=trial, host="gpu1", job="the-job",
        where="gpu1:/data/somebody/jobs/x", scan=0, built="2026-10-01T10:00:00+00:00", start=1790616238.7, span=3.0,
        calls=[[0.0, 5.3, 200, 23862, 19192, 114, None, 5, "0.25"]], steps=steps,
        media=Media(video="replay.mp4", last="replay.png"), snapshots=[Snapshot(src="snap/00.png", name="a.png", t=1.0)], **fields,
    )  # fmt: skip


def collect(
    lab: Lab,
    *,
    run: str = RUN,
    records: Mapping[str, Mapping[str, Record]] | None = None,
    logs: Mapping[tuple[str, str], Log] | None = None,
    generated_at: str = "2026-10-01T10:00:00+00:00",
) -> None:
    """Write a run file and its logs, as a collection would: three tasks in two modes where nothing else is said."""
    if records is None:
        records = {task: {mode: record(f"{task}-{mode}__a") for mode in ("unlimited", "limited")} for task in TASKS}
    if logs is None:
        logs = {
            (task, mode): log(task, mode, one.trial or "", run) for task, modes in records.items() for mode, one in modes.items()
        }
    write_run_file(
        lab,
        RunFile(
            benchmark=BENCHMARK, run=run, label="a label", batches=("b",), hosts={"gpu1": {"ok": True, "at": None, "error": None}},
            tasks=records, generated_at=generated_at,
        ),
    )  # fmt: skip
    for (task, slot), one in logs.items():
        folder = lab.slot_folder(BENCHMARK, run, task, slot)
        write_bytes(folder / "log.json", log_bytes(one))


def write_costs(lab: Lab, run: str = RUN) -> None:
    """A costs file that prices one trial."""
    estimate = {"usd": "0.0123", "n_priced": 3, "n_requests": 3, "price": "openai/gpt-6-luna", "as_of": "2026-09-24", "flat": False}
    write_json(
        lab.costs_file(BENCHMARK),
        {"v": 1, "benchmark": BENCHMARK, "runs": {run: {"pour_water": {"limited": {"estimate": estimate}}}}},
    )


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below `root`: name → bytes and modification time in nanoseconds."""
    return {
        file.relative_to(root).as_posix(): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }
