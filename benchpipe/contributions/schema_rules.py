"""Does a value have the shape of `submission.schema.json`? Every fault at once, with its place and what to write instead.

Reads the part of JSON Schema (draft 2020-12) that our models produce and nothing more; a test compares it with a complete
implementation. Standard library only: this module is a part of `contrib/validate.py`. It has no opinion on numbers.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from benchpipe.contributions.file_codes import SUB
from benchpipe.contributions.findings import Finding, named
from benchpipe.contributions.strict_json import MAX_FAULTS, Number, escape

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
