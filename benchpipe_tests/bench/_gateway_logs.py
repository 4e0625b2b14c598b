"""Gateway logs like those of a real run: generated from a seed, any size, in several layouts. Used by `counting` and by tests."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TEXT = """the gripper moves to x=0.42 y=-0.13 and closes; contact force 3.2 N~ "pose": [0.1, 0.2] print(f'{err:.3f}')
def plan(goal): return rrt(goal, step=0.05)~\\alpha path C:\\tmp /app/output/gen.py naïve usage of the API {} []"""
WORDS = [word.replace("~", "\n") for word in TEXT.split()]


def prose(rng: random.Random, size: int) -> str:
    """About `size` characters of tool output, code and remarks."""
    piece = " ".join(rng.choices(WORDS, k=400))
    return (piece * (size // len(piece) + 1))[:size]


def image(rng: random.Random, size: int) -> str:
    return "data:image/png;base64," + rng.choice("abcdefgh") * 8 + "iVBORw0KGgoAAAANSUhEUgAA" * (size // 24)


def usage(rng: random.Random, **more: Any) -> dict[str, Any]:
    whole, out = rng.randint(1_000, 250_000), rng.randint(10, 9_000)
    cached, reasoning = rng.randint(0, whole), rng.randint(0, out)
    return {
        "input_tokens": whole,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": out,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": whole + out,
        **more,
    }


def responses_stream(rng: random.Random, size: int, n: int) -> str:
    """A streamed OpenAI Responses answer of about `size` characters, with the echo of instructions and tools."""
    base: dict[str, Any] = {"id": f"resp_{n}", "object": "response", "created_at": 1790000000, "status": "completed"}
    tools = [
        {"type": "function", "name": f"tool_{i}", "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}}}
        for i in range(12)
    ]
    text = prose(rng, size // 50)
    echo = {"error": None, "instructions": prose(rng, size // 12), "model": "gpt-6-luna", "tools": tools}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {**base, **echo, "output": [], "usage": None}}]
    delta = {"type": "response.output_text.delta", "item_id": f"msg_{n:032x}", "output_index": 0, "content_index": 0}
    for at in range(0, size, 330):  # a token or two per event, as providers stream
        events.append({**delta, "delta": text[at // 66 : at // 66 + 5], "logprobs": [], "obfuscation": text[at % 97 :][:11]})
    item = {"type": "function_call", "name": "shell", "call_id": f"call_{n}", "arguments": json.dumps({"cmd": text})}
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    events.append(
        {"type": "response.completed", "response": {**base, **echo, "output": [item], "usage": usage(rng), "metadata": {}}}
    )
    compact = (json.dumps({**event, "sequence_number": i}, separators=(",", ":")) for i, event in enumerate(events))
    return "".join(f"event: {event['type']}\ndata: {text}\n\n" for event, text in zip(events, compact, strict=True))


def line(rng: random.Random, n: int, size: int) -> bytes:
    """One request of about `size` bytes: outputs of tools, sometimes with an image, and the streamed answer."""
    outputs: list[dict[str, Any]] = [{"type": "function_call_output", "call_id": f"call_{n - 1}", "output": prose(rng, size // 3)}]
    if rng.random() < 0.3:
        outputs.append({"type": "input_image", "image_url": image(rng, size // 3)})
    record = {
        "t": 1790000000 + 7.5 * n,
        "method": "POST",
        "path": "/v1/responses",
        "status": 200 if rng.random() < 0.97 else 429,
        "latency_s": round(rng.uniform(0.5, 60), 3),
        "tail": outputs,
        "response": responses_stream(rng, size // 2, n),
    }
    return json.dumps(record).encode() + b"\n"


def lines(seed: int, total: int, *, smallest: int = 50_000, largest: int = 500_000) -> Iterator[bytes]:
    """Lines of together about `total` bytes. A pool of 60 lines repeats, each time with its own id and time."""
    rng = random.Random(seed)
    pool = [line(rng, n, rng.randint(smallest, largest)) for n in range(60)]
    written, n = 0, 0
    while written < total:
        text = pool[n % len(pool)].replace(b"resp_%d" % (n % len(pool)), b"resp_%d" % n)
        written += len(text)
        n += 1
        yield text


def write_log(path: Path, seed: int, total: int) -> int:
    """Write a log of about `total` bytes; its exact size."""
    with path.open("wb") as file:
        for text in lines(seed, total):
            file.write(text)
    return path.stat().st_size
