"""Memory of reading does not grow with the archive."""

import pytest

from benchpipe_tests.bench.archives import in_own_process

MIB = 1 << 20


def test_eight_times_the_archive_needs_no_more_memory() -> None:
    _, _, _, small = in_own_process(8 * MIB, 4 * MIB)
    packed, _, _, large = in_own_process(64 * MIB, 4 * MIB)
    assert packed > 55 * MIB
    assert large < small + 16
    assert large < 200


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_gigabyte_streams_through_with_less_than_200_mib() -> None:
    packed, _, _, peak = in_own_process(1 << 30, 16 * MIB)
    assert packed > 1e9
    assert peak < 200
