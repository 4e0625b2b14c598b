"""The files of a running registry load: `../shared/samples/eai`, read in place."""

from decimal import Decimal
from pathlib import Path

import pytest

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import PerFamily, Registry


@pytest.fixture
def eai(shared: Path) -> Registry:
    return load_registry(Lab(shared / "samples" / "eai"))


def test_everything_loads_and_only_what_the_sample_cut_is_missed(eai: Registry) -> None:
    assert {problem.rule for problem in eai.problems} == {"plan-benchmark", "task-unlisted"}
    assert {problem.place.file for problem in eai.problems if problem.rule == "plan-benchmark"} == {
        "state/runs/behavior-1k.yml",
        "state/runs/robowits.yml",
    }
    assert (len(eai.agents), len(eai.prices), len(eai.plans)) == (6, 4, 5)
    assert eai.aliases == {"codex-0.157-gpt6luna-xhigh-cgpt": "codex-gpt6_luna-xhigh"}


def test_prices_are_those_that_were_written(eai: Registry) -> None:
    rates = eai.prices["anthropic/claude-opus-5.5"].rates
    assert (rates.input, rates.cached_input, rates.output) == (Decimal("6.25"), Decimal("0.50"), Decimal("25.00"))
    price = eai.price_of("codex-gpt6_luna-xhigh")
    assert price is not None
    assert (price.id, price.rates.input) == ("gpt6_luna", Decimal("0.10"))


def test_curation_of_robolab(eai: Registry) -> None:
    run = eai.plans["robolab"].runs["codex-gpt6_luna-xhigh"]
    assert (len(run.tasks), len(run.removed), len(run.stopped), len(run.followups)) == (88, 32, 5, 1)
    assert run.withdrawn["limited"].label == "rerun pending (2.0 wrist-camera pose bug)"
    assert run.withdrawn["limited"].note
    assert run.task_directory("clean_up_toys") == "robolab-clean-up-toys-i00"
    assert "block_stacking_order_agnostic" in eai.benchmarks["robolab"].tasks


def test_metrics_anchors_and_batches_of_robopaint(eai: Registry) -> None:
    run = eai.plans["robopaint"].runs["codex-gpt6_luna-xhigh"]
    assert [metric.key for metric in run.metrics][:2] == ["final_reward", "iou"]
    assert (run.metrics[5].better, run.metrics[5].summary, run.metrics[5].unit) == ("lower", "median", "mm")
    assert run.per_family == PerFamily("final_reward", "final reward")
    assert len(run.batches) == 6
    assert run.followups[2].note == run.followups[3].note
    assert any(task.excluded for task in eai.benchmarks["robopaint"].tasks.values())
    assert eai.benchmarks["robopaint"].tasks["acrylic_bedroom"].continuous_score == "1 - mean ΔE / 20"


def test_reruns_of_behavior_1k_and_exclusions_of_robowits(eai: Registry) -> None:
    run = eai.plans["behavior-1k"].runs["codex-gpt6_luna-xhigh"]
    assert (run.rerun_all, len(run.batches), run.progress) == (True, 3, "q_score")
    assert len(eai.plans["robowits"].runs["codex-gpt6_luna-xhigh"].not_counted) > 0
