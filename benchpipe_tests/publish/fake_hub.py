"""A server on loopback that speaks as much of the Hub's API as an upload needs, and fails on purpose.

Faults are given by name and are used up in order, each at the first request that it fits:
`429` (preupload, with Retry-After), `400` (preupload),
`500` (the commit is stored, the answer is an error), `412` (somebody else commits first),
`cut` (the connection is cut in the middle of a PUT).
"""

import base64
import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

DATASET = "some-lab/agent-runs"
SMALL = 512
"""Larger files go through LFS."""


class FakeHub(ThreadingHTTPServer):
    """The dataset: `files` (path → bytes), `commits` (id and what each added and deleted)."""

    daemon_threads = True

    def __init__(self, faults: tuple[str, ...] = ()) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.blobs: dict[str, bytes] = {}
        self.commits: list[tuple[str, list[str], list[str]]] = []
        self.puts: list[str] = []
        self.faults = list(faults)
        self.used: list[str] = []
        self.member = True
        self.guard = threading.RLock()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def head(self) -> str:
        return hashlib.sha1(f"commit {len(self.commits)}".encode()).hexdigest()

    def fault(self, name: str) -> bool:
        with self.guard:
            if self.faults and self.faults[0] == name:
                self.used.append(self.faults.pop(0))
                return True
            return False

    def commit(self, added: dict[str, bytes], deleted: list[str]) -> None:
        with self.guard:
            self.files |= added
            for path in deleted:
                del self.files[path]
            self.commits.append((self.head, sorted(added), sorted(deleted)))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Cut connections are meant."""


class Handler(BaseHTTPRequestHandler):
    server: FakeHub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tests read what was stored."""

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if not self.server.member:
            self.answer(403, {"error": "no"})
        elif path == f"/api/datasets/{DATASET}":
            self.answer(200, {"id": DATASET, "sha": self.server.head, "private": False, "siblings": []})
        elif path.startswith(f"/api/datasets/{DATASET}/tree/"):
            folder = path.removeprefix(f"/api/datasets/{DATASET}/tree/").partition("/")[2]
            found = {name: data for name, data in self.server.files.items() if name.startswith(f"{folder}/")}
            if found:
                self.answer(200, [self.entry(name, data) for name, data in sorted(found.items())])
            else:
                self.answer(404, {"error": "no such folder"}, {"X-Error-Code": "EntryNotFound"})
        else:
            self.answer(404, {"error": "not here"})

    def entry(self, name: str, data: bytes) -> dict[str, Any]:
        oid = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        entry: dict[str, Any] = {"type": "file", "path": name, "size": len(data), "oid": oid}
        if len(data) > SMALL:
            entry["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
        return entry

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        if path == f"/api/datasets/{DATASET}/preupload/main":
            if self.server.fault("429"):
                return self.answer(429, {"error": "slow down"}, {"Retry-After": "1"})
            if self.server.fault("400"):
                return self.answer(400, {"error": "a path that it doesn't take"})
            files = json.loads(body)["files"]
            assert len(files) <= 256
            modes = [
                {"path": f["path"], "uploadMode": "lfs" if f["size"] > SMALL else "regular", "shouldIgnore": False} for f in files
            ]
            return self.answer(200, {"files": modes})
        if path.startswith(f"/api/datasets/{DATASET}/paths-info/"):
            asked = parse_qs(body.decode()).get("paths", [])
            found = {name: data for name, data in self.server.files.items() if name in asked}
            return self.answer(200, [self.entry(name, data) for name, data in found.items()])
        if path == "/api/validate-yaml":  # what the client asks before it commits a card
            return self.answer(200, {"errors": [], "warnings": []})
        if path == f"/datasets/{DATASET}.git/info/lfs/objects/batch":
            return self.answer(200, {"transfer": "basic", "objects": [self.object(one) for one in json.loads(body)["objects"]]})
        if path == f"/api/datasets/{DATASET}/commit/main":
            return self.commit([json.loads(line) for line in body.splitlines()])
        return self.answer(404, {"error": "not here"})

    def object(self, one: dict[str, Any]) -> dict[str, Any]:
        if one["oid"] in self.server.blobs:
            return one
        return {**one, "actions": {"upload": {"href": f"{self.server.endpoint}/put/{one['oid']}", "header": {}}}}

    def commit(self, lines: list[dict[str, Any]]) -> None:
        server = self.server
        with server.guard:
            if server.fault("412"):
                server.commit({"somebody/else.txt": b"x"}, [])
            if lines[0]["value"].get("parentCommit") not in (None, server.head):
                return self.answer(412, {"error": "the branch has moved"})
            added: dict[str, bytes] = {}
            for line in lines[1:]:
                value = line["value"]
                if line["key"] == "file":
                    added[value["path"]] = base64.b64decode(value["content"])
                elif line["key"] == "lfsFile":
                    added[value["path"]] = server.blobs[value["oid"]]
            server.commit(added, [line["value"]["path"] for line in lines if line["key"] == "deletedFile"])
            if server.fault("500"):
                return self.answer(500, {"error": "after having stored it"})
            url = f"{server.endpoint}/datasets/{DATASET}/commit/{server.head}"
            return self.answer(200, {"success": True, "commitOid": server.head, "commitUrl": url, "hookOutput": ""})

    def do_PUT(self) -> None:
        size = int(self.headers["Content-Length"])
        if self.server.fault("cut"):
            self.rfile.read(size // 2)
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return None
        data = self.rfile.read(size)
        oid = self.path.rpartition("/")[2]
        if hashlib.sha256(data).hexdigest() != oid:
            return self.answer(400, {"error": "not that content"})
        with self.server.guard:
            self.server.blobs[oid] = data
            self.server.puts.append(oid)
        return self.answer(200, {})

    def answer(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", "Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def fake_hub(*faults: str) -> Iterator[FakeHub]:
    """A running server, stopped at the end."""
    server = FakeHub(faults)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
