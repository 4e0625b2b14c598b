"""What a host may do to a collector: every fault is that host's alone, said in words, and nothing known is lost."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from benchpipe.hosts.poll import ask_host
from benchpipe.hosts.pool import Pool
from benchpipe.hosts.reading import HostReading
from benchpipe.hosts.store import load_reading, load_readings
from benchpipe.hosts.transport import HostError, Limits
from benchpipe.lab import Lab
from benchpipe.probe import protocol
from benchpipe.registry.load import load_registry
from benchpipe_tests.hosts import sshd
from benchpipe_tests.hosts.conftest import Poll, StartBox
from benchpipe_tests.hosts.proxy import cutting_proxy, silent_server
from benchpipe_tests.probe.running import old_python

NameHosts = Callable[..., None]
N_TRIALS = 17


def trials(reading: HostReading) -> int:
    return sum(len(job.trials) for job in reading.jobs)


@pytest.fixture
def ask(start_box: StartBox, jobs: Path, name_hosts: NameHosts, poll: Poll) -> Callable[..., HostReading]:
    """`ask(wrapper=…)`: the reading of one fresh host whose sessions run through `wrapper`."""

    def run(*options: str, wrapper: str | None = None, limits: Limits | None = None, **spec: str) -> HostReading:
        box = start_box("box", *options, wrapper=wrapper)
        name_hosts(box={"ssh": "box", "jobs": str(jobs), **spec})
        return poll(box.config, **({"limits": limits} if limits else {})).readings["box"]

    return run


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_a_healthy_host_gives_all_its_trials(ask: Callable[..., HostReading], transport: str) -> None:
    reading = ask(transport=transport)
    assert (reading.ok, reading.error, trials(reading)) == (True, None, N_TRIALS)
    assert abs(reading.clock_offset_s or 0) <= 1


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_connection_refused_is_said(name_hosts: NameHosts, poll: Poll, start_box: StartBox, transport: str) -> None:
    box = start_box()
    box.stop()
    name_hosts(box={"ssh": "box", "jobs": "/x", "transport": transport})
    reading = poll(box.config).readings["box"]
    assert not reading.ok
    assert "refuse" in (reading.error or "")


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_an_unknown_name_is_said(name_hosts: NameHosts, poll: Poll, write: Callable[..., Path], transport: str) -> None:
    config = write("config", "Host nowhere\n  HostName no-such-host.invalid\n")
    name_hosts(nowhere={"ssh": "nowhere", "jobs": "/x", "transport": transport})
    error = poll(config).readings["nowhere"].error or ""
    assert "no-such-host.invalid" in error


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_an_unknown_host_key_names_the_command_that_accepts_it(
    name_hosts: NameHosts, poll: Poll, start_box: StartBox, transport: str
) -> None:
    box = start_box()
    box.known_hosts.write_text("")
    name_hosts(box={"ssh": "box", "jobs": "/x", "transport": transport})
    error = poll(box.config).readings["box"].error or ""
    assert "`ssh box true`" in error
    assert box.known_hosts.read_text() == ""


def test_accept_new_accepts_an_unknown_key_and_remembers_it(
    name_hosts: NameHosts, poll: Poll, start_box: StartBox, jobs: Path
) -> None:
    box = start_box()
    box.known_hosts.unlink()
    box.config.write_text(box.block("StrictHostKeyChecking accept-new"))
    name_hosts(box={"ssh": "box", "jobs": str(jobs)})
    assert poll(box.config).readings["box"].ok
    assert box.known_hosts.read_text().split()[:3] == box.host_line.split()[:3]


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
@pytest.mark.parametrize("strict", ["ask", "accept-new", "no"])
def test_a_changed_host_key_is_always_an_error(
    name_hosts: NameHosts, poll: Poll, start_box: StartBox, tmp_path: Path, strict: str, transport: str
) -> None:
    box = start_box()
    other = sshd.new_key(tmp_path / "other").with_suffix(".pub").read_text()
    box.known_hosts.write_text(f"[127.0.0.1]:{box.port} {other}")
    box.config.write_text(box.block(f"StrictHostKeyChecking {strict}"))
    name_hosts(box={"ssh": "box", "jobs": "/x", "transport": transport})
    reading = poll(box.config).readings["box"]
    assert not reading.ok
    assert "CHANGED" in (reading.error or "").upper()


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """`hanging(phase)`: the client configuration of a server `box` that never answers in that phase."""
    if not shutil.which("ssh-keygen"):
        pytest.skip("needs the Debian package openssh-client")
    with ExitStack() as stack:

        def start(phase: str) -> Path:
            command = [sys.executable, "-m", "benchpipe_tests.hosts.hanging_server", phase]
            server = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
            stack.callback(server.kill)
            assert server.stdout is not None
            port, kind, key = server.stdout.readline().split()
            (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{port} {kind} {key}\n")
            lines = [
                "Host box",
                "HostName 127.0.0.1",
                f"Port {port}",
                "User nobody",
                f"IdentityFile {sshd.new_key(tmp_path / 'login_key')}",
                "IdentityAgent none",
                f"UserKnownHostsFile {tmp_path / 'known_hosts'}",
            ]
            config = tmp_path / "config"
            config.write_text("\n  ".join(lines) + "\n")
            return config

        yield start


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
@pytest.mark.parametrize("phase", ["auth", "channel", "exec"])
def test_a_server_that_falls_silent_in_any_phase_holds_nothing_up(
    hanging: Callable[[str], Path], name_hosts: NameHosts, poll: Poll, phase: str, transport: str
) -> None:
    name_hosts(box={"ssh": "box", "jobs": "/x", "transport": transport})
    reading = poll(hanging(phase), limits=Limits(connect_s=1.0, probe_s=3.0)).readings["box"]
    assert not reading.ok
    assert any(word in (reading.error or "") for word in ("within", "Timeout", "timed out"))


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_a_file_transfer_that_is_never_granted_holds_nothing_up(
    hanging: Callable[[str], Path], name_hosts: NameHosts, lab: Lab, transport: str
) -> None:
    name_hosts(box={"ssh": "box", "jobs": "/x", "transport": transport})
    host = load_registry(lab).hosts["box"]
    with Pool(ssh_config=hanging("subsystem"), limits=Limits(connect_s=1.0)) as pool:
        connection, _ = pool.connection(host)
        with pytest.raises(HostError), connection.open_sftp():
            pass


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_a_refused_key_is_said_with_its_file(name_hosts: NameHosts, poll: Poll, start_box: StartBox, transport: str) -> None:
    box = start_box()
    (box.folder / "authorized_keys").write_text("")
    name_hosts(box={"ssh": "box", "jobs": "/x", "transport": transport})
    error = poll(box.config).readings["box"].error or ""
    assert "`ssh box true`" in error
    assert "login_key" in error or "publickey" in error


def test_a_banner_of_a_megabyte_and_a_chatty_login_script_change_nothing(ask: Callable[..., HostReading], tmp_path: Path) -> None:
    banner = tmp_path / "banner"
    banner.write_text("All use is watched.\n" * 10_000)
    noise = 'head -c 1000000 /dev/urandom; echo; echo BENCHPIPE 1 10 00; exec sh -c "$SSH_ORIGINAL_COMMAND"'
    reading = ask(f"Banner {banner}", wrapper=noise)
    assert (reading.ok, trials(reading)) == (True, N_TRIALS), reading.error


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_ten_mebibytes_on_each_stream_change_nothing(ask: Callable[..., HostReading], transport: str) -> None:
    noise = 'head -c 10485760 /dev/zero >&2 & head -c 10485760 /dev/zero; wait; exec sh -c "$SSH_ORIGINAL_COMMAND"'
    reading = ask(wrapper=noise, transport=transport)
    assert (reading.ok, trials(reading)) == (True, N_TRIALS), reading.error


def test_endless_output_is_cut_off(ask: Callable[..., HostReading], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchpipe.hosts.transport.MAX_OUTPUT", 4 << 20)
    assert "more than 4 MiB" in (ask(wrapper="exec cat /dev/zero").error or "")


@pytest.mark.parametrize(
    ("wrapper", "words"),
    [
        ("read line; kill -9 $$", "no answer"),
        ('timeout 2 sh -c "$SSH_ORIGINAL_COMMAND" | head -c 300', "cut"),
        ('timeout 2 sh -c "$SSH_ORIGINAL_COMMAND" | tr "0" "1"', "damaged"),
        ("head -c 100000 /dev/urandom", "no answer"),
        ("echo 'welcome to the machine'; exit 3", "welcome to the machine"),
        ("PATH=/nonexistent; . /nonexistent || $SSH_ORIGINAL_COMMAND", ""),
    ],
    ids=["killed half-way", "answer cut", "answer damaged", "garbage", "another program", "broken shell"],
)
def test_a_wrong_answer_is_said_and_costs_nothing_known(
    start_box: StartBox, jobs: Path, name_hosts: NameHosts, poll: Poll, lab: Lab, wrapper: str, words: str
) -> None:
    box = start_box(wrapper='exec sh -c "$SSH_ORIGINAL_COMMAND"')
    name_hosts(box={"ssh": "box", "jobs": str(jobs)})
    good = poll(box.config).readings["box"]
    (jobs / "tabletop-lunaxh-1001-0900-limited" / "result.json").touch()
    (box.folder / "wrapper").write_text(f"#!/bin/sh\n{wrapper}\n")
    result = poll(box.config)
    bad = result.readings["box"]
    assert (bad.ok, bad.at, bad.jobs, bad.digest) == (False, good.at, good.jobs, good.digest)
    assert words in (bad.error or "")
    assert 0 < len(bad.error or "") <= 300
    assert load_reading(lab, "box") == bad
    assert result.changed == ["box"]
    (box.folder / "wrapper").write_text('#!/bin/sh\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n')
    again = poll(box.config).readings["box"]
    assert (again.ok, again.error, again.digest) == (True, None, good.digest)


def test_a_foreign_answer_in_a_right_frame_is_refused(ask: Callable[..., HostReading], tmp_path: Path) -> None:
    (tmp_path / "frame").write_bytes(protocol.frame(b'{"v": 1, "hello": "world"}'))
    assert "not one of our probe" in (ask(wrapper=f"cat {tmp_path / 'frame'}").error or "")


@pytest.mark.parametrize("text", ["1e999", '"\\ud800"', "[1]"])
def test_values_that_no_file_can_hold_are_refused_or_named(ask: Callable[..., HostReading], tmp_path: Path, text: str) -> None:
    trial = f'{{"job": "j", "trial": "t__1", "fingerprint": "f", "rewards": {{"reward": {text}}}, "task_dir": {text}}}'
    job = f'{{"job": "j", "batch": "b", "mode": "limited", "created": 1e999, "harbor": {text}}}'
    every = json.dumps([str(n) for n in range(256)])
    answer = f'{{"v": 1, "now": 1, "started": 1, "changed": {every}, "jobs": [{job}], "trials": [{trial}]}}'
    (tmp_path / "frame").write_bytes(protocol.frame(answer.encode()))
    reading = ask(wrapper=f"cat {tmp_path / 'frame'}")
    assert not reading.ok
    assert "its " in (reading.error or "")


def test_records_of_a_wrong_form_are_named_and_the_rest_stays(ask: Callable[..., HostReading], tmp_path: Path) -> None:
    job = {"job": "../../j<script>", "batch": "b", "mode": "limited"}
    fine = {"job": job["job"], "trial": "t__1", "fingerprint": "f"}
    wrong = {"job": job["job"], "trial": "t__2", "fingerprint": "f", "created": "yesterday"}
    answer = {
        "v": 1,
        "now": 1.0,
        "started": 1.0,
        "changed": [str(n) for n in range(256)],
        "jobs": [job],
        "trials": [fine, wrong, 7],
    }
    (tmp_path / "frame").write_bytes(protocol.frame(json.dumps(answer).encode()))
    reading = ask(wrapper=f"cat {tmp_path / 'frame'}")
    assert reading.ok
    assert [(trial.trial, bool(trial.problems)) for trial in reading.jobs[0].trials] == [("t__1", False), ("t__2", True)]


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_a_command_that_never_ends_is_given_up(ask: Callable[..., HostReading], transport: str) -> None:
    reading = ask(wrapper="exec sleep 60", transport=transport, limits=Limits(connect_s=2, probe_s=1.5))
    assert "no answer within" in (reading.error or "")


def test_a_clock_that_is_a_day_off_is_measured_and_changes_nothing_else(ask: Callable[..., HostReading]) -> None:
    if not shutil.which("faketime"):
        pytest.skip("needs the Debian package faketime")
    reading = ask(python="faketime -f +1d python3")
    assert reading.ok, reading.error
    assert abs((reading.clock_offset_s or 0) - 86400) <= 2
    assert trials(reading) == N_TRIALS


def test_a_host_without_python3_says_what_to_do(ask: Callable[..., HostReading]) -> None:
    error = ask(wrapper='PATH=/nonexistent exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"').error or ""
    assert "no `python3` there" in error
    assert "python:" in error


def test_python_3_8_is_enough(ask: Callable[..., HostReading]) -> None:
    python = old_python()
    if python is None:
        pytest.skip("needs a Python 3.8 on PATH or in ~/.pyenv")
    reading = ask(python=python)
    assert (reading.ok, trials(reading)) == (True, N_TRIALS), reading.error


def test_an_older_python_is_refused_by_name(ask: Callable[..., HostReading]) -> None:
    older = sorted(Path("~/.pyenv/versions").expanduser().glob("3.[67].*/bin/python3"))
    if not older:
        pytest.skip("needs a Python older than 3.8 in ~/.pyenv")
    assert "needs Python 3.8 or newer" in (ask(python=str(older[0])).error or "")


def test_a_missing_jobs_directory_is_a_failure_and_not_an_empty_host(
    start_box: StartBox, jobs: Path, name_hosts: NameHosts, poll: Poll
) -> None:
    box = start_box()
    name_hosts(box={"ssh": "box", "jobs": str(jobs)})
    good = poll(box.config).readings["box"]
    jobs.rename(jobs.with_name("unmounted"))
    bad = poll(box.config).readings["box"]
    assert (bad.ok, bad.jobs) == (False, good.jobs)
    assert str(jobs) in (bad.error or "")


def test_a_trial_that_the_login_may_not_read_is_named_and_the_others_are_read(
    start_box: StartBox, name_hosts: NameHosts, poll: Poll, jobs: Path
) -> None:
    with tempfile.TemporaryDirectory() as place:  # pytest's own folders are closed to other users
        open_jobs = Path(place) / "jobs"
        shutil.copytree(jobs, open_jobs)
        Path(place).chmod(0o755)
        job = open_jobs / "tabletop-lunaxh-1001-0900-limited"
        closed, half = sorted(job.glob("*__*"))[:2]
        closed.chmod(0)
        (half / "result.json").chmod(0)
        drop = 'exec setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "$SSH_ORIGINAL_COMMAND"'
        box = start_box(wrapper=drop if os.geteuid() == 0 else None)
        name_hosts(
            box={"ssh": "box", "jobs": str(open_jobs), "python": shutil.which("python3", path="/usr/bin:/usr/local/bin") or ""}
        )
        reading = poll(box.config).readings["box"]
        assert reading.ok, reading.error
        found = {trial.trial: trial for job in reading.jobs for trial in job.trials}
        assert len(found) == N_TRIALS
        assert "can't be listed" in found[closed.name].problems[0]
        assert "result.json can't be read" in found[half.name].problems[0]
        assert sum(not trial.problems or "reward.txt" in trial.problems[0] for trial in found.values()) == N_TRIALS - 2
        closed.chmod(0o755)


def test_a_full_disk_under_the_cache_changes_nothing(start_box: StartBox, jobs: Path, name_hosts: NameHosts, poll: Poll) -> None:
    box = start_box()
    box.cache.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(box.cache)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("mount isn't allowed here")
    try:
        with pytest.raises(OSError, match="No space"):
            (box.cache / "filler").write_bytes(bytes(1 << 20))
        name_hosts(box={"ssh": "box", "jobs": str(jobs)})
        reading = poll(box.config).readings["box"]
        assert (reading.ok, trials(reading)) == (True, N_TRIALS), reading.error
    finally:
        subprocess.run(["umount", str(box.cache)], check=True)


def test_a_host_that_left_the_file_keeps_its_reading_as_not_asked(lab: Lab, jobs: Path, name_hosts: NameHosts, poll: Poll) -> None:
    name_hosts(one={"jobs": str(jobs)}, two={"jobs": str(jobs)})
    first = poll().readings
    name_hosts(two={"jobs": str(jobs)})
    result = poll()
    assert result.readings["one"] == msgspec.structs.replace(first["one"], asked=False)
    assert result.readings["two"].asked
    assert load_readings(lab, load_registry(lab))["one"].jobs == first["one"].jobs


def test_two_collectors_at_once_read_the_same_and_keep_the_cache_whole(
    start_box: StartBox, jobs: Path, name_hosts: NameHosts, poll: Poll, lab: Lab, tmp_path: Path
) -> None:
    box = start_box()
    name_hosts(box={"ssh": "box", "jobs": str(jobs)})
    program = f"""
import sys
from datetime import datetime, UTC
from pathlib import Path
from benchpipe.hosts.poll import poll_hosts
from benchpipe.hosts.pool import Pool
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
lab = Lab(Path(sys.argv[1]))
with Pool(ssh_config=Path({str(box.config)!r})) as pool:
    reading = poll_hosts(lab, load_registry(lab), now=datetime.now(UTC), pool=pool).readings["box"]
print(reading.ok, reading.digest)
"""
    labs = [tmp_path / f"lab{n}" for n in range(4)]
    for copy in labs:
        shutil.copytree(lab.root, copy)
    started = [subprocess.Popen([sys.executable, "-c", program, str(copy)], stdout=subprocess.PIPE, text=True) for copy in labs]
    said = {process.communicate(timeout=60)[0] for process in started}
    assert said == {f"True {poll(box.config).readings['box'].digest}\n"}


def test_a_network_that_goes_in_the_middle_costs_one_poll(
    start_box: StartBox, jobs: Path, name_hosts: NameHosts, poll: Poll
) -> None:
    box = start_box()
    name_hosts(box={"ssh": "box", "jobs": str(jobs)})
    with cutting_proxy(box.port) as proxy:
        box.known_hosts.write_text(box.host_line.replace(str(box.port), str(proxy.port), 1))
        box.config.write_text(box.block(port=proxy.port))
        proxy.cut_after = 6000  # after the handshake, in the middle of the program or its answer
        bad = poll(box.config).readings["box"]
        assert not bad.ok
        assert "broke" in (bad.error or "") or "SSH" in (bad.error or ""), bad.error
        proxy.cut_after = None
        good = poll(box.config).readings["box"]
        assert (good.ok, trials(good)) == (True, N_TRIALS)


def test_a_host_that_accepts_and_never_answers_holds_up_nobody(
    jobs: Path, name_hosts: NameHosts, poll: Poll, start_box: StartBox
) -> None:
    box = start_box()
    with silent_server() as port:
        box.config.write_text(box.block() + box.block(port=port).replace("Host box", "Host mute"))
        name_hosts(mute={"ssh": "mute", "jobs": "/x"}, box={"ssh": "box", "jobs": str(jobs)})
        order: list[str] = []
        readings = poll(box.config, on_progress=lambda reading, seconds: order.append(reading.host)).readings
    assert order == ["box", "mute"]
    assert readings["box"].ok
    assert "doesn't speak SSH" in (readings["mute"].error or "")


def test_cancelling_ends_the_program_on_the_host(start_box: StartBox, jobs: Path, name_hosts: NameHosts, lab: Lab) -> None:
    if not shutil.which("strace"):
        pytest.skip("needs the Debian package strace")
    box = start_box()
    slow = f"strace -f -o {box.folder}/trace -e inject=getdents64:delay_enter=500000 {sys.executable}"
    name_hosts(box={"ssh": "box", "jobs": str(jobs), "python": slow})
    host = load_registry(lab).hosts["box"]
    with Pool(ssh_config=box.config) as pool:
        threading.Timer(2.0, pool.cancelled.set).start()
        with pytest.raises(HostError, match="cancelled"):
            ask_host(lab, host, {"tabletop-lunaxh-1001-0900": ["limited", "unlimited"]}, {}, pool)
    for _ in range(100):
        left = subprocess.run(["pgrep", "-f", str(box.folder / "trace")], capture_output=True, check=False)
        if left.returncode == 1:
            return
        threading.Event().wait(0.1)
    pytest.fail("the probe still runs on the host")
