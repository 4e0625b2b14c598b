"""A Harbor agent that talks to a model over HTTP, through a proxy that records every request.

The model is `scripted_model.py`: a script, no model. The agent's loop is a real one: it sends the conversation, runs the
command that the answer asks for (or looks at the table, which gives a drawn picture), appends the output and goes on until
an answer asks for nothing. A refused request is sent again. It leaves agent/gateway.jsonl on the host and no trajectory.

    harbor run -a scripted_agent:Scripted -m bench/scripted ...
"""

import asyncio
import base64
import json
import struct
import time
import urllib.error
import urllib.request
import zlib

from harbor.agents.base import BaseAgent
from scripted_model import recorded_model

TRIES = 3


class Scripted(BaseAgent):
    @staticmethod
    def name() -> str:
        return "bench-scripted"

    def version(self) -> str:
        return "0.1.0"

    async def setup(self, environment) -> None:
        pass

    async def run(self, instruction, environment, context) -> None:
        items = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": instruction}]}]
        usages = []
        try:
            with recorded_model(self.logs_dir / "gateway.jsonl") as address:
                while True:
                    output, usage = await asyncio.to_thread(ask, address, items)
                    usages.append(usage)
                    items += output
                    calls = [item for item in output if item["type"].endswith("_call")]
                    if not calls:
                        return
                    items += [await self.answer(call, environment) for call in calls]
        finally:
            context.n_input_tokens = sum(usage["input_tokens"] for usage in usages)
            context.n_cache_tokens = sum(usage["input_tokens_details"]["cached_tokens"] for usage in usages)
            context.n_output_tokens = sum(usage["output_tokens"] for usage in usages)

    async def answer(self, call: dict, environment) -> dict:
        """Do what a call asks for."""
        began = time.time()
        if call["name"] == "look":
            url = "data:image/png;base64," + base64.b64encode(picture(len(call["call_id"]))).decode()
            return {
                "type": "function_call_output",
                "call_id": call["call_id"],
                "output": [{"type": "input_text", "text": "The table from above."}, {"type": "input_image", "image_url": url}],
            }
        command = json.loads(call["input"].split("{cmd: ", 1)[1].rsplit("});\ntext(", 1)[0])
        result = await environment.exec(f"( {command} ) 2>&1")
        word = "failed" if result.return_code else "completed"
        head = f"Script {word}\nWall time {time.time() - began:.1f} seconds\nOutput:\n"
        return {"type": "custom_tool_call_output", "call_id": call["call_id"], "output": head + (result.stdout or "")}


def ask(address: str, items: list[dict]) -> tuple[list[dict], dict]:
    """Output items and usage of one answer; a busy server is asked again."""
    body = json.dumps({"model": "scripted", "stream": True, "input": items}).encode()
    for left in reversed(range(TRIES)):
        try:
            request = urllib.request.Request(address + "/v1/responses", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as response:
                events = [json.loads(line[6:]) for line in response.read().decode().splitlines() if line.startswith("data: ")]
            break
        except urllib.error.HTTPError:
            if not left:
                raise
            time.sleep(0.2)
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    return done, events[-1]["response"]["usage"]


def picture(seed: int, width: int = 160, height: int = 100) -> bytes:
    """A PNG of a table with two blocks on it."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            red = 30 + seed < x < 62 + seed and 46 < y < 78
            blue = 92 < x < 124 and 46 < y < 78
            table = y > 40
            rows += bytes((196, 66, 60) if red else (64, 104, 190) if blue else (214, 190, 150) if table else (232, 236, 240))

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(bytes(rows), 9)) + part(b"IEND", b"")
