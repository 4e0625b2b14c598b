"""The digest of a benchmark's inputs moves when something relevant did, and only then."""

import pytest
from msgspec.structs import replace

from benchpipe.registry.records import Host, Place
from benchpipe.trials.digest import inputs_digest
from benchpipe_tests.trials.builders import NEW, bench_run, ended, host, job, readings, remark, trial

HOSTS = {name: Host(name=name, place=Place("h", 1), jobs="/j") for name in ("gpu1", "gpu2")} | {
    "other": Host(name="other", place=Place("h", 3), jobs="/j", benchmarks=("else",))
}
ONE = host(job(ended(), alive=True), job(batch=NEW))
TWO = host(name="gpu2")


def digest(*hosts, run=None, listed=HOSTS, more=()) -> str:
    return inputs_digest([run or bench_run()], listed, readings(*hosts), *more)


BASE = digest(ONE, TWO)

SAME = {
    "the hosts answered at another time": (replace(ONE, at="2027-01-01T00:00:00+00:00"), TWO),
    "a clock went astray": (replace(ONE, clock_offset_s=3.0), TWO),
    "the order of hosts' jobs": (replace(ONE, jobs=ONE.jobs[::-1]), TWO),
    "a job of another batch": (replace(ONE, jobs=(*ONE.jobs, job(ended(), batch="else-1"))), TWO),
    "a trace of another batch": (replace(ONE, seen=(*ONE.seen, "else-1")), TWO),
    "a mode that is not ours": (replace(ONE, jobs=(*ONE.jobs, job(ended(), mode="assisted"))), TWO),
    "a host that is not searched for this run": (ONE, TWO, host(job(ended()), name="other")),
    "a stranger": (replace(ONE, strangers=("zzz",)), TWO),
}


@pytest.mark.parametrize("what", SAME)
def test_it_stays_for(what) -> None:
    assert digest(*SAME[what]) == BASE


def test_it_stays_for_the_line_on_which_something_is_written() -> None:
    assert digest(ONE, TWO, run=bench_run(place=Place("state/runs/b.yml", 99))) == BASE


def test_it_stays_for_how_a_silent_host_words_its_error() -> None:
    assert digest(replace(ONE, ok=False, error="a"), TWO) == digest(replace(ONE, ok=False, error="b"), TWO)


OTHER = {
    "a host fell silent": (replace(ONE, ok=False), TWO),
    "a host was not asked": (replace(ONE, asked=False), TWO),
    "a host never answered": (ONE,),
    "a trial changed": (host(job(ended(reward=0.0), alive=True), job(batch=NEW)), TWO),
    "a trial began": (host(job(ended(), trial("t2"), alive=True), job(batch=NEW)), TWO),
    "a runner died": (host(job(ended()), job(batch=NEW)), TWO),
    "a batch left its first trace": (ONE, replace(TWO, seen=("x-1001",))),
}


@pytest.mark.parametrize("what", OTHER)
def test_it_moves_when(what) -> None:
    assert digest(*OTHER[what]) != BASE


def test_it_moves_with_the_registry_and_with_what_the_caller_adds() -> None:
    assert digest(ONE, TWO, run=bench_run(followups=(remark("t"),))) != BASE
    assert digest(ONE, TWO, listed={"gpu1": HOSTS["gpu1"]}) == BASE  # an unlisted host is heard as before …
    assert digest(ONE, replace(TWO, asked=False), listed={"gpu1": HOSTS["gpu1"]}) != BASE  # … once its reading says so
    assert digest(ONE, TWO, more=("subscription",)) != BASE
