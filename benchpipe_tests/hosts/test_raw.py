"""Raw records come home whole, or the page can say what is missing; nothing else comes, and nothing comes twice."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from benchpipe.hosts.pool import Pool
from benchpipe.hosts.raw import RawCopies, RawCopy, RawLimits, copy_state, trial_folder
from benchpipe.hosts.rsync import both_have_rsync
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Host
from benchpipe_tests.hosts.conftest import QUICK, Poll, StartBox
from benchpipe_tests.hosts.sshd import Box

JOB = "tabletop-lunaxh-1001-0900-limited"


@pytest.fixture(params=["rsync", "sftp", "sftp by openssh"])
def far(
    request: pytest.FixtureRequest,
    start_box: StartBox,
    jobs: Path,
    name_hosts: Callable[..., None],
    poll: Poll,
    lab: Lab,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[RawCopies, Host, Path]]:
    """Copies from a remote host by one way of transfer, its host record, and one of its trials."""
    if request.param == "rsync" and not shutil.which("rsync"):
        pytest.skip("needs the Debian package rsync")
    if request.param != "rsync":
        monkeypatch.setattr("benchpipe.hosts.raw.both_have_rsync", lambda host, pool: None)
    box: Box = start_box()
    transport = "openssh" if request.param == "sftp by openssh" else "paramiko"
    name_hosts(box={"ssh": "box", "jobs": str(jobs), "transport": transport})
    trial = sorted((jobs / JOB).glob("*__*"))[0]
    for name, size in (
        ("agent/gateway.jsonl", 300_000),
        ("agent/sessions/2026/a.jsonl", 10),
        ("agent/auth.json", 5),
        ("artifacts/app/output/frames/01/a.PNG", 20),
        ("artifacts/app/output/b.jpg", 20),
        ("artifacts/app/output/frames/notes.txt", 5),
        ("big.bin", 9),
    ):
        (trial / name).parent.mkdir(parents=True, exist_ok=True)
        (trial / name).write_bytes(os.urandom(size))
    (trial / "verifier" / "replay.mp4").symlink_to("/etc/hostname")
    (trial / "artifacts" / "trusted-recording").symlink_to("/etc")
    poll(box.config)
    with Pool(ssh_config=box.config, limits=QUICK) as pool:
        yield RawCopies(lab, pool, RawLimits(seconds=30)), load_registry(lab).hosts["box"], trial


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_copy_holds_what_pages_need_and_nothing_else(far: tuple[RawCopies, Host, Path]) -> None:
    copies, host, trial = far
    assert trial_folder(copies.lab, host, JOB, trial.name) is None
    folder = copies.folder(copies.lab, host, JOB, trial.name)
    assert folder is not None
    wanted = ["agent/gateway.jsonl", "agent/sessions/2026/a.jsonl", "agent/trajectory.json", "verifier/test-stdout.txt"]
    images = ["artifacts/app/output/b.jpg", "artifacts/app/output/frames/01/a.PNG"]
    assert sorted(files(folder)) == sorted(wanted + images)
    assert all(data == (trial / name).read_bytes() for name, data in files(folder).items())
    state = copy_state(copies.lab, host, JOB, trial.name)
    assert state is not None
    assert state.problems == ()


def test_an_unchanged_trial_is_not_fetched_again(far: tuple[RawCopies, Host, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    copies, host, trial = far
    first = copies.folder(copies.lab, host, JOB, trial.name)
    monkeypatch.setattr(RawCopies, "fetch", lambda *_: pytest.fail("fetched again"))
    assert copies.folder(copies.lab, host, JOB, trial.name) == first


def test_a_file_that_is_too_large_is_named_and_the_rest_comes(far: tuple[RawCopies, Host, Path]) -> None:
    copies, host, trial = far
    copies.limits = RawLimits(file_bytes=100_000, seconds=30)
    state = copies.fetch(host, JOB, trial.name, "f")
    assert len(state.problems) == 1
    assert "agent/gateway.jsonl" in state.problems[0]
    folder = trial_folder(copies.lab, host, JOB, trial.name)
    assert folder is not None
    assert "agent/trajectory.json" in files(folder)


def test_a_host_that_went_away_leaves_a_copy_with_its_reason(far: tuple[RawCopies, Host, Path]) -> None:
    copies, host, trial = far
    copies.pool.close()
    state = copies.fetch(host, JOB, trial.name, "f")
    assert "cancelled" in state.problems[0] or "stopped" in state.problems[0]
    assert copy_state(copies.lab, host, JOB, trial.name) == state


def test_a_name_that_leads_elsewhere_is_never_a_path(far: tuple[RawCopies, Host, Path]) -> None:
    copies, host, _ = far
    state = copies.fetch(host, "..", "../../../etc", "f")
    assert state.problems
    assert list(copies.lab.raw_folder("box").parent.iterdir()) == [copies.lab.raw_folder("box")]


@pytest.mark.parametrize("name", [b"**.jsonl", b"[a].jsonl", b"x" * 249 + b".jsonl", b"-e sh.jsonl", b"new\nline.jsonl"])
def test_any_name_of_a_file_is_a_name(far: tuple[RawCopies, Host, Path], name: bytes) -> None:
    copies, host, trial = far
    path = trial / "agent" / "sessions" / os.fsdecode(name)
    path.write_bytes(b"{}\n")
    assert copies.fetch(host, JOB, trial.name, "f").problems == ()
    folder = trial_folder(copies.lab, host, JOB, trial.name)
    assert folder is not None
    assert (folder / "agent" / "sessions" / path.name).read_bytes() == b"{}\n"


def test_a_name_that_is_no_text_costs_no_other_folder(far: tuple[RawCopies, Host, Path]) -> None:
    copies, host, trial = far
    (trial / "agent" / "sessions" / os.fsdecode(b"\xff.jsonl")).write_bytes(b"{}\n")
    copies.fetch(host, JOB, trial.name, "f")
    folder = trial_folder(copies.lab, host, JOB, trial.name)
    assert folder is not None
    assert (folder / "agent" / "gateway.jsonl").read_bytes() == (trial / "agent" / "gateway.jsonl").read_bytes()


def test_an_alias_with_a_colon_is_not_given_to_rsync(far: tuple[RawCopies, Host, Path]) -> None:
    copies, host, _ = far
    assert both_have_rsync(msgspec.structs.replace(host, ssh="::1"), copies.pool) is None


def test_a_cut_off_file_goes_on_where_it_stopped(
    start_box: StartBox, jobs: Path, name_hosts: Callable[..., None], lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchpipe.hosts.raw.both_have_rsync", lambda host, pool: None)
    box = start_box()
    name_hosts(box={"ssh": "box", "jobs": str(jobs)})
    host = load_registry(lab).hosts["box"]
    trial = sorted((jobs / JOB).glob("*__*"))[0]
    log = trial / "agent" / "gateway.jsonl"
    log.write_bytes(os.urandom(2_000_000))
    with Pool(ssh_config=box.config, limits=QUICK) as pool:
        state = RawCopies(lab, pool, RawLimits(seconds=-1)).fetch(host, JOB, trial.name, "f")
        assert "goes on from here" in state.problems[0]
        folder = trial_folder(lab, host, JOB, trial.name)
        assert folder is not None
        part = next((folder / "agent").glob(".*.part"))
        part.write_bytes(b"X" * part.stat().st_size)  # to see that these bytes aren't fetched again
        assert RawCopies(lab, pool).fetch(host, JOB, trial.name, "f") == RawCopy("f")
    data = (folder / "agent" / "gateway.jsonl").read_bytes()
    kept = len(data) - len(data.lstrip(b"X"))
    assert kept > 0
    assert data[kept:] == log.read_bytes()[kept:]


def test_a_local_trial_is_read_in_place(jobs: Path, name_hosts: Callable[..., None], lab: Lab) -> None:
    name_hosts(here={"jobs": str(jobs)})
    host = load_registry(lab).hosts["here"]
    trial = sorted((jobs / JOB).glob("*__*"))[0]
    assert trial_folder(lab, host, JOB, trial.name) == trial
    assert trial_folder(lab, host, "..", "jobs") is None
    assert trial_folder(lab, host, JOB, "gone__1") is None
