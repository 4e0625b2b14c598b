"""Run files of the original, read in place: they load, and their views equal counts made by hand."""

import json
from collections import Counter
from pathlib import Path

import pytest

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.trials.store import parse_run_file, run_file_json
from benchpipe.trials.view import View, view

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
