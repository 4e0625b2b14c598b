"""The rules of what must not leave the lab: `rules.yml` as typed, compiled records. It decides nothing about any text.

A rule is an expression over bytes. Expressions are written with a few macros, so that "left border of a key" or "a value
that is code and no secret" is said once. Rules for a lab's own machines and paths are added by `names`.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

RULES_FILE = Path(__file__).with_name("rules.yml")

_NO_CODE = (
    r"(?![$<{(\[%*}\],;:)]|(?i:os\.|process\.|getenv|self\.|args\.|config\.|settings\.|env\.|environ)"
    r"|(?i:true|false|yes|no|none|null|nil|undefined|str|int|string|optional|bool)(?![A-Za-z0-9_-])"
    r"|-?[0-9.]+(?:[\s\"'\\,;)&\]]|$)|0x[0-9A-Fa-f]{1,8}\b)"
)
"""Right before a value: it is neither code, nor a variable, nor a plain number."""
_NO_CALL = r"(?![A-Za-z_]+(?:\.[A-Za-z_]+)*[(\[])"
"""Right before a value without quotes: it is neither a call nor a part of something else."""

MACROS = {
    # A key begins where no letter, digit, `-` or `_` stands before it; `\n`, `%0A` and a terminal's colour are borders too.
    "border": r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=[\[;][0-9]m)|(?<=[\[;][0-9]{2}m)|(?<=\[[mK]))",
    "mixed": r"(?=[A-Za-z0-9_.-]*[0-9A-Z])",
    "ws": r"(?:\s|\\+[nrt])",
    "quotes": r"(?:\\+(?=[\"'])|[\"'\]]){0,20}",
    "nocode": _NO_CODE,
    "nocall": _NO_CALL,
    "octet": r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})",
    "tld": (
        r"(?:"
        r"com|org|net|edu|gov|mil|int|io|ai|dev|app|me|co|info|biz|name|xyz|tech|cloud|online|email|eu|de|"
        r"fr|uk|ch|at|nl|be|it|es|pt|pl|cz|se|no|fi|dk|ie|us|ca|mx|br|ar|cn|jp|kr|tw|hk|sg|in|il|tr|ru|ua|"
        r"au|nz|za"
        r")"
    ),
    "value": (
        rf"(?:\\*\"({_NO_CODE}[^\"\\<>\x00-\x1f]{{2,}})|\\*'({_NO_CODE}[^'\\<>\x00-\x1f]{{2,}})"
        rf"|({_NO_CODE}{_NO_CALL}[^\s\"'\\<>,;&()\x00\x01]{{2,}}))"
    ),
}

SELF_EVIDENT = frozenset({"credential", "jwt", "private key"})
"""Classes whose shape alone tells; the others are told by what stands around them."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of text that must not leave. The fields are explained at the head of `rules.yml`."""

    id: str
    kind: str = msgspec.field(name="class")
    near: str
    pattern: str
    marker: str = ""
    back: int = 0
    reach: int = 1024
    wraps: bool = True
    words: bool = False
    unless: str | None = None
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()

    @property
    def self_evident(self) -> bool:
        """Whether a match needs no further sign that it is a secret when it is put together from pieces."""
        return self.kind in SELF_EVIDENT


def expand(pattern: str) -> str:
    """`pattern` with its macros filled in. Quantifiers such as `{8,}` are no macros and stay."""
    return re.sub(r"\{([a-z]+)\}", lambda m: MACROS[m[1]], pattern)


def parse_rules(document: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules of a parsed `rules.yml`; a rule without a marker gets the one of its class."""
    markers: Mapping[str, str] = document["markers"]
    return tuple(msgspec.convert({"marker": markers[entry["class"]], **entry}, Rule, strict=True) for entry in document["rules"])


@cache
def built_in_rules() -> tuple[Rule, ...]:
    """The shipped rules, in the order of the file."""
    import yaml

    return parse_rules(yaml.safe_load(RULES_FILE.read_bytes()))


def kinds(rules: Sequence[Rule]) -> list[str]:
    """The classes of `rules`, sorted: what a snapshot says it was scanned for."""
    return sorted({rule.kind for rule in rules})
