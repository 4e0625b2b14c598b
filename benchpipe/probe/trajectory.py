"""Rows of requests from `agent/trajectory.json` (ATIF) and its continuations (harbor-jobs 6), for want of better sources.

Runs on hosts: Python 3.8, standard library only. Costs in a trajectory are list-price estimates and are never read.
"""

import json
import os
from typing import Any, Iterator, List, Tuple

from benchpipe.probe.growing import Tally
from benchpipe.probe.lenient import epoch, mapping, text_or_none
from benchpipe.probe.usage_shapes import UnknownUsage, normalise

MAX_BYTES = 256 << 20
KEPT = {
    "steps", "subagent_trajectories", "timestamp", "metrics", "model_name", "agent", "is_copied_context", "prompt_tokens",
    "completion_tokens", "cached_tokens", "extra", "reasoning_output_tokens", "cache_creation_input_tokens",
    "cache_write_input_tokens",
}  # fmt: skip
"""All that is kept while a document is decoded: messages and observations never become objects."""


def read_trajectory(path: str) -> Tally:
    """One row per model call of one document; `offset` is the step's place in it. OSError if it can't be read."""
    tally = Tally()
    if os.path.getsize(path) > MAX_BYTES:
        tally.problem("too large to be read")
        return tally
    with open(path, encoding="utf-8", errors="replace") as file:
        try:
            document = json.load(file, strict=False, object_pairs_hook=_kept)
        except (ValueError, RecursionError):
            tally.problem("no JSON")
            return tally
    for offset, (model, step) in enumerate(_steps(document)):
        _take_step(tally, offset, model, step)
    return tally


def _kept(pairs: List[Tuple[str, Any]]) -> dict:
    return {key: value for key, value in pairs if key in KEPT}


def _steps(trajectory: Any) -> Iterator[Tuple[Any, dict]]:
    """Steps with the model of their trajectory, sub-agents' last."""
    trajectory = mapping(trajectory)
    model = mapping(trajectory.get("agent")).get("model_name")
    for key, inside in (("steps", False), ("subagent_trajectories", True)):
        for item in trajectory.get(key) if isinstance(trajectory.get(key), list) else []:
            if inside:
                yield from _steps(item)
            elif isinstance(item, dict):
                yield model, item


def _take_step(tally: Tally, offset: int, model: Any, step: dict) -> None:
    metrics = step.get("metrics")
    if step.get("is_copied_context") is True or not isinstance(metrics, dict):
        return
    extra = mapping(metrics.get("extra"))
    written = extra.get("cache_creation_input_tokens", extra.get("cache_write_input_tokens"))
    usage = None
    try:
        usage = normalise(
            {
                "prompt_tokens": metrics.get("prompt_tokens"),
                "completion_tokens": metrics.get("completion_tokens"),
                "prompt_tokens_details": {"cached_tokens": metrics.get("cached_tokens"), "cache_write_tokens": written},
                "completion_tokens_details": {"reasoning_tokens": extra.get("reasoning_output_tokens")},
            }
        )
    except UnknownUsage as reason:
        tally.problem("a step's metrics can't be read (%s)" % reason)
    counts = (usage.input, usage.cached, usage.cache_write, usage.output, usage.reasoning) if usage else (None,) * 5
    shape = "atif" if usage else None
    at, name = epoch(step.get("timestamp")), text_or_none(step.get("model_name") or model)
    tally.rows.append([at, None, 200, None, *counts, None, shape, name, offset])
