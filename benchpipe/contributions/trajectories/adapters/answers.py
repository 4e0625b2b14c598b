"""Level L2: the pure verifier of `answer` tasks on what was recorded as the final answer. It knows nothing of benchmarks."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import msgspec

from benchpipe.contributions.trajectories.contents import Player, Slot


class FinalAnswer:
    """The last reply of a trial against the expected answer: trimmed, without regard to case, equal."""

    def __init__(self, expected: str | None) -> None:
        self._expected = expected
        self._reply: str | None = None

    def step(self, record: Mapping[str, Any]) -> None:
        """Take one record in."""
        if isinstance(reply := record.get("reply"), str):
            self._reply = reply

    def verdict(self) -> Fraction | None:
        """1 or 0; None for a task without an expected answer."""
        if self._expected is None:
            return None
        return Fraction(self._reply is not None and self._reply.strip().lower() == self._expected.strip().lower())


def expected_answers(data: bytes) -> dict[str, str]:
    """A JSON map, task id → expected answer."""
    return msgspec.json.decode(data, type=dict[str, str])


def answers_player(data: bytes) -> Callable[[Slot], Player]:
    """Players from the bytes of the expected answers."""
    expected = expected_answers(data)
    return lambda slot: FinalAnswer(expected.get(slot.task))
