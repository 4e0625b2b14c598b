"""Reports as Markdown, for a comment under a pull request. Pure.

Texts of strangers are shown as plain text: no markup, no mention of a person, no link.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from benchpipe.contributions.artifacts.checking import DirectoryReport, Told
from benchpipe.contributions.report import MARKS, WORDS, Report, Said, State, once

MARK = "<!-- benchpipe: contribution report -->"
MAX_COMMENT = 60_000
"""Characters of a comment (contributions 19)."""
MAX_BESIDES = 50
_LINK = re.compile(r"@|:(?=//)|www(?=\.)", re.IGNORECASE)
"""After what a mention or a link that needs no markup is broken."""
_VERDICTS: Mapping[str, str] = {
    "verified": "Every check passed. Rows of this file go into the table of verified results.",
    "unverified": "Not everything passed. The rows can be published as unverified, with the reasons below, if you ask for it "
    '(`"x_publish_unverified": true`); otherwise the submission stays open.',
    "refused": "This can't be published as it is. What to change stands below.",
}
_OF_DATA: Mapping[str, str] = {
    "verified": "Every check passed. It can be merged as data.",
    "unverified": "Something is missing, so it could not be checked. It is not merged as data before.",
    "refused": "This can't be merged as data as it is. What to change stands below.",
}


def submission_comment(report: Report) -> str:
    """The report on a submission: verdict, a table of checks by run, findings with their way out."""
    columns = [f"{_plain(run.run_id)} round {run.round}" for run in report.runs] or ["file"]
    states = [run.checks for run in report.runs] or [report.checks]
    table = _table(columns, states, WORDS)
    return _comment(report.file, report.verdict, _VERDICTS, table, once(report.findings))


def directory_comment(report: DirectoryReport) -> str:
    """The report on dataset directories: the same, with a table of checks over all methods."""
    table = _table(["all methods"], [report.checks], {check: check for check in report.checks})
    return _comment(report.path, report.verdict, _OF_DATA, table, report.findings)


def besides(names: Sequence[str]) -> str:
    """What else a pull request changes. Nobody checks that here, so a person has to see it."""
    shown = [f"- `{_code(name)}`" for name in names[:MAX_BESIDES]]
    more = [f"- and {len(names) - MAX_BESIDES} more"] if len(names) > MAX_BESIDES else []
    head = "**Changed besides the data of a contribution.** No check here looked at it; a maintainer has to:"
    return "\n".join([head, "", *shown, *more, ""])


def _table(columns: Sequence[str], states: Sequence[Mapping[str, State]], words: Mapping[str, str]) -> list[str]:
    lines = ["| check | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    return lines + [f"| {words[check]} | " + " | ".join(MARKS[each[check]] for each in states) + " |" for check in states[0]]


def _comment(
    file: str, verdict: str, words: Mapping[str, str], table: Iterable[str], findings: Sequence[Said] | Sequence[Told]
) -> str:
    lines = [MARK, f"### `{_code(file)}`: **{verdict}**", "", words[verdict], "", *table]
    for severity, title in (("error", "To mend"), ("warning", "To know")):
        chosen = [entry for entry in findings if entry.severity == severity]
        if chosen:
            lines += ["", f"**{title}**", "", *map(_item, chosen)]
    text = "\n".join(lines) + "\n"
    if len(text) <= MAX_COMMENT:
        return text
    note = "\n\n… cut; the whole report is an artifact of the check.\n"
    return text[: MAX_COMMENT - len(note)].rsplit("\n", 1)[0] + note


def _item(entry: Said | Told) -> str:
    where = (
        f"`{_code(entry.file)}`"
        + (f" line {entry.line}" if entry.line else "")
        + (f" `{_code(entry.pointer)}`" if entry.pointer else "")
    )
    return f"- **{entry.code}** {where}: {_plain(entry.message)} {_plain(entry.hint)}".rstrip()


def _code(text: str) -> str:
    """Text inside a code span: no back quote, no line end."""
    return " ".join(text.replace("`", "'").split())


def _plain(text: str) -> str:
    """Text of strangers in Markdown: no markup, no mention of a person, no link."""
    escaped = "".join(f"\\{char}" if char in "\\`*_{}[]<>#!|~&$" else char for char in " ".join(text.split()))
    return _LINK.sub("\\g<0>\u200b", escaped)
