"""A provider's usage object → one normal form with disjoint meanings (harbor-jobs 7, C2). Knows no log and no file.

Runs on hosts: Python 3.8, standard library only. An object that fits no convention is refused with the reason, so that
it is counted as missing usage and named, never as zero.
"""

from decimal import Decimal
from typing import Any, NamedTuple, Optional

from benchpipe.probe.lenient import is_number

MAX_TOKENS = 10**12
MAX_CHARGE = 10**6


class UnknownUsage(ValueError):
    """The object fits no convention; the message says why in a few words."""


class Usage(NamedTuple):
    """Tokens of one response. None = not said, which is not 0."""

    input: int
    """All prompt tokens, cached and cache-written ones included."""
    cached: Optional[int]
    cache_write: Optional[int]
    output: Optional[int]
    """All generated tokens, reasoning included."""
    reasoning: Optional[int]
    charge: Optional[str]
    """What the provider says it charged, USD as a decimal string."""
    shape: str
    """Name of the convention."""
    doubt: Optional[str] = None
    """What the object says that can't be true and that loses no token: a charge out of range."""


def normalise(usage: Any) -> Usage:
    """The normal form of a usage object of any known convention. Raises UnknownUsage for everything else."""
    if not isinstance(usage, dict):
        raise UnknownUsage("usage is no object")
    if "promptTokenCount" in usage or "candidatesTokenCount" in usage:
        result = _gemini(usage)
    elif "prompt_token_count" in usage or "candidates_token_count" in usage:
        result = _gemini({_camel(str(key)): value for key, value in usage.items()})
    elif usage.get("prompt_tokens") is not None:
        result = _prompt_tokens(usage)
    elif usage.get("input_tokens") is not None:
        anthropic = "input_tokens_details" not in usage and any(key.startswith("cache_") for key in usage)
        result = _anthropic(usage) if anthropic else _responses(usage)
    else:
        raise UnknownUsage("keys " + ", ".join(sorted(str(key)[:40] for key in usage)[:8]) if usage else "an empty object")
    return _charged(_consistent(result), usage)


def _prompt_tokens(usage: dict) -> Usage:
    """OpenAI chat and what is modelled on it: `prompt_tokens` is the whole input already."""
    details = _part(usage, "prompt_tokens_details")
    if "prompt_cache_hit_tokens" in usage:
        shape, cached = "deepseek", _count(usage, "prompt_cache_hit_tokens")
    else:
        shape = "litellm-usage" if "cache_read_input_tokens" in usage else _routed(usage, "openai-chat", "openrouter-chat")
        cached = _first(_count(details, "cached_tokens"), _count(usage, "cache_read_input_tokens"))
    written = _first(
        _count(details, "cache_write_tokens"),
        _count(details, "cache_creation_tokens"),
        _count(usage, "cache_creation_input_tokens"),
    )
    reasoning = _count(_part(usage, "completion_tokens_details"), "reasoning_tokens")
    output = _count(usage, "completion_tokens")
    return Usage(_whole(usage, "prompt_tokens"), cached, written, output, reasoning, None, shape)


def _responses(usage: dict) -> Usage:
    """OpenAI Responses: `input_tokens` is the whole input already. Anthropic's without any cache reads the same."""
    details = _part(usage, "input_tokens_details")
    return Usage(
        input=_whole(usage, "input_tokens"),
        cached=_first(_count(details, "cached_tokens"), _count(usage, "cached_input_tokens")),
        cache_write=_count(details, "cache_write_tokens"),
        output=_count(usage, "output_tokens"),
        reasoning=_first(
            _count(_part(usage, "output_tokens_details"), "reasoning_tokens"),
            _count(_part(usage, "output_tokens_details"), "thinking_tokens"),
            _count(usage, "reasoning_output_tokens"),
        ),
        charge=None,
        shape=_routed(usage, "openai-responses", "openrouter-responses"),
    )


def _anthropic(usage: dict) -> Usage:
    """Anthropic Messages: the whole input is the sum of three. A cache field that is null means 0."""
    cached = _count(usage, "cache_read_input_tokens", null=0)
    written = _count(usage, "cache_creation_input_tokens", null=0)
    by_age = _part(usage, "cache_creation")
    if not written and by_age:
        written = (_count(by_age, "ephemeral_5m_input_tokens") or 0) + (_count(by_age, "ephemeral_1h_input_tokens") or 0)
    return Usage(
        input=_whole(usage, "input_tokens") + (cached or 0) + (written or 0),
        cached=cached,
        cache_write=written,
        output=_count(usage, "output_tokens"),
        reasoning=_count(_part(usage, "output_tokens_details"), "thinking_tokens"),
        charge=None,
        shape="anthropic-messages",
    )


def _gemini(usage: dict) -> Usage:
    """Gemini: tool-use prompts are apart; thoughts are apart too, unless the total says that candidates hold them."""
    prompt, tools = _whole(usage, "promptTokenCount"), _count(usage, "toolUsePromptTokenCount") or 0
    candidates, thoughts = _count(usage, "candidatesTokenCount") or 0, _count(usage, "thoughtsTokenCount") or 0
    inside = thoughts > 0 and _count(usage, "totalTokenCount") == prompt + candidates + tools
    return Usage(
        input=prompt + tools,
        cached=_count(usage, "cachedContentTokenCount"),
        cache_write=None,
        output=candidates if inside else candidates + thoughts,
        reasoning=thoughts,
        charge=None,
        shape="gemini",
    )


def _consistent(usage: Usage) -> Usage:
    """The subtraction guard: a part that is more than its whole means that a wrong convention was assumed."""
    if (usage.cached or 0) + (usage.cache_write or 0) > usage.input:
        raise UnknownUsage("%s with more cached than input tokens" % usage.shape)
    if usage.output is not None and (usage.reasoning or 0) > usage.output:
        raise UnknownUsage("%s with more reasoning than output tokens" % usage.shape)
    return usage


def _charged(usage: Usage, said: dict) -> Usage:
    """With its charge (C4): `cost`, plus the upstream cost only where `is_byok` is true.

    An own key's answer may name the upstream cost alone. A cost that is no number is no charge, and one out of range is none
    that anybody could believe.
    """
    parts = [said.get("cost")]
    if said.get("is_byok") is True:
        details = said.get("cost_details")
        parts.append(details.get("upstream_inference_cost") if isinstance(details, dict) else None)
    money = [_money(part) for part in parts if is_number(part)]
    if not all(usd.is_finite() and 0 <= usd <= MAX_CHARGE for usd in money):
        return usage._replace(doubt="a cost out of range")
    return usage._replace(charge=str(sum(money[1:], money[0]))) if money else usage


def _money(value: Any) -> Decimal:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _count(usage: dict, key: str, null: Optional[int] = None) -> Optional[int]:
    """A token count; absent → None, null → `null`. UnknownUsage for anything that can't be one."""
    if key not in usage:
        return None
    value = usage[key]
    if value is None:
        return null
    if not is_number(value) or not 0 <= value <= MAX_TOKENS or value != int(value):
        raise UnknownUsage("%s is no token count" % key)
    return int(value)


def _whole(usage: dict, key: str) -> int:
    value = _count(usage, key)
    if value is None:
        raise UnknownUsage("no %s" % key)
    return value


def _part(usage: dict, key: str) -> dict:
    value = usage.get(key)
    if value is not None and not isinstance(value, dict):
        raise UnknownUsage("%s is no object" % key)
    return value or {}


def _first(*values: Optional[int]) -> Optional[int]:
    return next((value for value in values if value is not None), None)


def _routed(usage: dict, plain: str, routed: str) -> str:
    return routed if "cost" in usage or "is_byok" in usage else plain


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)
