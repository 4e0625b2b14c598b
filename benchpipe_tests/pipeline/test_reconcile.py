"""What is due, and whether to try again: the incidents that a level-triggered comparison must survive."""

from collections.abc import Callable

import dagster as dg
import pytest

from benchpipe.pipeline.partitions import changes
from benchpipe.pipeline.reconcile import MAX_TRIES, Due, built_from, may_start

FAILURE, SUCCESS, STARTED = dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.STARTED
Runs = Callable[..., dg.DagsterRun]


def due(inputs: str = "a", partition: str | None = "tabletop", job: str = "collect") -> Due:
    return Due(job, partition, ("run_states",), inputs)


def test_a_partition_that_is_being_built_is_not_built_twice(instance: dg.DagsterInstance, run_of: Runs) -> None:
    run_of("collect", "tabletop", "b", STARTED)
    assert not may_start(instance, due())
    assert may_start(instance, due(partition="other"))


def test_a_run_of_another_job_on_the_same_partition_counts_as_under_way(instance: dg.DagsterInstance, run_of: Runs) -> None:
    run_of("publish", "tabletop", "b", STARTED)
    assert not may_start(instance, due())


def test_unpartitioned_work_is_not_started_twice_and_waits_for_nobody_else(instance: dg.DagsterInstance, run_of: Runs) -> None:
    run_of("sum_up", None, "z", STARTED)
    assert not may_start(instance, due(partition=None, job="sum_up"))
    assert may_start(instance, due(partition=None, job="registry"))


def test_a_failing_partition_is_tried_three_times_and_then_left(instance: dg.DagsterInstance, run_of: Runs) -> None:
    for _ in range(MAX_TRIES - 1):
        run_of("collect", "tabletop", "a", FAILURE)
    assert may_start(instance, due())
    run_of("collect", "tabletop", "a", FAILURE)
    assert not may_start(instance, due())
    assert may_start(instance, due("b")), "new inputs deserve a new try"


def test_inputs_that_return_to_an_earlier_state_are_built_again(instance: dg.DagsterInstance, run_of: Runs) -> None:
    for inputs, status in (("a", FAILURE), ("a", FAILURE), ("a", FAILURE), ("b", SUCCESS)):
        run_of("collect", "tabletop", inputs, status)
    assert may_start(instance, due("a"))


def test_a_lost_run_is_asked_for_again(instance: dg.DagsterInstance, run_of: Runs) -> None:
    run = run_of("collect", "tabletop", "a", STARTED)
    instance.delete_run(run.run_id)
    assert may_start(instance, due())


def test_what_was_built_is_read_from_the_newest_materialisation(instance: dg.DagsterInstance) -> None:
    key = dg.AssetKey("run_states")
    assert built_from(instance, "run_states", "tabletop") is None
    for inputs in ("old", "new"):
        event = dg.AssetMaterialization(key, partition="tabletop", metadata={"inputs": inputs})
        instance.report_runless_asset_event(event)
    assert built_from(instance, "run_states", "tabletop") == "new"
    assert built_from(instance, "run_states", "other") is None


@pytest.mark.parametrize(
    ("wanted", "present", "busy", "readable", "add", "delete"),
    [
        ({"a", "b"}, {"a"}, set(), True, {"b"}, set()),
        ({"a"}, {"a", "b"}, set(), True, set(), {"b"}),
        ({"a"}, {"a", "b"}, {"b"}, True, set(), set()),
        (set(), {"a", "b"}, set(), False, set(), set()),
    ],
    ids=["new file", "removed file", "a run works on it", "unreadable folder"],
)
def test_partition_keys_follow_the_files(
    wanted: set[str], present: set[str], busy: set[str], readable: bool, add: set[str], delete: set[str]
) -> None:
    assert changes(wanted, present, busy, readable=readable) == (add, delete)
