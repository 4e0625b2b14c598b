"""Tokens × prices, exact. Every expectation can be checked with pencil and paper: the arithmetic stands beside it."""

import random
from datetime import UTC, datetime
from decimal import Decimal
from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchpipe.registry.records import Band, Place, Price, Rates, Tier
from benchpipe.usage.estimates import bill, cost, estimate, estimate_harbor, request_cost
from benchpipe.usage.prices import rates_for
from benchpipe.usage.records import Bill, CostsFile, Request, Tokens
from benchpipe.usage.requests import tokens_of

HERE = Place("data/prices.yml", 1)
D = Decimal


def rates(input_usd: str, output: str, cached: str | None = None, write: str | None = None) -> Rates:
    return Rates(
        input=D(input_usd), output=D(output), cached_input=D(cached) if cached else None, cache_write=D(write) if write else None
    )


def price(level: Rates, **more: object) -> Price:
    return Price(key="vendor/model", place=HERE, rates=level, as_of="2026-10-01", **more)


def request(tokens: int | None = 1000, **more: object) -> Request:
    fields = dict.fromkeys(Request.__struct_fields__)
    fields |= {"status": 200, "shape": "openai-responses", "input": tokens, "output": 0, "file": "agent/gateway.jsonl", "offset": 0}
    return Request(**{**fields, **more})


def at(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


LUNA, OPUS = rates("0.10", "0.50", "0.01"), rates("6.25", "25.00", "0.50")
SOL, SONNET = rates("2.00", "10.00", "0.10"), rates("3.00", "15.00", "0.30", "3.75")

WORKED = [
    # runs-system 9.2, trial A: 131,251 × 0.10 = 13,125.10; 1,297,408 × 0.01 = 12,974.08; 39,217 × 0.50 = 19,608.50
    (LUNA, 1_428_659, 1_297_408, 0, 39_217, "0.04570768"),
    # trial B: 97,463 × 6.25 = 609,143.75; 4,532,162 × 0.50 = 2,266,081; 50,470 × 25 = 1,261,750
    (OPUS, 4_629_625, 4_532_162, 0, 50_470, "4.13697475"),
    # sources of the sample price list: 35,827 × 0.10 = 3,582.70; 499,968 × 0.01 = 4,999.68; 3,330 × 0.50 = 1,665
    (LUNA, 535_795, 499_968, 0, 3_330, "0.01024738"),
    # 161,111 × 6.25 = 1,006,943.75; 6,838,455 × 0.50 = 3,419,227.50; 63,727 × 25 = 1,593,175
    (OPUS, 6_999_566, 6_838_455, 0, 63_727, "6.01934625"),
    # 186,164 × 2.50 = 465,410; 23,645,449 × 0.20 = 4,729,089.80; 111,457 × 10 = 1,114,570
    (rates("2.50", "10.00", "0.20"), 23_831_613, 23_645_449, 0, 111_457, "6.3090698"),
    # cache writes at their own rate: 12 × 3 = 36; 30,000 × 0.30 = 9,000; 1,800 × 3.75 = 6,750; 450 × 15 = 6,750
    (SONNET, 31_812, 30_000, 1_800, 450, "0.022536"),
    # no cached and no write rate: they cost what input costs. 31,812 × 2 = 63,624; 450 × 4 = 1,800
    (rates("2", "4"), 31_812, 30_000, 1_800, 450, "0.065424"),
    # nothing at all
    (LUNA, 0, 0, 0, 0, "0"),
    # a single token: 1 × 0.10 per million
    (LUNA, 1, 0, 0, 0, "0.0000001"),
]


@pytest.mark.parametrize(("level", "input_tokens", "cached", "written", "output", "usd"), WORKED)
def test_worked_examples_come_out_exactly(
    level: Rates, input_tokens: int, cached: int, written: int, output: int, usd: str
) -> None:
    assert cost(level, input_tokens, cached, written, output) == D(usd)


# A table that is checked digit by digit: each kind of token is a power of ten and each rate a single digit, so that every
# product shows as one digit of the result. Plain 10^6 at a, cached 10^4 at b, written 10^2 at c, output 10^0 at d give
# a × 10^6 + b × 10^4 + c × 10^2 + d millionths of a dollar, that is "a.0b0c0d" dollars.
DIGITS = list(product((1, 3, 5, 7), (0, 2, 4), (0, 6, 8), (1, 4, 9)))


@pytest.mark.parametrize(("a", "b", "c", "d"), DIGITS)
def test_every_digit_of_the_sum_is_one_rate(a: int, b: int, c: int, d: int) -> None:
    level = Rates(input=D(a), output=D(d), cached_input=D(b), cache_write=D(c))
    assert str(cost(level, 10**6 + 10**4 + 10**2, 10**4, 10**2, 1)) == f"{a}.0{b}0{c}0{d}"


# Linear in each count: n thousand tokens of one kind at r dollars per million are n × r thousandths of a dollar.
LINEAR = list(product(("input", "cached", "written", "output"), (1, 7, 19, 250), ("0.05", "1.25", "10", "75")))


@pytest.mark.parametrize(("kind", "n", "rate"), LINEAR)
def test_thousands_of_one_kind_cost_thousandths_of_its_rate(kind: str, n: int, rate: str) -> None:
    zero, this = D(0), D(rate)
    level = Rates(
        input=this if kind == "input" else zero,
        cached_input=this if kind == "cached" else zero,
        cache_write=this if kind == "written" else zero,
        output=this if kind == "output" else zero,
    )
    tokens = n * 1000
    of = {name: tokens if kind == name else 0 for name in ("cached", "written", "output")}
    whole = 0 if kind == "output" else tokens
    assert cost(level, whole, of["cached"], of["written"], of["output"]) == n * this / 1000


TIERED = price(
    SOL,
    tiers=(Tier(above=200_000, rates=rates("4.00", "15.00", "0.20")), Tier(above=400_000, rates=rates("8.00", "30.00", "0.40"))),
    bands=(
        Band(until="2026-06-01T00:00:00+00:00", rates=rates("6.00", "20.00"), as_of="2026-01-01"),
        Band(
            until="2026-09-01T12:00:00+00:00",
            rates=rates("5.00", "18.00"),
            tiers=(Tier(above=100_000, rates=rates("7.00", "18.00")),),
        ),
    ),
)


@pytest.mark.parametrize(
    ("time", "tokens", "expected"),
    [
        ("2026-10-01", 200_000, "2.00"),  # a tier begins above its key
        ("2026-10-01", 200_001, "4.00"),
        ("2026-10-01", 400_000, "4.00"),
        ("2026-10-01", 400_001, "8.00"),
        ("2026-05-31T23:59:59.9", 900_000, "6.00"),  # an earlier band without tiers of its own has none
        ("2026-06-01", 1, "5.00"),  # a band ends before its `until`
        ("2026-09-01T11:59:59", 100_001, "7.00"),
        ("2026-09-01T11:59:59", 100_000, "5.00"),
        ("2026-09-01T12:00:00", 100_001, "2.00"),  # the top level is the newest band
        (None, 1, "2.00"),  # without a time the newest rates hold
    ],
)
def test_tiers_and_bands_hold_for_each_request(time: str | None, tokens: int, expected: str) -> None:
    assert rates_for(TIERED, at(time) if time else None, tokens).input == D(expected)


def test_requests_are_priced_one_by_one() -> None:
    # 200,000 × 2 = 400,000 and 200,001 × 4 = 800,004 millionths; as one sum of 400,001 it would be 8 per million
    found = estimate([request(200_000), request(200_001)], TIERED)
    assert (found.usd, found.n_priced, found.n_requests) == (D("1.200004"), 2, 2)


def test_harbors_sums_use_the_flat_price_of_the_trials_start_and_say_so() -> None:
    # 500,000 × 6 = 3,000,000: the tier above 400,000 doesn't apply to a sum, the band of the start does
    found = estimate_harbor(Tokens(input=500_000, cached=0, output=0), TIERED, at("2026-01-01"))
    assert (found.usd, found.flat, found.as_of) == (D("3"), True, "2026-01-01")


def test_an_unknown_price_or_unknown_tokens_are_no_zero() -> None:
    assert estimate([request()], None).usd is None
    assert estimate([request(None, shape=None)], price(LUNA)).usd is None
    assert estimate([], price(LUNA)).usd is None
    assert estimate_harbor(None, price(LUNA), None).usd is None
    assert estimate_harbor(Tokens(output=3), price(LUNA), None).usd is None
    assert request_cost(request(status=500), price(LUNA)) is None


def test_missing_usage_is_missing_in_the_coverage() -> None:
    found = estimate([request(), request(None, shape=None), request(None, status=429, shape=None)], price(LUNA))
    assert (found.usd, found.n_priced, found.n_requests) == (D("0.0001"), 1, 2)


def test_reasoning_is_inside_output_and_never_added() -> None:
    assert request_cost(request(0, output=1000, reasoning=900), price(LUNA)) == D("0.0005")


@pytest.mark.parametrize("billing", ["api", "openrouter"])
def test_charges_make_a_bill_with_its_coverage(billing: str) -> None:
    rows = [request(charge_usd=D("0.00315")), request(charge_usd=D("0.1"))]
    assert bill(rows, None, billing) == Bill(usd=D("0.10315"), source="gateway", coverage="complete", n_charged=2, n_requests=2)
    partial = bill([*rows, request(), request(status=500)], None, billing)
    assert (partial.usd, partial.coverage, partial.n_charged, partial.n_requests) == (D("0.10315"), "partial", 2, 3)
    assert bill([request()], None, billing) == Bill(n_requests=1)


def test_a_costs_file_replaces_the_charges() -> None:
    found = bill([request(charge_usd=D("5"))], CostsFile(D("1.25"), 1), "openrouter")
    assert (found.usd, found.source, found.coverage) == (D("1.25"), "openrouter_costs.json", "complete")
    partial = bill([request(), request(), request(status=500)], CostsFile(D("1.25"), 1), "openrouter")
    assert (partial.usd, partial.coverage, partial.n_charged, partial.n_requests) == (D("1.25"), "partial", 1, 2)


@pytest.mark.parametrize("billing", ["subscription", "none"])
def test_under_a_subscription_a_charge_is_no_bill_and_is_told(billing: str) -> None:
    found = bill([request(charge_usd=D("5"))], None, billing)
    assert (found.usd, found.coverage, found.left_out_usd) == (None, "none", D("5"))


counts = st.integers(0, 10**9)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    whole, output = draw(counts), draw(counts)
    cached = draw(st.integers(0, whole))
    return request(
        whole,
        cached=cached,
        cache_write=draw(st.integers(0, whole - cached)),
        output=output,
        reasoning=draw(st.integers(0, output)),
        started_at=draw(st.floats(1.7e9, 1.8e9)),
        status=draw(st.sampled_from([200, 200, 500])),
        charge_usd=draw(st.none() | st.decimals(0, 10, places=6)),
    )


@given(st.lists(requests(), max_size=20), st.randoms(use_true_random=False))
def test_sums_are_those_of_the_requests_in_any_order(rows: list[Request], rng: random.Random) -> None:
    ok = [row for row in rows if row.status == 200]
    tokens, usd = tokens_of(rows), estimate(rows, TIERED).usd
    assert tokens.input == (sum(row.input or 0 for row in ok) if ok else None)
    assert usd == (sum(request_cost(row, TIERED) or 0 for row in ok) if ok else None)
    if ok:
        assert (tokens.cached or 0) + (tokens.cache_write or 0) <= (tokens.input or 0)
        assert (tokens.reasoning or 0) <= (tokens.output or 0)
    mixed = rng.sample(rows, len(rows))
    assert (tokens_of(mixed), estimate(mixed, TIERED).usd, bill(mixed, None, "api")) == (tokens, usd, bill(rows, None, "api"))


@given(requests())
def test_a_request_costs_between_its_cheapest_and_its_dearest_rate(row: Request) -> None:
    level = rates_for(TIERED, row.started_at, row.input or 0)
    whole = (row.input or 0) + (row.output or 0)
    known = [rate for rate in msgspec.structs.astuple(level) if rate is not None]
    usd = cost(level, row.input or 0, row.cached, row.cache_write, row.output) * 10**6
    assert min(known) * whole <= usd <= max(known) * whole
