"""Files that are made from code, so that one rule stands in one place: the schema, the validator, the tables of `docs/`.

`benchpipe docs` writes them, a test compares them with what is committed. Nothing here decides anything.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from benchpipe.contributions.artifacts.codes import CODES as DATASET_CODES
from benchpipe.contributions.artifacts.manifests import MANIFESTS
from benchpipe.contributions.codes import CODES
from benchpipe.contributions.leaks import LEAKS
from benchpipe.contributions.models import PerTask, Submission
from benchpipe.contributions.report import WORDS

HERE = Path(__file__).parent
SCRIPT_PARTS = ("findings", "strict_json", "contacts", "file_codes", "schema_rules", "file_rules", "door")
"""Modules of the validator, in the order in which they stand in the script."""
_DOCSTRING = re.compile(r'\A"""(.*?)"""\n', re.DOTALL)


def schema() -> dict[str, Any]:
    """`contrib/submission.schema.json`: JSON Schema draft 2020-12 of a submission."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Submission.model_json_schema()}


def schema_text() -> str:
    """The schema file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def validator_text() -> str:
    """`contrib/validate.py`: the file-alone part of the gate in one script for a bare Python."""
    imports: set[str] = set()
    bodies = []
    for name in SCRIPT_PARTS:
        source = (HERE / f"{name}.py").read_text(encoding="utf-8")
        kept = []
        for line in _DOCSTRING.sub("", source, count=1).splitlines():
            if re.match(r"(?:import|from) ", line):
                if not line.startswith("from benchpipe"):
                    imports.add(line)
            else:
                kept.append(line)
        bodies.append(
            f"# --- benchpipe/contributions/{name}.py " + "-" * (92 - len(name)) + "\n\n" + "\n".join(kept).strip() + "\n"
        )
    head = [
        '"""Checks a submission before it is sent: python3 contrib/validate.py FILE. Needs Python 3.11 or newer and nothing else.',
        "",
        "Made by `benchpipe docs` from the modules named below, the first part of the maintainers' gate. Don't edit it here.",
        '"""',
        "",
        *sorted(imports, key=lambda line: (not line.startswith("import"), line)),
        "",
        "",
    ]
    compact = json.dumps(schema(), separators=(",", ":"), ensure_ascii=True)
    tail = f"SCHEMA = r'''{compact}'''\n\nif __name__ == \"__main__\":\n    run(SCHEMA)\n"
    return "# ruff: noqa\n# fmt: off\n" + "\n".join(head) + "\n\n".join([*bodies, tail])


def fields_page() -> str:
    """`docs/contribution-fields.md`: every field of a submission and of a per-task file."""
    lines = [
        "# Fields of a submission",
        "",
        "Made by `benchpipe docs` from `benchpipe/contributions/models.py`; the same models make `contrib/submission.schema.json`.",
        "Keys that begin with `x_` are allowed anywhere and ignored, but for `x_publish_unverified: true` (show the row as",
        "unverified if it can't be verified) and `x_agreement` (address where the method's author agreed). No key that is named",
        "like a contact may be filled in, `x_` or not (SUB-021).",
        "",
    ]
    for root, title in ((Submission, "The file"), (PerTask, "The per-task file")):
        for model in _models_of(root):
            head = title if model is root else f"{title}: {model.__name__}"
            lines += [
                f"## {head}",
                "",
                f"{(model.__doc__ or '').strip()}",
                "",
                "| field | type | required | meaning |",
                "| --- | --- | --- | --- |",
            ]
            lines += list(_field_rows(model))
            lines.append("")
    return "\n".join(lines)


def _models_of(model: type[BaseModel]) -> list[type[BaseModel]]:
    """A model and those inside it, outermost first, each once."""
    found = [model]
    for field in model.model_fields.values():
        for inner in _inside(field.annotation):
            found += [each for each in _models_of(inner) if each not in found]
    return found


def _inside(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _inside(argument)


def _field_rows(model: type[BaseModel]) -> Iterator[str]:
    properties = model.model_json_schema()
    required = properties.get("required", [])
    for name, shape in properties["properties"].items():
        wanted = "yes" if name in required else "no"
        yield f"| `{name}` | {_type_words(shape)} | {wanted} | {shape.get('description', '')} |".replace("<", "&lt;")


def _type_words(shape: dict[str, Any]) -> str:
    if "anyOf" in shape:
        return " or ".join(_type_words(option) for option in shape["anyOf"])
    if "$ref" in shape:
        return shape["$ref"].rpartition("/")[2]
    if "const" in shape or "enum" in shape:
        return "one of " + ", ".join(f"`{value}`" for value in shape.get("enum", [shape.get("const")]))
    if shape.get("type") == "array":
        return "list of " + _type_words(shape["items"])
    inner = shape.get("additionalProperties")
    return "map to " + _type_words(inner) if isinstance(inner, dict) else str(shape.get("type", "value"))


_EFFECTS = {"refuse": "refused", "fail": "unverified", "not_run": "check not run, unverified", "warn": "said only"}


def codes_page() -> str:
    """`docs/contribution-codes.md`: every code, what it does and what it says."""
    lines = [
        "# Codes of contributed results",
        "",
        "Made by `benchpipe docs` from the tables in `benchpipe/contributions/` (`file_codes.py`, `codes.py`). A check is passed,",
        "failed, not run (never counted as passed) or not applicable. SUB codes need the file alone: `contrib/validate.py` says",
        "the same.",
        "",
    ]
    for check in ("schema", "task_set", "validity", "score", "state", "config", "trajectories", ""):
        lines += [
            f"## {WORDS.get(check, 'Beside the checks')}",
            "",
            "| code | effect | message | what to do |",
            "| --- | --- | --- | --- |",
        ]
        lines += [
            f"| {code.id} | {_EFFECTS[code.effect]} | {_shown(code.template)} | {_shown(code.hint)} |"
            for code in CODES.values()
            if code.check == check
        ]
        lines.append("")
    return "\n".join(lines)


def experiments_page() -> str:
    """`docs/experiments-fields.md`: manifests and curve records of the dataset repository, and the codes of its checks."""
    lines = [
        "# Fields and codes of dataset directories",
        "",
        "Made by `benchpipe docs` from `benchpipe/contributions/artifacts/` (`manifests.py`, `codes.py`). The guide is",
        "[experiments.md](experiments.md). A check is passed, failed or not run (never counted as passed).",
        "",
    ]
    for model in MANIFESTS:
        for part in _models_of(model):
            head = (model.__doc__ or "").strip() if part is model else f"{model.__name__}: {part.__name__}"
            lines += [f"## {head.rstrip('.')}", "", "| field | type | required | meaning |", "| --- | --- | --- | --- |"]
            lines += [*_field_rows(part), ""]
    lines += ["## Codes", "", "| code | check | effect | message | what to do |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {code.id} | {code.check} | {_EFFECTS[code.effect]} | {_shown(code.template)} | {_shown(code.hint)} |"
        for code in DATASET_CODES.values()
    ]
    lines += [
        "",
        "## Review",
        "",
        "What `benchpipe contrib dataset --leaks` lists for maintainers. It changes no verdict, and may be nothing.",
        "",
        "| code | what was found | why it may be nothing |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {code.id} | {_shown(code.template)} | {_shown(code.hint)} |" for code in LEAKS.values()]
    return "\n".join(lines) + "\n"


def _shown(template: str) -> str:
    return re.sub(r"\{(\w+)[^{}]*\}", r"‹\1›", template).replace("|", "\\|")


PAGES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("contrib/submission.schema.json", schema_text),
    ("contrib/validate.py", validator_text),
    ("docs/contribution-fields.md", fields_page),
    ("docs/contribution-codes.md", codes_page),
    ("docs/experiments-fields.md", experiments_page),
)
"""File (relative to the repository) and the function that gives its text."""
