"""Run files of the original, read in place: they load, and their views equal counts made by hand."""

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.trials.records import Record
from benchpipe.trials.store import parse_run_file, run_file_json
from benchpipe.trials.view import View, view
from benchpipe.usage.records import Bill, Estimate
from benchpipe.usage.totals import totals

RUN = "codex-gpt6_luna-xhigh"
BY_HAND = {
    # benchmark: (mode, state) → trials; what isn't in the published file waits
    "mujoco-playground": {("unlimited", "success"): 3, ("unlimited", "failed"): 1, ("limited", "failed"): 4},
    "robopaint": {("unlimited", "success"): 1, ("unlimited", "failed"): 2, ("limited", "failed"): 3},
    "behavior-1k": {
        ("unlimited", "success"): 2, ("unlimited", "failed"): 2, ("limited", "success"): 1, ("limited", "failed"): 3,
    },
    "robolab": {("unlimited", "success"): 3, ("unlimited", "failed"): 2},
}  # fmt: skip


def seen(shared: Path, benchmark: str) -> View:
    lab = Lab(shared / "samples" / "eai")
    registry = load_registry(lab)
    path = lab.published / benchmark / f"{RUN}.json"
    problems: list[str] = []
    run_file = parse_run_file(path.read_bytes(), benchmark, RUN, path.name, problems)
    assert run_file is not None
    assert problems == []
    return view(registry.plans[benchmark].runs[RUN], run_file, registry.benchmarks[benchmark].tasks)


@pytest.mark.parametrize("benchmark", BY_HAND)
def test_a_published_run_file_gives_the_states_counted_by_hand(shared: Path, benchmark: str) -> None:
    counted = Counter((one.mode, one.state) for one in seen(shared, benchmark).records("all") if one.counts)
    assert counted == BY_HAND[benchmark]
    done = sum(one.done for one in seen(shared, benchmark).records("all"))
    assert done == sum(BY_HAND[benchmark].values())


def test_every_field_of_a_published_record_survives_reading_and_writing(shared: Path) -> None:
    for path in sorted((shared / "samples" / "eai" / "data" / "published_runs").glob("*/*.json")):
        said = json.loads(path.read_bytes())
        run_file = parse_run_file(path.read_bytes(), said["benchmark"], said["run"], path.name)
        assert run_file is not None
        again = run_file_json(run_file)
        for task, modes in said["tasks"].items():
            for mode, record in modes.items():
                written = again["tasks"][task][mode]
                earlier, earlier_written = record.pop("supersedes", {}), written.get("supersedes", {})
                assert record.items() <= written.items()
                assert earlier.items() <= earlier_written.items()


def test_robolabs_withdrawn_mode_counts_nowhere_and_keeps_what_it_was(shared: Path) -> None:
    limited = [one for one in seen(shared, "robolab").records("all") if one.mode == "limited"]
    assert {one.state for one in limited} == {"withdrawn"}
    assert Counter(one.state_was for one in limited if one.state_was in ("success", "failed")) == {"success": 2, "failed": 3}
    assert not any(one.counts for one in limited)


def test_mujocos_verifier_time_outs_carry_their_notes(shared: Path) -> None:
    noted = [one for one in seen(shared, "mujoco-playground").records("all") if one.note]
    assert [(one.state, one.record.exception) for one in noted] == [("success", "VerifierTimeoutError")] * 2


def test_robopaints_replaced_grader_error_is_told_with_its_follow_up(shared: Path) -> None:
    told = [one for one in seen(shared, "robopaint").records("all") if one.supersedes_followup]
    assert [(one.task, one.mode) for one in told] == [("acrylic_suddenshower", "limited")]
    assert told[0].record.supersedes is not None
    assert told[0].record.supersedes.state == "error"


def test_every_superseded_attempt_of_behavior_has_a_page_of_its_own(shared: Path) -> None:
    slots = [page.slot for one in seen(shared, "behavior-1k").records("all") for page in one.pages]
    assert Counter(slots) == {"limited": 4, "limited-prev": 4, "unlimited": 4, "unlimited-prev": 4}


TOTALS = {
    # benchmark: (n, done, success, tokens in, tokens out, requests, agent seconds, sum of progress, trials that have one)
    "mujoco-playground": (8, 8, 3, 84_260_214, 827_913, 0, 19_701, 0.0, 0),
    "robopaint": (6, 6, 1, 78_860_037, 720_365, 676, 25_498, 3.870556, 6),
    "behavior-1k": (8, 8, 3, 536_092_071, 2_650_025, 4_256, 100_145, 3.75, 8),
    "robolab": (5, 5, 3, 63_577_708, 345_151, 626, 15_676, 3.0, 3),
}
"""Added up by hand from the published records; robolab's withdrawn mode is in no number."""


class Shown(NamedTuple):
    """A view record as totals want it, without money."""

    task: str
    mode: str
    state: str
    record: Record
    estimate: Estimate = Estimate()
    bill: Bill = Bill()


@pytest.mark.parametrize("benchmark", TOTALS)
def test_totals_over_a_published_run_file_equal_sums_made_by_hand(shared: Path, benchmark: str) -> None:
    shown = [Shown(one.task, one.mode, one.state, one.record) for one in seen(shared, benchmark).records("all")]
    t = totals(shown)
    got = (t.trials, t.done, t.success, t.input, t.output, t.calls, t.agent_s, round(t.progress_sum, 6), t.progress_n)
    assert got == TOTALS[benchmark]
