"""The body of a model's answer, streamed or whole, as neutral items. Three protocols: OpenAI Responses, OpenAI chat
completions (OpenRouter and most other servers speak it too), Anthropic Messages.

Pure; usage is not read here (that is `probe.usage_shapes`). Anything that isn't understood yields nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec


@dataclass(frozen=True)
class Item:
    """One thing in an answer. A `call` has an id, a tool and its input; the others have text."""

    kind: Literal["say", "think", "call"]
    text: str = ""
    id: str = ""
    tool: str = ""
    input: str | Mapping[str, Any] = ""


@dataclass(frozen=True)
class Output:
    """A tool's answer as the next request brings it."""

    id: str
    text: str
    images: tuple[str, ...] = ()
    failed: bool | None = None


def answer_items(response: Any) -> list[Item]:
    """Items of one answer, in order. `response` is a raw body (server-sent events or JSON) or a decoded one."""
    if isinstance(response, str):
        events = list(_events(response))
        if not events and (whole := _decoded(response.strip())) is not None:
            return answer_items(whole)
        return _from_events(events)
    return _from_whole(response) if isinstance(response, dict) else []


def tail_outputs(tail: Any) -> list[Output]:
    """Tool outputs among the last items of a request's input, of all three protocols."""
    found: list[Output] = []
    for item in tail if isinstance(tail, list) else ():
        if not isinstance(item, dict):
            continue
        match item.get("type"), item.get("role"):
            case (("custom_tool_call_output" | "function_call_output"), _):
                found.append(Output(_text(item.get("call_id")), *parts_of(item.get("output"))))
            case "tool_result", _:
                failed = item.get("is_error") if isinstance(item.get("is_error"), bool) else None
                found.append(Output(_text(item.get("tool_use_id")), *parts_of(item.get("content")), failed=failed))
            case _, "tool":
                found.append(Output(_text(item.get("tool_call_id")), *parts_of(item.get("content"))))
            case _, "user":
                found.extend(tail_outputs(item.get("content")))
            case _:
                pass
    return found


def tail_messages(tail: Any) -> list[tuple[str, str]]:
    """`(role, text)` of the messages of people among the last items of a request's input."""
    found = []
    for item in tail if isinstance(tail, list) else ():
        role = item.get("role") if isinstance(item, dict) else None
        if role in ("user", "system", "developer") and (text := parts_of(item.get("content"))[0]).strip():
            found.append((role, text))
    return found


def parts_of(content: Any) -> tuple[str, tuple[str, ...]]:
    """Joined text and image data URLs of a content: a string, or a list of parts in any of the protocols' forms."""
    if isinstance(content, str):
        return content, ()
    texts: list[str] = []
    images: list[str] = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            if url := image_url(part):
                images.append(url)
            elif isinstance(part.get("text"), str) and part.get("type") != "tool_result":
                texts.append(part["text"])
    return "\n".join(texts), tuple(images)


def image_url(part: Mapping[str, Any]) -> str | None:
    """The data URL of an image part: `image_url` as text or object, or Anthropic's base64 source."""
    url = part.get("image_url")
    if isinstance(url, dict):
        url = url.get("url")
    if isinstance(url, str):
        return url if url.startswith("data:image/") else None
    source = part.get("source")
    if isinstance(source, dict) and source.get("type") == "base64":
        return f"data:{source.get('media_type')};base64,{source.get('data')}"
    return None


# --- streams ---------------------------------------------------------------------------------------------------------

_NEEDLESS = ('"response.output_text.delta"', '"response.function_call_arguments.delta"', '"response.custom_tool_call_input.delta"')


def _events(body: str) -> Iterator[dict[str, Any]]:
    """Decoded `data:` lines; the pieces of a Responses stream, which its done events repeat, are passed over undecoded."""
    for line in body.splitlines():
        if line.startswith("data:") and not any(name in line[:80] for name in _NEEDLESS):
            event = _decoded(line[5:].strip())
            if event is not None:
                yield event


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _from_events(events: list[dict[str, Any]]) -> list[Item]:
    if any(isinstance(event.get("choices"), list) for event in events):
        return _chat_stream(events)
    if any(event.get("type") == "content_block_start" or event.get("type") == "content_block_delta" for event in events):
        return _anthropic_stream(events)
    done = [event.get("item") for event in events if event.get("type") == "response.output_item.done"]
    if not done:  # some servers send the items only with the end
        for event in events:
            response = event.get("response")
            if isinstance(response, dict) and isinstance(response.get("output"), list):
                done = response["output"]
    return [made for item in done for made in response_item(item)]


def _from_whole(body: dict[str, Any]) -> list[Item]:
    if isinstance(body.get("output"), list):
        return [made for item in body["output"] for made in response_item(item)]
    if isinstance(body.get("content"), list):
        return [made for block in body["content"] for made in content_block(block)]
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return _chat_message(first["message"]) if isinstance(first, dict) and isinstance(first.get("message"), dict) else []


def response_item(item: Any) -> list[Item]:
    """An output item of OpenAI Responses (also what Codex keeps in its sessions)."""
    if not isinstance(item, dict):
        return []
    match item.get("type"):
        case "message" if item.get("role", "assistant") == "assistant":
            return _worded("say", parts_of(item.get("content"))[0])
        case "reasoning":
            return _worded("think", parts_of(item.get("summary"))[0])
        case "custom_tool_call":
            return [Item("call", id=_text(item.get("call_id")), tool=_text(item.get("name")), input=_text(item.get("input")))]
        case "function_call":
            return [Item("call", id=_text(item.get("call_id")), tool=_text(item.get("name")), input=_text(item.get("arguments")))]
        case "local_shell_call":
            action = item.get("action")
            return [Item("call", id=_text(item.get("call_id")), tool="shell", input=action if isinstance(action, dict) else "")]
    return []


def content_block(block: Any) -> list[Item]:
    """A content block of Anthropic Messages (also what Claude Code keeps in its sessions)."""
    if not isinstance(block, dict):
        return []
    match block.get("type"):
        case "text":
            return _worded("say", _text(block.get("text")))
        case "thinking":
            return _worded("think", _text(block.get("thinking")))
        case "tool_use" | "server_tool_use":
            asked = block.get("input")
            wanted = asked if isinstance(asked, dict | str) else ""
            return [Item("call", id=_text(block.get("id")), tool=_text(block.get("name")), input=wanted)]
    return []


def _chat_message(message: dict[str, Any]) -> list[Item]:
    items = _worded("think", _text(message.get("reasoning") or message.get("reasoning_content")))
    items += _worded("say", parts_of(message.get("content"))[0])
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            items.append(
                Item("call", id=_text(call.get("id")), tool=_text(function.get("name")), input=_text(function.get("arguments")))
            )
    return items


def _chat_stream(events: list[dict[str, Any]]) -> list[Item]:
    """Pieces of the first choice, joined."""
    texts: dict[str, list[str]] = {"reasoning": [], "content": []}
    calls: dict[int, dict[str, str]] = {}
    for event in events:
        choices = event.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        delta = first.get("delta") if isinstance(first, dict) else None
        if not isinstance(delta, dict):
            continue
        texts["reasoning"].append(_text(delta.get("reasoning") or delta.get("reasoning_content")))
        texts["content"].append(_text(delta.get("content")))
        pieces = delta.get("tool_calls")
        for piece in pieces if isinstance(pieces, list) else ():
            function = piece.get("function") if isinstance(piece, dict) else None
            if not isinstance(function, dict):
                continue
            call = calls.setdefault(_index(piece), {"id": "", "name": "", "arguments": ""})
            call["id"] = _text(piece.get("id")) or call["id"]
            call["name"] += _text(function.get("name"))
            call["arguments"] += _text(function.get("arguments"))
    items = _worded("think", "".join(texts["reasoning"])) + _worded("say", "".join(texts["content"]))
    return items + [Item("call", id=call["id"], tool=call["name"], input=call["arguments"]) for _, call in sorted(calls.items())]


def _anthropic_stream(events: list[dict[str, Any]]) -> list[Item]:
    """Content blocks by index, their deltas joined."""
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        index = _index(event)
        if event.get("type") == "content_block_start" and isinstance(event.get("content_block"), dict):
            blocks[index] = dict(event["content_block"])
        delta = event.get("delta")
        if event.get("type") != "content_block_delta" or not isinstance(delta, dict):
            continue
        kind, key = {
            "text_delta": ("text", "text"),
            "thinking_delta": ("thinking", "thinking"),
            "input_json_delta": ("tool_use", "partial_json"),
        }.get(_text(delta.get("type")), ("", ""))
        if key:
            block = blocks.setdefault(index, {"type": kind})
            into = "input" if key == "partial_json" else key
            so_far = block.get(into)
            block[into] = (so_far if isinstance(so_far, str) else "") + _text(delta.get(key))
    return [made for block in blocks.values() for made in content_block(block)]


def _worded(kind: Literal["say", "think"], text: str) -> list[Item]:
    return [Item(kind, text=text)] if text.strip() else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _index(piece: Mapping[str, Any]) -> int:
    """Which call or block a piece belongs to."""
    index = piece.get("index")
    return index if isinstance(index, int) else 0
