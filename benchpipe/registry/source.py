"""Reading registry files from disk, or from texts given instead of them, and collecting what is wrong with them.

Nothing here raises for a bad file: it counts as empty and leaves a `Problem` (B11).
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchpipe.lab import Lab
from benchpipe.registry.fields import NAME, NAME_WANTED, Fields
from benchpipe.registry.records import Place, Problem
from benchpipe.registry.yaml_text import MAX_BYTES, Parsed, parse_yaml

MAX_JSON_BYTES = 50_000_000


class Source:
    """The files of one lab as the loader sees them. `overrides` replaces (or adds) files by their text."""

    def __init__(self, lab: Lab, overrides: Mapping[Path, str] | None = None) -> None:
        self.lab = lab
        self.overrides = {path if path.is_absolute() else lab.root / path: text for path, text in (overrides or {}).items()}
        self.problems: list[Problem] = []
        self.files: list[Fields] = []

    def place(self, path: Path, line: int | None = None) -> Place:
        """`path` as findings show it; bytes of a name that are no UTF-8 become `?`."""
        return Place(self.lab.relative(path).encode("utf-8", "replace").decode(), line)

    def problem(self, place: Place, rule: str, message: str) -> None:
        self.problems.append(Problem(place, message, rule))

    def yaml_files(self, folder: Path, kind: str) -> list[Path]:
        """The `*.yml` files of a folder in name order whose names can be ids."""
        try:
            names = os.listdir(folder)
        except FileNotFoundError:
            names = []
        except OSError as error:
            self.problem(self.place(folder), f"{kind}-file", f"can't be listed ({error.strerror}): make it a readable folder")
            return []
        for name in sorted(names):
            if name.lower().endswith((".yaml", ".yml")) and not name.endswith(".yml") and name[0] not in ".#":
                self.problem(
                    self.place(folder / name), f"{kind}-file", "is not read, since its name doesn't end in .yml: rename it"
                )
        on_disk = set(self.lab.yaml_files(folder)) if names else set()
        files = []
        for path in sorted(on_disk | {path for path in self.overrides if path.parent == folder and path.suffix == ".yml"}):
            if NAME.fullmatch(path.name.removesuffix(".yml")):
                files.append(path)
            else:
                self.problem(self.place(path), f"{kind}-file", f"its name can't be an id: {NAME_WANTED}; rename it")
        return files

    def exists(self, path: Path) -> bool:
        return path in self.overrides or os.path.lexists(path)

    def read(self, path: Path, kind: str, *, limit: int = MAX_BYTES) -> str | None:
        """The file's text, or None after leaving a problem."""
        if path in self.overrides:
            return self.overrides[path]
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe or device could block or never end
                raise OSError(0, "not a file")
            with open(path, "rb") as file:
                data = file.read(limit + 1)
            if len(data) > limit:
                raise OSError(0, f"larger than {limit // 1_000_000} MB")
            return data.decode("utf-8").removeprefix("\ufeff")
        except OSError as error:
            message = f"can't be read ({error.strerror}): make it a readable file or remove it"
            self.problem(self.place(path), f"{kind}-file", message)
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            self.problem(self.place(path, line), f"{kind}-file", "is not UTF-8: save it as UTF-8")
        return None

    def mapping(self, path: Path, kind: str) -> Fields:
        """The file's top-level mapping; empty, with a problem, when there is none."""
        text = self.read(path, kind)
        parsed = Parsed(None, {}) if text is None else parse_yaml(text)
        file = self.place(path).file
        for fault in parsed.faults:
            self.problem(Place(file, fault.line), f"{kind}-file", fault.message)
        value = parsed.value
        if not isinstance(value, dict):
            if text is not None and (value is not None or not parsed.faults):
                what = "is empty" if value is None else "has no `key: value` pairs at its top level"
                self.problem(Place(file, 1), f"{kind}-file", f"{what}: write `key: value` lines, or remove the file")
            value = {}
        self.files.append(Fields(value, file=file, lines=parsed.lines, kind=kind, problems=self.problems))
        return self.files[-1]

    def misspelt(self) -> None:
        """Leave a problem for each key that looks misspelt. For the end: only then is known which keys anybody reads."""
        for fields in self.files:
            fields.misspelt()

    def optional(self, path: Path, kind: str) -> Fields:
        """`mapping` of a file that may be missing: empty then, without a problem."""
        if self.exists(path):
            return self.mapping(path, kind)
        return Fields({}, file=self.place(path).file, lines={}, kind=kind, problems=self.problems)

    def json(self, path: Path, kind: str) -> Any:
        """The JSON value of a file, or None after leaving a problem."""
        text = self.read(path, kind, limit=MAX_JSON_BYTES)
        try:
            return None if text is None else json.loads(text)
        except json.JSONDecodeError as error:
            self.problem(self.place(path, error.lineno), f"{kind}-file", f"is not JSON: {error.msg}; import it again")
        except (RecursionError, ValueError) as error:
            self.problem(self.place(path), f"{kind}-file", f"can't be read as JSON ({type(error).__name__}); import it again")
        return None
