"""Typed access to one mapping of a registry file: a right value or None, and a `Problem` for a wrong one. No file access.

Every problem names file and line, what is wrong and the fix, and the id of the rule of `checks` that it breaks.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

from benchpipe.registry.quoting import short
from benchpipe.registry.records import Place, Problem

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
"""What can be an id: it becomes a part of file names and addresses (`Lab` refuses others)."""
NAME_WANTED = "use letters, digits, '_', '-' and '.', at most 200"


def _what(value: Any) -> str:
    """A value's kind in an owner's words."""
    if isinstance(value, bool):
        return "yes/no"
    for kind, word in (
        (int | float | Decimal, "a number"),
        (str, "text"),
        (list, "a list"),
        (Mapping, "a mapping"),
        (date, "a date"),
    ):
        if isinstance(value, kind):
            return word
    return "nothing" if value is None else type(value).__name__


class Fields:
    """A mapping at `path` of a file. A missing key and one without a value both read as None, without a problem.

    `rule` names the rule that a wrong value breaks; default: `<kind>-field`. Every key that is asked for is one that somebody
    reads here: that is how `misspelt` tells a slip from an owner's own note, without a second list of keys.
    """

    def __init__(
        self, data: Mapping[str, Any], *, file: str, lines: Mapping[str, int], kind: str, problems: list[Problem], path: str = ""
    ) -> None:
        self.data, self.file, self.lines, self.kind, self.problems, self.path = data, file, lines, kind, problems, path
        self.asked: set[str] = set()
        self.below: list[Fields] = []

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def get(self, key: str) -> Any:
        """The value as written; None = not given."""
        self.asked.add(key)
        return self.data.get(key)

    def read_elsewhere(self, *keys: str) -> None:
        """Keys that other rooms read from the record's `raw`."""
        self.asked.update(keys)

    def misspelt(self) -> None:
        """Leave a problem (`<kind>-key`) for each key, here and below, that nobody reads but that resembles a missing one."""
        missing = frozenset(self.asked - self.data.keys())
        for key in self.data.keys() - self.asked if missing else ():
            if meant := _resembling(key, missing):
                message = f"`{short(key)}` is read by nobody: did you mean `{meant}`?"
                self.problems.append(Problem(self.place(key), message, f"{self.kind}-key", slip=True))
        for part in self.below:
            part.misspelt()

    def place(self, key: str | int | None = None) -> Place:
        """Where a key stands; without one (or if it is missing) where the mapping itself does."""
        own = f"{self.path}.{key}".removeprefix(".") if key is not None else self.path
        return Place(self.file, self.lines.get(own, self.lines.get(self.path)))

    def problem(self, key: str | int | None, message: str, rule: str | None = None) -> None:
        self.problems.append(Problem(self.place(key), message, rule or f"{self.kind}-field"))

    def inner(self, key: str | int, data: Mapping[str, Any]) -> "Fields":
        """The mapping below a key."""
        path = f"{self.path}.{key}".removeprefix(".")
        self.below.append(Fields(data, file=self.file, lines=self.lines, kind=self.kind, problems=self.problems, path=path))
        return self.below[-1]

    def _value(self, key: str, right: Callable[[Any], bool], wanted: str, rule: str | None) -> Any:
        value = self.get(key)
        if value is None or right(value):
            return value
        self.problem(key, f"`{short(key)}` is {_what(value)}, but has to be {wanted}", rule)
        return None

    def text(self, key: str, rule: str | None = None) -> str | None:
        """Text; blank text reads as None."""
        value = self._value(key, lambda v: isinstance(v, str), "text: put it in quotes", rule)
        return value if value and value.strip() else None

    def flag(self, key: str, rule: str | None = None) -> bool | None:
        return self._value(key, lambda v: isinstance(v, bool), "`true` or `false`", rule)

    def number(self, key: str, rule: str | None = None) -> Decimal | None:
        """A finite number, exact."""
        value = self._value(key, _is_number, "a number, without quotes and units", rule)
        return None if value is None else Decimal(value)

    def day(self, key: str) -> str | None:
        """A date (or any text that says one) as text."""
        value = self._value(key, lambda v: isinstance(v, str | date), "a date such as 2026-09-25", None)
        return value.isoformat() if isinstance(value, date) else value

    def choice(self, key: str, options: tuple[str, ...], rule: str | None = None) -> Any:
        """One of `options`."""
        value = self.get(key)
        if value is None or (isinstance(value, str) and value in options):
            return value
        self.problem(key, f"`{key}` is '{short(value)}', but has to be one of {', '.join(options)}", rule)
        return None

    def texts(self, key: str, rule: str | None = None, *, form: re.Pattern[str] | None = None) -> tuple[str, ...] | None:
        """A list of texts; items that are none, or don't have the `form`, are left out with a problem."""
        values = self._value(key, lambda v: isinstance(v, list), "a list, such as [one, two]", rule)
        if values is None:
            return None
        kept = []
        for n, value in enumerate(values):
            at = f"{key}.{n}"
            if not isinstance(value, str):
                self.problem(at, f"an item of `{short(key)}` is {_what(value)}, but has to be text: put it in quotes", rule)
            elif not value.strip() or (form and not form.fullmatch(value)):
                self.problem(at, f"'{short(value)}' in `{short(key)}` can't be a name here: {NAME_WANTED}", rule)
            else:
                kept.append(value)
        return tuple(kept)

    def mapping(self, key: str, rule: str | None = None) -> "Fields | None":
        value = self._value(key, lambda v: isinstance(v, Mapping), "a mapping (`name: value` lines)", rule)
        return None if value is None else self.inner(key, value)

    def entries(self, rule: str | None = None) -> Iterator[tuple[str, "Fields"]]:
        """Every key whose value is a mapping; the others leave a problem. A key without a value is an empty mapping."""
        for key, value in self.data.items():
            if value is None or isinstance(value, Mapping):
                yield key, self.inner(key, value or {})
            else:
                self.problem(key, f"`{short(key)}` is {_what(value)}, but has to be a mapping (`name: value` lines)", rule)

    def records(self, key: str, rule: str | None = None) -> Iterator["Fields"]:
        """Every item of a list of mappings; the others leave a problem."""
        values = self._value(key, lambda v: isinstance(v, list), "a list of `{name: value}` entries", rule)
        for n, value in enumerate(values or []):
            if isinstance(value, Mapping):
                yield self.inner(f"{key}.{n}", value)
            else:
                message = f"an item of `{key}` is {_what(value)}, but has to be an entry such as {{name: value}}"
                self.problem(f"{key}.{n}", message, rule)


@lru_cache(maxsize=1024)
def _resembling(key: str, names: frozenset[str]) -> str | None:
    """The name that `key` may be a slip of. An addition of more than two letters (`hidden_by`) is a name of its own."""
    near = sorted(name for name in names if abs(len(name) - len(key)) <= 2)
    return next(iter(difflib.get_close_matches(key.lower().replace("-", "_"), near, n=1, cutoff=0.75)), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)
