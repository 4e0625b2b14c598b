"""What a host says is checked item by item before anything is made of it."""

import json
from typing import Any

import pytest

from benchpipe.hosts.answers import new_trials, read_answer

GOOD: list[Any] = [1790000000.5, 1.0, 200, "r", 10, 4, None, 5, 2, "0.25", "openai-chat", "m", "agent/gateway.jsonl", 0]


def rows_of(*rows: list[Any]) -> tuple[int, tuple[str, ...]]:
    """How many of these rows are taken over, and the problems."""
    trial = {"job": "j", "trial": "t__1", "fingerprint": "f", "requests": {"source": "gateway", "rows": rows}}
    text = json.dumps({"v": 1, "now": 2.0, "started": 1.0, "changed": ["1"], "trials": [trial]})
    (found,) = new_trials(read_answer(text.encode()))
    return len(found.requests), found.problems


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, 1e300), (0, -1), (4, 10**30), (4, -5), (8, 1 << 60), (9, "NaN"), (9, "-0.5"), (9, "1e20"), (13, -1), (2, "200")],
)
def test_a_row_with_an_impossible_number_is_left_out_and_named(place: int, value: object) -> None:
    wrong = [*GOOD[:place], value, *GOOD[place + 1 :]]
    assert rows_of(GOOD, wrong, GOOD) == (2, ("1 requests have a wrong form",))


def test_rows_as_the_probe_sends_them_are_all_taken_over() -> None:
    assert rows_of(GOOD, [None] * 12 + ["agent/gateway.jsonl", 7]) == (2, ())
