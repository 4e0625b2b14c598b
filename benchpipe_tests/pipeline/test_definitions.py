"""The code location as Dagster sees it: the documented graph, word for word; what every asset says of itself; a light import."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from benchpipe.checks.rules import RULES
from benchpipe.definitions import defs
from benchpipe.lab import Lab
from benchpipe.pipeline.checks import CHECKS, GATE
from benchpipe.pipeline.schedules import SCHEDULES
from benchpipe.pipeline.sensors import SENSORS

GRAPH: dict[str, tuple[str, str | None, set[str]]] = {
    "agent_registry": ("registry", None, set()),
    "price_list": ("registry", None, set()),
    "benchmark_registry": ("registry", None, set()),
    "host_trials": ("hosts", "hosts", {"benchmark_registry"}),
    "run_scopes": ("runs", "benchmarks", {"agent_registry", "benchmark_registry"}),
    "run_states": ("runs", "benchmarks", {"run_scopes", "host_trials"}),
    "cost_estimates": ("runs", "benchmarks", {"run_states", "price_list", "agent_registry"}),
    "trial_logs": ("runs", "benchmarks", {"run_states"}),
    "status_json": ("runs", None, {"run_states"}),
    "site_pages": ("site", "benchmarks", {"run_states", "cost_estimates", "trial_logs"}),
    "site_overview": ("site", None, {"run_states", "cost_estimates", "site_pages"}),
    "published_snapshot": ("publish", "benchmarks", {"run_states", "cost_estimates", "trial_logs"}),
    "run_media": ("publish", "benchmarks", {"published_snapshot"}),
    "submissions": ("contributions", "datasets", {"benchmark_registry"}),
    "dataset_reports": ("contributions", "datasets", {"benchmark_registry"}),
    "submission_reports": ("contributions", "datasets", {"submissions", "dataset_reports"}),
    "result_rows": ("contributions", "datasets", {"submission_reports"}),
    "contribution_pages": ("contributions", "datasets", {"result_rows"}),
    "trajectory_downloads": ("contributions", "datasets", {"submissions"}),
    "trajectory_checks": ("contributions", "datasets", {"trajectory_downloads"}),
    "trajectory_replays": ("contributions", "datasets", {"trajectory_checks"}),
    "trajectory_mirrors": ("contributions", "datasets", {"trajectory_replays"}),
}
"""Asset → its group, its partition set, and what it reads."""

JOBS: dict[str, set[str]] = {
    "registry": {"agent_registry", "price_list", "benchmark_registry"},
    "poll_hosts": {"host_trials"},
    "collect": {"run_scopes", "run_states", "cost_estimates", "trial_logs", "site_pages", "status_json", "site_overview"},
    "sum_up": {"status_json", "site_overview"},
    "build_site": {"site_pages", "site_overview"},
    "publish": {"published_snapshot"},
    "contributions": {"submissions", "submission_reports", "result_rows", "contribution_pages", "dataset_reports"},
    "trajectories": {"trajectory_downloads", "trajectory_checks", "trajectory_replays", "trajectory_mirrors"},
    "check": set(),
    "clean_instance": set(),
}
"""Job → the assets that it materialises."""

HEAVY = ("pandas", "pyarrow", "paramiko", "huggingface_hub", "altair", "scipy", "hyperscan", "kingfisher", "vl_convert")


def test_the_graph_is_the_documented_one() -> None:
    graph: Any = defs.resolve_asset_graph()
    found = {}
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        partitions = node.partitions_def.name if node.partitions_def else None
        found[key.to_user_string()] = (node.group_name, partitions, {parent.to_user_string() for parent in node.parent_keys})
    assert found == GRAPH


def test_every_benchmark_depends_on_every_host_since_only_readings_tell_who_ran_what() -> None:
    (states,) = (one for one in defs.resolve_all_asset_specs() if one.key == dg.AssetKey("run_states"))
    (hosts,) = (dep for dep in states.deps if dep.asset_key == dg.AssetKey("host_trials"))
    assert isinstance(hosts.partition_mapping, dg.AllPartitionMapping)


def test_jobs_sensors_and_schedule_have_the_names_that_scripts_call() -> None:
    jobs = {job.name: job for job in defs.resolve_all_job_defs() if job.name != "__ASSET_JOB"}
    assert {name: {key.to_user_string() for key in job.asset_layer.selected_asset_keys} for name, job in jobs.items()} == JOBS
    sensors = {sensor.name: (sensor.minimum_interval_seconds, sensor.default_status) for sensor in SENSORS}
    assert sensors == {
        "host_poll_sensor": (180, dg.DefaultSensorStatus.STOPPED),
        "reconcile_sensor": (60, dg.DefaultSensorStatus.RUNNING),
    }
    assert [schedule.job_name for schedule in SCHEDULES] == ["clean_instance"]


def test_every_asset_says_what_it_is_who_answers_for_it_and_which_code_made_it() -> None:
    for spec in defs.resolve_all_asset_specs():
        name = spec.key.to_user_string()
        assert spec.description, name
        assert spec.owners, name
        assert spec.kinds, name
        assert spec.code_version, name
        assert spec.group_name != "default", name


def test_every_rule_is_a_check_of_its_asset() -> None:
    found = {key for check in CHECKS for key in check.check_keys}
    others = {
        ("published_snapshot", "guard_finds_nothing"),
        ("contribution_pages", "page_and_record_agree"),
        *(("submission_reports", f"gate_{name}") for name in GATE),
    }
    expected = {(rule.asset, rule.id.replace("-", "_")) for rule in RULES} | others
    assert {(key.asset_key.to_user_string(), key.name) for key in found} == expected


def test_the_code_location_loads() -> None:
    dg.Definitions.validate_loadable(defs)


def evaluations(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> dict[str, dg.AssetCheckEvaluation]:
    """Every check of the job `check`, run on a lab."""
    monkeypatch.setenv("BENCHPIPE_LAB", str(lab.root))
    with dg.DagsterInstance.ephemeral() as instance:
        result = defs.resolve_job_def("check").execute_in_process(instance=instance)
    return {one.check_name: one for one in result.get_asset_check_evaluations()}


def test_a_rule_that_is_broken_shows_its_finding_in_its_check(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = lab.agents / "nop-none-default.yml"
    lines = agent.read_text().splitlines()
    line = lines.index("billing: none")
    agent.write_text("\n".join([*lines[:line], "billing: perhaps", *lines[line + 1 :]]) + "\n")
    found = evaluations(lab, monkeypatch)
    assert len(found) == sum(len(set(check.check_keys)) for check in CHECKS)
    check = found["agent_billing"]
    assert (check.passed, check.severity, check.asset_key) == (False, dg.AssetCheckSeverity.ERROR, dg.AssetKey("agent_registry"))
    table = check.metadata["findings"]
    assert isinstance(table, dg.TableMetadataValue)
    assert [record.data["place"] for record in table.records] == [f"data/agents/nop-none-default.yml:{line + 1}"]
    assert f"nop-none-default.yml:{line + 1}" in str(check.description)
    assert all(one.passed for one in found.values() if one.asset_key == dg.AssetKey("price_list")), "one owner's slip"


IMPORT = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
import benchpipe.definitions
heavy = sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[2].split(",")))
inside = [path for path in opened if path.startswith(sys.argv[1])]
print(*heavy, *inside)
"""


def test_loading_the_code_location_reads_no_file_of_a_lab_loads_no_heavy_library_and_warns_of_nothing(lab: Lab) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT, str(lab.root), ",".join(HEAVY)],
        cwd=lab.root,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[2]), "BENCHPIPE_LAB": str(lab.root)},
        check=False,
    )
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("", "", 0)
