"""A submission that links real trajectories on a real server, and everything that the steps need."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchpipe.contributions.evidence import Replayed
from benchpipe.contributions.trajectories import mirroring
from benchpipe.contributions.trajectories.declared import Declared
from benchpipe.contributions.trajectories.fetching import Policy
from benchpipe.contributions.trajectories.known import declared_of, replayed_of
from benchpipe.contributions.trajectories.mirroring import Advanced
from benchpipe.contributions.trajectories.mirrors import FolderMirror, Mirror
from benchpipe.contributions.trajectories.trail import State, Trail, load_trail, save_trail, trail_file
from benchpipe_tests.contributions.artifacts.conftest import load_tool
from benchpipe_tests.contributions.conftest import TODAY, Contribute, Contribution
from benchpipe_tests.contributions.trajectories.servers import Server, gives, make_certificate, serve

START = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def server(certificate: Path) -> Iterator[Server]:
    with serve(certificate) as running:
        yield running


def pack_rounds(out: Path, rounds: list[int], target: Path) -> bytes:
    """The archive of some rounds of an experiment; below `round-N/` if there are several."""
    folder = target.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    for number in rounds:
        shutil.copytree(out / "tasks" / f"round-{number}", folder / f"round-{number}" if len(rounds) > 1 else folder)
    load_tool().pack(folder, target)
    shutil.rmtree(folder)
    return target.read_bytes()


@dataclass
class World:
    """A submission with linked trajectories. `now` is the clock of the steps; `mirror` None = no store."""

    contribution: Contribution
    server: Server
    store: Path
    archive: bytes
    now: datetime = START
    mirror: Mirror | None = None
    policy: Policy = field(default_factory=Policy)

    @property
    def file(self) -> Path:
        return self.contribution.file

    def link(self, data: bytes, **changes: Any) -> None:
        """Serve an archive, and declare it in the submission (`changes`: what is declared otherwise)."""
        self.archive = data
        self.server.answers["/a.tar.gz"] = gives(data)
        block = {
            "location": f"{self.server.base}/a.tar.gz",
            "format": "one JSONL per task, one record per step",
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        self.contribution.edit(lambda doc: doc.update(trajectories={**block, **changes}))

    @property
    def declared(self) -> Declared:
        found = declared_of(self.contribution.lab, self.contribution.benchmarks(), self.file, TODAY)
        assert found is not None
        return found

    def go(self, until: State | None = None) -> Advanced:
        """As far as it goes now, or to a state."""
        return mirroring.advance_submission(
            self.contribution.lab,
            self.contribution.benchmarks(),
            self.declared,
            mirror=self.mirror,
            now=lambda: self.now,
            policy=self.policy,
            until=until,
        )

    def wait(self, hours: float) -> None:
        self.now += timedelta(hours=hours)

    @property
    def trail_path(self) -> Path:
        return trail_file(self.contribution.lab, self.contribution.lab.relative(self.file))

    @property
    def trail(self) -> Trail:
        found = load_trail(self.trail_path)
        assert found is not None
        return found

    def save(self, trail: Trail) -> None:
        save_trail(self.trail_path, trail)

    @property
    def known(self) -> Replayed | None:
        return replayed_of(self.contribution.lab, self.contribution.benchmarks(), self.file, TODAY)

    def report(self) -> Any:
        return self.contribution.check(replayed=self.known).report

    @property
    def doc(self) -> dict[str, Any]:
        return json.loads(self.file.read_text())


@pytest.fixture
def world(contribute: Contribute, experiments: dict[int, Path], server: Server, tmp_path: Path) -> World:
    """An honest submission of rounds 0 and 3 with their trajectories on a server, and a folder to mirror into."""
    contribution = contribute()
    store = tmp_path / "store"
    made = World(
        contribution, server, store, b"", mirror=FolderMirror(store, "https://mirror.example/data"), policy=server.policy()
    )
    made.link(pack_rounds(experiments[1], [0, 3], tmp_path / "packed.tar.gz"))
    return made
