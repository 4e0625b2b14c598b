"""From an alias of the hosts file to where and how to connect, as the OpenSSH client would (libraries 2.1).

`ssh -G` is asked where the program exists. Else paramiko's reader is used, which knows no `Include`: a configuration with
one is an error, because its hosts would silently resolve to something else.
"""

import getpass
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchpipe.hosts.transport import HostError

SYSTEM_CONFIG = Path("/etc/ssh/ssh_config")
KNOWN_HOSTS = "~/.ssh/known_hosts ~/.ssh/known_hosts2"
DEFAULT_KEYS = ("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519")
_INCLUDE = re.compile(r"^\s*include\b", re.IGNORECASE | re.MULTILINE)
_JUMP = re.compile(r"(?:ssh://)?(?:(?P<user>[^@]+)@)?(?P<host>\[[^]]+\]|[^:]+)(?::(?P<port>\d+))?")


@dataclass(frozen=True)
class Target:
    """Where and how to connect."""

    alias: str
    host: str
    port: int
    user: str
    identity_files: tuple[str, ...]
    """Only files that exist."""
    agent: bool
    jumps: tuple[str, ...]
    """ProxyJump, first hop first: `[user@]host[:port]` each."""
    proxy_command: str | None
    known_hosts: tuple[str, ...]
    """The user's files first; a key that is accepted goes into the first."""
    accept_new: bool
    key_alias: str | None
    control_path: str | None
    """The user's own ControlPath, for the openssh transport."""

    @property
    def key_name(self) -> str:
        """The name that known-hosts files have for it."""
        return self.key_alias or (self.host if self.port == 22 else f"[{self.host}]:{self.port}")


def resolve(alias: str, config: Path | None = None) -> Target:
    """What the OpenSSH client would do for `alias`. `config` replaces the user's configuration file. Raises HostError."""
    if alias.startswith("-"):
        raise HostError(f"ssh: {alias} looks like an option, not like a host; fix it in the hosts file")
    options = _ask_ssh(alias, config) if shutil.which("ssh") else _read_config(alias, config)
    return _target(alias, options)


def resolve_jump(jump: str, config: Path | None) -> Target:
    """One hop of a ProxyJump. Its user and port win over what the configuration says for its host."""
    match = _JUMP.fullmatch(jump)
    if match is None:
        raise HostError(f"ProxyJump {jump} can't be read: write [user@]host[:port]")
    target = resolve(match["host"].strip("[]"), config)
    return replace(target, user=match["user"] or target.user, port=int(match["port"] or target.port))


def ssh_command(config: Path | None) -> list[str]:
    """The ssh program with the injected configuration file, if there is one."""
    return ["ssh", "-F", str(config)] if config else ["ssh"]


def _ask_ssh(alias: str, config: Path | None) -> dict[str, list[str]]:
    try:
        done = subprocess.run(
            [*ssh_command(config), "-G", "--", alias], capture_output=True, text=True, errors="replace", timeout=10, check=False
        )
    except subprocess.TimeoutExpired:
        raise HostError(f"`ssh -G {alias}` didn't end within 10 s: look at `Match exec` in the ssh configuration") from None
    if done.returncode:
        raise HostError(f"`ssh -G {alias}` failed: {' '.join(done.stderr.split())[-200:]}")
    options: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        options.setdefault(key.lower(), []).append(value)
    return options


def _read_config(alias: str, config: Path | None) -> dict[str, list[str]]:
    import paramiko

    found: dict[str, list[str]] = {}
    for path in [config] if config else [Path("~/.ssh/config").expanduser(), SYSTEM_CONFIG]:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if _INCLUDE.search(text):
            raise HostError(f"{path} has an Include, which can't be followed without the ssh program: install openssh-client")
        try:
            options = paramiko.SSHConfig.from_text(text).lookup(alias)
        except paramiko.SSHException as error:
            raise HostError(f"{path} can't be read: {error}") from error
        for key, value in options.items():
            if key != "hostname" or value != alias:
                found.setdefault(key, value if isinstance(value, list) else [value])
    return found


def _target(alias: str, options: Mapping[str, list[str]]) -> Target:
    def one(key: str, default: str = "") -> str:
        value = (options.get(key) or [default])[0] or default
        return "" if value.lower() == "none" else value

    host = one("hostname", alias)
    user = one("user") or getpass.getuser()
    tokens = {"%h": host, "%p": one("port", "22"), "%r": user, "%n": alias, "%u": getpass.getuser(), "%d": str(Path.home())}
    keys = [Path(_filled(key, tokens)).expanduser() for key in options.get("identityfile", DEFAULT_KEYS)]
    known = one("userknownhostsfile", KNOWN_HOSTS).split() + one("globalknownhostsfile", "/etc/ssh/ssh_known_hosts").split()
    try:
        port = int(one("port", "22"))
    except ValueError:
        raise HostError(f"the port of {alias} is no number: {one('port')}") from None
    return Target(
        alias=alias,
        host=host,
        port=port,
        user=user,
        identity_files=tuple(str(key) for key in keys if key.is_file()),
        agent=(options.get("identityagent") or [""])[0].lower() != "none",
        jumps=tuple(jump.strip() for jump in one("proxyjump").split(",") if jump.strip()),
        proxy_command=_filled(one("proxycommand"), tokens) or None,
        known_hosts=tuple(str(Path(_filled(name, tokens)).expanduser()) for name in known),
        accept_new=one("stricthostkeychecking", "ask").lower() in ("accept-new", "no", "off", "false"),
        key_alias=one("hostkeyalias") or None,
        control_path=one("controlpath") or None,
    )


def _filled(text: str, tokens: Mapping[str, str]) -> str:
    return re.sub(r"%.", lambda match: tokens.get(match[0], "%" if match[0] == "%%" else match[0]), text)
