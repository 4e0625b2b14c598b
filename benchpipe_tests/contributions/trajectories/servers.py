"""Real HTTPS servers on loopback, honest and hostile, with a certificate made for the test."""

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from benchpipe.contributions.trajectories.fetching import Policy

NAMES = ("files.example", "other.example", "localhost")


def make_certificate(folder: Path) -> Path:
    """A certificate with its key for loopback and NAMES; good for a day."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    names: list[x509.GeneralName] = [x509.DNSName(each) for each in NAMES]
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([*names, x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "loopback.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return file


Answer = Callable[["Handler"], None]


class Server(ThreadingHTTPServer):
    """Answers by path. `asked` are the requests that came; `sent` counts body bytes that hostile answers got rid of."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, certificate: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.certificate = certificate
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.sent = 0

    @property
    def base(self) -> str:
        return f"https://127.0.0.1:{self.server_port}"

    def client_context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))

    def policy(self, **more: Any) -> Policy:
        """A policy that may ask this server, which lies on loopback."""
        return Policy(trusted=frozenset({("127.0.0.1", self.server_port)}), tls=self.client_context, **more)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Cut connections are meant."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        self.close_connection = True
        self.server.answers.get(self.path, missing)(self)

    do_HEAD = do_GET

    def head(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def body(self, data: bytes) -> None:
        if self.command == "GET":
            self.wfile.write(data)
            self.server.sent += len(data)


@contextmanager
def serve(certificate: Path) -> Iterator[Server]:
    """A running server."""
    server = Server(certificate)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def missing(handler: Handler) -> None:
    handler.head(404, Content_Length=0)


def gives(data: bytes) -> Answer:
    """The bytes, with their length."""

    def answer(handler: Handler) -> None:
        handler.head(200, Content_Length=len(data))
        handler.body(data)

    return answer


def status(code: int) -> Answer:
    return lambda handler: handler.head(code, Content_Length=0)


def redirects(to: str, code: int = 302) -> Answer:
    return lambda handler: handler.head(code, Location=to, Content_Length=0)


def endless(handler: Handler) -> None:
    """No length, and no end."""
    handler.head(200)
    while True:
        handler.body(b"\0" * 65536)


def announces(n_bytes: int, data: bytes = b"") -> Answer:
    """A length that is not the body's."""

    def answer(handler: Handler) -> None:
        handler.head(200, Content_Length=n_bytes)
        handler.body(data)

    return answer


def drips(data: bytes, seconds: float) -> Answer:
    """A byte at a time."""

    def answer(handler: Handler) -> None:
        handler.head(200, Content_Length=len(data))
        for byte in data:
            handler.body(bytes([byte]))
            time.sleep(seconds)

    return answer


def drips_headers(handler: Handler) -> None:
    """Headers that never end, one now and then."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for n in range(1000):
        handler.wfile.write(b"X-%d: y\r\n" % n)
        time.sleep(0.05)


def silent(handler: Handler) -> None:
    time.sleep(30)


def chatter(handler: Handler) -> None:
    handler.wfile.write(b"220 this is no web server\r\n")
