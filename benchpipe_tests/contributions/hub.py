"""The Hub that publishing is tested against, with what reading needs besides: revisions, pull requests, downloads."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from benchpipe_tests.publish.fake_hub import DATASET, FakeHub, Handler


class ReadableHub(FakeHub):
    """`revisions`: name of a branch or pull request → files, where it differs from main. `damage`: paths that are given altered."""

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = ReadableHandler
        self.revisions: dict[str, dict[str, bytes]] = {}
        self.damage: set[str] = set()
        self.read: list[str] = []

    def commit_of(self, name: str) -> str:
        return self.head if name in ("main", self.head) else hashlib.sha1(name.encode()).hexdigest()

    def files_at(self, revision: str) -> dict[str, bytes]:
        for name, files in self.revisions.items():
            if revision in (name, self.commit_of(name)):
                return files
        return self.files


class ReadableHandler(Handler):
    server: ReadableHub

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        api = f"/api/datasets/{DATASET}"
        if path.startswith(f"{api}/revision/"):
            sha = self.server.commit_of(path.removeprefix(f"{api}/revision/"))
            self.answer(200, {"id": DATASET, "sha": sha, "private": False, "siblings": []})
        elif path.startswith(f"{api}/tree/"):
            revision, _, folder = path.removeprefix(f"{api}/tree/").partition("/")
            self.tree(self.server.files_at(revision), folder, "recursive=true" in self.path.lower())
        elif path.startswith(f"/datasets/{DATASET}/resolve/"):
            revision, _, name = path.removeprefix(f"/datasets/{DATASET}/resolve/").partition("/")
            self.give(revision, name)
        else:
            super().do_GET()

    do_HEAD = do_GET

    def tree(self, files: dict[str, bytes], folder: str, recursive: bool) -> None:
        below = {name: data for name, data in files.items() if name.startswith(f"{folder}/")}
        if not below:
            return self.answer(404, {"error": "no such folder"}, {"X-Error-Code": "EntryNotFound"})
        deep = {name for name in below if "/" in name.removeprefix(f"{folder}/")}
        entries = [self.entry(name, data) for name, data in sorted(below.items()) if recursive or name not in deep]
        folders = {"/".join(name.split("/")[:n]) for name in deep for n in range(folder.count("/") + 2, name.count("/") + 1)}
        wanted = folders if recursive else {name for name in folders if name.count("/") == folder.count("/") + 1}
        directories = [{"type": "directory", "path": name, "oid": "0" * 40, "size": 0} for name in sorted(wanted)]
        return self.answer(200, [*directories, *entries])

    def give(self, revision: str, name: str) -> None:
        data = self.server.files_at(revision).get(name)
        if data is None:
            return self.answer(404, {"error": "no such file"}, {"X-Error-Code": "EntryNotFound"})
        data = data[:-1] + b"!" if name in self.server.damage else data
        self.send_response(200)
        headers = {
            "Content-Length": str(len(data)),
            "ETag": f'"{hashlib.sha1(data).hexdigest()}"',
            "X-Repo-Commit": self.server.commit_of(revision) if len(revision) != 40 else revision,
        }
        for header, text in headers.items():
            self.send_header(header, text)
        self.end_headers()
        if self.command == "GET":
            self.server.read.append(name)
            self.wfile.write(data)
        return None


@contextmanager
def readable_hub() -> Iterator[ReadableHub]:
    """A running server, stopped at the end."""
    server = ReadableHub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
