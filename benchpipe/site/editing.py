"""Curation from the page: routes that `benchpipe edit` adds to the server. Writes files of `state/` and nothing else.

A request needs the token of the printed address, the server's own address as host, and, where a browser says one, as
origin. A change is shown as a diff first; it is written only onto the bytes that the diff was made from.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from benchpipe.checks.rules import Finding, Workspace, run_rules
from benchpipe.errors import BenchpipeError
from benchpipe.files import lock, sha256, write_bytes
from benchpipe.lab import Lab, path_part
from benchpipe.registry.load import load_registry
from benchpipe.site.curation import Change, NoSuchPlace, changed, difference
from benchpipe.site.server import Request, Response, Route, json_response

SCRIPT = "/~edit.js"
PREVIEW = "/~edit/preview"
APPLY = "/~edit/apply"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What the page sends. `digest` names the bytes that the shown diff was made from; a preview needs none."""

    change: Change
    digest: str = ""


@dataclass
class Editor:
    """Serves the edit routes of one lab. `token` has to come with every request; `hosts` are the server's own addresses."""

    lab: Lab
    token: str
    hosts: set[str] = field(default_factory=set)

    def routes(self) -> Mapping[str, Route]:
        """The routes to add to the server."""
        return {SCRIPT: self._script, PREVIEW: self._guarded(self.preview), APPLY: self._guarded(self.apply)}

    def _script(self, request: Request) -> Response:
        return Response(200, (self.lab.templates / "edit" / "edit.js").read_bytes(), "text/javascript")

    def _guarded(self, act: Any) -> Route:
        def route(request: Request) -> Response:
            if reason := self.refusal(request):
                return json_response({"ok": False, "error": reason}, 403)
            try:
                order = msgspec.json.decode(request.body, type=Order)
                return json_response({"ok": True, **act(order)})
            except msgspec.MsgspecError as error:
                return json_response({"ok": False, "error": f"not an order: {error}"}, 400)
            except Conflict as error:
                return json_response({"ok": False, "error": str(error)}, 409)
            except BenchpipeError as error:
                return json_response({"ok": False, "error": str(error)}, 422)

        return route

    def refusal(self, request: Request) -> str:
        """Why a request is not heard; "" if it is."""
        if request.method != "POST":
            return "only POST"
        if request.headers.get("host", "") not in self.hosts:
            return "wrong host"
        origin = request.headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in self.hosts:
            return "wrong origin"
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return "only application/json"
        if not hmac.compare_digest(request.headers.get("x-benchpipe-token", "").encode(), self.token.encode()):
            return "wrong token: open the address that `benchpipe edit` printed"
        return ""

    def preview(self, order: Order) -> dict[str, Any]:
        """What the change would do: the file, the diff, the digest of the present bytes. Refuses what `check` would."""
        file = file_of(self.lab, order.change)
        before, after, warnings = self._planned(file, order.change)
        return {
            "file": self.lab.relative(file),
            "digest": sha256(before.encode()),
            "diff": difference(before, after, self.lab.relative(file)),
            "warnings": warnings,
        }

    def apply(self, order: Order) -> dict[str, Any]:
        """Write the change onto the bytes that the preview showed. Conflict if the file has others now."""
        file = file_of(self.lab, order.change)
        with lock(self.lab.lock_file("edit"), wait=True):
            before, after, _ = self._planned(file, order.change)
            if sha256(before.encode()) != order.digest:
                raise Conflict(f"{self.lab.relative(file)} changed meanwhile: look at the new diff and try again")
            write_bytes(file, after.encode())
        return {"file": self.lab.relative(file), "digest": sha256(after.encode())}

    def _planned(self, file: Path, change: Change) -> tuple[str, str, list[str]]:
        """The file's text before and after the change, and what `check` would newly warn of."""
        name = self.lab.relative(file)
        if file.is_symlink():  # replacing it would part it from the file that it points to, which may not be in `state/`
            raise Refused(f"{name} is a link: edit the file that it points to by hand, or put a copy in its place")
        try:
            before = file.read_bytes().decode() if file.is_file() else ""
            after = changed(before, change)
        except UnicodeDecodeError as error:
            raise Refused(f"{name} is not UTF-8 (byte {error.start}): correct it by hand first") from error
        except NoSuchPlace as error:
            raise Refused(f"{name}: {error}") from error
        found = new_findings(self.lab, file, after)
        if faults := [finding for finding in found if finding.severity == "error"]:
            raise Refused("; ".join(map(_said, faults)))
        return before, after, list(map(_said, found))


class Conflict(BenchpipeError):
    """The file isn't what the person saw."""


class Refused(BenchpipeError):
    """`check` would call the result wrong."""


def file_of(lab: Lab, change: Change) -> Path:
    """The one file that a change touches."""
    folder = lab.state_runs if change.about_run else lab.state_tasks
    return folder / f"{path_part(change.benchmark)}.yml"


def new_findings(lab: Lab, file: Path, text: str) -> list[Finding]:
    """What `check` would find in addition with the new text."""
    before = {_same(finding) for finding in run_rules(Workspace(lab, load_registry(lab)))}
    after = run_rules(Workspace(lab, load_registry(lab, overrides={file: text})))
    return [finding for finding in after if _same(finding) not in before]


def _said(finding: Finding) -> str:
    return f"{finding.file}: {finding.message} ({finding.rule})"


def _same(finding: Finding) -> tuple[str, str, str]:
    """A finding without its line, which moves."""
    return finding.rule, finding.file, finding.message
