"""What can be said about a submission from its file alone (F2): the first check of the gate, and all that the validator does.

Standard library only: this module is a part of `contrib/validate.py`, where it is the end of the script.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchpipe.contributions.contacts import MAX_CONTACTS, contacts_of, told
from benchpipe.contributions.file_codes import SUB
from benchpipe.contributions.file_rules import file_findings
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.schema_rules import shape_findings
from benchpipe.contributions.strict_json import Refused, decode, lines_of, parse, read_limited

USAGE = """usage: python3 contrib/validate.py FILE...

Checks that submissions have the right shape and agree with themselves. It does not look at the numbers behind them: that is
what `benchpipe contrib check FILE` does. Exit: 0 fine, 1 something to mend, 2 wrong use."""


def document_findings(data: bytes, place: str, schema: dict[str, Any], *, written: Sequence[str] = ()) -> tuple[Any, list[Finding]]:
    """(parsed value or None, findings) of a file's bytes.

    `place` is the file's path with `/`; `written` are the sha256 of this file as the platform wrote it itself.
    """
    try:
        text = decode(data)
        doc = parse(text)
    except Refused as refused:
        return None, [unreadable(*fault) for fault in refused.faults]
    if len(contacts_of(doc)) > MAX_CONTACTS:
        return None, [unreadable(None, "", f"holds more than {MAX_CONTACTS} contact values, and it becomes public. Remove them")]
    platform_written = hashlib.sha256(data).hexdigest() in written
    shape, rules = shape_findings(doc, schema), file_findings(doc, place, platform_written=platform_written)
    not_theirs = {finding.pointer for finding in rules if finding.code == "SUB-020"}  # what is to be removed needs no right shape
    shape = [finding for finding in shape if not any(f"{finding.pointer}/".startswith(f"{part}/") for part in not_theirs)]
    return doc, placed([*shape, *rules], text)


def placed(findings: Sequence[Finding], text: str) -> list[Finding]:
    """Findings on a file with the line of their JSON pointer in its text."""
    homeless = [finding for finding in findings if finding.line is None and not finding.file]
    lines = lines_of(text, {finding.pointer for finding in homeless}) if homeless else {}
    return [replace(finding, line=lines.get(finding.pointer)) if finding in homeless else finding for finding in findings]


def unreadable(line: int | None, pointer: str, fault: str) -> Finding:
    """SUB-001 of one fault that keeps a file from being read."""
    return replace(SUB["SUB-001"].finding(pointer, fault=fault if pointer else f"the file {fault}"), line=line)


def validate(path: Path, schema: dict[str, Any]) -> tuple[list[str], int]:
    """Lines to print about one file, and how many errors are among them."""
    doc = None
    try:
        doc, findings = document_findings(read_limited(path), path.absolute().as_posix(), schema)
    except Refused as refused:
        findings = [unreadable(*fault) for fault in refused.faults]
    contacts = contacts_of(doc)
    said = []
    for finding in sorted(findings, key=lambda f: (f.line or 0, f.pointer, f.code)):
        where = f"{path}:{finding.line}" if finding.line else str(path)
        parts = [told(part, contacts) for part in (finding.pointer, f" {finding.message}", finding.hint) if part]
        said.append(" ".join([finding.severity.upper(), finding.code, told(where, contacts), *parts]))
    n_errors = sum(finding.severity == "error" for finding in findings)
    total = f"{n_errors} error(s), {len(findings) - n_errors} warning(s)" if findings else "fine"
    return [*said, f"{path}: {total}"], n_errors


def main(arguments: list[str], schema: dict[str, Any]) -> int:
    """The command line of the validator."""
    if not arguments or any(argument.startswith("-") for argument in arguments):
        print(USAGE, file=sys.stdout if arguments in (["-h"], ["--help"]) else sys.stderr)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    paths = [Path(argument) for argument in arguments]
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        print(f"validate.py: no such file: {', '.join(missing)}", file=sys.stderr)
        return 2
    failed = 0
    for path in paths:
        lines, n_errors = validate(path, schema)
        print("\n".join(lines))
        failed += n_errors
    return 1 if failed else 0


def run(schema_json: str) -> None:
    """Entry point of the script."""
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:], json.loads(schema_json)))
