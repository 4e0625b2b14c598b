"""Totals, rates and families (runs-system 9.4, 9.5; C6, C7), by hand and on the original's published run files."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest
from scipy.stats import binomtest

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Metric, Task
from benchpipe.trials.records import COLLECTED_STATES as STORED
from benchpipe.trials.records import VIEW_STATES, Record
from benchpipe.trials.store import parse_run_file
from benchpipe.usage.compare import frontier, mcnemar, paired
from benchpipe.usage.estimates import estimate, estimate_harbor
from benchpipe.usage.records import Bill, Estimate, Request, Tokens
from benchpipe.usage.requests import failed, tokens_of
from benchpipe.usage.totals import family_totals, metric_total, totals, wilson

D = Decimal
NO_ESTIMATE, NO_BILL = Estimate(), Bill()


@dataclass
class Trial:
    state: str
    mode: str = "limited"
    task: str = "pick_cube"
    record: Record = field(default_factory=lambda: Record(state="queued"))
    estimate: Estimate = NO_ESTIMATE
    bill: Bill = NO_BILL


def trial(state: str, mode: str = "limited", task: str = "pick_cube", **record: object) -> Trial:
    return Trial(state, mode, task, Record(state=state, **record))


def test_the_worked_example_of_two_trials() -> None:
    a, b = trial("success"), trial("failed")
    a.estimate, b.estimate = Estimate(usd=D("0.04570768")), Estimate(usd=D("4.13697475"))
    b.bill = Bill(usd=D("3.90"), coverage="complete")
    found = totals([a, b])
    assert (found.est, found.est_n, found.billed, found.billed_n, found.trials) == (D("4.18268243"), 2, D("3.90"), 1, 2)


def test_the_census_adds_up_whatever_the_states() -> None:
    states = [*STORED, *VIEW_STATES]
    for seed in range(50):
        picked = random.Random(seed).choices(states, k=40)
        found = totals(trial(state) for state in picked)
        assert sum(n for _, n in found.census()) == found.expected == 40
        assert sum(found.states.values()) == 40
    every = totals(trial(state) for state in states)
    assert dict(every.census()) == {
        "success": 1, "failed": 1, "error": 1, "active": 3, "stalled": 1, "queued": 1, "not run": 1, "left out": 3, "no data": 1,
    }  # fmt: skip
    assert every.trials == 7  # success, failed, error, three active, stalled


def test_what_is_left_out_is_in_no_sum() -> None:
    for state in ("stopped", "uncounted", "withdrawn", "nodata"):
        one = trial(state, progress=0.5, agent_wall_s=60, calls=5, tokens=Tokens(input=10), followup="x", stale=True, rerun=True)
        one.estimate, one.bill = Estimate(usd=D(1)), Bill(usd=D(1))
        found = totals([one])
        assert (found.trials, found.done, found.progress_n, found.agent_s, found.calls, found.input, found.est, found.billed) == (
            0, 0, 0, 0, 0, 0, 0, 0,
        )  # fmt: skip
        assert (found.followups, found.stale, found.reruns, found.rate) == (0, 0, 0, None)


def test_a_success_counts_whole_and_no_progress_counts_nothing() -> None:
    with_value = [trial("success", progress=0.2), trial("failed", progress=0.25)]
    without = [trial("success"), trial("error"), trial("running", progress=1.0)]
    found = totals([*with_value, *without])
    assert (found.progress_sum, found.progress_n) == (1.25, 2)


def test_sums_of_time_calls_and_tokens() -> None:
    found = totals(
        [
            trial("success", agent_wall_s=100, calls=3, tokens=Tokens(input=10, cached=4, output=2)),
            trial("error", calls=None, calls_without_usage=2, tokens=Tokens(output=9)),
            trial("running", agent_wall_s=7, started="2026-10-01T09:59:00+00:00"),
            trial("setup", started="2026-10-01T10:01:00+00:00"),
            trial("queued", rerun=True),
        ]
    )
    assert (found.agent_s, found.agent_n, found.calls, found.calls_without_usage) == (100, 1, 3, 2)
    assert (found.input, found.cached, found.output, found.reasoning, found.tokens_n) == (10, 4, 2, 0, 1)
    assert (found.trials, found.reruns) == (4, 1)


def test_each_mode_has_its_own_totals_and_order_does_not_matter() -> None:
    trials = [trial("success", "limited"), trial("failed", "unlimited"), trial("success", "unlimited"), trial("error", "limited")]
    found = totals(trials)
    assert {mode: (of.success, of.done) for mode, of in found.modes.items()} == {"limited": (1, 2), "unlimited": (1, 2)}
    assert totals(reversed(trials)) == found


def test_a_rate_names_its_denominator_and_has_wilsons_interval() -> None:
    # Wilson's interval of 8 in 10, as in textbooks: 49.02 % to 94.33 %
    rate = wilson(8, 10)
    assert rate is not None
    assert (rate.k, rate.n, rate.share) == (8, 10, 0.8)
    assert (round(rate.low, 4), round(rate.high, 4)) == (0.4902, 0.9433)
    assert wilson(0, 0) is None
    assert wilson(0, 5).low == 0.0


def test_metrics_are_means_or_medians_of_done_trials_that_have_them() -> None:
    values = [1.0, 2.0, 10.0, 100.0]
    trials = [trial("failed", metrics={"iou": v}) for v in values]
    trials += [trial("success"), trial("running", metrics={"iou": 9.0})]
    assert metric_total(trials, Metric(key="iou", label="IoU")).value == 28.25
    median = metric_total(trials, Metric(key="iou", label="IoU", summary="median"))
    assert (median.value, median.n) == (6.0, 4)
    assert metric_total(trials, Metric(key="f1", label="F1")).value is None


def test_families_keep_the_raw_value_and_put_excluded_ones_last() -> None:
    def task(name: str, family: str | None, excluded: str | None = None) -> Task:
        return Task(id=name, title=name, family=family, excluded=excluded, continuous_score=f"score of {family}")

    tasks: Mapping[str, Task] = {
        "a": task("a", "zebra"), "b": task("b", "apple"), "c": task("c", None), "d": task("d", "aaa", "broken"),
    }  # fmt: skip
    trials = [
        trial("success", task="a", metrics={"f1": 0.5}), trial("failed", task="a", metrics={"f1": 0.25}),
        trial("failed", task="b"), trial("queued", task="c"), trial("success", task="d"), trial("success", task="unknown"),
    ]  # fmt: skip
    found = family_totals(trials, tasks, "f1", order=("zebra",))
    assert [family.family for family in found] == ["zebra", "apple", "other", "aaa"]
    limited = found[0].modes["limited"]
    assert (limited.done, limited.success, limited.mean, limited.n) == (2, 1, 0.375, 2)
    assert found[1].modes["limited"].mean is None
    assert found[0].scores == ("score of zebra",)


def test_comparisons_are_paired_by_task_and_exact() -> None:
    a = {"t1": True, "t2": True, "t3": True, "t4": False, "only_a": True}
    b = {"t1": True, "t2": False, "t3": False, "t4": True, "only_b": True}
    found = paired(a, b)
    assert (found.both, found.only_a, found.only_b, found.neither, found.n) == (1, 2, 1, 0, 4)
    # two against one: 2 × (1 + 3) / 2³ = 1
    assert found.p == 1.0
    # six against none: 2 × 1 / 2⁶
    assert mcnemar(6, 0) == pytest.approx(0.03125)
    assert mcnemar(0, 0) is None
    assert mcnemar(3, 9) == pytest.approx(binomtest(3, 12).pvalue)


def test_the_frontier_is_what_nobody_beats() -> None:
    points = [(D(1), 0.5), (D(2), 0.5), (D(2), 0.9), (D(5), 0.9), (D(9), 1.0), (D(1), 0.5)]
    assert frontier(points) == (0, 2, 4, 5)


PUBLISHED = {
    # added up by a few lines of plain Python over the JSON, prices by the formula of 9.1:
    # input, cached, output, estimate, trials, progress sum of n, requests, agent seconds
    ("behavior-1k", "codex-gpt6_luna-xhigh"): (536092071, 528957039, 2650025, "7.32808609", 8, 3.75, 8, 4256, 100145),
    ("humanoidbench", "claude_code-claude_opus5_5-medium"): (26555016, 25971507, 307434, "24.31853475", 10, 0, 0, 0, 8342),
    ("mujoco-playground", "codex-gpt6_luna-xhigh"): (84260214, 82291584, 827913, "1.43373534", 8, 0, 0, 0, 19701),
    ("robolab", "codex-gpt6_luna-xhigh"): (134006513, 130684416, 816134, "2.04712086", 10, 3.0, 3, 1326, 30634),
    ("robopaint", "codex-gpt6_luna-xhigh"): (78860037, 77206400, 720365, "1.29761020", 6, 3.870556, 6, 676, 25498),
}


@pytest.mark.parametrize(("benchmark", "run"), PUBLISHED)
def test_sums_of_the_published_run_files(shared: Path, benchmark: str, run: str) -> None:
    lab = Lab(shared / "samples" / "eai")
    price = load_registry(lab).price_of(run)
    path = lab.published / benchmark / f"{run}.json"
    run_file = parse_run_file(path.read_bytes(), benchmark, run, path.name)
    trials = [
        Trial(record.state, mode, task, record, estimate_harbor(record.tokens, price, None))
        for task, modes in run_file.tasks.items()
        for mode, record in modes.items()
    ]
    t = totals(trials)
    found = (t.input, t.cached, t.output, str(t.est), t.est_n, round(t.progress_sum, 6), t.progress_n, t.calls, t.agent_s)
    assert found == PUBLISHED[benchmark, run]


def test_requests_of_a_published_log_add_up_to_its_totals(shared: Path) -> None:
    lab = Lab(shared / "samples" / "eai")
    prices = load_registry(lab).prices
    whole = 0
    for path in sorted(lab.published.glob("*/*/*/*.json")):
        log = json.loads(path.read_bytes())
        said = log["totals"]
        if len(log["calls"]) != said["calls"]:
            continue  # cut for the sample
        whole += 1
        rows = [
            Request(t, end - t, status, None, tin, cached, None, out, reasoning, None, "x", None, "agent/gateway.jsonl", n)
            for n, (t, end, status, tin, cached, out, reasoning) in enumerate(log["calls"])
        ]
        tokens = tokens_of(rows)
        assert (tokens.input, tokens.cached, tokens.output, tokens.reasoning or 0) == (
            said["input"], said["cached"], said["output"], said["reasoning"],
        )  # fmt: skip
        assert failed(rows) == said["failed"]
        price = prices["anthropic/claude-opus-5.5" if "claude" in log["run"] else "openai/gpt-6-luna"]
        assert estimate(rows, price).usd == estimate_harbor(tokens, price, None).usd
    assert whole == 2
