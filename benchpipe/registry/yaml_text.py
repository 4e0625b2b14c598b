"""YAML text → plain values plus the line of every key, within limits that no file can break. Reads no disk, knows no field.

Differences from a bare safe loader, all for the sake of people who write these files:

- keys are names, taken as written (`on:` stays "on");
- decimal numbers stay exact (`Decimal`), as money and versions need;
- a key that stands twice, a tag, a too deep or endlessly repeated structure is a fault with its line.
"""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec
import yaml

from benchpipe.registry.quoting import short

MAX_BYTES = 10_000_000
MAX_DEPTH = 60
MAX_VALUES = 300_000
"""Values of one file with every alias written out: far above any real file, far below what hurts."""
MAX_FAULTS = 50
MAX_SCALAR = 100
"""Longer unquoted scalars are text: no number or date needs more, and converting one can take for ever."""

_CAUSES = {
    "mapping values are not allowed": "quote a text that has `: ` in it, or mend the indentation",
    "did not find expected key": "mend the indentation, or close a quote or bracket above",
    "did not find expected ','": "put a comma between the entries, or close the bracket",
    "could not find expected ':'": "write `key: value`, with a blank after the colon",
    "found character that cannot start any token": "quote a text that begins with @, % or `",
    "found unexpected end of stream": "close the quote",
    "found undefined alias": "quote a text that begins with *",
    "did not find expected alphabetic or numeric character": "quote a text that begins with * or &",
}
"""What the parser says → what to do about its usual cause."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONVERT = yaml.constructor.SafeConstructor()
_CONVERTERS = {
    "null": _CONVERT.construct_yaml_null,
    "bool": _CONVERT.construct_yaml_bool,
    "int": _CONVERT.construct_yaml_int,
    "float": _CONVERT.construct_yaml_float,
    "timestamp": _CONVERT.construct_yaml_timestamp,
    "str": _CONVERT.construct_scalar,
    "value": _CONVERT.construct_scalar,
}
_TAG = "tag:yaml.org,2002:"


class Fault(msgspec.Struct, frozen=True):
    """Something wrong at a line of a text; `line` counts from 1."""

    line: int | None
    message: str


class Parsed(msgspec.Struct, frozen=True):
    """What a text says. `lines` has the line of each key path (`runs.<run>.tasks.0`); after a fatal fault value is None."""

    value: Any
    lines: Mapping[str, int]
    faults: tuple[Fault, ...] = ()


class _Refused(Exception):
    def __init__(self, line: int | None, message: str) -> None:
        self.fault = Fault(line, message)


def parse_yaml(text: str) -> Parsed:
    """Parse one document. Never raises for what the text says; a fault that leaves no value stands alone in `faults`."""
    try:
        _check_size(text)
        node = yaml.compose(text, Loader=_LOADER)
        builder = _Builder()
        value = builder.build(node, "", 0) if node is not None else None
        return Parsed(value, builder.lines, tuple(builder.faults[:MAX_FAULTS]))
    except _Refused as refused:
        return Parsed(None, {}, (refused.fault,))
    except (yaml.YAMLError, UnicodeEncodeError) as error:  # the second: half a surrogate pair in a text from elsewhere
        return Parsed(None, {}, (_syntax_fault(error, text),))


def _check_size(text: str) -> None:
    """Refuse what would exhaust memory or the stack before any tree is built of it."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH or count > 2 * MAX_VALUES:
            what = f"is nested more than {MAX_DEPTH} levels deep" if depth > MAX_DEPTH else f"has more than {MAX_VALUES} values"
            raise _Refused(line, what)


def _syntax_fault(error: Exception, text: str) -> Fault:
    """The parser's complaint as one sentence, with the usual cause where it is known."""
    written = text.splitlines()
    mark = getattr(error, "problem_mark", None)
    if mark and mark.line >= len(written):  # the end of the text says nothing; where the open thing began does
        mark = getattr(error, "context_mark", None) or mark
    line = min(mark.line + 1, max(len(written), 1)) if mark else None
    said = getattr(error, "problem", None) or getattr(error, "reason", None) or "can't be read"
    here = written[mark.line] if mark and mark.line < len(written) else ""
    if "\t" in here[: len(here) - len(here.lstrip())] or (mark and "\t" in here[mark.column : mark.column + 1]):
        return Fault(line, "is not YAML: a tab stands where YAML wants blanks; replace it by spaces")
    fix = next((fix for words, fix in _CAUSES.items() if words in str(said)), None)
    return Fault(line, f"is not YAML: {short(' '.join(str(said).split()))}" + (f"; {fix}" if fix else ""))


class _Builder:
    """Turns a node tree into values, counting every value with aliases written out."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self.faults: list[Fault] = []
        self.count = 0

    def build(self, node: yaml.Node, path: str, depth: int) -> Any:
        self.count += 1
        line = node.start_mark.line + 1
        if self.count > MAX_VALUES:
            raise _Refused(line, f"has more than {MAX_VALUES} values once its aliases are written out")
        if depth > MAX_DEPTH:
            raise _Refused(line, f"is nested more than {MAX_DEPTH} levels deep (an alias may contain itself)")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, line)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self._item(item, _join(path, str(n)), depth) for n, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, path, depth)
        raise _Refused(line, f"has the tag {short(node.tag.replace(_TAG, '!!'))}, which is not used here: remove it")

    def _item(self, node: yaml.Node, path: str, depth: int) -> Any:
        self.lines[path] = node.start_mark.line + 1
        return self.build(node, path, depth + 1)

    def _mapping(self, node: yaml.MappingNode, path: str, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merges: list[yaml.Node] = []
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == _TAG + "merge":
                merges += value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                raise _Refused(line, "has a list or mapping as a key: keys are names")
            key = key_node.value
            if key in values:
                first = self.lines[_join(path, key)]
                self.faults.append(Fault(line, f"`{short(key)}` stands twice (first in line {first}, which counts): remove one"))
                continue
            self.lines[_join(path, key)] = line
            values[key] = self.build(value_node, _join(path, key), depth + 1)
        for merged in merges:
            if not isinstance(merged, yaml.MappingNode):
                raise _Refused(merged.start_mark.line + 1, "merges (`<<`) something that is not a mapping")
            own_lines = dict(self.lines)
            for key, value in self._mapping(merged, path, depth + 1).items():
                values.setdefault(key, value)
            self.lines.update(own_lines)
        return values

    def _scalar(self, node: yaml.ScalarNode, line: int) -> Any:
        kind = node.tag.removeprefix(_TAG)
        if kind not in _CONVERTERS:
            raise _Refused(line, f"has the tag {short(node.tag.replace(_TAG, '!!'))}, which is not used here: remove it")
        if len(node.value) > MAX_SCALAR:
            return node.value
        try:
            return _exact(node.value) if kind == "float" else _CONVERTERS[kind](node)
        except (ArithmeticError, AttributeError, LookupError, ValueError):  # what the converters raise for odd text
            self.faults.append(Fault(line, f"'{short(node.value)}' is no {kind}: correct it or put it in quotes"))
            return node.value


def _exact(literal: str) -> Decimal | float:
    """The number as written; not-a-number, infinity and sexagesimals stay what YAML makes of them."""
    try:
        number = Decimal(literal.replace("_", ""))
    except InvalidOperation:
        return _CONVERT.construct_yaml_float(yaml.ScalarNode(_TAG + "float", literal))
    return number if number.is_finite() else float(number)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
