"""Rows of requests from the session files of Codex and Claude Code (`agent/sessions/**/*.jsonl`), where no gateway logged.

Runs on hosts: Python 3.8, standard library only. A response is often written several times: Claude Code writes one line
per content block, a resumed or forked session begins with a copy of its history, Codex repeats its counts. So a row
comes with an identity: the response's id where there is one; for Codex's running totals the numbers themselves within
the sessions that were forked from each other.
"""

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from benchpipe.probe.growing import Line, Tally, read_growing
from benchpipe.probe.lenient import NOT_JSON, decode, epoch, mapping, text_or_none
from benchpipe.probe.usage_shapes import UnknownUsage, normalise

SESSION, COUNT, RECORD, MESSAGE = "session", "count", "record", "message"
HINTS = (b'"usage"', b'"token_count"', b'"session_meta"')


class Session(NamedTuple):
    """What one session file holds. An entry is `[kind, identity, row]`, or `[SESSION, id, id it was forked from]`."""

    entries: List[list]
    problems: Dict[str, int]


def read_session(path: str, cursors: Any) -> Session:
    """The entries of one session file. OSError if it can't be read."""
    tally = read_growing(path, "session", take_line, cursors)
    return Session(tally.rows, tally.problems)


def identified(sessions: List[Session]) -> Iterator[Tuple[int, Optional[str], list]]:
    """`(index of its session, identity, row)` of every row that stands for a response, repeated ones included."""
    roots = _roots(sessions)
    for index, session in enumerate(sessions):
        kinds = {entry[0] for entry in session.entries}
        for kind, identity, row in session.entries:
            if kind == SESSION or (kind == COUNT and RECORD in kinds):
                continue  # totals beside records say the same a second time
            yield index, identity if kind == MESSAGE or row[3] else "%s %s" % (roots[index], identity), row


def _roots(sessions: List[Session]) -> List[str]:
    """A name per session file that files with a common ancestor share."""
    parent: Dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for index, session in enumerate(sessions):
        for kind, own, source in session.entries:
            for name in (own, source) if kind == SESSION else ():
                if name:
                    parent[root(name)] = root("file %d" % index)
    return [root("file %d" % index) for index in range(len(sessions))]


def take_line(tally: Tally, line: Line) -> None:
    """Add the entry that one line of a session file makes, if any."""
    if line.shortened:
        tally.problem("a line too long to be held")
    elif any(hint in line.text for hint in HINTS):
        record = decode(line.text)
        if record is NOT_JSON:
            tally.problem("a line that is no JSON")
        elif isinstance(record, dict):
            _take_record(tally, line.offset, record)


def _take_record(tally: Tally, offset: int, record: Dict[str, Any]) -> None:
    payload, message = mapping(record.get("payload")), mapping(record.get("message"))
    kinds = (record.get("type"), payload.get("type"))
    at = epoch(record.get("timestamp"))
    if "session_meta" in kinds:
        tally.rows.append([SESSION, text_or_none(payload.get("id")), text_or_none(payload.get("forked_from_id"))])
    elif "token_usage_record" in kinds:
        response_id = text_or_none(payload.get("response_id"))
        usage = payload.get("usage")
        _add(tally, RECORD, response_id or "%s %s" % (at, _numbers(usage)), _row(tally, at, response_id, usage, None, offset))
    elif "token_count" in kinds and isinstance(payload.get("info"), dict):
        last, total = payload["info"].get("last_token_usage"), payload["info"].get("total_token_usage")
        _add(tally, COUNT, "%s of %s" % (_numbers(last), _numbers(total)), _row(tally, at, None, last, None, offset))
    elif record.get("type") == "assistant" and "usage" in message and message.get("model") != "<synthetic>":
        response_id = text_or_none(message.get("id")) or text_or_none(record.get("requestId"))
        model = text_or_none(message.get("model"))
        _add(tally, MESSAGE, response_id, _row(tally, at, response_id, message["usage"], model, offset))


def _add(tally: Tally, kind: str, identity: Optional[str], row: list) -> None:
    tally.rows.append([kind, identity, row])


def _row(tally: Tally, at: Any, response_id: Optional[str], usage: Any, model: Optional[str], offset: int) -> list:
    try:
        counts = normalise(usage)
    except UnknownUsage as reason:
        tally.problem("usage of an unknown shape (%s)" % reason)
        return [at, None, 200, response_id, *(None,) * 7, model, offset]
    # A session file's costs are the client's own estimate, so no charge is taken from it.
    return [at, None, 200, response_id, *counts[:5], None, counts.shape, model, offset]


def _numbers(usage: Any) -> str:
    return " ".join("%s=%s" % pair for pair in sorted(mapping(usage).items()) if isinstance(pair[1], int))
