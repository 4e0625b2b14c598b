"""What tools were asked and what they answered, as text: extraction, headers, cutting (runs-system 10.3, 3 and 4).

Pure functions on strings, for every harness. Nothing here knows where a text came from.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from benchpipe.transcripts.files import finite

OUTPUT_LIMIT, OUTPUT_HEAD, OUTPUT_TAIL = 2_700, 1_800, 700
TEXT_LIMIT = 65_536
"""Characters of one text in a chunk file, and of anything but an output in log.json."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0d-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_COMMAND_KEYS = ("cmd", "command", "keystrokes", "script")
_CODE_COMMAND = re.compile(r'\bcmd:\s*("(?:[^"\\]|\\.)*")')
_WALL = re.compile(r"[Ww]all time:?\s+([0-9.]+)\s*(?:s\b|seconds)")
_HEADER_START = re.compile(r"Script (?:failed|running|completed)|Exit code:|Wall time|Chunk ID:|Process exited")
_HEADER = re.compile(rf"{_HEADER_START.pattern}|Output:\s*$")
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code)\s*(-?\d+)", re.M)


def plain(text: str) -> str:
    """`text` without colour codes; other control, direction and surrogate characters become visible (`␀`, `⟨U+202E⟩`)."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _CONTROL.sub(_visible, text.replace("\r\n", "\n"))


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "�" if 0xD800 <= code <= 0xDFFF else f"⟨U+{code:04X}⟩"


def cut(text: str, limit: int = OUTPUT_LIMIT, head: int = OUTPUT_HEAD, tail: int = OUTPUT_TAIL) -> str:
    """`text`, or its beginning and end around a marker that says how many characters are missing."""
    if len(text) <= limit:
        return text
    return f"{text[:head]}\n\n… {len(text) - head - tail:,} characters not shown …\n\n{text[len(text) - tail :]}"


def cut_text(text: str) -> str:
    """`cut` to TEXT_LIMIT: the end is kept too, since errors stand there."""
    return cut(text, TEXT_LIMIT, TEXT_LIMIT * 3 // 4, TEXT_LIMIT // 4)


@dataclass(frozen=True)
class ToolInput:
    """A shell command, or anything else as code; neither where the tool was given nothing."""

    cmd: str | None = None
    code: str | None = None


def tool_input(value: str | Mapping[str, Any]) -> ToolInput:
    """A tool's input as the page shows it.

    A script that makes exactly one tool call with exactly one `cmd: "…"` is that command; so are decoded arguments whose
    one text is a command. Arguments of other tools become indented JSON.
    """
    if isinstance(value, str):
        if (arguments := _object(value)) is None:
            found = _CODE_COMMAND.findall(value)
            if len(found) == 1 and value.count("await tools.") == 1:
                try:
                    return ToolInput(cmd=json.loads(found[0]))
                except ValueError:
                    pass
            return ToolInput(code=value)
        value = arguments
    if not value:
        return ToolInput()
    for key in _COMMAND_KEYS:
        command = value.get(key)
        if isinstance(command, list) and command and all(isinstance(part, str) for part in command):
            command = command[-1] if len(command) == 3 and command[1] in ("-c", "-lc") else " ".join(command)
        if isinstance(command, str):
            return ToolInput(cmd=command)
    return ToolInput(code=json.dumps(value, indent=1, ensure_ascii=False))


@dataclass(frozen=True)
class ToolOutput:
    """An output without the headers that a harness puts above it."""

    text: str
    status: Literal["ok", "failed", "background"]
    wall_s: float | None


def tool_output(text: str, failed: bool | None = None) -> ToolOutput:
    """Status, wall time and body of a tool's answer. `failed` is what the log itself says and wins over the text."""
    if (wrapped := _object(text)) is not None and isinstance(wrapped.get("output"), str):
        about = wrapped.get("metadata")
        about = about if isinstance(about, dict) else {}
        wall, code = about.get("duration_seconds"), about.get("exit_code")
        bad = failed if failed is not None else code not in (None, 0)
        return ToolOutput(wrapped["output"], "failed" if bad else "ok", finite(wall))
    lines = text.split("\n")
    n = 0
    while n < min(len(lines), 6) and (_HEADER if n else _HEADER_START).match(lines[n]):
        n += 1
    header, body = "\n".join(lines[:n]), "\n".join(lines[n:])
    wall_match, exit_match = _WALL.search(text[:200]), _EXIT.search(header)
    status: Literal["ok", "failed", "background"] = "ok"
    if failed or text.startswith("Script failed") or (exit_match and exit_match.group(1) != "0" and failed is None):
        status = "failed"
    elif text.startswith("Script running"):
        status = "background"
    return ToolOutput(body if n else text, status, _number(wall_match.group(1)) if wall_match else None)


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, else None."""
    if text.lstrip()[:1] != "{":
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _number(text: str) -> float | None:
    try:
        return finite(float(text))
    except ValueError:
        return None
