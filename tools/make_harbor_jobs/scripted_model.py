"""A scripted model server and a recording proxy in front of it, both on 127.0.0.1 and both of the standard library.

The server is no model: it reads the instruction's ```bash blocks and asks for them one by one, in the form of a streamed
OpenAI Responses answer. Token counts are computed from the text. The proxy passes requests on and writes one line per
request to a gateway log, in the shape that collectors read: t, method, path, status, latency_s, tail, response. Headers,
where credentials would be, are not recorded.
"""

import contextlib
import json
import re
import secrets
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BLOCK = re.compile(r"^```bash[ \t]*(.*?)```", re.S | re.M)
MODEL = "scripted"
THINK_SEC = 0.15  # and a little more per request, so that a timeline has something to show
OUTPUTS = ("function_call_output", "custom_tool_call_output")


def plan(instruction: str) -> list[dict]:
    """What the script says and asks for, one entry per answer."""
    turns = [
        {"say": "I look at the folder and at the table before I change anything.", "cmd": "ls -la /app"},
        {"say": "", "look": True},
    ]
    turns += [{"say": "", "cmd": block.strip()} for block in BLOCK.findall(instruction)]
    turns.append({"say": "I check what is there now.", "cmd": "for f in /app/*; do echo \"$f:\"; cat \"$f\"; done"})
    turns.append({"say": "Every command of the instruction was run; the files are as shown above."})
    return turns


def answer(request: dict) -> list[dict]:
    """The events of the next answer: how many tool outputs the input holds says which turn it is."""
    items = request["input"]
    instruction = items[0]["content"][0]["text"]
    turns = plan(instruction)
    n = sum(item.get("type") in OUTPUTS for item in items)
    turn = turns[min(n, len(turns) - 1)]
    output = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": f"Turn {n + 1} of {len(turns)}."}]}]
    if turn["say"]:
        output.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": turn["say"]}]})
    if turn.get("look"):
        output.append({"type": "function_call", "name": "look", "arguments": "{}", "call_id": f"call_{n}"})
    elif turn.get("cmd"):
        code = f"const result = await tools.exec_command({{cmd: {json.dumps(turn['cmd'])}}});\ntext(result.output);\n"
        output.append({"type": "custom_tool_call", "name": "exec", "input": code, "call_id": f"call_{n}"})
    size = sum(len(json.dumps(item)) for item in items) // 4
    seen = sum(len(json.dumps(item)) for item in items[:-1]) // 4
    said = sum(len(json.dumps(item)) for item in output) // 4
    usage = {
        "input_tokens": 900 + size,
        "input_tokens_details": {"cached_tokens": (900 + seen) // 128 * 128 if n else 0},
        "output_tokens": said + 24 + 8 * n,
        "output_tokens_details": {"reasoning_tokens": 24 + 8 * n},
        "total_tokens": 900 + size + said + 24 + 8 * n,
    }
    head = {"id": f"resp_{secrets.token_hex(12)}", "object": "response", "model": MODEL}
    return [
        {"type": "response.created", "response": {**head, "status": "in_progress", "usage": None}},
        *({"type": "response.output_item.done", "output_index": i, "item": item} for i, item in enumerate(output)),
        {"type": "response.completed", "response": {**head, "status": "completed", "usage": usage}},
    ]


class Quiet(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def reply(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Model(Quiet):
    """Answers POST /v1/responses. The third request of each server is refused once, as a busy provider does."""

    def do_POST(self):
        request = json.loads(self.body())
        self.server.count += 1
        time.sleep(THINK_SEC + 0.05 * (self.server.count % 4))
        if self.server.count == 3:
            self.reply(503, "application/json", b'{"error": {"message": "overloaded, try again", "type": "server_error"}}')
            return
        stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in answer(request))
        self.reply(200, "text/event-stream", stream.encode())


class Proxy(Quiet):
    """Passes a request on and records it with its answer."""

    def do_POST(self):
        began, body = time.time(), self.body()
        upstream = urllib.request.Request(self.server.upstream + self.path, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(upstream, timeout=60) as response:
                status, kind, data = response.status, response.headers["Content-Type"], response.read()
        except urllib.error.HTTPError as error:
            status, kind, data = error.code, error.headers["Content-Type"], error.read()
        line = {
            "t": round(began, 3),
            "method": "POST",
            "path": self.path,
            "status": status,
            "latency_s": round(time.time() - began, 3),
            "tail": tail(json.loads(body)["input"]),
            "response": data.decode(),
        }
        with self.server.lock, self.server.log.open("a") as file:
            file.write(json.dumps(line) + "\n")
        self.reply(status, kind, data)


def tail(items: list[dict]) -> list[dict]:
    """The last items of a request's input: the instruction at first, then the outputs since the last answer."""
    outputs = []
    for item in reversed(items):
        if item.get("type") not in OUTPUTS:
            break
        outputs.insert(0, item)
    return outputs or items[-1:]


@contextlib.contextmanager
def recorded_model(log: Path):
    """Both servers while the block runs; gives the proxy's address."""
    log.parent.mkdir(parents=True, exist_ok=True)
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    model.count = 0
    proxy.upstream, proxy.log, proxy.lock = f"http://127.0.0.1:{model.server_port}", log, threading.Lock()
    for server in (model, proxy):
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}"
    finally:
        for server in (proxy, model):
            server.shutdown()
            server.server_close()
