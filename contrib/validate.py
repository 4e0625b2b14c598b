# ruff: noqa
# fmt: off
"""Checks a submission before it is sent: python3 contrib/validate.py FILE. Needs Python 3.11 or newer and nothing else.

Made by `benchpipe docs` from the modules named below, the first part of the maintainers' gate. Don't edit it here.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from collections.abc import Collection, Iterator
from collections.abc import Iterable
from collections.abc import Iterable, Iterator
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

# --- benchpipe/contributions/findings.py ------------------------------------------------------------------------------------

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


# --- benchpipe/contributions/strict_json.py ---------------------------------------------------------------------------------

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


# --- benchpipe/contributions/contacts.py ------------------------------------------------------------------------------------

MARK = "[contact removed]"
_MESSENGERS = "wechat|weixin|微信|whatsapp|telegram|viber|skype|discord|qq|kakao(?:talk)?|tel|phone|mobile"
_HOST = re.compile(
    r"\s?(?:@|＠|\(at\)|\[at\])\s?(?=[\w-]*[A-Za-z])[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,24}", re.IGNORECASE
)
_NAME = re.compile(r"(?:mailto:)?[\w.+%-]{1,64}\Z", re.IGNORECASE)
_LONGEST_NAME = 71
_OTHER = re.compile(
    rf"(?<![\w])(?:{_MESSENGERS})(?:[ _-]?(?:id|number|no\.?))?\s*[:=：]\s*[^\s,;)\]\"]+"
    r"|(?<![\w])wxid_\w+"
    r"|(?<![\w@/.])@[A-Za-z]\w{3,31}(?![\w/.])"
    r"|(?<![\w+.])\+\d[\d ()-]{7,18}\d",
    re.IGNORECASE,
)
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
MAX_TOLD = 600
"""Characters of one message."""
MIN_VALUE = 4
"""A contact value shorter than this is not looked for elsewhere: it would hit ordinary words."""
MAX_CONTACTS = 20
"""Contact values of one file that are looked for in what is said about it; a file with more is not looked into at all."""


def contacts_of(value: Any) -> set[str]:
    """Every text or number under a key that is named like a contact, at any depth."""
    return {text for _, text in contact_places(value) if len(text) >= MIN_VALUE}


def contact_places(value: Any) -> Iterator[tuple[str, str]]:
    """(JSON pointer, text) of every filled-in text or number under a key that is named like a contact."""
    yield from _under_contact(value, "", inside=False)


def _under_contact(value: Any, pointer: str, *, inside: bool) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _under_contact(item, f"{pointer}/{escape(key)}", inside=inside or "contact" in key.lower())
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _under_contact(item, f"{pointer}/{n}", inside=inside)
    elif inside and value is not None and not isinstance(value, bool) and (text := str(value).strip()):
        yield pointer, text


def without_contacts(text: str, contacts: Iterable[str] = ()) -> str:
    """`text` with the given contact values and everything shaped like an address or messenger id replaced by MARK."""
    for contact in sorted(contacts, key=len, reverse=True):
        text = re.sub(re.escape(contact), MARK, text, flags=re.IGNORECASE)
    return _OTHER.sub(MARK, _without_mail(text))


def _without_mail(text: str) -> str:
    """Addresses are looked for from the @ backwards: from the front a long word would cost its length squared."""
    kept, end = [], 0
    for host in _HOST.finditer(text):
        window = max(end, host.start() - _LONGEST_NAME)
        if name := _NAME.search(text[window : host.start()]):
            kept += [text[end : window + name.start()], MARK]
            end = host.end()
    return "".join([*kept, text[end:]])


def told(text: str, contacts: Iterable[str], limit: int = MAX_TOLD) -> str:
    """A message as it is told: without contact data, and only then cut, since a cut-off address would not be recognised.

    Line ends, terminal codes and characters that turn or hide text are written out, so that no file can word its own verdict.
    """
    text = _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", without_contacts(text, contacts))
    return text if len(text) <= limit else f"{text[:limit]}…"


# --- benchpipe/contributions/file_codes.py ----------------------------------------------------------------------------------

def _sub(number: int, template: str, hint: str, effect: str = REFUSE) -> Code:
    return Code(f"SUB-{number:03}", "schema", effect, template, hint)


SUB = code_table(
    [
        _sub(1, "{fault}.", "Mend the file; nothing else can be said about it before."),
        _sub(3, "{name} is missing.", "Add it ({kind}): {wanted}"),
        _sub(4, "{key} is no field here.", "Remove it, or begin its name with x_. Fields here: {known}."),
        _sub(5, "{name} is of type {got}; {kind} is wanted.", "Write: {wanted}"),
        _sub(6, "{name} {fault}.", "Write: {wanted}"),
        _sub(10, "the file lies at {path}, its content says {said}.", "Move the file, or mend dataset, method.name and variant."),
        _sub(11, "improver.method is {a}, method.name is {b}.", "Make the part before the @ equal to method.name."),
        _sub(12, "improver.rounds is {a}, config.rounds is {b}.", "Make them equal."),
        _sub(13, "task_agent.model is {a}, config.model is {b}.", "Make them equal."),
        _sub(14, "decoding names temperature {a}, config.temperature is {b}.", "Make them equal."),
        _sub(15, "runs[{n}].round is {a}, but only {b} rounds were run.", "Mend the round, or config.rounds and improver.rounds."),
        _sub(16, "credit.submitted does not name {dataset} × {method}.", "Add this file's own pair."),
        _sub(17, "runs[{n}].per_task {fault}.", "Give a path relative to contrib/, one file per run."),
        _sub(
            18,
            "score {score} can't come from {n_tasks} tasks with {trials} trial(s) each and a pass/fail verifier; nearest: {near}.",
            "Look for a typing error, in the score or in n_tasks.",
            WARN,
        ),
        _sub(20, "{name} is written by the platform only.", "Remove it; checks and mirrors are entered after the merge."),
        _sub(
            21,
            "{name} is filled in, and this file becomes public.",
            "Remove it; send it privately to the maintainers, whose contact stands on the results pages.",
        ),
        _sub(22, "{name} holds {text}, which is no value but a placeholder.", "Fill in your own, without < > and ellipsis."),
        _sub(23, "runs[{n}] repeats run_id, round and pool of runs[{first}].", "Give every measurement its own entry."),
        _sub(
            24, "without an improver only H0 can be reported, runs[{n}].round is {a}.", "Fill in improver, or report round 0 only."
        ),
        _sub(25, "platform.commit has {n} of 40 characters.", "Give the whole id; a short one may become ambiguous.", WARN),
    ]
)


# --- benchpipe/contributions/schema_rules.py --------------------------------------------------------------------------------

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, Number),
    "boolean": (bool,),
    "null": (type(None),),
}


def shape_findings(value: Any, schema: dict[str, Any]) -> list[Finding]:
    """SUB-003 to SUB-006 for a value against a whole schema (with its `$defs`), in the order of the schema; MAX_FAULTS at most."""
    return list(islice(_check(value, schema, schema, ""), MAX_FAULTS))


def _check(value: Any, schema: dict[str, Any], root: dict[str, Any], pointer: str) -> Iterator[Finding]:
    schema = _resolved(schema, root)
    if "anyOf" in schema:
        options = [_resolved(option, root) for option in schema["anyOf"]]
        fitting = [option for option in options if _is_type(value, option)]
        if not fitting:
            yield _wrong_type(value, " or ".join(_kind(option) for option in options), schema, pointer)
        else:
            yield from _check(value, fitting[0], root, pointer)
        return
    if not _is_type(value, schema):
        yield _wrong_type(value, _kind(schema), schema, pointer)
        return
    if fault := _value_fault(value, schema):
        yield SUB["SUB-006"].finding(pointer, name=named(pointer), fault=fault, wanted=schema.get("description", ""))
    if isinstance(value, dict):
        yield from _check_object(value, schema, root, pointer)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _check(item, schema.get("items", {}), root, f"{pointer}/{index}")


def _check_object(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], pointer: str) -> Iterator[Finding]:
    known = schema.get("properties", {})
    for key in schema.get("required", ()):
        if key not in value:
            wanted = _resolved(known[key], root)
            yield SUB["SUB-003"].finding(
                pointer, name=named(f"{pointer}/{key}"), kind=_kind(wanted), wanted=wanted.get("description", "")
            )
    for key, item in value.items():
        if key in known:
            yield from _check(item, known[key], root, f"{pointer}/{key}")
        elif isinstance(extra := schema.get("additionalProperties", True), dict):
            yield from _check(item, extra, root, f"{pointer}/{escape(key)}")
        elif extra is False and not key.startswith("x_"):
            yield SUB["SUB-004"].finding(f"{pointer}/{escape(key)}", key=key, known=", ".join(known))


def _resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    if not reference:
        return schema
    return {**root["$defs"][reference.rpartition("/")[2]], **{key: item for key, item in schema.items() if key != "$ref"}}


def _is_type(value: Any, schema: dict[str, Any]) -> bool:
    names = schema.get("type")
    if names is None:
        return True
    for name in [names] if isinstance(names, str) else names:
        if isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool)):
            return True
    return False


def _value_fault(value: Any, schema: dict[str, Any]) -> str:
    """What is wrong with a value of the right type; empty if nothing is."""
    if "const" in schema and value != schema["const"]:
        return f"is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        return f"is none of {', '.join(map(repr, schema['enum']))}"
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            return "is empty" if not value else f"is shorter than {schema['minLength']} characters"
        if len(value) > schema.get("maxLength", len(value)):
            return f"is longer than {schema['maxLength']} characters"
        if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
            return f"does not match {schema['pattern']}"
    elif isinstance(value, list) and len(value) < schema.get("minItems", 0):
        return f"has fewer than {schema['minItems']} item(s)"
    elif isinstance(value, int | Number) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            return f"is below {schema['minimum']}"
        if value > schema.get("maximum", value):
            return f"is above {schema['maximum']}"
    return ""


def _wrong_type(value: Any, wanted: str, schema: dict[str, Any], pointer: str) -> Finding:
    got = next(
        name for name, types in _TYPES.items() if isinstance(value, types) and (name == "boolean") == isinstance(value, bool)
    )
    return SUB["SUB-005"].finding(pointer, name=named(pointer), got=got, kind=wanted, wanted=schema.get("description", ""))


def _kind(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_kind(option) if "type" in option else "object" for option in schema["anyOf"])
    return str(schema.get("type", "value"))


# --- benchpipe/contributions/file_rules.py ----------------------------------------------------------------------------------

_PLACEHOLDER = re.compile(r"<[^<>]*>|…")
_PAGE_WORDS = {"you", "your-method", "your name", "your institution", "https://your.site"}
_TEMPERATURE = re.compile(r"temperature\s*=\s*([0-9.]*[0-9])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
MIN_DECIMALS, MAX_DECIMALS = 4, 12


def field(value: Any, *path: str) -> Any:
    """The value at a path of keys, or None where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def runs_of(doc: Any) -> list[tuple[int, dict[str, Any]]]:
    """The objects of `runs` with their index."""
    runs = field(doc, "runs")
    return [(n, run) for n, run in enumerate(runs) if isinstance(run, dict)] if isinstance(runs, list) else []


def file_findings(doc: Any, place: str, *, platform_written: bool = False) -> list[Finding]:
    """All findings of the rules. `place` is the file's path with `/`; `platform_written`: status is the platform's own."""
    rules: list[Callable[[Any], Iterator[Finding]]] = [
        partial(_names, place=place),
        _equal_fields,
        _rounds,
        _paths,
        _attainable,
        _short_commit,
        _contact,
        _placeholders,
    ]
    if not platform_written:
        rules.append(_platform_fields)
    return [finding for rule in rules for finding in islice(rule(doc), MAX_FAULTS)]


def _names(doc: Any, place: str) -> Iterator[Finding]:
    dataset, method, variant = field(doc, "dataset"), field(doc, "method", "name"), field(doc, "variant")
    _, inside, here = place.rpartition("/contrib/results/")
    if inside and all(isinstance(name, str) for name in (dataset, method, variant)):
        said = f"{dataset}/{method}/{variant}.json"
        if here != said:
            yield SUB["SUB-010"].finding(path=here, said=said)
    submitted = field(doc, "credit", "submitted")
    if isinstance(submitted, list) and isinstance(dataset, str) and isinstance(method, str):
        pairs = [(field(item, "dataset"), field(item, "method")) for item in submitted]
        if (dataset, method) not in pairs:
            yield SUB["SUB-016"].finding("/credit/submitted", dataset=dataset, method=method)


def _equal_fields(doc: Any) -> Iterator[Finding]:
    improver, name = field(doc, "improver", "method"), field(doc, "method", "name")
    if isinstance(improver, str) and isinstance(name, str) and improver.partition("@")[0] != name:
        yield SUB["SUB-011"].finding("/improver/method", a=improver, b=name)
    for code, kind, left, right in (
        ("SUB-012", int, ("improver", "rounds"), ("config", "rounds")),
        ("SUB-013", str, ("task_agent", "model"), ("config", "model")),
    ):
        a, b = field(doc, *left), field(doc, *right)
        if isinstance(a, kind) and isinstance(b, kind) and a != b:
            yield SUB[code].finding("/" + "/".join(right), a=a, b=b)
    decoding, config = field(doc, "task_agent", "decoding"), field(doc, "config")
    if not isinstance(config, dict) or "temperature" not in config:
        return
    temperature = config["temperature"]
    in_words = _TEMPERATURE.search(decoding) if isinstance(decoding, str) else None
    if in_words is None or in_words[1].count(".") > 1 or not (temperature is None or isinstance(temperature, int | Decimal)):
        return
    if temperature is None or Decimal(in_words[1]) != temperature:
        yield SUB["SUB-014"].finding("/config/temperature", a=in_words[1], b="null" if temperature is None else temperature)


def _rounds(doc: Any) -> Iterator[Finding]:
    rounds = field(doc, "config", "rounds")
    seen: dict[tuple[str, int], dict[str | None, int]] = {}
    for n, run in runs_of(doc):
        number, run_id = run.get("round"), run.get("run_id")
        if not isinstance(number, int):
            continue
        if isinstance(rounds, int) and number > rounds:
            yield SUB["SUB-015"].finding(f"/runs/{n}/round", run=n, n=n, a=number, b=rounds)
        if isinstance(doc, dict) and "improver" in doc and doc["improver"] is None and number > 0:
            yield SUB["SUB-024"].finding(f"/runs/{n}/round", run=n, n=n, a=number)
        pool = str(run["pool"]) if run.get("pool") is not None else None
        others = seen.setdefault((str(run_id), number), {})
        first = next(iter(others.values()), None) if pool is None else others.get(pool, others.get(None))
        if first is not None:
            yield SUB["SUB-023"].finding(f"/runs/{n}", run=n, n=n, first=first)
        others.setdefault(pool, n)


def path_fault(path: str) -> str:
    """Why a path of a submission is not taken; empty if it is fine (3.12). Links are found when the file is read."""
    if not path or "\0" in path:
        return "is empty or holds a null character"
    if "\\" in path:
        return "has a backslash"
    if path.startswith(("/", "~")) or _SCHEME.match(path):
        return "is not relative"
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "has empty, '.' or '..' parts"
    if len(path) > 400 or any(len(part.encode()) > 200 for part in path.split("/")):
        return "is too long"
    return ""


def _paths(doc: Any) -> Iterator[Finding]:
    first: dict[str, int] = {}
    own = f"results/{field(doc, 'dataset')}/{field(doc, 'method', 'name')}/"
    for n, run in runs_of(doc):
        path = run.get("per_task")
        if not isinstance(path, str):
            continue
        path = path.removeprefix("contrib/")
        if fault := path_fault(path):
            yield SUB["SUB-017"].finding(f"/runs/{n}/per_task", run=n, n=n, fault=fault)
        elif path.startswith("results/") and not path.startswith(own):
            yield SUB["SUB-017"].finding(f"/runs/{n}/per_task", run=n, n=n, fault="lies in the folder of another method")
        elif path in first:
            yield SUB["SUB-017"].finding(f"/runs/{n}/per_task", run=n, n=n, fault=f"is the file of runs[{first[path]}] too")
        first.setdefault(path, n)


def agrees(reported: Decimal | int, exact: Fraction) -> bool:
    """Whether a reported literal is the exact value, rounded to its own 4 to 12 decimals (7.2); fewer must be exact."""
    decimals = decimals_of(reported)
    difference = abs(exact - Fraction(reported))
    if decimals < MIN_DECIMALS:
        return difference == 0
    return difference <= tolerance(reported)


def tolerance(reported: Decimal | int) -> Fraction:
    """Half a unit of the last decimal of a literal, and 1e-12 for whoever rounded in binary (7.2)."""
    decimals = min(max(decimals_of(reported), MIN_DECIMALS), MAX_DECIMALS)
    return Fraction(1, 2 * 10**decimals) + Fraction(1, 10**12)


def decimals_of(number: Decimal | int) -> int:
    """Digits after the point of a literal as it was written."""
    exponent = Decimal(number).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _attainable(doc: Any) -> Iterator[Finding]:
    trials = field(doc, "config", "trials")
    for n, run in runs_of(doc):
        score, n_tasks = run.get("score"), run.get("n_tasks")
        if not isinstance(score, int | Decimal) or not all(isinstance(x, int) and 0 < x < 10**9 for x in (n_tasks, trials)):
            continue
        if isinstance(score, bool) or not 0 <= score <= 1:
            continue
        steps = n_tasks * trials
        below = int(Fraction(score) * steps)
        if not any(agrees(score, Fraction(k, steps)) for k in (below, below + 1)):
            near = ", ".join(f"{k}/{steps} = {k / steps:.4f}" for k in (below, below + 1))
            yield SUB["SUB-018"].finding(f"/runs/{n}/score", run=n, score=score, n_tasks=n_tasks, trials=trials, near=near)


def _platform_fields(doc: Any) -> Iterator[Finding]:
    for path in (("status",), ("verified",), ("mirrored",), ("trajectories", "mirror"), ("trajectories", "verified")):
        parent = field(doc, *path[:-1])
        if isinstance(parent, dict) and path[-1] in parent:
            yield SUB["SUB-020"].finding("/" + "/".join(path), name=".".join(path))


def _short_commit(doc: Any) -> Iterator[Finding]:
    commit = field(doc, "platform", "commit")
    if isinstance(commit, str) and re.fullmatch(r"[0-9a-f]{7,39}", commit):
        yield SUB["SUB-025"].finding("/platform/commit", n=len(commit))


def _contact(doc: Any) -> Iterator[Finding]:
    for pointer, _ in contact_places(doc):
        yield SUB["SUB-021"].finding(pointer, name=named(pointer))


def _placeholders(value: Any, pointer: str = "") -> Iterator[Finding]:
    if isinstance(value, dict):
        for key, item in value.items():
            if not key.startswith("x_") and f"{pointer}/{key}" != "/credit/contact":
                yield from _placeholders(item, f"{pointer}/{escape(key)}")
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _placeholders(item, f"{pointer}/{n}")
    elif isinstance(value, str):
        words = {value.strip().lower(), value.partition("@")[0].lower()}
        marked = _PLACEHOLDER.search(value)
        if marked or words & _PAGE_WORDS:
            yield SUB["SUB-022"].finding(pointer, name=named(pointer), text=marked[0] if marked else value.strip())


# --- benchpipe/contributions/door.py ----------------------------------------------------------------------------------------

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


SCHEMA = r'''{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"Artifacts":{"additionalProperties":false,"description":"Where harness trees and run records lie; without it State and Config can't be checked.","patternProperties":{"^x_":{}},"properties":{"run_meta":{"anyOf":[{"minLength":1,"type":"string"},{"type":"null"}],"default":null,"description":"path of a scrubbed run_meta.json beside the per-task file","title":"Run Meta"},"curve":{"anyOf":[{"minLength":1,"type":"string"},{"type":"null"}],"default":null,"description":"path of a curve.jsonl","title":"Curve"},"dataset_path":{"anyOf":[{"minLength":1,"type":"string"},{"type":"null"}],"default":null,"description":"Experiments/<benchmark>/<task-agent>/<family>/<method>","title":"Dataset Path"},"dataset_revision":{"anyOf":[{"pattern":"^[0-9a-f]{40}$","type":"string"},{"type":"null"}],"default":null,"description":"revision of the dataset repository, 40 hex characters","title":"Dataset Revision"}},"title":"Artifacts","type":"object"},"Config":{"additionalProperties":false,"description":"The conditions of the measurement, compared with what the run recorded.","patternProperties":{"^x_":{}},"properties":{"study_ids":{"description":"file name of the list of tasks that the method was allowed to study","maxLength":200,"minLength":1,"title":"Study Ids","type":"string"},"study_ids_sha256":{"anyOf":[{"pattern":"^[0-9a-f]{64}$","type":"string"},{"type":"null"}],"default":null,"description":"sha256 of that list: one id per line, sorted, final newline","title":"Study Ids Sha256"},"rounds":{"description":"rounds of improvement","maximum":1000000000,"minimum":0,"title":"Rounds","type":"integer"},"jobs":{"description":"tasks measured at the same time","minimum":1,"title":"Jobs","type":"integer"},"slots":{"anyOf":[{"minimum":1,"type":"integer"},{"type":"null"}],"default":null,"description":"parallel capacity of the model server","title":"Slots"},"sampling":{"description":"all, below_<x>, above_<x> or random_<n>","pattern":"^(?:all|below_[0-9]*\\.?[0-9]+|above_[0-9]*\\.?[0-9]+|random_[1-9][0-9]*)$","title":"Sampling","type":"string"},"trials":{"description":"measurements of each task","maximum":1000000000,"minimum":1,"title":"Trials","type":"integer"},"endpoint":{"anyOf":[{"maxLength":400,"type":"string"},{"type":"null"}],"default":null,"description":"address of the model server; its host is never shown","title":"Endpoint"},"model":{"description":"equal to task_agent.model","maxLength":200,"minLength":1,"title":"Model","type":"string"},"temperature":{"anyOf":[{"minimum":0,"type":"number"},{"type":"null"}],"description":"a number from 0, or null","title":"Temperature"},"seed":{"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}],"description":"null = not fixed","title":"Seed"}},"required":["study_ids","rounds","jobs","sampling","trials","model","temperature","seed"],"title":"Config","type":"object"},"Credit":{"additionalProperties":false,"description":"Who is to be named, and how.","patternProperties":{"^x_":{}},"properties":{"name":{"description":"shown as written","maxLength":200,"minLength":1,"title":"Name","type":"string"},"affiliation":{"anyOf":[{"maxLength":200,"type":"string"},{"type":"null"}],"default":null,"description":"shown in parentheses after the name","title":"Affiliation"},"link":{"anyOf":[{"pattern":"^https?://[^\\s/]+\\S*$","type":"string"},{"type":"null"}],"default":null,"description":"http(s) address","title":"Link"},"submitted":{"description":"what you submitted, with this file's own pair","items":{"$ref":"#/$defs/Pair"},"minItems":1,"title":"Submitted","type":"array"},"acknowledge_in_report":{"default":false,"description":"true = you may be named in the technical report","title":"Acknowledge In Report","type":"boolean"},"contact":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"description":"leave it out: this file becomes public; send it privately to the maintainers","title":"Contact"}},"required":["name","submitted"],"title":"Credit","type":"object"},"Improver":{"additionalProperties":false,"description":"What did the improving: method, its model, the tool it ran under.","patternProperties":{"^x_":{}},"properties":{"method":{"description":"`name@version`; the name equals method.name","pattern":"^[^@\\s]+@[^@\\s]+$","title":"Method","type":"string"},"model":{"description":"the model the improver itself used; none for a method of rules only","maxLength":200,"minLength":1,"title":"Model","type":"string"},"harness":{"description":"the tool the improver ran under, in words","maxLength":200,"minLength":1,"title":"Harness","type":"string"},"rounds":{"description":"rounds of improvement; equal to config.rounds","maximum":1000000000,"minimum":0,"title":"Rounds","type":"integer"}},"required":["method","model","harness","rounds"],"title":"Improver","type":"object"},"Method":{"additionalProperties":false,"description":"The method's name and where to read about it.","patternProperties":{"^x_":{}},"properties":{"name":{"description":"lower-case letters, digits, '.', '_', '-'; equal to the folder's name","maxLength":64,"pattern":"^[a-z0-9][a-z0-9._-]*$","title":"Name","type":"string"},"paper":{"anyOf":[{"pattern":"^https://[^\\s/]+\\S*$","type":"string"},{"type":"null"}],"default":null,"description":"https address of a paper, or null","title":"Paper"},"code":{"anyOf":[{"pattern":"^https://[^\\s/]+\\S*$","type":"string"},{"type":"null"}],"default":null,"description":"https address of the code, or null","title":"Code"}},"required":["name"],"title":"Method","type":"object"},"Mirror":{"additionalProperties":false,"description":"The platform's copy of the trajectories; written by the platform only (15.4).","patternProperties":{"^x_":{}},"properties":{"location":{"description":"address of the copy","pattern":"^https://[^\\s/]+\\S*$","title":"Location","type":"string"},"repository":{"description":"dataset repository that holds it","title":"Repository","type":"string"},"revision":{"description":"revision of that repository","title":"Revision","type":"string"},"path":{"description":"path inside it","title":"Path","type":"string"},"sha256":{"description":"hash of the copy as read back","pattern":"^[0-9a-f]{64}$","title":"Sha256","type":"string"},"bytes":{"description":"its size","minimum":1,"title":"Bytes","type":"integer"},"mirrored_at":{"description":"UTC time of the copy","title":"Mirrored At","type":"string"}},"required":["location","repository","revision","path","sha256","bytes","mirrored_at"],"title":"Mirror","type":"object"},"Pair":{"additionalProperties":false,"description":"One thing submitted.","patternProperties":{"^x_":{}},"properties":{"dataset":{"description":"benchmark","maxLength":200,"minLength":1,"title":"Dataset","type":"string"},"method":{"description":"method","maxLength":200,"minLength":1,"title":"Method","type":"string"}},"required":["dataset","method"],"title":"Pair","type":"object"},"Platform":{"additionalProperties":false,"description":"The platform that measured.","patternProperties":{"^x_":{}},"properties":{"commit":{"description":"commit of the platform's repository, 40 hex characters","pattern":"^[0-9a-f]{7,40}$","title":"Commit","type":"string"},"content_sha":{"description":"content identity of the platform as run_meta.json records it, 40 or 64 hex characters","pattern":"^(?:[0-9a-f]{40}|[0-9a-f]{64})$","title":"Content Sha","type":"string"}},"required":["commit","content_sha"],"title":"Platform","type":"object"},"Reason":{"additionalProperties":false,"description":"Why a row is not verified.","patternProperties":{"^x_":{}},"properties":{"code":{"description":"code of the finding","title":"Code","type":"string"},"message":{"description":"its message","title":"Message","type":"string"}},"required":["code","message"],"title":"Reason","type":"object"},"Run":{"additionalProperties":false,"description":"One measurement of one state of the harness on one pool.","patternProperties":{"^x_":{}},"properties":{"run_id":{"description":"your id of the run, without spaces and slashes","maxLength":200,"pattern":"^[^\\s/]+$","title":"Run Id","type":"string"},"harness_sha":{"description":"git tree id of the measured harness directory, full length","pattern":"^(?:[0-9a-f]{40}|[0-9a-f]{64})$","title":"Harness Sha","type":"string"},"round":{"description":"0 is the unmodified base harness (H0)","maximum":1000000000,"minimum":0,"title":"Round","type":"integer"},"score":{"description":"mean over the pool's tasks, 0 to 1","maximum":1,"minimum":0,"title":"Score","type":"number"},"n_tasks":{"description":"number of tasks measured: the size of the pool","maximum":1000000000,"minimum":1,"title":"N Tasks","type":"integer"},"n_invalid":{"description":"tasks that could not be measured; 0 to be published as verified","minimum":0,"title":"N Invalid","type":"integer"},"n_harness_failed":{"anyOf":[{"minimum":0,"type":"integer"},{"type":"null"}],"default":null,"description":"tasks whose harness left no trace; taken from the per-task file when absent","title":"N Harness Failed"},"per_task":{"description":"path of the per-task file, relative to contrib/","minLength":1,"title":"Per Task","type":"string"},"pool":{"anyOf":[{"pattern":"^[a-z0-9][a-z0-9_-]*$","type":"string"},{"type":"null"}],"default":null,"description":"id of the pool that was measured; guessed from the task ids when absent","title":"Pool"},"selection":{"default":"unknown","description":"how this round was chosen","enum":["last","fixed_in_advance","nominated_by_method","best_on_study","best_on_reported","unknown"],"title":"Selection","type":"string"}},"required":["run_id","harness_sha","round","score","n_tasks","n_invalid","per_task"],"title":"Run","type":"object"},"Status":{"additionalProperties":false,"description":"The verdict as it was at the merge; written by the platform only (3.11).","patternProperties":{"^x_":{}},"properties":{"verified":{"description":"every check passed","title":"Verified","type":"boolean"},"mirrored":{"description":"the trajectories were copied","title":"Mirrored","type":"boolean"},"reasons":{"description":"why not verified","items":{"$ref":"#/$defs/Reason"},"title":"Reasons","type":"array"},"reference":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"description":"row id of the H0 that was used; null = no reference","title":"Reference"},"checked_at":{"description":"UTC time","title":"Checked At","type":"string"},"checker":{"description":"benchpipe@<version>","title":"Checker","type":"string"},"input_sha256":{"description":"hash of the contributor's bytes that were checked","pattern":"^[0-9a-f]{64}$","title":"Input Sha256","type":"string"}},"required":["verified","mirrored","reasons","checked_at","checker","input_sha256"],"title":"Status","type":"object"},"TaskAgent":{"additionalProperties":false,"description":"What is being improved: base harness, model, decoding.","patternProperties":{"^x_":{}},"properties":{"base_harness":{"description":"`name@version` of the harness's manifest, e.g. loop@0.2.0","pattern":"^[^@\\s]+@[^@\\s]+$","title":"Base Harness","type":"string"},"model":{"description":"the model that drives the harness; equal to config.model","maxLength":200,"minLength":1,"title":"Model","type":"string"},"decoding":{"description":"in words, e.g. greedy (temperature=0); a temperature named here equals config.temperature","maxLength":200,"minLength":1,"title":"Decoding","type":"string"}},"required":["base_harness","model","decoding"],"title":"TaskAgent","type":"object"},"Trajectories":{"additionalProperties":false,"description":"Where the trajectories lie.","patternProperties":{"^x_":{}},"properties":{"location":{"description":"https address under your control","pattern":"^https://[^\\s/]+\\S*$","title":"Location","type":"string"},"format":{"description":"one JSONL per task, one record per step","maxLength":200,"minLength":1,"title":"Format","type":"string"},"bytes":{"description":"size of the archive","minimum":1,"title":"Bytes","type":"integer"},"sha256":{"description":"sha256 of the archive, 64 hex characters","pattern":"^[0-9a-f]{64}$","title":"Sha256","type":"string"},"mirror":{"anyOf":[{"$ref":"#/$defs/Mirror"},{"type":"null"}],"default":null,"description":"written by the platform only"}},"required":["location","format","bytes","sha256"],"title":"Trajectories","type":"object"}},"additionalProperties":false,"description":"One JSON file at contrib/results/<dataset>/<method>/<variant>.json.","patternProperties":{"^x_":{}},"properties":{"schema":{"description":"harnessgrad.submission.v1","enum":["harnessgrad.submission.v1","benchpipe.submission.v1"],"title":"Schema","type":"string"},"dataset":{"description":"id of a registered benchmark; equal to the folder's name","maxLength":64,"pattern":"^[a-z0-9][a-z0-9_-]*$","title":"Dataset","type":"string"},"task_agent":{"$ref":"#/$defs/TaskAgent","description":"what is being improved"},"improver":{"anyOf":[{"$ref":"#/$defs/Improver"},{"type":"null"}],"description":"what did the improving; null if only H0 was measured"},"method":{"$ref":"#/$defs/Method","description":"the method's name and where to read about it"},"variant":{"description":"short label of this submission: lower-case letters, digits, '.', '_', '-'; equal to the file's stem","maxLength":64,"pattern":"^[a-z0-9][a-z0-9._-]*$","title":"Variant","type":"string"},"platform":{"$ref":"#/$defs/Platform","description":"the platform that measured"},"runs":{"description":"the measurements","items":{"$ref":"#/$defs/Run"},"minItems":1,"title":"Runs","type":"array"},"config":{"$ref":"#/$defs/Config","description":"the conditions of the measurement"},"trajectories":{"anyOf":[{"$ref":"#/$defs/Trajectories"},{"type":"null"}],"default":null,"description":"where the trajectories lie; may be left out"},"credit":{"$ref":"#/$defs/Credit","description":"who is to be named"},"artifacts":{"anyOf":[{"$ref":"#/$defs/Artifacts"},{"type":"null"}],"default":null,"description":"where harness trees and run records lie"},"status":{"anyOf":[{"$ref":"#/$defs/Status"},{"type":"null"}],"default":null,"description":"written by the platform only"}},"required":["schema","dataset","task_agent","improver","method","variant","platform","runs","config","credit"],"title":"benchpipe submission","type":"object"}'''

if __name__ == "__main__":
    run(SCHEMA)
