"""Shown numbers (runs-system 9.3)."""

from decimal import Decimal

import pytest

from benchpipe.usage import format as fmt


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        ("0.04570768", "$0.046"), ("4.13697475", "$4.14"), ("4.18268243", "$4.18"), ("3.90", "$3.90"), ("1234.5", "$1,234.50"),
        ("1", "$1.00"), ("0.9999", "$1.000"), ("0.01", "$0.010"), ("0.00999", "$0.0100"), ("0.0045", "$0.0045"), ("0", "$0.0000"),
        (None, "—"),
    ],
)  # fmt: skip
def test_money(usd: str | None, shown: str) -> None:
    assert fmt.money(Decimal(usd) if usd else None) == shown


@pytest.mark.parametrize(
    ("n", "shown"),
    [
        (None, "—"),
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (39_217, "39k"),
        (1_428_659, "1.4M"),
        (26_659_556, "26.7M"),
        (1_234_567_890, "1.23B"),
    ],
)
def test_tokens(n: int | None, shown: str) -> None:
    assert fmt.tokens(n) == shown


@pytest.mark.parametrize(
    ("s", "shown"),
    [
        (None, "—"),
        (0, "0s"),
        (29, "29s"),
        (59.4, "59s"),
        (59.5, "1m"),
        (89, "1m"),
        (2520, "42m"),
        (3599, "1h 00m"),
        (3900, "1h 05m"),
    ],
)
def test_durations(s: int | None, shown: str) -> None:
    assert fmt.duration(s) == shown


def test_hours_moments_and_shares() -> None:
    assert fmt.hours(44_280) == "12.3 h"
    assert fmt.hours(90) == "2m"
    assert fmt.moment("2026-10-01T09:05:00+02:00") == "10-01 07:05 UTC"
    assert fmt.moment("2026-10-01T09:05:00.123456Z") == "10-01 09:05 UTC"
    assert fmt.moment(0) == "01-01 00:00 UTC"
    assert fmt.moment("soon") == "soon"
    assert fmt.percent(8 / 13) == "62%"
