"""The scan of written bytes, before anything is switched in: our own rules, a second opinion, and forbidden fields.

It knows nothing of how the bytes came about. A finding says rule, file, line and a digest, never the value.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from benchpipe.files import sha256
from benchpipe.publish.find import Finder

SECOND_OPINION = "kingfisher"
FORBIDDEN_FIELDS = frozenset({"host", "hosts", "job", "where", "scan", "logs"})
"""No key of a run, a record, a digest or a log's top level may be one of these (runs-system 15.2)."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Something that must not leave. `file` is where it would have been published; `sha256` is what an allow-list names."""

    file: str
    line: int
    rule: str
    kind: str
    sha256: str = ""


class Allowed(msgspec.Struct, frozen=True, kw_only=True):
    """A value that a rule finds and that people have looked at: an entry of `allow` in `data/public.yml`."""

    rule: str
    sha256: str
    reason: str


@cache
def second_opinion() -> "SecondOpinion":
    """The one second opinion of this process: its rules take some tenths of a second to load, seconds the first time."""
    return SecondOpinion()


class SecondOpinion:
    """An independent scanner library, in process. Scanning never goes online; validating findings would, and isn't asked for."""

    def __init__(self) -> None:
        from kingfisher_sdk import Rules, Scanner

        self._scanner = Scanner(Rules(confidence="medium"))

    def find(self, data: bytes) -> list[tuple[int, str, bytes]]:
        """`(line, rule, value)` of each finding that the library would show."""
        return [
            (finding.location["line"], f"{SECOND_OPINION}:{finding.rule_id}", finding.secret.encode())
            for finding in self._scanner.scan(data)
            if finding.visible
        ]


class Scan:
    """Scans bytes with both opinions and an allow-list. Make it once per command."""

    def __init__(self, finder: Finder, *, allowed: Collection[Allowed] = (), second: SecondOpinion | None = None) -> None:
        self.finder = finder
        self._second = second
        self._allowed = {(entry.rule, entry.sha256) for entry in allowed}

    def bytes(self, file: str, data: bytes) -> list[Finding]:
        """Findings of one file's bytes, sorted, without the allowed ones."""
        found = {
            (data.count(b"\n", 0, span.start) + 1, span.rule.id, span.rule.kind, data[span.start : span.end])
            for span in self.finder.find(data)
        }
        if self._second:
            found |= {(line, rule, SECOND_OPINION, value) for line, rule, value in self._second.find(data)}
        digested = [(line, rule, kind, sha256(value)) for line, rule, kind, value in found]
        return sorted(
            Finding(file=file, line=line, rule=rule, kind=kind, sha256=digest)
            for line, rule, kind, digest in digested
            if (rule, digest) not in self._allowed
        )


def forbidden_fields(file: str, document: Any) -> list[Finding]:
    """Keys that would tell where a trial ran: of a run file, of each record and digest in it, or of a log's top level."""
    maps: list[Mapping[str, Any]] = [document] if isinstance(document, dict) else []
    if maps and isinstance(document.get("tasks"), dict):
        records = [record for modes in document["tasks"].values() for record in modes.values()]
        maps += records
        maps += [record["supersedes"] for record in records if isinstance(record.get("supersedes"), dict)]
        maps += [attempt for record in records for attempt in record.get("attempts") or ()]
    keys = sorted({key for one in maps for key in one if key in FORBIDDEN_FIELDS})
    return [Finding(file=file, line=1, rule=f"field:{key}", kind="machine field") for key in keys]


def allowed_values(raw: Mapping[str, Any]) -> Sequence[Allowed]:
    """The allow-list of `data/public.yml` (key `allow`); entries without a reason don't count."""
    entries = raw.get("allow")
    return [
        Allowed(rule=str(entry["rule"]), sha256=str(entry["sha256"]), reason=str(entry["reason"]))
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and {"rule", "sha256", "reason"} <= entry.keys() and str(entry["reason"]).strip()
    ]
