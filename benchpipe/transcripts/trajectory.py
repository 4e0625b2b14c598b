"""`agent/trajectory.json` (ATIF, harbor-jobs 6) with its continuation files and sub-agents.

Steps that repeat earlier ones (`is_copied_context`) are left out.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchpipe.transcripts.files import epoch, files_below, inside, json_document
from benchpipe.transcripts.records import Called, Event, Problems, Returned, Said, Thought
from benchpipe.transcripts.streams import parts_of


def trajectory_files(agent: Path) -> list[Path]:
    """`trajectory.json`, then its continuations by number."""
    first = inside(agent, "trajectory.json")
    rest = files_below(agent, "trajectory.cont-*.json")
    rest.sort(key=lambda path: (len(path.name), path.name))
    return ([first] if first else []) + rest


def events(files: list[Path], problems: Problems) -> Iterator[Event]:
    """Events of each file in turn, a sub-agent's after those of its parent's file."""
    for path in files:
        if document := json_document(path, problems):
            yield from _of_trajectory(document, None, 0)


def _of_trajectory(document: dict[str, Any], agent: str | None, depth: int) -> Iterator[Event]:
    said = document.get("steps")
    steps = [step for step in said if isinstance(step, dict)] if isinstance(said, list) else []
    t = next((found for step in steps if (found := epoch(step.get("timestamp")))), 0.0)
    for step in steps:
        t = epoch(step.get("timestamp")) or t  # a step without a time happened right after the one before
        if step.get("is_copied_context") is not True:
            yield from _of_step(step, t, agent)
    inner = document.get("subagent_trajectories")
    for sub in inner if isinstance(inner, list) and depth < 5 else ():
        if isinstance(sub, dict):
            about = sub.get("agent")
            name = about.get("name") if isinstance(about, dict) else None
            yield from _of_trajectory(sub, str(name or "sub-agent"), depth + 1)


def _of_step(step: dict[str, Any], t: float, agent: str | None) -> Iterator[Event]:
    source = step.get("source")
    thought = step.get("reasoning_content")
    if isinstance(thought, str) and thought.strip():
        yield Thought(t, thought, agent)
    said, _ = parts_of(step.get("message"))
    if said.strip():
        yield Said(t, said, by=None if source == "agent" else str(source or "user"), agent=agent)
    calls = step.get("tool_calls")
    known = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    for call in known:
        arguments = call.get("arguments")
        asked = arguments if isinstance(arguments, dict | str) else ""
        yield Called(t, _call_id(step, call), str(call.get("function_name") or ""), asked, agent)
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, dict) else None
    for n, result in enumerate(results if isinstance(results, list) else ()):
        if isinstance(result, dict):
            text, images = parts_of(result.get("content"))
            of = result.get("source_call_id") or (known[min(n, len(known) - 1)].get("tool_call_id") if known else "")
            yield Returned(t, _call_id(step, {"tool_call_id": of}), text, images)


def _call_id(step: dict[str, Any], call: dict[str, Any]) -> str:
    """Ids need to be unique only within a step of ATIF, so the step is part of ours."""
    return f"{step.get('step_id')}/{call.get('tool_call_id')}"
