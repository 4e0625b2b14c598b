"""Reading JSON of strangers: within limits, nothing silently dropped, numbers exact and in their own literal form.

Standard library only: this module is a part of `contrib/validate.py`. It knows nothing of submissions.
"""

import json
import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
_CAUSES = {
    "Expecting property name enclosed in double quotes": "; a comma after the last entry, single quotes or a comment?",
    "Expecting value": "; a comma after the last entry, a comment or an unfinished file?",
    "Expecting ',' delimiter": "; a comma missing in the line above?",
}
"""Usual causes of what the parser says."""
MAX_NUMBER = 64
MAX_EXPONENT = 300
MAX_FAULTS = 100
"""Faults that are told of one file; a file with more is told enough."""
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_EXPONENT = re.compile(r"[eE]([-+]?\d+)$")


class Refused(Exception):
    """The bytes are not JSON that we read. `faults` are (line or None, JSON pointer, message), in file order."""

    def __init__(self, faults: list[tuple[int | None, str, str]]) -> None:
        super().__init__(faults[0][2])
        self.faults = faults


class Number(Decimal):
    """A JSON number that is not a plain integer: exact, and with the literal it was written as."""

    literal: str

    def __new__(cls, literal: str) -> "Number":
        number = super().__new__(cls, literal)
        number.literal = literal
        return number


def read_limited(path: Path, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file of at most `limit` bytes. Refused (before a byte is read) if it is larger or a link."""
    if path.is_symlink() or not path.is_file():
        raise Refused([(None, "", "is not a regular file; links, folders and devices are not read")])
    size = path.stat().st_size
    if size > limit:
        raise Refused([(None, "", f"has {size:,} bytes; the limit is {limit:,}. Large files never go into this repository")])
    with open(path, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise Refused([(None, "", f"has more than {limit:,} bytes")])
    return data


def decode(data: bytes) -> str:
    """UTF-8 without a byte order mark, or Refused."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Refused([(line, "", f"is not UTF-8: byte {error.start} can't be read. Save the file as UTF-8")]) from None
    if text.startswith("\ufeff"):
        raise Refused([(1, "", "begins with a byte order mark. Save the file as UTF-8 without it")])
    return text


def parse(text: str) -> Any:
    """The value of a JSON text; numbers are int or `Number`.

    Refused: not JSON, deeper than MAX_DEPTH, a key twice in one object, half a character, NaN or Infinity, a number that is
    too long or that no double can hold.
    """
    depth = 0
    for token in re.finditer(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]]', text, re.DOTALL):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        if depth > MAX_DEPTH:
            line = text.count("\n", 0, token.start()) + 1
            raise Refused([(line, "", f"is nested deeper than {MAX_DEPTH} levels")])
    faulty = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal faulty
        value = dict(items)
        faulty |= len(value) != len(items)
        return value

    def number(literal: str) -> Any:
        nonlocal faulty
        if _number_fault(literal):
            faulty = True
            return 0
        return int(literal) if literal.lstrip("-").isdigit() and literal != "-0" else Number(literal)

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_float=number, parse_int=number, parse_constant=number)
    except json.JSONDecodeError as error:
        cause = _CAUSES.get(error.msg, "")
        raise Refused(
            [(error.lineno, "", f"is not JSON: {error.msg}{cause} (line {error.lineno}, column {error.colno})")]
        ) from None
    if faulty or (_ESCAPED_HALF.search(text) and any(_is_half(token[0]) for token in _TOKEN.finditer(text))):
        raise Refused(_faults(text))
    return value


def _is_half(token: str) -> bool:
    """Whether a token is a string with half a character in it: an escaped surrogate alone, which no file or page can hold."""
    return token[0] == '"' and "\\u" in token and any("\ud800" <= char <= "\udfff" for char in json.loads(token))


def _number_fault(literal: str) -> str:
    if literal[-1].isalpha():
        return f"{literal} is not a number that JSON has"
    if len(literal) > MAX_NUMBER:
        return f"a number of {len(literal)} characters; {MAX_NUMBER} are enough"
    exponent = _EXPONENT.search(literal)
    if exponent and abs(int(exponent[1])) > MAX_EXPONENT:
        return f"{literal} is too large or too small for a number"
    return ""


def _faults(text: str) -> list[tuple[int | None, str, str]]:
    """Every repeated key and impossible number of a text that is JSON otherwise."""
    faults: list[tuple[int | None, str, str]] = []
    seen: set[str] = set()
    for pointer, line, token, is_key in _walk(text):
        if is_key:
            if pointer in seen:
                faults.append((line, pointer, f"the key {token} stands twice in one object. Keep one"))
            seen.add(pointer)
        if _is_half(token):
            faults.append((line, pointer, "a text with half a character (an escaped surrogate alone), which is no text"))
        elif token[0] not in '"{[tf' and token != "null" and (fault := _number_fault(token)):
            faults.append((line, pointer, fault))
        if len(faults) == MAX_FAULTS:
            break
    return faults


def lines_of(text: str, pointers: Collection[str]) -> dict[str, int]:
    """JSON pointer → line for those of `pointers` that are in a JSON text. Reads no further than the last of them."""
    lines = {"": 1} if "" in pointers else {}
    for pointer, line, _token, _is_key in _walk(text):
        if len(lines) == len(pointers):
            break
        if pointer in pointers:
            lines.setdefault(pointer, line)
    return lines


def escape(part: str) -> str:
    """One part of a JSON pointer."""
    return part.replace("~", "~0").replace("/", "~1")


def _walk(text: str) -> Iterator[tuple[str, int, str, bool]]:
    """(pointer, line, token, is it a key) of every key and value in file order. The text is known to be JSON."""
    stack: list[list[Any]] = []  # [pointer of the container, current key or index, does a key come next]
    line, position = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        token = match[0]
        if token == ",":
            stack[-1][2] = isinstance(stack[-1][1], str)
            if not stack[-1][2]:
                stack[-1][1] += 1
        elif token in ("}", "]"):
            stack.pop()
        elif token == ":":
            continue
        elif stack and stack[-1][2]:
            stack[-1][1], stack[-1][2] = json.loads(token), False
            yield f"{stack[-1][0]}/{escape(stack[-1][1])}", line, token, True
        else:
            pointer = f"{stack[-1][0]}/{escape(str(stack[-1][1]))}" if stack else ""
            yield pointer, line, token, False
            if token in ("{", "["):
                stack.append([pointer, "" if token == "{" else 0, token == "{"])


def dumps(value: Any, indent: int = 2) -> str:
    """JSON text with keys in their order and every number in the literal form that it was read in; final newline."""
    return _dump(value, indent, 0) + "\n"


def _dump(value: Any, indent: int, level: int) -> str:
    pad, end = " " * indent * (level + 1), " " * indent * level
    if isinstance(value, Number):
        return value.literal
    if isinstance(value, dict) and value:
        items = [f"{pad}{json.dumps(key, ensure_ascii=False)}: {_dump(item, indent, level + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{end}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(pad + _dump(item, indent, level + 1) for item in value) + f"\n{end}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
