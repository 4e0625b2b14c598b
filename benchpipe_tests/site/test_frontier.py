"""Cost against score: who is on the frontier, and that the drawing holds nothing but a drawing."""

import random
import re
from decimal import Decimal

from benchpipe.site.frontier import Candidate, chart, cost_per_trial, on_frontier
from benchpipe.usage.totals import wilson


def candidate(run: str, cost: str, solved: int, n: int = 10, mode: str = "limited", est_n: int = 1) -> Candidate:
    rate = wilson(solved, n)
    assert rate is not None
    return Candidate(run, mode, "runs/b/", rate, Decimal(cost) * est_n, est_n, n)


def names(candidates: list[Candidate]) -> set[str]:
    return {c.run for c in candidates}


def test_a_run_is_on_the_frontier_when_no_other_is_cheaper_and_better() -> None:
    cheap, dear, beaten = candidate("cheap", "1", 4), candidate("dear", "5", 8), candidate("beaten", "6", 8)
    assert names(on_frontier([dear, beaten, cheap])) == {"cheap", "dear"}


def test_modes_are_apart_and_equals_stand_together() -> None:
    assert names(on_frontier([candidate("a", "1", 4), candidate("b", "1", 4), candidate("c", "9", 1, mode="unlimited")])) == {
        "a",
        "b",
        "c",
    }


def test_the_frontier_is_what_trying_every_pair_gives() -> None:
    dice = random.Random(7)
    for _ in range(200):
        group = [candidate(str(i), str(dice.randrange(1, 6)), dice.randrange(5)) for i in range(dice.randrange(1, 9))]

        def beats(a: Candidate, b: Candidate) -> bool:
            cost, score = cost_per_trial(a) - cost_per_trial(b), a.rate.share - b.rate.share
            return cost <= 0 and score >= 0 and (cost < 0 or score > 0)

        assert names(on_frontier(group)) == {c.run for c in group if not any(beats(o, c) for o in group)}


def test_an_unknown_cost_is_in_the_table_and_never_at_zero() -> None:
    made = chart([candidate("known", "1", 4), candidate("unknown", "0", 9, est_n=0)], "here")
    assert made is not None
    assert [(p.run, p.cost, p.coverage) for p in made.points] == [("known", "$1.00", "1 of 10"), ("unknown", "—", "0 of 10")]
    assert "unknown" not in made.svg
    assert "1 without a known cost stands in the table only" in made.caption


def test_nothing_done_means_no_chart_and_no_cost_means_no_drawing() -> None:
    assert chart([], "here") is None
    only_unknown = chart([candidate("u", "0", 3, est_n=0)], "here")
    assert only_unknown is not None
    assert only_unknown.svg == ""


def test_the_drawing_has_attributes_only_and_every_point_a_title() -> None:
    made = chart([candidate('<script>alert("1")</script>', "1", 4), candidate("b", "2", 8, mode="unlimited")], "here")
    assert made is not None
    assert "<script" not in made.svg
    assert not re.search(r"\s(style|on\w+|href)=", made.svg)
    assert made.svg.count("<title>") == 2
    assert set(re.findall(r"#[0-9a-fA-F]{3,6}", made.svg)) == set()
    assert "currentColor" in made.svg


def test_the_same_numbers_draw_the_same_bytes() -> None:
    same = [candidate("a", "1", 4), candidate("b", "2", 8)]
    first, second = chart(same, "here"), chart(same, "here")
    assert first is not None
    assert second is not None
    assert first.svg == second.svg


def test_few_points_have_a_number_that_the_table_names_too() -> None:
    made = chart([candidate("a", "1", 4), candidate("b", "2", 2), candidate("unknown", "0", 9, est_n=0)], "here")
    assert made is not None
    assert [p.mark for p in made.points] == ["1", "2", ""]
    assert ">1</text>" in made.svg


def test_of_many_points_the_frontier_is_numbered_and_every_point_has_a_title() -> None:
    made = chart([candidate(f"run{i}", str(i + 1), 9 if i == 3 else 5 if i == 0 else 1) for i in range(30)], "here")
    assert made is not None
    assert {p.run: p.mark for p in made.points if p.mark} == {"run0": "1", "run3": "2"}
    assert made.svg.count("<title>") == 30
