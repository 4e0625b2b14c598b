"""The content of `log.json` (runs-system 10.2) as typed records, and the neutral events that every reader yields.

Shapes only. A field that is None is left out of the JSON: absent means "not known", never 0 and never "no". Everything
textual comes from agents and machines and is data (B12).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

LOG_VERSION = 1
LOG_FILE = "log.json"

Source = Literal["gateway", "sessions", "trajectory"]
CallRow = list[float | int | str | None]
"""`[start, end, status, input, cached, output, reasoning, cache_write, charge]`: seconds since `start` of the log, tokens, and
the provider's charge as a decimal string. The last two are missing in logs of older builders."""


# --- what readers yield: absolute times, whole texts -----------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A message. `by` is None for the agent itself, else the role that spoke (`user`, `system`)."""

    t: float
    text: str
    by: str | None = None
    agent: str | None = None
    """Name of a sub-agent; None = the main one."""


@dataclass(frozen=True)
class Thought:
    """A readable summary of the model's reasoning."""

    t: float
    text: str
    agent: str | None = None


@dataclass(frozen=True)
class Called:
    """The model asks for a tool. `input` is the tool's raw text or its decoded arguments."""

    t: float
    id: str
    tool: str
    input: str | Mapping[str, Any]
    agent: str | None = None


@dataclass(frozen=True)
class Returned:
    """The answer of a tool to the call with this id."""

    t: float
    id: str
    text: str
    images: tuple[str, ...] = ()
    """base64 data URLs."""
    failed: bool | None = None
    """What the log says itself; None = decided from the text."""


Event = Said | Thought | Called | Returned


@dataclass
class Problems:
    """What a reader had to pass over, by sentence. Reading goes on whatever is in here."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def sentences(self) -> list[str]:
        return [what if n == 1 else f"{what} ({n:,} times)" for what, n in self.counts.items()]


# --- log.json --------------------------------------------------------------------------------------------------------


class Step(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One thing that happened: `say`, `run` (a tool call) or `think`. Times are seconds since the log's `start`."""

    k: Literal["say", "run", "think"]
    t: float
    text: str | None = None
    by: str | None = None
    agent: str | None = None
    tool: str | None = None
    cmd: str | None = None
    code: str | None = None
    status: Literal["ok", "failed", "background"] | None = None
    """None on a run: no output was seen."""
    wall: float | None = None
    out: str | None = None
    n: int | None = None
    """Length of the whole output in characters."""
    te: float | None = None
    img: list[str] | None = None
    """Files relative to the slot."""
    raw: dict[str, list[Any]] | None = None
    """Only in chunk files: field → [file with the whole text, its length], for texts cut even there."""


class RobotEvent(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One event of the robot's log, or `n` equal ones without a call number from `t` to `te` (runs-system 21.26)."""

    t: float
    ev: str
    call: int | None = None
    type: str | None = None
    note: str | None = None
    steps: int | None = None
    clip: int | None = None
    success: bool | float | None = None
    n: int | None = None
    te: float | None = None


class Media(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The replay or why there is none; names are relative to the slot."""

    video: str | None = None
    last: str | None = None
    problem: str | None = None
    rerendered: bool | None = None


class Snapshot(msgspec.Struct, kw_only=True):
    """An image the agent left in its output folder; `t` is epoch seconds of the file."""

    src: str
    name: str
    t: float


class Ended(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How the live episode ended."""

    reason: str | None = None
    error: str | None = None


class Totals(msgspec.Struct, kw_only=True):
    """Sums of the page. An unknown count adds 0 here; the call rows tell unknown from 0."""

    calls: int = 0
    failed: int = 0
    output: int = 0
    reasoning: int = 0
    input: int = 0
    cached: int = 0
    runs: int = 0
    said: int = 0
    images: int = 0
    robot: int = 0


class Chunk(msgspec.Struct, frozen=True, array_like=True):
    """A file with the steps `first … first + n - 1`, their texts whole up to TEXT_LIMIT characters."""

    file: str
    first: int
    n: int


class Kept(msgspec.Struct, kw_only=True):
    """The end of a text file of the trial: why it failed, what the verifier printed. Never published."""

    name: str
    text: str
    n: int
    """Bytes of the whole file."""


class Log(msgspec.Struct, kw_only=True):
    """`log.json`, version 1. The fields after `note` are additions; a reader of the original format may ignore them."""

    benchmark: str
    run: str
    task: str
    mode: str
    state: str
    trial: str | None
    v: int = LOG_VERSION
    previous: bool = False
    host: str | None = None
    job: str | None = None
    started: str | None = None
    finished: str | None = None
    agent_wall_s: int | None = None
    exception: str | None = None
    reward: Mapping[str, float] | None = None
    scan: int | None = None
    where: str | None = None
    built: str | None = None
    start: float | None = None
    """Epoch seconds of the first request or step; all other times count from here."""
    span: float = 0.0
    totals: Totals = msgspec.field(default_factory=Totals)
    calls: list[CallRow] = []
    steps: list[Step] = []
    robot: list[RobotEvent] = []
    media: Media = msgspec.field(default_factory=Media)
    snapshots: list[Snapshot] = []
    gen: str | None = None
    ended: Ended = msgspec.field(default_factory=Ended)
    note: str | None = None
    source: Source | None = None
    """Where the steps were read from."""
    problems: list[str] = []
    """One sentence each: lines passed over, a partial copy."""
    chunks: list[Chunk] = []
    kept: list[Kept] = []
    files: list[str] = []
    """The logs that the call rows were read from, relative to the trial …"""
    lines: list[tuple[int, int]] = []
    """… and per call row [index into `files`, byte offset] (D4)."""


def load_log(path: Path) -> Log:
    """Read a `log.json` of ours or a published one. OSError, or ValueError that names the file when it isn't one."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Log)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path}: not a log page's data ({error})") from error


def log_bytes(log: Log) -> bytes:
    """Compact JSON with a final newline."""
    return msgspec.json.encode(log) + b"\n"
