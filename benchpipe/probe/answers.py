"""What a model's answer says about its usage: a streamed or whole body → usage, response id, model. Knows no log line.

Runs on hosts: Python 3.8, standard library only. The rules, which `quick` beside this file follows on undecoded bytes:

- An event carries usage if an object `usage`, `usageMetadata` or `usage_metadata` stands at its top or one object down
  (`response`, `message`). Of the events named `response.…` only the three that end a response carry it.
- The last such event wins; Anthropic's `message_delta` instead updates, field by field, what `message_start` said.
- The id is the first `id` or `responseId` at the event's top or `id` one object down; the model the first text called
  `model` or `modelVersion` at any depth.
"""

import re
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from benchpipe.probe.lenient import NOT_JSON, decode, text_or_none
from benchpipe.probe.usage_shapes import UnknownUsage, Usage, normalise

USAGE_KEYS = ("usage", "usageMetadata", "usage_metadata")
ENDINGS = ("response.completed", "response.incomplete", "response.failed")
MODEL_TEXT = re.compile(r"[ !#-\[\]-~]{1,200}")


class Answer(NamedTuple):
    """`usage` is None when the answer says nothing that could be read; `why` then names an unknown shape, if any."""

    usage: Optional[Usage] = None
    response_id: Optional[str] = None
    model: Optional[str] = None
    why: Optional[str] = None


class Carrier(NamedTuple):
    """An event's usage object with what stands around it."""

    usage: Dict[str, Any]
    response_id: Optional[str]
    model: Optional[str]
    updates: bool
    """It updates the event before it instead of replacing it."""


def answer_of(body: Any) -> Answer:
    """The answer in a body: text of server-sent events, text of a JSON document, or the decoded document itself."""
    if isinstance(body, str):
        return conclude(filter(None, map(carrier, _events(body))))
    return conclude(filter(None, map(carrier, body if isinstance(body, list) else [body])))


def conclude(carriers: Iterable[Carrier]) -> Answer:
    """The last word of a stream's usage-carrying events, in their order."""
    last: Optional[Carrier] = None
    for this in carriers:
        last = _updated(last, this) if last and this.updates else this
    if last is None:
        return Answer()
    try:
        return Answer(normalise(last.usage), last.response_id, last.model)
    except UnknownUsage as reason:
        return Answer(None, last.response_id, last.model, str(reason))


def _updated(old: Carrier, new: Carrier) -> Carrier:
    usage = dict(old.usage)
    usage.update({key: value for key, value in new.usage.items() if value is not None or key not in usage})
    return Carrier(usage, new.response_id or old.response_id, new.model or old.model, old.updates)


def carrier(event: Any) -> Optional[Carrier]:
    """The usage that one event carries, if any."""
    if not isinstance(event, dict) or not carries(event.get("type")):
        return None
    usage = _usage_in(event)
    if usage is None:
        return None
    model = next((text for text in _models(event) if MODEL_TEXT.fullmatch(text)), None)
    return Carrier(usage, _id_in(event), model, event.get("type") == "message_delta")


def carries(kind: Any) -> bool:
    """Whether an event of this `type` may carry usage."""
    return not (isinstance(kind, str) and kind.startswith("response.")) or kind in ENDINGS


def _usage_in(event: dict) -> Optional[dict]:
    found = None
    for holder in [value for value in event.values() if isinstance(value, dict)] + [event]:
        for key in USAGE_KEYS:
            if isinstance(holder.get(key), dict):
                found = holder[key]
    return found


def _id_in(event: dict) -> Optional[str]:
    for key, value in event.items():
        found = value if key in ("id", "responseId") else value.get("id") if isinstance(value, dict) else None
        if isinstance(found, str) and found:
            return text_or_none(found)
    return None


def _models(value: Any) -> Iterator[str]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, (dict, list)):
            yield from _models(inner)
        elif key in ("model", "modelVersion") and isinstance(inner, str):
            yield inner


def _events(text: str) -> Iterator[Any]:
    """The JSON events of a body that say anything about usage."""
    if text.lstrip()[:1] in ("{", "["):
        whole = decode(text)
        if whole is not NOT_JSON:
            yield from whole if isinstance(whole, list) else [whole]
            return
    block: List[str] = []
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if line.startswith("data:"):
            block.append(line[5:])
        elif not line.strip():
            yield from _parsed(block)
            block = []
    yield from _parsed(block)


def _parsed(block: List[str]) -> Iterator[Any]:
    """The events of one block of `data:` lines: each line is one, or several lines together are."""
    if not any("usage" in line for line in block):
        return
    pieces: List[Tuple[str, Any]] = [(line, decode(line)) for line in block]
    yield from (value for _, value in pieces if value is not NOT_JSON)
    rest = "\n".join(line for line, value in pieces if value is NOT_JSON)
    together = decode(rest)
    if together is not NOT_JSON:
        yield together
