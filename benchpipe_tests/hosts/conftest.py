"""Labs whose hosts are real sshd processes on loopback."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchpipe import demo
from benchpipe.hosts.poll import PollResult, poll_hosts
from benchpipe.hosts.pool import Pool
from benchpipe.hosts.transport import Limits
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe_tests.hosts import sshd

QUICK = Limits(connect_s=2.0, probe_s=20.0)

StartBox = Callable[..., sshd.Box]
Poll = Callable[..., PollResult]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Probes of this machine keep their offsets here, not in the home directory of whoever runs the tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def start_box(tmp_path: Path) -> Iterator[StartBox]:
    """`start_box("name", "SshdOption value", wrapper="shell script")` starts an sshd that lives as long as the test."""
    missing = sshd.missing_package()
    if missing:
        pytest.skip(f"needs the Debian package {missing}")
    with ExitStack() as stack:

        def start(name: str = "box", *options: str, wrapper: str | None = None) -> sshd.Box:
            return stack.enter_context(sshd.start(tmp_path / "sshd" / name, name, *options, wrapper=wrapper))

        yield start


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """The genuine jobs of one host, copied with their times."""
    folder = tmp_path / "jobs"
    demo.copy_jobs(demo.JOBS / "gpu1", folder)
    return folder


@pytest.fixture
def name_hosts(lab: Lab) -> Callable[..., None]:
    """`name_hosts(box={...})` makes these the lab's only hosts."""

    def write(**hosts: dict[str, Any]) -> None:
        for file in lab.hosts_files():
            file.unlink()
        lines = [f"{name}: {{{', '.join(f'{key}: {value!r}' for key, value in spec.items())}}}\n" for name, spec in hosts.items()]
        (lab.runs / "hosts.test.local.yml").write_text("".join(lines))

    return write


@pytest.fixture
def poll(lab: Lab) -> Poll:
    """`poll(ssh_config)` or `poll(pool=…)`: one poll of the lab's hosts, with short limits."""

    def run(config: Path | None = None, *, limits: Limits = QUICK, pool: Pool | None = None, **more: Any) -> PollResult:
        registry = load_registry(lab)
        assert not [problem for problem in registry.problems if "hosts" in problem.place.file]
        if pool is not None:
            return poll_hosts(lab, registry, now=datetime.now(UTC), pool=pool, **more)
        with Pool(ssh_config=config, limits=limits) as own:
            return poll_hosts(lab, registry, now=datetime.now(UTC), pool=own, **more)

    return run
