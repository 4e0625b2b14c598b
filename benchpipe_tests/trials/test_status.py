"""status.json: a watcher that was written for the single-sweep shape still works, and only default runs are in it."""

import json
from pathlib import Path

from benchpipe.files import write_json
from benchpipe.registry.records import Agent, Host, Place, Plan, Registry
from benchpipe.trials.status import status_json
from benchpipe.trials.store import run_file_json
from benchpipe_tests.trials.builders import NOW, bench_run, ended, host, job, readings, run_file, trial

HERE = Place("x.yml")


def agent(run: str, **facts) -> Agent:
    return Agent(id=run, place=HERE, label=f"Label of {run}", short=run, modes=("unlimited", "limited"), **facts)


def plan(benchmark: str, *runs: str, default: str | None = None, hidden: str | None = None) -> Plan:
    order = [default] * bool(default) + [run for run in runs if run != default]
    found = {run: bench_run(benchmark=benchmark, run=run, hidden=run == hidden) for run in order}
    return Plan(benchmark=benchmark, place=HERE, default=default, runs=found)


HOSTS = {name: Host(name=name, place=HERE, jobs="/jobs") for name in ("gpu1", "gpu2", "never")}
READINGS = readings(
    host(job(ended(), trial("b-open-drawer-i00__5555555", task_dir="b-open-drawer-i00", agent_active=True), alive=True)),
    host(name="gpu2", ok=False, error="no route"),
    host(name="unlisted"),
)
FILES = {
    ("b", "r"): run_file(READINGS),
    ("b", "s"): run_file(READINGS),
    ("c", "s"): run_file(READINGS),
    ("d", "r"): run_file(READINGS),
}


def status(*plans: Plan, agents: tuple[Agent, ...] = (agent("r"), agent("s", sweep="The sweep"))) -> dict:
    registry = Registry(agents={one.id: one for one in agents}, plans={one.benchmark: one for one in plans}, hosts=HOSTS)
    return status_json(registry, READINGS, lambda *key: FILES.get(key), NOW)


def old_watcher(path: Path) -> list[str]:
    """A watchdog as it was written when one sweep was tracked: it knows nothing of runs."""
    said = json.loads(path.read_text())
    lines = [f"{name} {state['ok']} {state['at']} {state['error']}" for name, state in said["hosts"].items()]
    for benchmark, one in said["benchmarks"].items():
        for task, modes in one["tasks"].items():
            for mode, record in modes.items():
                detail = (record.get("host"), record.get("trial"), record.get("reward"), record.get("exception"))
                lines.append(f"{benchmark} {task} {mode} {record['state']} {detail}")
    return lines


def test_a_watcher_written_for_the_old_shape_works(tmp_path) -> None:
    write_json(tmp_path / "status.json", status(plan("b", "r", "s")))
    assert old_watcher(tmp_path / "status.json") == [
        "gpu1 True 2026-11-30T11:59:59+00:00 None",
        "gpu2 False 2026-11-30T11:59:59+00:00 no route",
        "b open_drawer limited running ('gpu1', 'b-open-drawer-i00__5555555', None, None)",
        "b open_drawer unlimited queued (None, None, None, None)",
        "b pick_cube limited success ('gpu1', 'b-pick-cube-i00__aaaaaaa', {'reward': 1.0}, None)",
        "b pick_cube unlimited queued (None, None, None, None)",
    ]


def test_the_whole_shape() -> None:
    said = status(plan("b", "r", "s"))
    assert said.keys() == {"hosts", "benchmarks", "runs", "sweep", "generated_at"}
    assert said["benchmarks"]["b"].keys() == {"batch", "run", "tasks"}
    assert (said["benchmarks"]["b"]["batch"], said["benchmarks"]["b"]["run"]) == ("x-1001", "r")
    assert said["benchmarks"]["b"]["tasks"] == run_file_json(FILES["b", "r"])["tasks"]
    assert said["generated_at"] == NOW


def test_only_default_runs_that_have_data_are_in_it() -> None:
    said = status(plan("b", "r", "s", default="s"), plan("c", "r"), plan("d", "s", "r", default="s", hidden="s"))
    assert said["runs"] == {"b": "s", "d": "r"}
    assert said["benchmarks"].keys() == said["runs"].keys()


def test_adding_another_run_never_changes_what_a_watcher_sees() -> None:
    assert status(plan("b", "r")) == status(plan("b", "r", "s", default="r"))


def test_the_sweep_is_the_default_of_most_benchmarks() -> None:
    said = status(plan("b", "r"), plan("c", "s"), plan("d", "r"))
    assert said["sweep"] == {"name": "r", "agent": "Label of r", "modes": ["unlimited", "limited"], "run": "r"}
    assert status(plan("c", "s"))["sweep"]["name"] == "The sweep"
    assert status(plan("b", "r"), agents=())["sweep"] == {"name": "r", "agent": None, "modes": [], "run": "r"}


def test_an_empty_lab_has_the_keys_all_the_same() -> None:
    said = status()
    assert (said["benchmarks"], said["runs"], said["sweep"]["run"]) == ({}, {}, None)
