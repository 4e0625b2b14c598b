"""What a check says: codes with their message templates, and findings made from them.

Standard library only: this module is a part of `contrib/validate.py`. It holds no rule and reads nothing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

REFUSE, FAIL, NOT_RUN, WARN = "refuse", "fail", "not_run", "warn"
"""What a code does: refuse the file, fail its check, leave its check undecided, or only be said."""


@dataclass(frozen=True)
class Finding:
    """One thing found. `pointer` is a JSON pointer into `file`; `line` counts from 1; `run` is an index into `runs[]`."""

    code: str
    severity: str
    message: str
    pointer: str = ""
    hint: str = ""
    file: str = ""
    line: int | None = None
    run: int | None = None


@dataclass(frozen=True)
class Code:
    """One entry of a code table: the check it belongs to, its effect, its message template and the way out."""

    id: str
    check: str
    effect: str
    template: str
    hint: str = ""

    @property
    def severity(self) -> str:
        """`error` for a contradiction, `warning` for what could not be checked or is only said."""
        return "error" if self.effect in (REFUSE, FAIL) else "warning"

    def finding(self, pointer: str = "", *, file: str = "", run: int | None = None, **values: object) -> Finding:
        """A finding whose message is the template filled with `values`."""
        return Finding(self.id, self.severity, self.template.format(**values), pointer, self.hint.format(**values), file, run=run)


def code_table(codes: Iterable[Code]) -> dict[str, Code]:
    """Codes by id. ValueError if an id is given twice."""
    table: dict[str, Code] = {}
    for code in codes:
        if code.id in table:
            raise ValueError(f"{code.id} is defined twice")
        table[code.id] = code
    return table


def listed(ids: Iterable[str], limit: int = 10) -> str:
    """Up to `limit` ids for a message, then how many more there are."""
    names = sorted(ids)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def named(pointer: str) -> str:
    """A JSON pointer in the words of the page: `/runs/0/score` → `runs[0].score`."""
    name = re.sub(r"/(\d+)(?=/|$)", r"[\1]", pointer).replace("/", ".").lstrip(".")
    return name or "the file"


def short(sha: str) -> str:
    """The first 12 characters of a hex id; anything else whole, since a cut-off text can't be recognised as contact data."""
    return f"{sha[:12]}…" if re.fullmatch("[0-9a-f]{13,}", sha) else sha
