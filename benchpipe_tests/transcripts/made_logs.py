"""Makes logs of every kind in the shapes of runs-system 4.3 and harbor-jobs 6 and 7. Seeded: same arguments, same bytes."""

import base64
import json
import random
import struct
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchpipe.probe.requests import trial_requests
from benchpipe.usage.records import Request

T0 = 1_790_000_000.5
PROSE = "the cup is left of plate so I move gripper above handle then close it and lift slowly while checking force"
WORDS = PROSE.split()


def words(rng: random.Random, n: int) -> str:
    """About `n` characters of prose in lines."""
    text = " ".join(rng.choice(WORDS) for _ in range(n // 5 + 1))
    return "\n".join(text[i : i + 80] for i in range(0, n, 80))


def png(seed: int, side: int = 24) -> bytes:
    """A small valid PNG, another one for each seed."""
    colour = random.Random(seed).randbytes(3)
    rows = b"".join(b"\0" + colour * side for _ in range(side))

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def data_url(image: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(image).decode()


def mp4(*boxes: bytes) -> bytes:
    """Top-level boxes of these types, eight bytes of content each."""
    return b"".join(struct.pack(">I", 16) + kind + bytes(8) for kind in boxes)


def sse(events: list[dict[str, Any]]) -> str:
    return "".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" if "type" in event else f"data: {json.dumps(event)}\n\n"
        for event in events
    )


def usage(n: int) -> dict[str, Any]:
    cached = 900 + 100 * n
    return {
        "input_tokens": 1200 + 100 * n,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": 40,
        "output_tokens_details": {"reasoning_tokens": 12},
        "total_tokens": 1240 + 100 * n,
    }


def responses_stream(n: int, items: list[dict[str, Any]]) -> str:
    """An OpenAI Responses stream: created, pieces of the items, the items whole, completed."""
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {"id": f"resp_{n}", "usage": None}}]
    for item in items:
        text = item.get("input") or item.get("arguments") or "".join(part["text"] for part in item.get("content", []))
        events += [{"type": "response.output_text.delta", "delta": text[i : i + 40]} for i in range(0, len(text), 40)]
        events.append({"type": "response.output_item.done", "item": item})
    events.append({"type": "response.completed", "response": {"id": f"resp_{n}", "model": "gpt-6-luna", "usage": usage(n)}})
    return sse(events)


def message(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def exec_call(call_id: str, cmd: str) -> dict[str, Any]:
    code = f"const r = await tools.exec_command({{cmd: {json.dumps(cmd)}}});\nreturn r;"
    return {"type": "custom_tool_call", "name": "exec", "input": code, "call_id": call_id}


def exec_output(
    call_id: str, text: str, *, status: str = "completed", wall: float = 0.1, images: tuple[bytes, ...] = ()
) -> dict[str, Any]:
    whole = f"Script {status}\nWall time {wall} seconds\nOutput:\n{text}"
    if not images:
        return {"type": "custom_tool_call_output", "call_id": call_id, "output": whole}
    parts = [{"type": "input_text", "text": whole}, *({"type": "input_image", "image_url": data_url(image)} for image in images)]
    return {"type": "custom_tool_call_output", "call_id": call_id, "output": parts}


def gateway_line(
    n: int, tail: list[Any], response: Any, *, t: float | None = None, status: int = 200, latency: float = 2.0
) -> dict[str, Any]:
    when = T0 + 5 * n if t is None else t
    return {
        "t": when,
        "method": "POST",
        "path": "/v1/responses",
        "status": status,
        "latency_s": latency,
        "tail": tail,
        "response": response,
    }


def gateway_lines(n: int, *, seed: int = 1, output_chars: int = 4_000, image_every: int = 0) -> Iterator[dict[str, Any]]:
    """A long log as Codex leaves it: each request brings the last output and answers with a message now and then and a run."""
    rng = random.Random(seed)
    tail: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": "Put the cup on the plate."}]}]
    for i in range(n):
        items = [message(f"Now step {i}: " + words(rng, 200))] if i % 4 == 0 else []
        items.append(exec_call(f"call_{i}", f"python check.py --step {i} --seed {rng.randrange(10**6)}"))
        yield gateway_line(i, tail, responses_stream(i, items))
        images = (png(i),) if image_every and i % image_every == 0 else ()
        size = max(0, int(rng.expovariate(1 / output_chars))) if output_chars else 0
        failed = rng.random() < 0.05
        tail = [
            exec_output(f"call_{i}", f"result {i}\n" + words(rng, size), status="failed" if failed else "completed", images=images)
        ]


def write_lines(path: Path, lines: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")
    return path


def iso(t: float) -> str:
    return datetime.fromtimestamp(t, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def codex_session(n: int = 3) -> list[dict[str, Any]]:
    """A rollout: head, instruction, then per turn a thought, a message, a call and its answer."""
    lines: list[dict[str, Any]] = [
        {"timestamp": iso(T0), "type": "session_meta", "payload": {"id": "s1", "cli_version": "0.157.0"}},
        {
            "timestamp": iso(T0 + 1),
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Stack the blocks."}]},
        },
    ]
    for i in range(n):
        t = T0 + 10 * (i + 1)
        call = {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": ["bash", "-lc", f"ls {i}"]}),
            "call_id": f"c{i}",
        }
        output = json.dumps({"output": f"file {i}\n", "metadata": {"exit_code": i % 2, "duration_seconds": 0.5}})
        payloads = [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": f"thinking {i}"}]},
            message(f"turn {i}"),
            call,
            {"type": "function_call_output", "call_id": f"c{i}", "output": output},
        ]
        lines += [{"timestamp": iso(t + k), "type": "response_item", "payload": payload} for k, payload in enumerate(payloads)]
    return lines


def claude_session(n: int = 3, *, side: str | None = None) -> list[dict[str, Any]]:
    """A Claude Code project file: one line per content block, tool results as user messages."""
    mark = {"isSidechain": True, "agentId": side} if side else {}
    lines: list[dict[str, Any]] = [
        {
            "timestamp": iso(T0),
            "type": "user",
            "uuid": f"{side}u",
            "message": {"role": "user", "content": f"Open the drawer{side or ''}."},
            **mark,
        }
    ]
    for i in range(n):
        t = T0 + 10 * (i + 1)
        blocks = [
            {"type": "thinking", "thinking": f"hm {i}{side or ''}"},
            {"type": "text", "text": f"turn {i}{side or ''}"},
            {"type": "tool_use", "id": f"toolu_{side}{i}", "name": "Bash", "input": {"command": f"echo {i}", "description": "say"}},
        ]
        for k, block in enumerate(blocks):
            said = {
                "id": f"msg_{side}{i}",
                "role": "assistant",
                "content": [block],
                "usage": {"input_tokens": 5, "output_tokens": 9},
            }
            lines.append({"timestamp": iso(t + k), "type": "assistant", "message": said, **mark})
        image = {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png(i)).decode()},
        }
        result = {
            "type": "tool_result",
            "tool_use_id": f"toolu_{side}{i}",
            "content": [{"type": "text", "text": f"{i}\n"}, image],
            "is_error": i == 1,
        }
        lines.append({"timestamp": iso(t + 4), "type": "user", "message": {"role": "user", "content": [result]}, **mark})
    return lines


class NoCursors:
    """Remembers nothing: every reading is a cold one."""

    def get(self, key: str) -> bytes | None:
        return None

    def put(self, key: str, value: bytes) -> None:
        pass


def requests_of(trial: Path) -> tuple[Request, ...]:
    """The rows that the probe reads from a trial."""
    return msgspec.convert(trial_requests(str(trial), NoCursors())["rows"], tuple[Request, ...])
