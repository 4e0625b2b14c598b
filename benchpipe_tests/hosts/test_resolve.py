"""An alias leads where the OpenSSH client would go, with ssh to ask or without, through jump hosts and proxy commands."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchpipe.hosts.resolve import resolve, resolve_jump
from benchpipe.hosts.transport import HostError
from benchpipe_tests.hosts.conftest import Poll, StartBox

NameHosts = Callable[..., None]
CONFIG = """
Host box
  HostName box.example.org
  Port 2200
  User someone
  IdentityFile {key}
  UserKnownHostsFile {known} ~/second
  StrictHostKeyChecking accept-new
  ProxyJump a@one:22,two
  HostKeyAlias vault
  IdentityAgent none
Host via
  ProxyCommand nc -q0 %h %p %% %r
Host *
  User everybody
"""


@pytest.fixture(params=["with ssh", "without ssh"])
def config(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "with ssh" and not shutil.which("ssh"):
        pytest.skip("needs the Debian package openssh-client")
    if request.param == "without ssh":
        monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "key").write_text("")
    path = tmp_path / "config"
    path.write_text(CONFIG.format(key=tmp_path / "key", known=tmp_path / "known"))
    return path


def test_everything_that_matters_is_taken_from_the_configuration(config: Path) -> None:
    target = resolve("box", config)
    assert (target.host, target.port, target.user, target.key_name) == ("box.example.org", 2200, "someone", "vault")
    assert target.identity_files == (str(config.parent / "key"),)
    assert target.known_hosts[:2] == (str(config.parent / "known"), str(Path.home() / "second"))
    assert (target.accept_new, target.agent, target.jumps) == (True, False, ("a@one:22", "two"))


def test_a_name_without_an_entry_is_itself(config: Path) -> None:
    target = resolve("plain.example.org", config)
    assert (target.host, target.port, target.user, target.jumps) == ("plain.example.org", 22, "everybody", ())
    assert (target.accept_new, target.key_name) == (False, "plain.example.org")


def test_a_proxy_command_is_filled_in(config: Path) -> None:
    assert resolve("via", config).proxy_command == "nc -q0 via 22 % everybody"


def test_a_hop_may_name_its_user_and_port(config: Path) -> None:
    hop = resolve_jump("ssh://me@box:99", config)
    assert (hop.host, hop.user, hop.port) == ("box.example.org", "me", 99)


def test_an_alias_that_is_an_option_is_refused(config: Path) -> None:
    with pytest.raises(HostError, match="looks like an option"):
        resolve("-oProxyCommand=touch x", config)


def test_include_needs_the_ssh_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "more").write_text("Host box\n  HostName found.example.org\n")
    config = tmp_path / "config"
    config.write_text(f"Include {tmp_path / 'more'}\n")
    if shutil.which("ssh"):
        assert resolve("box", config).host == "found.example.org"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match=r"has an Include, .* install openssh-client"):
        resolve("box", config)


def test_a_jump_host_leads_to_a_host_that_only_it_can_name(
    start_box: StartBox, jobs: Path, name_hosts: NameHosts, poll: Poll
) -> None:
    inner, outer = start_box("inner"), start_box("outer")
    inner.config.write_text(inner.block("ProxyJump outer") + outer.block("ProxyJump outer"))
    name_hosts(inner={"ssh": "inner", "jobs": str(jobs)})
    assert poll(inner.config).readings["inner"].ok
    outer.stop()
    error = poll(inner.config).readings["inner"].error or ""
    assert str(outer.port) in error
    assert "refuses" in error


def test_jump_hosts_in_a_circle_are_an_error_and_no_endless_walk(
    name_hosts: NameHosts, poll: Poll, write: Callable[..., Path]
) -> None:
    if not shutil.which("ssh"):
        pytest.skip("needs the Debian package openssh-client")
    config = write("config", "Host a\n  ProxyJump b\nHost b\n  ProxyJump c\nHost c\n  ProxyJump b\n")
    name_hosts(a={"ssh": "a", "jobs": "/x"})
    assert "circle" in (poll(config).readings["a"].error or "")


def test_a_proxy_command_carries_the_connection(start_box: StartBox, jobs: Path, name_hosts: NameHosts, poll: Poll) -> None:
    inner, outer = start_box("inner"), start_box("outer")
    ssh = f"ssh -F {outer.config} -W %h:%p outer"
    inner.config.write_text(inner.block(f"ProxyCommand {ssh}"))
    name_hosts(inner={"ssh": "inner", "jobs": str(jobs)})
    reading = poll(inner.config).readings["inner"]
    assert reading.ok, reading.error


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not shutil.which("ssh-agent"):
        pytest.skip("needs the Debian package openssh-client")
    socket = tmp_path / "agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL) as process:
        while not socket.exists():
            assert process.poll() is None
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        yield
        process.terminate()


@pytest.mark.usefixtures("agent")
def test_a_key_that_only_the_agent_has_opens_the_door(start_box: StartBox, jobs: Path, name_hosts: NameHosts, poll: Poll) -> None:
    box = start_box()
    key = box.folder / "login_key"
    subprocess.run(["ssh-add", "-q", str(key)], check=True, env=dict(os.environ), capture_output=True)
    key.unlink()
    box.config.write_text(box.block().replace("IdentityAgent none", "").replace("IdentitiesOnly yes", ""))
    name_hosts(box={"ssh": "box", "jobs": str(jobs)})
    reading = poll(box.config).readings["box"]
    assert reading.ok, reading.error


def test_a_key_with_a_pass_phrase_is_refused_without_a_question(start_box: StartBox, name_hosts: NameHosts, poll: Poll) -> None:
    box = start_box()
    command = ["ssh-keygen", "-q", "-p", "-P", "", "-N", "something long", "-f", str(box.folder / "login_key")]
    subprocess.run(command, check=True, capture_output=True)
    name_hosts(box={"ssh": "box", "jobs": "/x"})
    error = poll(box.config).readings["box"].error or ""
    assert "login as" in error
    assert "ssh-add" in error
