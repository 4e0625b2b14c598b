"""`agent/gateway.jsonl` (runs-system 4.3, 10.3): one line per model request, with the answer and the last inputs.

Yields events in file order. Usage is not read here.
"""

from collections.abc import Iterator
from pathlib import Path

from benchpipe.transcripts.files import finite, json_lines
from benchpipe.transcripts.records import Called, Event, Problems, Returned, Said, Thought
from benchpipe.transcripts.streams import answer_items, tail_messages, tail_outputs


def events(path: Path, problems: Problems) -> Iterator[Event]:
    """What each request's tail brings at its start, then what its answer says at its end.

    Only POST lines with a numeric `t` count. A message of a person is told once, however many requests repeat it.
    """
    told: set[tuple[str, str]] = set()
    for line in json_lines(path, problems):
        if line.get("method") != "POST":
            continue
        start = finite(line.get("t"))
        if start is None:
            problems.add(f"a request of {path.name} has no time")
            continue
        end = start + max(0.0, finite(line.get("latency_s")) or 0.0)
        for role, text in tail_messages(line.get("tail")):
            if (role, text) not in told:
                told.add((role, text))
                yield Said(start, text, by=role)
        for output in tail_outputs(line.get("tail")):
            yield Returned(start, output.id, output.text, output.images, output.failed)
        for item in answer_items(line.get("response")):
            match item.kind:
                case "say":
                    yield Said(end, item.text)
                case "think":
                    yield Thought(end, item.text)
                case "call":
                    yield Called(end, item.id, item.tool, item.input)
