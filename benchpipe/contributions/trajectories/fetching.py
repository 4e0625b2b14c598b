"""Downloading from strangers: public https addresses only (looked at after DNS and after every redirect), within a size and a time.

What is connected to is the very address that was looked at, so that a name can't mean another one a moment later. Nothing
is read beyond the limit, and what comes is written to one file and nowhere else (F5, contributions 15.3).
"""

import contextlib
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from benchpipe import __version__
from benchpipe.errors import UsageError

BLOCK = 1 << 20
REDIRECTS = (301, 302, 303, 307, 308)
NO_HEAD = (405, 501)
"""Answers of servers that are there but don't do HEAD."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Unreachable(Exception):
    """The server could not be reached, answered no, or was too slow; it may be otherwise later."""


class Forbidden(Exception):
    """An address that is never asked: not https, not public, too many redirects. Trying again changes nothing."""


class TooLarge(Exception):
    """More bytes than declared or allowed."""


def system_addresses(host: str, port: int) -> list[str]:
    """Every address that the system's resolver gives for a name. Unreachable if it knows none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unreachable(f"{host} has no address") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True)
class Policy:
    """Whom to ask, and for how long. `hosts`: only these names (empty: any public one).

    `trusted` origins (host, port) may lie at private addresses: a lab's own storage.
    """

    hosts: frozenset[str] = frozenset()
    trusted: frozenset[tuple[str, int]] = frozenset()
    addresses: Callable[[str, int], list[str]] = system_addresses
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context
    redirects: int = 5
    idle_s: float = 30.0
    """Longest silence."""
    patience_s: float = 120.0
    bytes_per_s: int = 64 << 10
    """Slowest rate: a download may take `patience_s` and the time that its declared bytes take at this rate."""

    def seconds(self, n_bytes: int) -> float:
        """The whole time that a download of `n_bytes` may take."""
        return self.patience_s + n_bytes / self.bytes_per_s


class Fetched(NamedTuple):
    """Where the bytes came from in the end, and how many came."""

    resolved_url: str
    bytes: int


def is_public(address: str) -> bool:
    """Whether an IP address may be connected to. IPv4 addresses inside IPv6 ones are looked at themselves."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def vetted(url: str, policy: Policy) -> tuple[SplitResult, int, str]:
    """(parsed URL, port, address to connect to). Forbidden if it must not be asked; Unreachable without an address.

    All addresses of a name have to be public, not only the one that is taken.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError:
        raise Forbidden(f"{url[:200]} is no address") from None
    host = parts.hostname
    if parts.scheme != "https" or not host:
        raise Forbidden(f"{parts.scheme or 'a link without scheme'} is not https")
    if parts.username or parts.password or any(ord(char) <= 32 or ord(char) == 127 for char in url):
        raise Forbidden("the address holds a login, a space or a control character")
    if policy.hosts and host not in policy.hosts:
        raise Forbidden(f"{host} is not among the hosts that are asked")
    addresses = policy.addresses(host, port)
    if not addresses:
        raise Unreachable(f"{host} has no address")
    if (host, port) not in policy.trusted:
        private = next((address for address in addresses if not is_public(address)), None)
        if private is not None:
            raise Forbidden(f"{host} leads to {_kind(private)}")
    return parts, port, addresses[0]


def _kind(address: str) -> str:
    """Words for an address that is not public; the address itself is not told to strangers."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    return "a loopback address" if ip.is_loopback else "a private address" if ip.is_private else "an address that is not public"


class _Connection(http.client.HTTPSConnection):
    """A TLS connection to one address that was vetted, under the name it was vetted for."""

    def __init__(self, host: str, port: int, address: str, policy: Policy) -> None:
        self._tls = policy.tls()
        super().__init__(host, port, timeout=policy.idle_s, context=self._tls)
        self._address = address

    def connect(self) -> None:
        plain = socket.create_connection((self._address, self.port), self.timeout)
        try:
            self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)
        except BaseException:
            plain.close()
            raise


@dataclass
class _Clock:
    """Ends a connection when its time is over, whatever the server does: drips headers, drips bytes, says nothing."""

    seconds: float
    expired: bool = False
    _connection: http.client.HTTPConnection | None = None
    _timer: threading.Timer = field(init=False)

    def __post_init__(self) -> None:
        self._timer = threading.Timer(self.seconds, self._end)
        self._timer.daemon = True
        self._timer.start()

    def watch(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        if self.expired:
            raise Unreachable("took too long")

    def _end(self) -> None:
        self.expired = True
        sock = self._connection.sock if self._connection else None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def cancel(self) -> None:
        self._timer.cancel()


@contextlib.contextmanager
def _answer(url: str, policy: Policy, seconds: float, method: str) -> Iterator[tuple[str, Any]]:
    """(final URL, response with a status that is no redirect). Errors of the network become Unreachable."""
    clock = _Clock(seconds)
    host = ""
    try:
        for _ in range(policy.redirects + 1):
            parts, port, address = vetted(url, policy)
            host = parts.hostname or ""
            connection = _Connection(host, port, address, policy)
            clock.watch(connection)
            with contextlib.closing(connection):
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                headers = {"User-Agent": f"benchpipe/{__version__}", "Accept-Encoding": "identity", "Connection": "close"}
                connection.request(method, path, headers=headers)
                clock.watch(connection)
                response = connection.getresponse()
                location = response.getheader("Location")
                if response.status in REDIRECTS and location:
                    url = urljoin(url, location)
                    continue
                yield url, response
                if clock.expired:
                    raise Unreachable(f"{host} took too long")
                return
        raise Forbidden(f"more than {policy.redirects} redirects")
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unreachable(f"{host} {'took too long' if clock.expired else _words(error)}") from error
    except Unreachable as short:
        raise Unreachable(f"{host} took too long") if clock.expired else short from None
    finally:
        clock.cancel()


def _words(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return "has no valid certificate"
    if isinstance(error, TimeoutError):
        return "says nothing"
    if isinstance(error, http.client.HTTPException):
        return "does not speak HTTP"
    return "can't be connected to"


def fetch(url: str, target: Path, *, declared: int, limit: int, policy: Policy) -> Fetched:
    """Download to `target`, which is replaced. TooLarge as soon as more than `limit` bytes are announced or come.

    Unreachable and Forbidden as they say. `declared` bytes set the time that it may take.
    """
    with _answer(url, policy, policy.seconds(declared), "GET") as (final, response):
        host = urlsplit(final).hostname
        if response.status != 200:
            raise Unreachable(f"{host} answered {response.status}")
        announced = response.getheader("Content-Length", "")
        if announced.isdecimal() and int(announced) > limit:
            raise TooLarge(f"{int(announced):,} bytes are announced")
        n_bytes = 0
        with open(target, "wb") as file:
            while block := response.read(min(BLOCK, limit + 1 - n_bytes)):
                n_bytes += len(block)
                if n_bytes > limit:
                    raise TooLarge(f"more than {limit:,} bytes came")
                _write(file, block)
        expected = int(announced) if announced.isdecimal() else 1
        if n_bytes < expected:
            raise Unreachable(f"{host} ended after {n_bytes:,} of {expected:,} bytes")
        return Fetched(final, n_bytes)


def _write(file: BinaryIO, block: bytes) -> None:
    """A full disk is no fault of the server's."""
    try:
        file.write(block)
    except OSError as error:
        raise UsageError(f"{file.name}: can't be written ({error.strerror}); check space and rights") from error


def look(url: str, policy: Policy) -> None:
    """Whether something still answers at a link. Unreachable or Forbidden if not; no body is read."""
    with _answer(url, policy, policy.patience_s, "HEAD") as (final, response):
        if response.status >= 400 and response.status not in NO_HEAD:
            raise Unreachable(f"{urlsplit(final).hostname} answered {response.status}")
