"""The timeline of a log page: when the model, the tools and the robot were busy, as lanes of merged boxes.

A lane is one SVG path per kind on a scale of WIDTH units, so its size depends on the page's width, not on the log's length.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchpipe.transcripts.records import Log

WIDTH = 1000
_GAP = 1.0
"""Boxes nearer than this many units become one."""
_MIN = 2.5
"""Units that the shortest event is wide."""

Span = tuple[float, float]


@dataclass(frozen=True)
class Trace:
    """Boxes of one kind in a lane. `path` is SVG path data, `kind` names the colour: model, failed, tools, robot, …"""

    kind: str
    path: str


@dataclass(frozen=True)
class Lane:
    """`label` is what a screen reader says of the whole lane."""

    name: str
    label: str
    traces: tuple[Trace, ...]


@dataclass(frozen=True)
class Share:
    """Part of the whole time; `start` and `share` are per cent."""

    word: str
    """model, tools or between; also the name of its colour."""
    start: float
    share: float
    seconds: float


@dataclass(frozen=True)
class Timeline:
    """`ticks` are the labels at the quarters of `span_s` seconds."""

    span_s: float
    ticks: tuple[str, ...]
    lanes: tuple[Lane, ...]
    shares: tuple[Share, ...]


def clock(t: float) -> str:
    """Seconds as `4.2 s`, from a minute on as `m:ss` or `h:mm:ss`."""
    if t < 60:
        return f"{t:.1f} s"
    minutes, seconds = divmod(int(t), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def timeline(log: Log) -> Timeline | None:
    """The lanes of a log that have anything in them; None where it is all over in an instant."""
    if log.span < 1:
        return None
    good = [_call(row) for row in log.calls if row[2] in (200, None)]
    bad = [_call(row) for row in log.calls if row[2] not in (200, None)]
    tools = [(s.t, s.te if s.te is not None else s.t) for s in log.steps if s.k == "run" and s.status != "failed"]
    failed = [(s.t, s.te if s.te is not None else s.t) for s in log.steps if s.k == "run" and s.status == "failed"]
    seen = [(t, t) for s in log.steps if s.img for t in [s.te if s.te is not None else s.t]]
    said = [(s.t, s.t) for s in log.steps if s.k == "say" and s.by is None]
    robot = [(e.t, e.te if e.te is not None else e.t) for e in log.robot]
    lanes = (
        _lane("model", f"{len(good) + len(bad)} requests, {len(bad)} failed", log.span, model=good, failed=bad),
        _lane("tools", f"{len(tools) + len(failed)} runs, {len(failed)} failed", log.span, tools=tools, failed=failed),
        _lane("robot", f"{len(robot)} events", log.span, robot=robot),
        _lane("seen", f"{len(seen)} times images", log.span, seen=seen),
        _lane("said", f"{len(said)} messages", log.span, said=said),
    )
    return Timeline(
        span_s=log.span,
        ticks=tuple(clock(log.span * quarter / 4) for quarter in range(5)),
        lanes=tuple(lane for lane in lanes if lane.traces),
        shares=_shares(good + bad, tools + failed, log.span),
    )


def _call(row: Sequence[object]) -> Span:
    start, end = row[0], row[1]
    start = float(start) if isinstance(start, int | float) else 0.0
    return start, float(end) if isinstance(end, int | float) else start


def _lane(name: str, label: str, whole: float, **kinds: list[Span]) -> Lane:
    traces = tuple(Trace(kind, _path(spans, whole)) for kind, spans in kinds.items() if spans)
    return Lane(name, f"{name}: {label}", traces)


def _path(spans: Iterable[Span], whole: float) -> str:
    """Boxes of full height, merged where a reader couldn't tell them apart."""
    scale = WIDTH / whole
    boxes = []
    for start, end in merged(spans, _GAP / scale):
        left = min(max(0.0, start * scale), WIDTH - _MIN)
        width = max(_MIN, min(end * scale, WIDTH) - left)
        boxes.append(f"M{left:.1f} 0h{width:.1f}v10h-{width:.1f}z")
    return "".join(boxes)


def merged(spans: Iterable[Span], gap: float = 0.0) -> list[Span]:
    """The union of intervals in order; those at most `gap` apart become one."""
    union: list[Span] = []
    for start, end in sorted(spans):
        if union and start <= union[-1][1] + gap:
            union[-1] = (union[-1][0], max(union[-1][1], end))
        else:
            union.append((start, max(start, end)))
    return union


def _shares(model: list[Span], tools: list[Span], whole: float) -> tuple[Share, ...]:
    """Time with a request open, time with only a tool running, and the rest; they add up to the whole."""
    model_s = min(whole, sum(end - start for start, end in merged(model)))
    busy_s = min(whole, sum(end - start for start, end in merged(model + tools)))
    parts = (("model", model_s), ("tools", busy_s - model_s), ("between", whole - busy_s))
    shares, start = [], 0.0
    for word, seconds in parts:
        share = 100 * seconds / whole
        shares.append(Share(word, round(start, 2), round(share, 2), seconds))
        start += share
    return tuple(shares)
