"""Twenty hosts whose trials are all finished: a poll without news against twenty bare connections that run `true`."""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from benchpipe import demo
from benchpipe.hosts import transport
from benchpipe.hosts.poll import PollResult, poll_hosts
from benchpipe.hosts.pool import Pool
from benchpipe.hosts.reading import HostReading
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Registry
from benchpipe_tests.hosts import sshd
from benchpipe_tests.hosts.proxy import silent_server

TITLE = "20 sshd hosts x 500 finished trials: a poll without news against 20 bare connections that run `true`"


def run(full: bool) -> Iterator[str]:
    missing = sshd.missing_package()
    if missing:
        yield f"left out: needs the Debian package {missing}"
        return
    hosts, trials, rounds = (20, 500, 5) if full else (4, 50, 2)
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place)
        make_jobs(folder / "jobs", trials)
        boxes = [stack.enter_context(sshd.start(folder / f"box{n}", f"box{n}")) for n in range(hosts)]
        config = folder / "config"
        config.write_text("".join(box.block() for box in boxes))
        lab = demo.make_lab(folder / "lab")
        name_hosts(lab, [box.name for box in boxes], folder / "jobs")
        registry = load_registry(lab)
        with Pool(ssh_config=config) as pool:
            first = timed(lambda: poll(lab, registry, pool))
        yield f"first scan of everything, {hosts} hosts x {trials} trials: {first:.2f} s"

        bare, fresh, kept = [], [], []
        with Pool(ssh_config=config) as watching:
            poll(lab, registry, watching)
            for _ in range(rounds):  # one after the other, so that whatever else the machine does hits all alike
                bare.append(timed(lambda: bare_connections(config, registry)))
                with Pool(ssh_config=config) as pool:
                    fresh.append(timed(lambda pool=pool: poll(lab, registry, pool)))  # type: ignore[misc]
                kept.append(timed(lambda: poll(lab, registry, watching)))
        base, new, old = statistics.median(bare), statistics.median(fresh), statistics.median(kept)
        yield f"{hosts} bare connections that run `true`:    {base:.2f} s (median of {rounds})"
        yield f"a poll without news, new connections:   {new:.2f} s, ratio {new / base:.2f}"
        yield f"a poll without news, kept connections:  {old:.2f} s, ratio {old / base:.2f}"

        with silent_server() as port:
            config.write_text(config.read_text() + boxes[0].block(port=port).replace(boxes[0].name, "mute", 1))
            name_hosts(lab, ["mute", *(box.name for box in boxes)], folder / "jobs")
            registry = load_registry(lab)
            last = [last_of_the_others(lab, registry, config) for _ in range(min(rounds, 2))]
        others = statistics.median(last)
        yield f"the same with one host that never answers, until the last of the others: {others:.2f} s, ratio {others / base:.2f}"


def make_jobs(folder: Path, trials: int) -> None:
    """One SEQ=0 job of `trials` finished trials, each with the files of a genuine one."""
    demo.copy_jobs(demo.JOBS / "gpu1", folder / "source")
    source = folder / "source" / "tabletop-lunaxh-1001-0900-unlimited"
    job = folder / source.name
    (folder / "source").rename(folder.with_name("source"))
    source = folder.with_name("source") / source.name
    genuine = sorted(source.glob("*__*"))
    job.mkdir(parents=True)
    for n in range(trials):
        original = genuine[n % len(genuine)]
        demo.copy_jobs(original, job / f"{original.name.partition('__')[0]}__{n:07d}")
    for name in ("config.json", "lock.json", "result.json"):
        (job / name).write_bytes((source / name).read_bytes())


def name_hosts(lab: Lab, names: list[str], jobs: Path) -> None:
    for file in lab.hosts_files():
        file.unlink()
    # our own interpreter: a version manager's `python3` would cost more than everything measured here
    lines = [f"{name}: {{ssh: {name}, jobs: {jobs}, python: {sys.executable}}}\n" for name in names]
    (lab.runs / "hosts.local.yml").write_text("".join(lines))


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def poll(lab: Lab, registry: Registry, pool: Pool) -> PollResult:
    result = poll_hosts(lab, registry, now=datetime.now(UTC), pool=pool)
    errors = {name: reading.error for name, reading in result.readings.items() if reading.asked and not reading.ok}
    assert not errors, errors
    return result


def bare_connections(config: Path, registry: Registry) -> None:
    """Connect to every host at once over the same transport, run `true` there, close."""
    hosts = list(registry.hosts.values())
    with Pool(ssh_config=config) as pool, ThreadPoolExecutor(len(hosts)) as threads:
        list(threads.map(lambda host: transport.run(pool.connection(host)[0], "true", seconds=10), hosts))


def last_of_the_others(lab: Lab, registry: Registry, config: Path) -> float:
    """Seconds until the last reading of a host that answers."""
    arrived: list[float] = []
    started = time.perf_counter()

    def note(reading: HostReading, seconds: float) -> None:
        if reading.ok:
            arrived.append(time.perf_counter() - started)

    with Pool(ssh_config=config) as pool:
        poll_hosts(lab, registry, now=datetime.now(UTC), pool=pool, on_progress=note)
    return max(arrived)
