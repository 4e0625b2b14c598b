"""Log pages that could not be made whole: how often they are tried again."""

from benchpipe.lab import Lab
from benchpipe.transcripts.unfinished import MAX_TRIES, load, remember, waiting

SLOT = "tabletop/a-b-c/stack_blocks/unlimited"


def test_builds_for_the_sake_of_other_trials_use_up_no_try_of_one_whose_host_is_silent(lab: Lab) -> None:
    for _ in range(MAX_TRIES + 2):
        remember(lab, "tabletop", {SLOT: "gpu3"}, {"gpu3": "2026-11-30T09:00:00+00:00"})
    assert waiting(lab, "tabletop") == {SLOT: "gpu3"}
    assert load(lab, "tabletop")[SLOT].tries == 1


def test_each_answer_of_its_host_is_one_try_and_another_host_begins_anew(lab: Lab) -> None:
    for minute in range(MAX_TRIES):
        assert (minute == 0) == (waiting(lab, "tabletop") == {})
        remember(lab, "tabletop", {SLOT: "gpu3"}, {"gpu3": f"2026-11-30T09:{minute:02}:00+00:00"})
    assert waiting(lab, "tabletop") == {}
    remember(lab, "tabletop", {SLOT: "gpu1"}, {})
    assert waiting(lab, "tabletop") == {SLOT: "gpu1"}
    remember(lab, "tabletop", {}, {})
    assert load(lab, "tabletop") == {}
