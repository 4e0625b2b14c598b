"""The same steps in `inspect view`, where an `inspect` command is at hand: found on PATH or named by INSPECT.

Its log is written by its own library (the Python beside the command): one sample, one message per step, tool outputs whole.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WRITE = """
import json, sys
from inspect_ai.log import EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser, ModelOutput
from inspect_ai.tool import ToolCall

messages = [ChatMessageUser(content="Put the cup on the plate.")]
for n, (text, output) in enumerate(map(json.loads, open(sys.argv[1]))):
    call = ToolCall(id=f"call_{n}", function="exec", arguments={"cmd": text})
    messages.append(ChatMessageAssistant(content="", tool_calls=[call]))
    messages.append(ChatMessageTool(content=output, tool_call_id=call.id, function="exec"))
output = ModelOutput(model="m")
sample = EvalSample(id="one", epoch=1, input=messages[0].content, target="", messages=messages, output=output)
dataset = {"name": "d", "samples": 1, "sample_ids": ["one"]}
spec = EvalSpec(created="2026-11-30T00:00:00+00:00", task="task", dataset=dataset, model="m/m", config={})
write_eval_log(EvalLog(status="success", eval=spec, samples=[sample]), sys.argv[2])
"""


def command() -> Path | None:
    """The `inspect` command, if there is one."""
    found = os.environ.get("INSPECT") or shutil.which("inspect")
    return Path(found).resolve() if found else None


@contextlib.contextmanager
def viewer(inspect: Path, pairs: Path, folder: Path) -> Iterator[str]:
    """Write the log from `pairs` (one JSON [command, output] a line) and serve it; yields the address of its one sample."""
    log = folder / "task.eval"
    subprocess.run([inspect.parent / "python", "-c", WRITE, pairs, log], check=True, cwd=folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    viewing = subprocess.Popen(
        [inspect, "view", "--log-dir", folder, "--port", str(port)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}/"
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(address, timeout=5).close()
                break
            time.sleep(0.1)
        yield f"{address}#/logs/{log.name}/samples/sample/one/1/messages"
    finally:
        viewing.terminate()
        viewing.wait()


def measure(browser: Any, address: str, word: str, heap: Any) -> str:
    """Seconds until the first output can be read, and the JS heap then."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(300_000)
    began = time.perf_counter()
    page.goto(address, wait_until="domcontentloaded")
    page.wait_for_function("word => document.body.innerText.includes(word)", arg=word)
    ready = time.perf_counter() - began
    line = f"readable after {ready:.2f} s, JS heap {heap(context, page):.1f} MB"
    context.close()
    return line
