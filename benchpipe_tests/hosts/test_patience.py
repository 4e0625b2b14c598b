"""How long a poll waits for one host: as long as a first scan may take, and not so long for one that used to answer soon."""

from benchpipe.hosts.pool import Pool
from benchpipe.hosts.transport import Limits


def test_a_host_that_stalls_while_watching_holds_the_cycle_for_a_minute_and_no_longer() -> None:
    with Pool(patient=True, limits=Limits(probe_s=600)) as pool:
        assert pool.patience("gpu1") == 600, "a first scan may read gigabytes"
        pool.worked("gpu1", 0.4)
        assert pool.patience("gpu1") == 60
        pool.worked("gpu1", 10)
        assert pool.patience("gpu1") == 200
        pool.worked("gpu1", 100)
        assert pool.patience("gpu1") == 600
        pool.failed("gpu1")
        assert pool.patience("gpu1") == 600, "after a failure it gets all the time again"


def test_a_single_poll_gives_every_host_the_whole_time() -> None:
    with Pool(limits=Limits(probe_s=600)) as pool:
        pool.worked("gpu1", 0.4)
        assert pool.patience("gpu1") == 600
