"""A small web server for a built site on 127.0.0.1: byte ranges, and pages that refresh themselves after a rebuild.

It serves files and routes it was given; what those do is not its matter. It never listens beyond loopback.
"""

import email.utils
import json
import mimetypes
import queue
import re
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

FIRST_PORT: Final = 8000
PORTS_TRIED: Final = 200
HEALTH: Final = "/~health"
EVENTS: Final = "/~events"
LIVE: Final = "/~live.js"
BLOCK: Final = 1 << 20
STRANGERS: Final = {
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "SAMEORIGIN",
}
"""What keeps pages of other sites from learning addresses here, and from embedding or framing what is served."""

LIVE_SCRIPT: Final = b"""// Served locally only: reload when a rebuild wrote this page, or something that every page uses.
const here = decodeURIComponent(location.pathname).replace(/^\\//, "").replace(/(^|\\/)$/, "$1index.html");
new EventSource("/~events").onmessage = ({ data }) => {
  const written = JSON.parse(data);
  if (!written.some((path) => path === here || path.startsWith("static/"))) return;
  const dialog = document.querySelector("dialog[open]"); // somebody types: what they wrote must not go
  if (dialog) dialog.addEventListener("close", () => location.reload());
  else location.reload();
};
"""


@dataclass(frozen=True)
class Response:
    """What a route answers."""

    status: int
    body: bytes
    content_type: str = "application/json"


@dataclass(frozen=True)
class Request:
    """What a route is asked: the headers in lower case, the body up to 1 MiB."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


Route = Callable[[Request], Response]


def json_response(value: Any, status: int = 200) -> Response:
    """`value` as a JSON answer."""
    return Response(status, json.dumps(value).encode())


class SiteServer(ThreadingHTTPServer):
    """Serves the folder `out` on 127.0.0.1:`port`, with routes below `/~`."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self,
        out: Path,
        port: int,
        *,
        health: Mapping[str, Any] | None = None,
        routes: Mapping[str, Route] | None = None,
        scripts: tuple[str, ...] = (),
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.out = out.resolve()
        self.routes: dict[str, Route] = {
            HEALTH: lambda _: json_response({"app": "benchpipe", **(health or {})}),
            LIVE: lambda _: Response(200, LIVE_SCRIPT, "text/javascript"),
            **(routes or {}),
        }
        self.inserted = "".join(f'<script type="module" src="{src}"></script>\n' for src in (LIVE, *scripts)).encode()
        self.bulletin = Bulletin()

    @property
    def address(self) -> str:
        """The address to print."""
        return f"http://127.0.0.1:{self.server_address[1]}/"


@dataclass
class Bulletin:
    """Tells every open page which files a rebuild wrote."""

    _readers: set["queue.SimpleQueue[bytes]"] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, written: list[str]) -> None:
        """Send the list of written paths to every reader."""
        data = b"data: " + json.dumps(written).encode() + b"\n\n"
        with self._lock:
            for reader in self._readers:
                reader.put(data)

    def messages(self) -> Iterator[bytes]:
        """Messages for one reader, with a sign of life every 15 s."""
        mine: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        with self._lock:
            self._readers.add(mine)
        try:
            yield b": hello\n\n"
            while True:
                try:
                    yield mine.get(timeout=15)
                except queue.Empty:
                    yield b": still here\n\n"
        finally:
            with self._lock:
                self._readers.discard(mine)


class _Handler(BaseHTTPRequestHandler):
    server: SiteServer
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_POST(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        try:
            self._dispatch(with_body)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True

    def _dispatch(self, with_body: bool) -> None:
        size = body_size(self.headers.get("Content-Length"), self.headers.get("Transfer-Encoding"))
        if size != 0:  # whoever leaves a body unread takes no further request from this connection
            self.close_connection = True
        try:
            split = urllib.parse.urlsplit(self.path)
        except ValueError:
            return self._refuse(400, "no address", with_body)
        path = urllib.parse.unquote(split.path)
        if not _is_local(self.headers.get("Host")):
            self._refuse(421, "this server answers to 127.0.0.1 and localhost only", with_body)
        elif path == EVENTS and self.command == "GET":
            self._events()
        elif path in self.server.routes:
            if size is None or size > BLOCK:
                return self._refuse(*((400, "no length of the body") if size is None else (413, "too large")), with_body)
            query = dict(urllib.parse.parse_qsl(split.query))
            headers = {key.lower(): value for key, value in self.headers.items()}
            asked = Request(self.command, path, query, headers, self.rfile.read(size))
            self._send(self.server.routes[path](asked), with_body)
        elif self.command == "POST" or path == EVENTS:
            self._refuse(405, "nothing to post to here", with_body)
        else:
            self._file(path, split.query, with_body)
        return None

    def _refuse(self, status: int, reason: str, with_body: bool) -> None:
        self.close_connection = True
        self._send(Response(status, reason.encode(), "text/plain"), with_body)

    def _send(self, response: Response, with_body: bool) -> None:
        self._head(response.status, response.content_type, len(response.body))
        if with_body:
            self.wfile.write(response.body)

    def _head(self, status: int, content_type: str, length: int | None, extra: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        if content_type.startswith("text/") or content_type == "application/json":
            content_type += "; charset=utf-8"
        headers = {"Content-Type": content_type, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
        headers |= {
            "Referrer-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "X-Frame-Options": "SAMEORIGIN",
        }
        headers |= extra or {}
        if length is not None:
            headers["Content-Length"] = str(length)
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()

    def _events(self) -> None:
        self.close_connection = True
        self._head(200, "text/event-stream", None)
        for message in self.server.bulletin.messages():
            self.wfile.write(message)
            self.wfile.flush()

    def _file(self, path: str, query: str, with_body: bool) -> None:
        file = self._find(path)
        if file and file.is_dir():
            if not path.endswith("/"):
                where = urllib.parse.quote(path) + "/" + (f"?{query}" if query else "")
                self._head(301, "text/plain", 0, {"Location": "/" + where.lstrip("/")})
                return
            file = self._find(f"{path}/index.html")
        if file is None or not file.is_file():
            missing = self.server.out / "404.html"
            body = missing.read_bytes() if missing.is_file() else b"not found"
            self._send(Response(404, body, "text/html"), with_body)
        elif file.suffix == ".html":
            body = file.read_bytes().replace(b"</head>", self.server.inserted + b"</head>", 1)
            self._send(Response(200, body, "text/html"), with_body)
        else:
            self._plain(file, with_body)

    def _find(self, path: str) -> Path | None:
        """The file or folder at an address; None for one outside the site."""
        try:
            file = (self.server.out / path.lstrip("/")).resolve()
            file.is_dir()
        except (OSError, ValueError, RuntimeError):  # a NUL, a name that is too long, links in a circle
            return None
        return file if file.is_relative_to(self.server.out) else None

    def _plain(self, file: Path, with_body: bool) -> None:
        stat = file.stat()
        tag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'
        extra = {
            "ETag": tag,
            "Accept-Ranges": "bytes",
            "Last-Modified": email.utils.formatdate(stat.st_mtime, usegmt=True),
        }
        kind = MIME.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if self.headers.get("If-None-Match") == tag:
            self._head(HTTPStatus.NOT_MODIFIED, kind, None, extra)
            return
        wanted = RANGE.match(self.headers.get("Range") or "")
        if wanted and self.headers.get("If-Range") in (None, tag):
            span = byte_range(wanted[1], wanted[2], stat.st_size)
            if span is None:
                extra["Content-Range"] = f"bytes */{stat.st_size}"
                self._head(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, kind, 0, extra)
                return
            first, last = span
            extra["Content-Range"] = f"bytes {first}-{last}/{stat.st_size}"
            self._head(HTTPStatus.PARTIAL_CONTENT, kind, last - first + 1, extra)
        else:
            first, last = 0, stat.st_size - 1
            self._head(HTTPStatus.OK, kind, stat.st_size, extra)
        if with_body:
            self._copy(file, first, last - first + 1)

    def _copy(self, file: Path, start: int, size: int) -> None:
        with file.open("rb") as source:
            source.seek(start)
            while size > 0 and (block := source.read(min(BLOCK, size))):
                self.wfile.write(block)
                size -= len(block)
        if size:  # the file shrank meanwhile: the promised length can't be kept
            self.close_connection = True


MIME: Final = {
    ".js": "text/javascript",
    ".json": "application/json",
    ".csv": "text/csv",
    ".atom": "application/atom+xml",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".parquet": "application/vnd.apache.parquet",
    ".jsonl": "text/plain",
}


RANGE: Final = re.compile(r"bytes=[ \t]*(?=[0-9]|-[0-9])([0-9]{0,18})-([0-9]{0,18})[ \t]*(?:,|$)")
"""The first range of a header. A header that is none is as good as absent (RFC 9110, 14.2)."""


def byte_range(first: str, last: str, size: int) -> tuple[int, int] | None:
    """First and last byte of the range `first`-`last`, either of which may be empty; None if nothing of it lies in the file.

    Of several ranges only the first is answered, which a client must be ready for.
    """
    if not first:
        return (max(0, size - int(last)), size - 1) if int(last) and size else None
    span = int(first), min(int(last or size - 1), size - 1)
    return span if span[0] <= span[1] else None


def body_size(length: str | None, encoding: str | None) -> int | None:
    """Bytes of the body that follows; None where the two headers don't say how many (chunked, nonsense)."""
    said = length or "0"
    return None if encoding or not re.fullmatch("[0-9]{1,18}", said) else int(said)


def _is_local(host: str | None) -> bool:
    """Whether a request was meant for this machine, not for a name that somebody made lead here (DNS rebinding).

    The port may be another one, since ports are forwarded over ssh.
    """
    return host is None or re.fullmatch(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", host.lower()) is not None


def health_of(port: int, timeout: float = 1.0) -> Mapping[str, Any] | None:
    """What a benchpipe server at that port says of itself; None if something else or nothing answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{HEALTH}", timeout=timeout) as answer:
            said = json.loads(answer.read(10_000))
    except (OSError, ValueError):
        return None
    return said if isinstance(said, dict) and said.get("app") == "benchpipe" else None
