"""The local server: byte ranges, addresses, and nothing outside the site."""

import http.client
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchpipe.site.server import RANGE, SiteServer, byte_range, health_of


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SiteServer]:
    site = tmp_path / "site"
    (site / "runs").mkdir(parents=True)
    (site / "runs/index.html").write_text("<html><head></head><body>runs</body></html>")
    (site / "404.html").write_text("<html><head></head><body>no such page</body></html>")
    (site / "video.mp4").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "secret.txt").write_text("outside")
    (site / "out.txt").symlink_to(tmp_path / "secret.txt")
    (site / "folder").mkdir()
    (site / "folder/index.html").symlink_to(tmp_path / "secret.txt")
    (site / "circle").symlink_to(site / "circle")
    made = SiteServer(site, 0, health={"lab": "/some/lab", "pid": 7})
    thread = threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def ask(server: SiteServer, path: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=5)
    connection.request(method, path, headers={key.replace("_", "-"): value for key, value in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


WHOLE = "not a range: the whole file"


@pytest.mark.parametrize(
    ("header", "size", "span"),
    [
        ("bytes=0-99", 1000, (0, 99)),
        ("bytes=900-", 1000, (900, 999)),
        ("bytes=-100", 1000, (900, 999)),
        ("bytes=-5000", 1000, (0, 999)),
        ("bytes=0-5000", 1000, (0, 999)),
        ("bytes=5-9,20-30", 1000, (5, 9)),
        ("bytes= 5-9 , 20-30", 1000, (5, 9)),
        ("bytes=1000-", 1000, None),
        ("bytes=9-5", 1000, None),
        ("bytes=-0", 1000, None),
        ("bytes=0-0", 0, None),
        ("bytes=abc", 1000, WHOLE),
        ("bytes=-", 1000, WHOLE),
        ("bytes=--5", 1000, WHOLE),
        ("bytes=²-", 1000, WHOLE),
        (f"bytes=-{'9' * 5000}", 1000, WHOLE),
        ("items=0-1", 1000, WHOLE),
    ],
)
def test_ranges_mean_what_rfc_9110_says(header: str, size: int, span: tuple[int, int] | str | None) -> None:
    match = RANGE.match(header)
    assert (byte_range(match[1], match[2], size) if match else WHOLE) == span


def test_a_part_of_a_file_is_served(server: SiteServer) -> None:
    answer, body = ask(server, "/video.mp4", Range="bytes=256-511")
    assert answer.status == 206
    assert answer.getheader("Content-Range") == "bytes 256-511/2560"
    assert body == bytes(range(256))
    answer, _ = ask(server, "/video.mp4", Range="bytes=9999-")
    assert answer.status == 416


def test_a_range_of_another_version_gets_the_whole_file(server: SiteServer) -> None:
    answer, body = ask(server, "/video.mp4", Range="bytes=0-1", If_Range='"older"')
    assert (answer.status, len(body)) == (200, 2560)


def test_an_unchanged_file_is_not_sent_again(server: SiteServer) -> None:
    tag = ask(server, "/video.mp4")[0].getheader("ETag")
    answer, body = ask(server, "/video.mp4", If_None_Match=tag or "")
    assert (answer.status, body) == (304, b"")


def test_a_page_gets_the_script_that_refreshes_it_and_the_file_does_not(server: SiteServer) -> None:
    answer, body = ask(server, "/runs/?run=x")
    assert answer.status == 200
    assert b"/~live.js" in body
    assert b"~live" not in (server.out / "runs/index.html").read_bytes()


def test_a_folder_without_its_slash_leads_on_with_the_query(server: SiteServer) -> None:
    answer, _ = ask(server, "/runs?run=x")
    assert (answer.status, answer.getheader("Location")) == (301, "/runs/?run=x")


@pytest.mark.parametrize(
    "path",
    ["/missing/", "/../secret.txt", "/%2e%2e/secret.txt", "/out.txt", "//etc/passwd", "/runs/%00", "/a%2f..%2f..%2fsecret.txt"],
)
def test_what_is_not_in_the_site_is_not_served(server: SiteServer, path: str) -> None:
    answer, body = ask(server, path)
    assert answer.status == 404
    assert b"outside" not in body
    assert b"no such page" in body


def test_nothing_can_be_posted_to_a_page(server: SiteServer) -> None:
    assert ask(server, "/runs/", "POST")[0].status == 405


def test_head_has_the_headers_and_no_body(server: SiteServer) -> None:
    answer, body = ask(server, "/video.mp4", "HEAD")
    assert (answer.getheader("Content-Length"), body) == ("2560", b"")


def test_a_server_of_ours_is_told_from_anything_else(server: SiteServer) -> None:
    said = health_of(server.server_address[1])
    assert said is not None
    assert (said["lab"], said["pid"]) == ("/some/lab", 7)
    assert health_of(9) is None


def test_open_pages_hear_what_a_rebuild_wrote(server: SiteServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=5)
    connection.request("GET", "/~events")
    answer = connection.getresponse()
    assert answer.getheader("Content-Type") == "text/event-stream; charset=utf-8"
    assert answer.readline() == b": hello\n"
    server.bulletin.tell(["runs/index.html"])
    assert answer.readline() == b"\n"
    assert answer.readline() == b'data: ["runs/index.html"]\n'
    connection.close()


# --- hostile callers --------------------------------------------------------------------------------------------------


def raw(server: SiteServer, request: bytes) -> bytes:
    """Everything the server says to these bytes until it closes the connection."""
    with socket.create_connection(server.server_address[:2], timeout=5) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("host", ["bench.example", "127.0.0.1.evil.example", "localhost:80@evil.example", "192.168.0.7:8000", ""])
def test_a_name_that_somebody_made_lead_here_is_not_answered(server: SiteServer, host: str) -> None:
    for path in ("/runs/", "/~health", "/~events"):
        answer, body = ask(server, path, Host=host)
        assert answer.status == 421
        assert b"runs</body>" not in body


@pytest.mark.parametrize("host", ["localhost:9999", "127.0.0.1", "LOCALHOST", "[::1]:80"])
def test_a_port_forwarded_from_elsewhere_is_answered(server: SiteServer, host: str) -> None:
    assert ask(server, "/runs/", Host=host)[0].status == 200


def test_no_other_site_may_embed_or_frame_what_is_here(server: SiteServer) -> None:
    for path in ("/runs/", "/video.mp4", "/~health"):
        headers = ask(server, path)[0].headers
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["X-Frame-Options"] == "SAMEORIGIN"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Access-Control-Allow-Origin"] is None


@pytest.mark.parametrize(
    ("line", "header", "status"),
    [
        ("POST /~health", "Content-Length: -5", 400),
        ("GET /~health", "Content-Length: -1", 400),
        ("POST /~health", "Content-Length: abc", 400),
        ("POST /~health", "Transfer-Encoding: chunked", 400),
        ("POST /~health", "Content-Length: 99999999", 413),
        ("POST /runs/", "Content-Length: 99999999", 405),
        ("POST /~events", "X: y", 405),
        ("HEAD /~events", "X: y", 405),
        ("GET http://[::1", "X: y", 400),
        ("GET /" + "a" * 5000, "X: y", 404),
        ("GET /%ff%fe", "X: y", 404),
        ("GET /circle", "X: y", 404),
        ("GET /folder/", "X: y", 404),
        ("GET /runs%0d%0aX-Evil:1/", "X: y", 404),
    ],
)
def test_nonsense_gets_a_status_and_no_traceback(
    server: SiteServer, line: str, header: str, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    said = raw(server, f"{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{header}\r\n\r\n".encode())
    assert said.split()[1] == str(status).encode()
    assert b"X-Evil" not in said.partition(b"\r\n\r\n")[0]
    assert capfd.readouterr().err == ""


def test_a_body_that_nobody_reads_is_no_second_request(server: SiteServer) -> None:
    inner = b"GET /video.mp4 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    said = raw(server, b"GET /runs/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(inner), inner))
    assert said.count(b"HTTP/1.1 ") == 1


def test_callers_that_are_slow_keep_nobody_waiting(server: SiteServer) -> None:
    """Half a request each, on many connections; the next reader is served at once."""
    slow = [socket.create_connection(server.server_address[:2], timeout=5) for _ in range(50)]
    for connection in slow:
        connection.sendall(b"POST /~health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf")
    assert ask(server, "/runs/")[0].status == 200
    for connection in slow:
        connection.close()
