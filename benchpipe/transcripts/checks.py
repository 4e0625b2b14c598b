"""Log checks: which records a trial should have left, by harness, and whether it did (runs-system 11). Local build only.

Pure, over what the probe said about the files. What a harness is expected to leave is the table EXPECTED: a new harness is
one line of it, and one without a line is only asked for what every trial has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from benchpipe.trials.records import ACTIVE, Record

Verdict = Literal["ok", "missing", "not due"]


@dataclass(frozen=True)
class Check:
    """One line of the list: an expected record, whether it is there, and a detail."""

    item: str
    verdict: Verdict
    detail: str = ""


@dataclass(frozen=True)
class _Trial:
    """What the items look at. `over`: the trial has ended."""

    logs: Mapping[str, Any]
    reward: Mapping[str, float]
    scan: int | None
    mode: str
    over: bool

    def size(self, name: str) -> int:
        value = self.logs.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    @property
    def idle(self) -> bool:
        """The robot never moved."""
        return self.reward.get("n_actions") == 0


def _file(name: str, unit: str = "bytes") -> Callable[[_Trial], tuple[Verdict, str]]:
    def look(trial: _Trial) -> tuple[Verdict, str]:
        size = trial.size(name)
        return ("ok", f"{size:,} {unit}") if size else ("missing", "")

    return look


def _any_transcript(trial: _Trial) -> tuple[Verdict, str]:
    kept = [name for name in ("gateway", "sessions", "trajectory", "codex") if trial.size(name)]
    return ("ok", " and ".join(kept)) if kept else ("missing", "no log says what the agent did")


def _mirror(trial: _Trial) -> tuple[Verdict, str]:
    pairs = [(trial.size(f"mirror_{name}"), trial.size(name)) for name in ("codex", "gateway")]
    if not all(copy for copy, _ in pairs):
        return "missing", ""
    if trial.over and any(copy < original for copy, original in pairs):
        return "missing", "the copy is shorter than the original"
    return "ok", "" if trial.over else "a lag of about 5 s is normal"


def _robot_calls(trial: _Trial) -> tuple[Verdict, str]:
    if trial.mode != "limited":
        return "not due", "only in mode limited"
    if trial.idle and not trial.size("episode"):
        return "not due", "the robot never moved"
    return _file("episode")(trial)


def _grade(trial: _Trial) -> tuple[Verdict, str]:
    if not trial.size("reward"):
        return "missing", "no reward"
    return ("ok", "") if trial.logs.get("grade_log") is not None else ("missing", "no grader log")


def _reward(trial: _Trial) -> tuple[Verdict, str]:
    return ("ok", "") if trial.size("reward") or trial.reward else ("missing", "no reward")


def _replay(trial: _Trial) -> tuple[Verdict, str]:
    video = trial.size("video")
    if trial.reward.get("missing_trajectory"):
        return "not due", "there is no trajectory to replay"
    if not video and trial.idle:
        return "not due", "the robot never moved"
    if not video and trial.logs.get("episode_end") == "error":
        return "not due", "the episode ended in an error"
    if trial.logs.get("video_rerendered"):
        return "ok", "rendered later"
    if video and trial.logs.get("video_ok") is False:
        return "missing", "cut off where it was made"
    return ("ok", f"{video:,} bytes") if video else ("missing", "")


def _key_scan(trial: _Trial) -> tuple[Verdict, str]:
    if trial.scan is None:
        return "ok", "pending"
    return "ok", f"{trial.scan} files redacted" if trial.scan else "clean"


@dataclass(frozen=True)
class _Item:
    name: str
    look: Callable[[_Trial], tuple[Verdict, str]]
    live: bool = False
    """Due as soon as the agent works; else when the trial is over."""


ITEMS: Mapping[str, _Item] = {
    "codex_stream": _Item("agent stream", _file("codex"), live=True),
    "exchanges": _Item("model exchanges", _file("gateway"), live=True),
    "mirror": _Item("append-only mirror", _mirror, live=True),
    "codex_session": _Item("Codex session", _file("sessions", "files")),
    "claude_session": _Item("Claude Code session", _file("sessions", "files")),
    "trajectory": _Item("trajectory", _file("trajectory")),
    "transcript": _Item("transcript", _any_transcript),
    "robot_calls": _Item("robot call log", _robot_calls),
    "grade": _Item("grade", _grade),
    "reward": _Item("reward", _reward),
    "replay": _Item("replay video", _replay),
    "key_scan": _Item("key scan", _key_scan),
}

EVERY_HARNESS = ("transcript", "reward")
EXPECTED: Mapping[str, tuple[str, ...]] = {
    "codex": (
        "codex_stream", "exchanges", "mirror", "codex_session", "trajectory", "robot_calls", "grade", "replay", "key_scan",
    ),
    "claude_code": ("claude_session", "trajectory", "robot_calls", "grade", "replay", "key_scan"),
    "terminus": ("trajectory", "grade"),
    "bench_literal": ("trajectory", "reward"),
    "bench_scripted": ("exchanges", "reward"),
    "oracle": ("reward",),
    "nop": ("reward",),
}  # fmt: skip
"""First field of a run id → keys of ITEMS."""


def log_checks(record: Record, mode: str, harness: str | None) -> list[Check]:
    """The expected records of one trial in the table's order. Empty where nothing has run (queued, not run, no data)."""
    if not record.trial or record.state in ("queued", "notrun", "nodata"):
        return []
    over = record.state not in ACTIVE
    trial = _Trial(record.logs or {}, record.reward or {}, record.scan, mode, over)
    checks = []
    for key in EXPECTED.get(harness or "", EVERY_HARNESS):
        item = ITEMS[key]
        if over or (item.live and record.state != "setup"):
            checks.append(Check(item.name, *item.look(trial)))
        else:
            checks.append(Check(item.name, "not due", "not yet"))
    return checks


def summary(checks: list[Check]) -> Literal["ok", "missing", "n/a"]:
    """One word for a pill: `missing` if any item is, `n/a` for an empty list."""
    if not checks:
        return "n/a"
    return "missing" if any(check.verdict == "missing" for check in checks) else "ok"
