"""How states look: an icon, a word, a colour name, and what the state means. Never colour alone (D2).

Which state a trial has is decided in `trials`; nothing here decides.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Look:
    """`icon` is one plain character, `word` is what a pill says, `group` names the colour and the bar segment."""

    icon: str
    word: str
    group: str
    help: str


LOOKS: Final[dict[str, Look]] = {
    "success": Look("✓", "success", "success", "Graded: the task was solved."),
    "failed": Look("✗", "failed", "failed", "Graded: the task was not solved."),
    "error": Look("!", "error", "error", "Ended without a grade that counts."),
    "stalled": Look("‖", "stalled", "error", "Began, and no runner works on it any more."),
    "running": Look("◑", "running", "running", "The agent is at work."),
    "setup": Look("◔", "setting up", "running", "The trial has begun; the agent has not written anything yet."),
    "grading": Look("◕", "grading", "grading", "The agent is done; the verdict is being made."),
    "queued": Look("○", "queued", "queued", "Waits for its turn."),
    "notrun": Look("–", "not run", "notrun", "The run was closed before this began."),
    "stopped": Look("■", "stopped by us", "out", "Ended or prevented by the operators; counts nowhere."),
    "uncounted": Look("∅", "not counted", "out", "Ran, but does not count; the reason stands beside it."),
    "withdrawn": Look("↩", "withdrawn", "out", "Results of this mode were taken off the site."),
    "nodata": Look("·", "no data", "nodata", "No results are here."),
}
"""View state (runs-system 7.2) → its look."""

GROUPS: Final[tuple[tuple[str, str, str], ...]] = (
    ("success", "✓", "success"),
    ("failed", "✗", "failed"),
    ("error", "!", "no grade"),
    ("running", "◑", "running"),
    ("grading", "◕", "grading"),
    ("queued", "○", "queued"),
    ("notrun", "–", "not run"),
)
"""Segments of a state bar in order: group, icon, word (runs-system 12.2). Other states are in no bar."""

MODE_SHORT: Final[dict[str, str]] = {"unlimited": "U", "limited": "L"}


def mode_short(mode: str) -> str:
    """The letter of a mode in a pill (runs-system 12.5)."""
    return MODE_SHORT.get(mode, mode[:1].upper())
