"""SSH by paramiko, the default transport: one connection per host, keys from the agent and from files, strict host keys.

Never asks for anything and never accepts a host key on its own, unless the user's configuration says `accept-new`.
"""

import contextlib
import logging
import select
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko

from benchpipe.hosts.resolve import Target, resolve, resolve_jump
from benchpipe.hosts.transport import TICK_S, ConnectionLost, HostError, Limits, Output, Running, Stop, Until

logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # what goes wrong is said once, by our own error

MAX_HOPS = 8


class _UnknownKey(paramiko.SSHException):
    """No known-hosts file names the server's key."""


class _KeepStrict(paramiko.MissingHostKeyPolicy):
    """Refuse unknown keys, or remember them where the configuration says accept-new. A changed key never comes here."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        if not self._target.accept_new:
            raise _UnknownKey
        file = Path(self._target.known_hosts[0])
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as known:
            known.write(f"{hostname} {key.get_name()} {key.get_base64()}\n")


class ParamikoConnection:
    """An open connection; `clients` are the hops and, last, the host itself."""

    def __init__(self, clients: list[paramiko.SSHClient], limits: Limits, cancelled: threading.Event) -> None:
        self._clients = clients
        self._limits = limits
        self._cancelled = cancelled

    def start(self, command: str) -> Running:
        return ChannelProgram(self._open(lambda channel: channel.exec_command(command)), self._cancelled)

    @contextlib.contextmanager
    def open_sftp(self) -> Iterator[paramiko.SFTPClient]:
        channel = self._open(lambda channel: channel.invoke_subsystem("sftp"))
        channel.settimeout(self._limits.connect_s)
        with sftp_session(channel) as session:
            yield session

    def alive(self) -> bool:
        transport = self._clients[-1].get_transport()
        return transport is not None and transport.is_active()

    def close(self) -> None:
        for client in reversed(self._clients):
            client.close()

    def _open(self, ask: Callable[[paramiko.Channel], None]) -> paramiko.Channel:
        """A new channel on which the host granted what `ask` asks for; paramiko itself would wait for its word without limit."""
        transport = self._transport()
        try:
            channel = transport.open_session(timeout=self._limits.connect_s)
            limit = threading.Timer(self._limits.connect_s, _shut, [channel])
            limit.start()
            try:
                ask(channel)
            finally:
                limit.cancel()
        except (paramiko.SSHException, OSError, EOFError) as error:
            if str(error) == "Channel closed." and transport.is_active():
                raise ConnectionLost(f"it refuses to start a program, or didn't within {self._limits.connect_s:.0f} s") from error
            raise _broken(error) from error
        return channel

    def _transport(self) -> paramiko.Transport:
        transport = self._clients[-1].get_transport()
        if transport is None:
            raise ConnectionLost("the connection is closed")
        return transport


@contextlib.contextmanager
def sftp_session(channel: paramiko.Channel) -> Iterator[paramiko.SFTPClient]:
    """File transfer over `channel`, whose limits hold. Whatever paramiko says of a broken session is a HostError."""
    try:
        with contextlib.closing(paramiko.SFTPClient(channel)) as session:
            yield session
    except (paramiko.SSHException, paramiko.SFTPError, TimeoutError, EOFError) as error:
        raise HostError(f"file transfer (sftp) broke off: {error or type(error).__name__}") from error


def connect(alias: str, config: Path | None, limits: Limits, cancelled: threading.Event) -> ParamikoConnection:
    """A connection to `alias`, through its jump hosts if it has any. Raises HostError, which names what to do."""
    clients: list[paramiko.SSHClient] = []
    try:
        _reach(resolve(alias, config), config, limits, clients)
    except BaseException:
        for client in reversed(clients):
            client.close()
        raise
    return ParamikoConnection(clients, limits, cancelled)


def _reach(target: Target, config: Path | None, limits: Limits, clients: list[paramiko.SSHClient], depth: int = 1) -> None:
    """Connect to `target`, hops first; every client that was opened is appended to `clients`."""
    if depth > MAX_HOPS:
        raise HostError(
            f"more than {MAX_HOPS} jump hosts behind each other: does the ProxyJump of {target.alias} lead in a circle?"
        )
    hops = [resolve_jump(jump, config) for jump in target.jumps]
    for hop in hops:
        if hop.alias == target.alias:  # `Host *` with a ProxyJump names the jump host itself too
            continue
        if hop is hops[0]:  # only the first hop's own way counts, as in OpenSSH
            _reach(hop, config, limits, clients, depth + 1)
        else:
            _login(hop, limits, clients)
    _login(target, limits, clients)


def _login(target: Target, limits: Limits, clients: list[paramiko.SSHClient]) -> None:
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(_KeepStrict(target))
    for file in target.known_hosts:
        with contextlib.suppress(OSError):
            client.load_system_host_keys(file)
    try:
        client.connect(
            target.key_alias or target.host,
            port=22 if target.key_alias else target.port,
            username=target.user,
            key_filename=list(target.identity_files),  # type: ignore[arg-type]
            allow_agent=target.agent,
            look_for_keys=False,
            sock=_socket(target, limits, clients),
            timeout=2 * limits.connect_s,  # key exchange, so that a missing banner is noticed before it
            banner_timeout=limits.connect_s,
            auth_timeout=limits.connect_s,
            channel_timeout=limits.connect_s,
        )
    except (paramiko.SSHException, OSError, EOFError, ValueError) as error:
        client.close()
        raise HostError(_explained(error, target, limits)) from error
    transport = client.get_transport()
    if transport is not None:
        transport.set_keepalive(limits.keep_alive_s)
    clients.append(client)


def _socket(
    target: Target, limits: Limits, clients: list[paramiko.SSHClient]
) -> socket.socket | paramiko.Channel | paramiko.ProxyCommand:
    """What carries the connection: a channel through the last hop, a proxy command, or plain TCP."""
    transport = clients[-1].get_transport() if clients else None
    if transport is not None:
        return transport.open_channel("direct-tcpip", (target.host, target.port), ("127.0.0.1", 0), timeout=limits.connect_s)
    if target.proxy_command:
        return paramiko.ProxyCommand(target.proxy_command)
    plain = socket.create_connection((target.host, target.port), timeout=limits.connect_s)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # a network that swallows everything is noticed by unanswered keep-alives
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 3000 * limits.keep_alive_s)
    return plain


def _explained(error: Exception, target: Target, limits: Limits) -> str:
    place = f"{target.host} port {target.port}"
    if isinstance(error, _UnknownKey):
        return f"the host key of {target.key_name} is not known: check and accept it once with `ssh {target.alias} true`"
    if isinstance(error, paramiko.BadHostKeyException):
        return (
            f"the host key of {target.key_name} has CHANGED, it may be another machine. Only if you know why: "
            f"`ssh-keygen -R '{target.key_name}'`, then `ssh {target.alias} true`"
        )
    if isinstance(error, paramiko.AuthenticationException) and "timeout" in str(error):
        return f"{place} doesn't answer the login within {limits.connect_s:.0f} s"
    if isinstance(error, paramiko.AuthenticationException):
        files = ", ".join(target.identity_files) or "no key file"
        agent = "the agent's keys" if target.agent else "no agent"
        return f"login as {target.user} on {place} was refused ({files}; {agent}): see `ssh {target.alias} true`, `ssh-add -l`"
    if isinstance(error, socket.gaierror):
        return f"the name {target.host} is not known: check HostName of `{target.alias}` in the ssh configuration"
    if isinstance(error, ConnectionRefusedError):
        return f"{place} refuses connections: is sshd running there, and is the port right?"
    if isinstance(error, TimeoutError):
        return f"{place} doesn't answer within {limits.connect_s:.0f} s"
    if "banner" in str(error):
        return f"{place} accepts connections but doesn't speak SSH within {limits.connect_s:.0f} s"
    return f"no SSH connection to {place}: {error or type(error).__name__}"


def _shut(channel: paramiko.Channel) -> None:
    """Close a channel, and with it whatever waits for it."""
    with contextlib.suppress(paramiko.SSHException, OSError, EOFError):
        channel.close()


def _broken(error: Exception) -> ConnectionLost:
    return ConnectionLost(f"the connection broke: {error or type(error).__name__}")


class ChannelProgram:
    """A program on the other end of a channel."""

    def __init__(self, channel: paramiko.Channel, cancelled: threading.Event) -> None:
        self._channel = channel
        self._cancelled = cancelled

    def talk(self, said: bytes, until: Until, *, seconds: float) -> Output:
        try:
            return self._talk(said, until, Stop(seconds, self._cancelled))
        except (paramiko.SSHException, OSError, EOFError) as error:
            raise _broken(error) from error

    def end(self) -> None:
        self._channel.close()

    def _talk(self, said: bytes, until: Until, stop: Stop) -> Output:
        output, rest, channel = Output(), memoryview(said), self._channel
        waiting = select.poll()
        waiting.register(channel.fileno(), select.POLLIN)
        while not until(output):
            stop.check()
            # asked before looking for output, which comes before either: so none is overlooked
            closed, ended = channel.eof_received or channel.closed, channel.exit_status_ready()
            while rest and channel.send_ready():
                rest = rest[channel.send(bytes(rest[: 1 << 15])) :]
            if channel.recv_ready():
                output.add(channel.recv(1 << 16))
            elif channel.recv_stderr_ready():
                output.add_error(channel.recv_stderr(1 << 16))
            elif closed:
                if channel.status_event.wait(TICK_S):
                    break
            elif not waiting.poll(1000 * TICK_S) and ended:
                break  # something it started still holds its output; nothing more of the program will come
        if until(output):
            return output
        if channel.exit_status < 0 and not (channel.transport and channel.transport.is_active()):
            raise ConnectionLost("the connection broke before the program there had ended")
        output.status = channel.exit_status if channel.exit_status >= 0 else None
        return output
