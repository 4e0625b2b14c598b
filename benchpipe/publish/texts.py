"""What people wrote in the registry, as it may leave the lab: the same records, redacted by the same rules as the snapshot.

Machine names in prose are for those who show a text (`names.machine_filter`); keys of mappings, ids among them, stay.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from benchpipe.lab import Lab
from benchpipe.publish.find import Finder
from benchpipe.publish.names import all_rules
from benchpipe.publish.redact import redact
from benchpipe.registry.records import Registry

T = TypeVar("T")


def public_registry(lab: Lab, registry: Registry) -> Registry:
    """The registry without anything that a rule names, but e-mail addresses: who writes one there wants to be written to.

    Hosts and `data/public.yml` stay: they tell which names must not leave.
    """
    finder = Finder([rule for rule in all_rules(lab, registry) if rule.kind != "e-mail"])
    return msgspec.structs.replace(redacted(registry, finder), hosts=registry.hosts, public=registry.public)


def redacted(record: T, finder: Finder) -> T:
    """A record with every string in it redacted, in one pass over all of them; the same object if there is nothing to redact."""
    texts = list(dict.fromkeys(_strings(record)))
    public = texts.copy()
    redact(public, finder)
    changed = {before: after for before, after in zip(texts, public, strict=True) if before != after}
    return _replaced(record, changed) if changed else record


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    else:
        for inner in _inner(value):
            yield from _strings(inner)


def _inner(value: Any) -> list[Any]:
    if isinstance(value, msgspec.Struct):
        return [getattr(value, field) for field in value.__struct_fields__]
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def _replaced(value: Any, changed: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return changed.get(value, value)
    if isinstance(value, msgspec.Struct):
        fields = {field: _replaced(getattr(value, field), changed) for field in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, Mapping):
        return {key: _replaced(inner, changed) for key, inner in value.items()}
    return type(value)(_replaced(inner, changed) for inner in value) if isinstance(value, list | tuple) else value
