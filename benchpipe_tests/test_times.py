"""Times of files and hosts: whatever is written there, a time in UTC or none."""

from datetime import UTC, datetime

import pytest

from benchpipe import times

NOON = datetime(2026, 10, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "time"),
    [
        ("2026-10-01T12:00:00Z", NOON),
        ("2026-10-01T14:00:00+02:00", NOON),
        ("2026-10-01T12:00:00", NOON),
        (NOON.timestamp(), NOON),
        (None, None),
        ("soon", None),
        ("", None),
        ("9999-12-31T23:59:59-23:59", None),
        (1e300, None),
        (float("nan"), None),
    ],
)
def test_a_time_is_utc_or_none(said: str | float | None, time: datetime | None) -> None:
    assert times.utc(said) == time


def test_a_time_without_a_zone_cannot_be_placed_and_still_be_said() -> None:
    assert times.parse_time("2026-10-01T12:00:00") is None
    assert times.parse_time("2026-10-01T12:00:00Z") == NOON
    assert times.as_said("2026-10-01T12:00:00") == "2026-10-01T12:00:00"
    assert times.as_said("9999-12-31T23:59:59-23:59") is None


def test_stored_times_have_one_form() -> None:
    assert times.iso(NOON.timestamp() + 0.9) == "2026-10-01T12:00:00+00:00"
    assert times.iso(1e300) is None
