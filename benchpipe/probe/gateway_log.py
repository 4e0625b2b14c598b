"""Rows of requests from a gateway's log: `agent/gateway.jsonl`, `gateway/usage.jsonl`, LiteLLM payloads (runs-system 4.3, 4.4).

Runs on hosts: Python 3.8, standard library only. A row is a list in the order of `usage.records.Request`, without its
file. Long lines go the quick way where it is certain; both ways give the same row.
"""

from typing import Any, Dict, Optional

from benchpipe.probe.answers import Answer, answer_of
from benchpipe.probe.growing import Line, Tally, read_growing
from benchpipe.probe.lenient import NOT_JSON, decode, epoch, is_number, mapping, number, text_or_none
from benchpipe.probe.quick import Line as Quick
from benchpipe.probe.quick import first_fields, is_glued, quick_answer, quick_line
from benchpipe.probe.usage_shapes import UnknownUsage, normalise


def read_gateway(path: str, cursors: Any) -> Tally:
    """Rows and problems of all complete lines of a gateway's log. OSError if it can't be read."""
    return read_growing(path, "gateway", take_line, cursors)


def take_line(tally: Tally, line: Line) -> None:
    """Add what one line says to the tally: a request, a problem, or nothing (another method, a blank line)."""
    quick = quick_line(line.text, tally.hint)
    answer = _quick_answer(line.text, quick, quick.beginning == tally.hint) if quick else None
    if quick and answer is not None:
        if answer.usage is not None:
            tally.hint = quick.beginning
        if quick.fields["method"] == "POST":
            _add(tally, line, quick.fields, answer)
    elif line.shortened:
        fields = dict(first_fields(line.text), **(quick.fields if quick else {}))
        if fields.get("method") == "POST":
            _add(tally, line, fields, Answer())
        elif "method" not in fields:
            tally.problem("a line too long to be held, unreadable")
    elif line.text.strip():
        _take_record(tally, line, decode(line.text))


def _quick_answer(text: bytes, quick: Quick, as_before: bool) -> Optional[Answer]:
    wanted = quick.fields["method"] == "POST" and _status(quick.fields["status"]) == 200
    answer = quick_answer(text, quick.start, quick.end, as_before) if wanted else Answer()
    return None if answer is not None and answer.usage is None and is_glued(text) else answer


def _take_record(tally: Tally, line: Line, record: Any) -> None:
    if not isinstance(record, dict):
        tally.problem("a line that is no JSON object" if record is not NOT_JSON else "a line that is no JSON")
    elif "method" not in record and ("call_type" in record or "litellm_call_id" in record):
        _add(tally, line, _litellm_fields(record), _litellm_answer(record))
    elif record.get("method") == "POST":
        answer = answer_of(record["response"]) if "response" in record else _given(record)
        _add(tally, line, record, answer)


def _add(tally: Tally, line: Line, fields: Dict[str, Any], answer: Answer) -> None:
    status = _status(fields.get("status"))
    usage = answer.usage if status == 200 else None
    if status == 200 and answer.why:
        tally.problem("an answer with usage of an unknown shape (%s)" % answer.why)
    if usage and usage.doubt:
        tally.problem("an answer with %s" % usage.doubt)
    if status == 200 and usage is None and line.shortened:
        tally.problem("a line too long to be held, whose usage was not found")
    tally.rows.append(
        [
            epoch(fields.get("t", fields.get("ts"))),
            _latency(fields.get("latency_s")),
            status,
            answer.response_id if usage else None,
            *(usage[:6] if usage else (None,) * 6),
            usage.shape if usage else None,
            answer.model if status == 200 else None,
            line.offset,
        ]
    )


def _given(record: Dict[str, Any]) -> Answer:
    """The answer of a line that holds the usage object itself."""
    raw = record.get("usage_raw")
    if raw is None:
        return Answer()
    try:
        return Answer(normalise(raw), text_or_none(record.get("response_id")), text_or_none(record.get("model")))
    except UnknownUsage as reason:
        return Answer(why=str(reason))


def _litellm_fields(record: Dict[str, Any]) -> Dict[str, Any]:
    start, end = epoch(record.get("startTime")), epoch(record.get("endTime"))
    latency = end - start if start is not None and end is not None else record.get("response_time")
    failure = mapping(record.get("error_information")).get("error_code")
    code = int(failure) if isinstance(failure, str) and failure.isdecimal() and len(failure) < 4 else failure
    return {"t": start, "latency_s": latency, "status": 200 if record.get("status") == "success" else code}


def _litellm_answer(record: Dict[str, Any]) -> Answer:
    """Of a LiteLLM logging payload: the split is in `usage_object`; `response_cost` is a list price and is not read."""
    model = text_or_none(record.get("model"))
    nothing = {"prompt_tokens": 0, "completion_tokens": 0}  # answered by the proxy's own cache: nothing was bought
    usage = (
        nothing
        if record.get("cache_hit") is True
        else mapping(record.get("metadata")).get("usage_object")
        or mapping(record.get("response")).get("usage")
        or {key: record.get(key) for key in nothing}
    )
    try:
        return Answer(normalise(usage), text_or_none(record.get("id")), model)
    except UnknownUsage as reason:
        return Answer(model=model, why=str(reason))


def _status(value: Any) -> Optional[int]:
    return int(value) if is_number(value) and 0 < value < 1000 and value == int(value) else None


def _latency(value: Any) -> Optional[float]:
    seconds = number(value)
    return seconds if seconds is not None and seconds >= 0 else None
