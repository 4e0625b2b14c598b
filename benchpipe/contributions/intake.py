"""From the text of an issue to the files of a submission, with the contributor as author (contributions 2).

Pure but for `branch`, which makes a commit with git's plumbing on our own repository: no file of the working tree is touched,
and nothing from the issue becomes a command, an option or a path that was not checked.
"""

import difflib
import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from benchpipe.contributions.codes import CODES
from benchpipe.contributions.file_rules import field, path_fault, runs_of
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.strict_json import Refused, dumps, parse
from benchpipe.errors import BenchpipeError, UsageError

_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
_ATTACHMENT = re.compile(r"\[[^\]\n]*\]\((https://[^\s)]+\.json)\)")
_HEADING = re.compile(r"^#{1,6} +(.*)$", re.MULTILINE)
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
MAX_ISSUE = 1 << 18


@dataclass(frozen=True)
class Author:
    """Who sent it, by the public no-reply identity."""

    login: str
    number: int | None = None

    @property
    def email(self) -> str:
        """The address that the code host gives to whoever hides theirs."""
        return f"{f'{self.number}+' if self.number else ''}{self.login}@users.noreply.github.com"


@dataclass(frozen=True)
class Intake:
    """Files to add, path below the repository → text. `had_contact`: the issue held one; it is in none of the files."""

    name: str
    files: dict[str, str]
    had_contact: bool


class NotTaken(BenchpipeError):
    """An issue from which no submission can be made."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.code} {finding.message} {finding.hint}")
        self.finding = finding


def issue_of(text: str) -> tuple[str, Author | None]:
    """(body, author) of an issue: as the code host's JSON (`body`, `author.login` or `user.login`), or the bare body."""
    if len(text) > MAX_ISSUE:
        raise UsageError(f"the issue has {len(text):,} characters; the limit is {MAX_ISSUE:,}")
    try:
        value = json.loads(text)
    except ValueError:
        return text, None
    if not isinstance(value, dict) or not isinstance(value.get("body"), str):
        return text, None
    who = value.get("author") or value.get("user")
    login = field(who, "login")
    number = field(who, "id") if isinstance(field(who, "id"), int) else None
    return value["body"], author(login, number) if isinstance(login, str) else None


def author(login: str, number: int | None = None) -> Author:
    """An author by login. UsageError for what can't be a login."""
    if not _LOGIN.fullmatch(login):
        raise UsageError(f"{login!r} is no login name")
    return Author(login, number)


def take(body: str, attachment: str | None = None) -> Intake:
    """The files of an issue: the submission, and per-task files from blocks below a heading that says so.

    `attachment` is the text of the issue's attached .json, if a maintainer downloaded it. NotTaken without a candidate or
    with several (INTAKE-001, -002); UsageError where the submission can't be read.
    """
    body = body.replace("\r\n", "\n")
    blocks = [(match["info"].strip(), _heading_before(body, match.start()), match["body"]) for match in _FENCE.finditer(body)]
    candidates = [text for info, heading, text in blocks if info.lower() == "json" and "per-task" not in heading.lower()]
    if not candidates and attachment is not None:
        candidates = [attachment]
    if not candidates:
        links = _ATTACHMENT.findall(body)
        if len(links) == 1:
            raise UsageError(f"the submission is attached: download it and give it with --attachment ({links[0]})")
        raise NotTaken(CODES["INTAKE-002"].finding(n=len(links)) if links else CODES["INTAKE-001"].finding())
    if len(candidates) > 1:
        raise NotTaken(CODES["INTAKE-002"].finding(n=len(candidates)))
    try:
        doc = parse(candidates[0])
    except Refused as refused:
        raise UsageError(f"the submission in the issue {refused}") from None
    return _files(
        doc, [text for info, heading, text in blocks if "per-task" in heading.lower() or info.lower().startswith("json ")]
    )


def _heading_before(body: str, position: int) -> str:
    headings = [match[1] for match in _HEADING.finditer(body, 0, position)]
    return headings[-1] if headings else ""


def _files(doc: Any, per_task: list[str]) -> Intake:
    names = [field(doc, "dataset"), field(doc, "method", "name"), field(doc, "variant")]
    if not all(isinstance(name, str) and not path_fault(name) and "/" not in name for name in names):
        raise UsageError("the submission lacks a plain dataset, method.name or variant; ask for them")
    had_contact = bool(field(doc, "credit", "contact"))
    if isinstance(doc.get("credit"), dict):
        doc["credit"].pop("contact", None)
    place = "contrib/results/" + "/".join(names)
    files = {f"{place}.json": dumps(doc)}
    runs = runs_of(doc)
    if len(per_task) > len(runs):
        raise UsageError(f"the issue holds {len(per_task)} per-task blocks for {len(runs)} run(s)")
    for (n, run), text in zip(runs, per_task, strict=False):
        path = run.get("per_task")
        if not isinstance(path, str) or path_fault(path) or not path.startswith(f"results/{'/'.join(names)}/"):
            raise UsageError(f"runs[{n}].per_task has to lie below results/{'/'.join(names)}/; ask for it")
        files[f"contrib/{path}"] = text if text.endswith("\n") else text + "\n"
    return Intake("/".join(names), files, had_contact)


def patch(intake: Intake, who: Author, when: datetime, number: int | None = None) -> str:
    """A mail that `git am` applies: the new files, with the contributor as author."""
    subject = f"Contributed result: {intake.name}" + (f" (#{number})" if number else "")
    head = [
        "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001",
        f"From: {who.login} <{who.email}>",
        f"Date: {format_datetime(when)}",
        f"Subject: [PATCH] {subject}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=UTF-8",
        "Content-Transfer-Encoding: 8bit",
        "",
        "---",
    ]
    return (
        "\n".join(head) + "\n" + "".join(_new_file(path, text) for path, text in sorted(intake.files.items())) + "-- \nbenchpipe\n"
    )


def _new_file(path: str, text: str) -> str:
    lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    diff = list(difflib.unified_diff([], [f"{line}\n" for line in lines], "/dev/null", f"b/{path}", n=0))
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n" + "".join(diff)


def branch(repository: Path, name: str, intake: Intake, who: Author, when: datetime) -> str:
    """A branch with one commit on top of HEAD that adds the files; the commit's id. UsageError if git says no."""
    if name.startswith("-"):
        raise UsageError(f"{name}: a branch's name can't begin with '-'")
    stamp = when.isoformat(timespec="seconds")
    with tempfile.TemporaryDirectory() as place:
        environment = {
            **os.environ,
            "GIT_INDEX_FILE": str(Path(place) / "index"),
            "GIT_AUTHOR_NAME": who.login,
            "GIT_AUTHOR_EMAIL": who.email,
            "GIT_AUTHOR_DATE": stamp,
        }

        def git(*arguments: str, data: str | None = None) -> str:
            command = ["git", "-C", str(repository), *arguments]
            done = subprocess.run(command, input=data, capture_output=True, text=True, env=environment, check=False)
            if done.returncode:
                raise UsageError(f"git {arguments[0]}: {done.stderr.strip() or 'failed'}")
            return done.stdout.strip()

        git("check-ref-format", f"refs/heads/{name}")
        git("read-tree", "HEAD")
        for path, text in intake.files.items():
            blob = git("hash-object", "-w", "--stdin", "--no-filters", data=text)
            git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        commit = git("commit-tree", git("write-tree"), "-p", "HEAD", "-m", f"Contributed result: {intake.name}")
        git("update-ref", f"refs/heads/{name}", commit, "0" * 40)
        return commit
