"""Native session logs in `agent/sessions/`: Codex rollouts and Claude Code projects (runs-system 10.3, revision S).

Lines of all files are merged by time. A history that a forked or resumed session repeats is told once.
"""

import heapq
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchpipe.transcripts.files import epoch, json_lines
from benchpipe.transcripts.records import Called, Event, Problems, Returned, Said, Thought
from benchpipe.transcripts.streams import Item, content_block, parts_of, response_item, tail_outputs


def events(files: list[Path], problems: Problems) -> Iterator[Event]:
    """Events of all session files, merged by time."""
    seen: set[Any] = set()
    lines = heapq.merge(*(_timed(path, n, problems) for n, path in enumerate(files)), key=lambda item: item[0])
    for t, _, line, agent in lines:
        for event in _codex(t, line, agent) if line.get("type") == "response_item" else _claude(t, line, agent):
            if (key := _identity(event)) not in seen:
                seen.add(key)
                yield event


def _timed(path: Path, n: int, problems: Problems) -> Iterator[tuple[float, int, dict[str, Any], str | None]]:
    """Lines with a time. A line that claims to be earlier than the one before it keeps its place in the file."""
    last = float("-inf")
    agent: str | None = None
    for line in json_lines(path, problems):
        t = epoch(line.get("timestamp"))
        if t is None:
            continue
        last = max(last, t)
        agent = agent or _sub_agent(line)
        yield last, n, line, agent


def _sub_agent(line: dict[str, Any]) -> str | None:
    """Name of the sub-agent that a session belongs to: Claude Code marks its lines, Codex the session's head."""
    if line.get("isSidechain") is True:
        return str(line.get("agentId") or "sub-agent")
    payload = line.get("payload")
    source = payload.get("source") if line.get("type") == "session_meta" and isinstance(payload, dict) else None
    return "sub-agent" if isinstance(source, dict) and "subagent" in source else None


def _codex(t: float, line: dict[str, Any], agent: str | None) -> Iterator[Event]:
    payload = line.get("payload")
    if not isinstance(payload, dict):
        return
    role = payload.get("role")
    if payload.get("type") == "message" and role in ("user", "developer", "system"):
        if text := parts_of(payload.get("content"))[0]:
            yield Said(t, text, by=role, agent=agent)
        return
    yield from _told(t, response_item(payload), agent)
    for output in tail_outputs([payload]):
        yield Returned(t, output.id, output.text, output.images, output.failed)


def _claude(t: float, line: dict[str, Any], agent: str | None) -> Iterator[Event]:
    message = line.get("message")
    if not isinstance(message, dict):
        return
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content if isinstance(content, list) else []
    if line.get("type") == "assistant":
        yield from _told(t, [item for block in blocks for item in content_block(block)], agent)
    elif line.get("type") == "user":
        for output in tail_outputs(blocks):
            yield Returned(t, output.id, output.text, output.images, output.failed)
        words = parts_of([block for block in blocks if isinstance(block, dict) and block.get("type") == "text"])[0]
        if words.strip() and line.get("isMeta") is not True:
            yield Said(t, words, by="user", agent=agent)


def _told(t: float, items: list[Item], agent: str | None) -> Iterator[Event]:
    for item in items:
        match item.kind:
            case "say":
                yield Said(t, item.text, agent=agent)
            case "think":
                yield Thought(t, item.text, agent=agent)
            case "call":
                yield Called(t, item.id, item.tool, item.input, agent=agent)


def _identity(event: Event) -> Any:
    """What makes an event the same one when a history is repeated: a call's id, else its time and text."""
    match event:
        case Called(id=call_id) | Returned(id=call_id) if call_id:
            return type(event).__name__, call_id
        case Called() | Returned():
            return object()
        case _:
            return type(event).__name__, event.t, event.text
