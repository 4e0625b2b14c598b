"""Change one thing in a file of `state/` and keep everything else of it: comments, order, quotes (a round-trip YAML library).

Plain functions from text to text; who may call them and when the file is written is `editing`'s matter.
"""

import difflib
import io
import itertools
import textwrap
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, Final, Literal

import msgspec

from benchpipe.errors import BenchpipeError

RunKind = Literal["followups", "notes", "not_counted", "stopped", "withdrawn", "removed"]
TaskKind = Literal["excluded", "status", "difficulty", "labels", "owner", "note"]

RUN_KINDS: Final = ("followups", "notes", "not_counted", "stopped", "withdrawn", "removed")
TASK_KINDS: Final = ("excluded", "status", "difficulty", "labels", "owner", "note")
TASK_DEFAULTS: Final = {"status": "pending", "difficulty": "unrated"}
"""A value equal to its default is not stored (runs-system 3.4)."""


BOM: Final = "\ufeff"


class NoSuchPlace(BenchpipeError):
    """The file has no such run or entry; somebody may have changed it."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One decision. `value` is the note, reason, label, owner or status; empty takes the entry away.

    `run`, `mode` and `trial` belong to the kinds of `state/runs/`; the kinds of `state/tasks/` need the task only.
    """

    benchmark: str
    kind: RunKind | TaskKind
    value: str = ""
    task: str = ""
    run: str = ""
    mode: str = ""
    trial: str = ""

    @property
    def about_run(self) -> bool:
        """Whether it goes to `state/runs/`, else to `state/tasks/`."""
        return self.kind in RUN_KINDS and bool(self.run)


def changed(text: str, change: Change) -> str:
    """The file's text with the change made, in the file's own line ends. NoSuchPlace if the file has no place for it."""
    bom, text = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    if "\r\n" in text:
        return bom + _changed(text.replace("\r\n", "\n"), change).replace("\n", "\r\n")
    return bom + _changed(text, change)


def _changed(text: str, change: Change) -> str:
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import YAMLError

    try:
        yaml = _parser(text)
        document = yaml.load(text)
    except (YAMLError, ValueError) as error:
        raise NoSuchPlace(f"{_where(error)}: correct it by hand first") from error
    if document is None:
        document = CommentedMap()
    if not isinstance(document, MutableMapping):
        raise NoSuchPlace("the file is no YAML mapping: correct it by hand first")
    plain = _dump(yaml, document)
    if change.about_run:
        _change_run(document, change)
    else:
        _change_task(document, change)
    return _transplanted(text, plain, _dump(yaml, document))


def _where(error: Exception) -> str:
    """The line at which the library gave up, and why."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    reason = textwrap.shorten(str(problem or error), 120, placeholder=" …")
    return f"line {mark.line + 1} can't be read ({reason})" if mark else f"the file can't be read ({reason})"


def difference(before: str, after: str, name: str) -> str:
    """Both texts as a unified diff."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="", n=2)
    return "\n".join(lines)


def _parser(text: str) -> Any:
    """A round-trip parser with the file's own way of indenting lists: the one that gives the text back, if any does."""
    first = None
    for sequence, offset in ((2, 0), (4, 2)):
        yaml = _round_trip(sequence, offset)
        first = first or _round_trip(sequence, offset)
        if _dump(yaml, yaml.load(text)) == text:
            return _round_trip(sequence, offset)
    return first


def _round_trip(sequence: int, offset: int) -> Any:
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1_000_000
    yaml.indent(mapping=2, sequence=sequence, offset=offset)
    return yaml


def _dump(yaml: Any, document: Any) -> str:
    if document is None or (isinstance(document, MutableMapping) and not document and not getattr(document, "ca", None)):
        return ""
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def _transplanted(text: str, plain: str, edited: str) -> str:
    """What differs between `plain` and `edited`, put into `text`, of which `plain` is the library's own way of writing it.

    So lines that the library would write differently (wrapped texts, aligned comments) stay as somebody wrote them.
    Comments and blank lines after an entry that goes are kept: they belong to what follows.
    """
    mine, theirs, new = (whole.splitlines(keepends=True) for whole in (text, plain, edited))
    place = _places(theirs, mine)
    result, at = list[str](), 0
    for tag, low, high, new_low, new_high in difflib.SequenceMatcher(None, theirs, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        first, last = low, high
        while place[first] is None:
            first -= 1
        while place[last] is None:
            last += 1
        begin, end = place[first] or 0, place[last] or 0
        if begin < at:  # two differences within one stretch that is written differently: only the library can write it
            return edited
        replacement = [*theirs[first:low], *new[new_low:new_high], *theirs[high:last]]
        asides = list(itertools.takewhile(_is_aside, reversed(mine[begin:end])))[::-1]
        kept = asides if replacement[len(replacement) - len(asides) :] != asides else []
        result += [*mine[at:begin], *replacement, *kept]
        at = end
    return "".join([*result, *mine[at:]])


def _places(theirs: Sequence[str], mine: Sequence[str]) -> list[int | None]:
    """For every border between lines of `theirs` the same border in `mine`; None within a stretch that differs."""
    place: list[int | None] = [None] * (len(theirs) + 1)
    for tag, low, high, first, last in difflib.SequenceMatcher(None, theirs, mine, autojunk=False).get_opcodes():
        if tag == "equal":
            place[low : high + 1] = range(first, last + 1)
        else:
            place[low], place[high] = first, last
    return place


def _is_aside(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _change_run(document: MutableMapping[str, Any], change: Change) -> None:
    runs = document.get("runs")
    spec = runs.get(change.run) if isinstance(runs, Mapping) else None
    if not isinstance(spec, MutableMapping):
        raise NoSuchPlace(f"run {change.run} stands in another file (a .local.yml?) or is gone: edit it by hand")
    if change.kind == "withdrawn":
        _set(spec, "withdrawn", change.mode, _flow({"label": "rerun pending", "note": change.value}) if change.value else None)
    elif change.kind == "removed":
        _remove_task(spec, change)
    else:
        _set_remark(spec, change)


def _remove_task(spec: MutableMapping[str, Any], change: Change) -> None:
    """Taking a task out of a run moves it from `tasks` to `removed`; taking the reason away moves it back to the end."""
    tasks = spec.setdefault("tasks", [])
    if change.value and change.task in tasks:
        tasks.remove(change.task)
    if not change.value and change.task not in tasks:
        tasks.append(change.task)
    _set(spec, "removed", change.task, change.value or None)


def _set_remark(spec: MutableMapping[str, Any], change: Change) -> None:
    """Replace, add or take away the entry of this task, mode and trial (`stopped` isn't tied to a trial)."""
    entries = spec.get(change.kind)
    entries = entries if isinstance(entries, MutableSequence) else None
    trial = "" if change.kind == "stopped" else change.trial

    def same(entry: Any) -> bool:
        names = ("task", "mode", "trial") if trial else ("task", "mode")
        return isinstance(entry, Mapping) and all(entry.get(name) == getattr(change, name) for name in names)

    at = next((i for i, entry in enumerate(entries or ()) if same(entry)), None)
    if not change.value:
        if at is None or entries is None:
            raise NoSuchPlace(f"there is no {change.kind} entry for {change.task} {change.mode} (any more)")
        del entries[at]
        if not entries:
            del spec[change.kind]
    elif at is not None and entries is not None:
        entries[at]["note"] = change.value
    else:
        entry = {"task": change.task, "mode": change.mode, **({"trial": trial} if trial else {}), "note": change.value}
        if entries is None:
            spec[change.kind] = entries = []
        entries.append(_flow(entry))


def _change_task(document: MutableMapping[str, Any], change: Change) -> None:
    value: Any = change.value
    if change.kind == "labels":
        value = [label.strip() for label in change.value.split(",") if label.strip()]
    if value == TASK_DEFAULTS.get(change.kind):
        value = ""
    _set(document, change.task, change.kind, value or None)


def _set(parent: MutableMapping[str, Any], section: str, key: str, value: Any) -> None:
    """Set or take away `parent[section][key]`; a section that gets empty goes too."""
    inside = parent.get(section)
    if value is None:
        if not isinstance(inside, MutableMapping) or key not in inside:
            raise NoSuchPlace(f"{section}: there is no {key} (any more)")
        del inside[key]
        if not inside:
            del parent[section]
    elif isinstance(inside, MutableMapping):
        inside[key] = value
    else:
        parent[section] = {key: value}


def _flow(entry: Mapping[str, str]) -> Any:
    """A mapping written on one line, as the files do it."""
    from ruamel.yaml.comments import CommentedMap

    made = CommentedMap({key: value for key, value in entry.items() if value})
    made.fa.set_flow_style()
    return made
