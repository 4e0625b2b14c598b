"""Networks that misbehave, and one that counts: small TCP servers in threads."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Proxy:
    """Passes bytes to and fro. `cut_after`: bytes towards the server after which every connection is dropped."""

    port: int
    cut_after: int | None = None
    sent: int = 0
    received: int = 0


@contextlib.contextmanager
def cutting_proxy(target: int) -> Iterator[Proxy]:
    """A proxy in front of the server on port `target` of loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        proxy = Proxy(server.getsockname()[1])
        threading.Thread(target=_accept, args=(server, target, proxy), daemon=True).start()
        yield proxy


@contextlib.contextmanager
def silent_server() -> Iterator[int]:
    """A server that accepts connections and never says a word; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept: list[socket.socket] = []

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    kept.append(server.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        for connection in kept:
            connection.close()


def _accept(server: socket.socket, target: int, proxy: Proxy) -> None:
    with contextlib.suppress(OSError):
        while True:
            client = server.accept()[0]
            upstream = socket.create_connection(("127.0.0.1", target))
            for source, sink, outward in ((client, upstream, True), (upstream, client, False)):
                threading.Thread(target=_pump, args=(source, sink, outward, proxy), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket, outward: bool, proxy: Proxy) -> None:
    passed = 0
    with contextlib.suppress(OSError):
        while data := source.recv(4096):
            passed += len(data)
            if outward:
                proxy.sent += len(data)
            else:
                proxy.received += len(data)
            if outward and proxy.cut_after is not None and passed > proxy.cut_after:
                break
            sink.sendall(data)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
