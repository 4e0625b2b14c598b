"""Counting a long line without decoding it gives exactly what decoding it gives; what isn't certain is decoded."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchpipe.probe import fastfind, gateway_log, quick
from benchpipe.probe.growing import HEAD, LONG, Line, Tally, shorten
from benchpipe.probe.lenient import decode
from benchpipe_tests.bench import _gateway_logs as logs

NASTY = [
    '"', "\\", '\\"', '\\\\"', '","', '", "', '{"t": 179', '"response": "', ',"status":500,', "\n", "\n\n", "\ndata: {", "usage",
    '"usage":{"prompt_tokens":7}', "\\n", "data:", "}", "]}", "é", "\u2028", "\x00", '\n\ndata: {"usage":{"prompt_tokens":1}}\n\n',
    '"id":"z"', '"type":"response.completed"', '"model":"q"', "\r\n", "[DONE]",
]  # fmt: skip


def both_ways(line: bytes) -> tuple[Tally, Tally, bool]:
    """The tally of the quick way and of the full one, and whether the quick way was certain."""
    fast, full = Tally(), Tally()
    gateway_log.take_line(fast, Line(5, 6, line, False))
    gateway_log._take_record(full, Line(5, 6, line, False), decode(line))
    found = quick.quick_line(line)
    return fast, full, found is not None


def text(rng: random.Random, size: int) -> str:
    pieces = [rng.choice(NASTY) if rng.random() < 0.4 else logs.prose(rng, rng.randint(1, 60)) for _ in range(size)]
    return "".join(pieces)


def usage_object(rng: random.Random) -> Any:
    n = rng.randint(0, 10**6)
    part = rng.randint(0, n)
    return rng.choice(
        [
            logs.usage(rng),
            logs.usage(rng, cost=round(rng.random(), 6), is_byok=False, service_tier=text(rng, 1)),
            {"prompt_tokens": n, "completion_tokens": part, "prompt_tokens_details": {"cached_tokens": part, "audio": None}},
            {"input_tokens": n, "cache_read_input_tokens": part, "cache_creation": {"ephemeral_5m_input_tokens": 3}},
            {"completion_tokens": n, "nested": {"a": {"b": {"c": 1}}}, "prompt_tokens": n},
            {"words": n},
            None,
            {},
        ]
    )


def shuffled(rng: random.Random, value: dict) -> dict:
    items = list(value.items())
    if rng.random() < 0.5:
        rng.shuffle(items)
    return dict(items)


def events(rng: random.Random) -> list[dict]:
    """One stream of any protocol, with texts that look like usage."""
    name, model = f"resp_{rng.randint(0, 99)}", rng.choice(["gpt-6-luna", 'a"b', "x/y"])
    junk = {"delta": text(rng, 3), "tools": [{"id": "t", "type": "function", "model": text(rng, 1)}], "metadata": {}}
    noise = [{"type": "response.output_text.delta", **junk} for _ in range(rng.randint(0, 4))]
    usage = usage_object(rng)
    kind = rng.choice(["responses", "chat", "anthropic", "gemini", "odd"])
    if kind == "responses":
        response = {"id": name, "error": None, "instructions": text(rng, 5), "model": model, **junk, "usage": usage, "user": None}
        last = {"type": rng.choice(["response.completed", "response.failed", "response.in_progress"]), "sequence_number": 4}
        first = {"type": "response.created", "response": {"id": name, "usage": None}}
        return [first, *noise, shuffled(rng, {**last, "response": shuffled(rng, response)})]
    if kind == "chat":
        chunks = [{"id": name, "model": model, "choices": [junk], "usage": None} for _ in range(3)]
        return [*chunks, shuffled(rng, {"id": name, "model": model, "choices": [], "usage": usage})]
    if kind == "anthropic":
        start = {"type": "message_start", "message": shuffled(rng, {"id": name, "content": [], "model": model, "usage": usage})}
        deltas = [{"type": "message_delta", "delta": junk, "usage": {"output_tokens": n, "input_tokens": None}} for n in (3, 9)]
        return [start, *noise, *deltas, {"type": "message_stop"}]
    if kind == "gemini":
        return [
            {"candidates": [junk], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": n}, "responseId": name}
            for n in (1, 4)
        ]
    return [junk, {"other": {"id": 5, "usage": usage}, "id": rng.choice(["", name]), "usage": rng.choice([usage, 3])}]


def body(rng: random.Random) -> Any:
    stream = events(rng)
    separators = rng.choice([(",", ":"), (", ", ": ")])
    parts = [json.dumps(event, separators=separators, ensure_ascii=rng.random() < 0.5) for event in stream]
    form = rng.random()
    if form < 0.1:
        return stream[-1]
    if form < 0.25:
        return parts[-1] + rng.choice(["", "\n", text(rng, 1)])
    newline = rng.choice(["\n", "\n", "\r\n"])
    blank = newline * rng.choice([2, 2, 2, 1, 3])
    lines = [f"data:{rng.choice(['', ' '])}{part}{blank}" for part in parts]
    if form < 0.35:
        lines = [line.replace(',"', f",{newline}data: " + '"', 1) for line in lines]
    ending = rng.choice(["", f"data: [DONE]{blank}", f"event: x{newline}", text(rng, 1)])
    return rng.choice(["", f": hello{blank}"]) + "".join(lines) + ending


def random_line(rng: random.Random) -> bytes:
    record: dict[str, Any] = {
        "t": rng.choice([1790000000.5, 1790000000, "x", None]),
        "method": rng.choice(["POST", "POST", "POST", "GET"]),
        "path": "/v1/" + text(rng, 1),
        "status": rng.choice([200, 200, 200, 429, "200", None]),
        "latency_s": rng.choice([1.5, 0, None, True]),
        "tail": [{"output": text(rng, 20), "response": text(rng, 2), "status": 1}, logs.image(rng, 6000)],
        "response": body(rng),
        "note": text(rng, 2),
    }
    for key in rng.sample(sorted(record), rng.choice([0, 0, 0, 1, 2])):
        del record[key]
    if rng.random() < 0.5:
        record = shuffled(rng, record)
    separators = rng.choice([(",", ":"), (", ", ": ")])
    return json.dumps(record, separators=separators, ensure_ascii=rng.random() < 0.7).encode("utf-8", "surrogatepass")


def check(seed: int) -> bool:
    line = random_line(random.Random(seed))
    fast, full, certain = both_ways(line)
    assert fast.rows == full.rows, line
    assert fast.problems == full.problems, line
    return certain


def test_random_lines_count_the_same_both_ways_and_many_are_quick() -> None:
    certain = sum(check(seed) for seed in range(1500))
    assert certain > 250


@pytest.mark.long
@settings(max_examples=50_000, deadline=None)
@given(st.integers(1500, 2**63))
def test_many_random_lines_count_the_same_both_ways(seed: int) -> None:
    check(seed)


def test_lines_of_a_real_shape_never_take_the_full_way(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    lines = [logs.line(rng, n, 60_000).rstrip() for n in range(20)]
    expected = [both_ways(line)[1].rows for line in lines]
    monkeypatch.setattr(gateway_log, "decode", lambda text: pytest.fail("a line was decoded in full"))
    monkeypatch.setattr(quick, "answer_of", lambda text: pytest.fail("an answer was decoded in full"))
    for line, rows in zip(lines, expected, strict=True):
        tally = Tally()
        gateway_log.take_line(tally, Line(5, 6, line, False))
        assert tally.rows == rows


def test_what_is_remembered_from_line_to_line_changes_no_number() -> None:
    fast, full = Tally(), Tally()
    for seed in range(300):
        line = Line(seed, seed + 1, random_line(random.Random(seed)), False)
        gateway_log.take_line(fast, line)
        gateway_log._take_record(full, line, decode(line.text))
    assert fast.hint != b'"response"'
    assert fast.rows == full.rows
    assert fast.problems == full.problems


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("cut", [12, 30, 200, 20_000, 50_000])
def test_two_lines_glued_by_a_crash_are_no_request(cut: int, method: str) -> None:
    rng = random.Random(4)
    second = logs.line(rng, 2, 60_000).rstrip().replace(b"POST", method.encode())
    glued = logs.line(rng, 1, 60_000)[:cut] + second
    fast, full, _ = both_ways(glued)
    assert fast.rows == full.rows == []
    assert fast.problems == full.problems == {"a line that is no JSON": 1}


def with_response(response: str) -> bytes:
    head = {"t": 1790000000, "method": "POST", "status": 200, "latency_s": 1, "tail": [logs.prose(random.Random(8), 5000)]}
    return json.dumps({**head, "response": response}).encode()


def test_a_line_that_ends_inside_its_answer_is_no_request() -> None:
    stream = logs.responses_stream(random.Random(9), 9000, 1)
    line = with_response(stream + "}")[:-3] + b'\\"}'
    fast, full, _ = both_ways(line)
    assert fast.rows == full.rows == []


@pytest.mark.parametrize("kind", ["response.in_progress", "response.completed", "message_delta", "other"])
def test_an_event_whose_type_stands_amid_others_is_read_by_its_type(kind: str) -> None:
    event = {"id": "resp_amid", "tools": [1], "type": kind, "output": [2], "usage": {"input_tokens": 5, "output_tokens": 1}}
    fast, full, _ = both_ways(with_response("data: " + json.dumps(event, separators=(",", ":")) + "\n\n"))
    assert fast.rows == full.rows
    assert (fast.rows[0][4] is None) == (kind == "response.in_progress")


@pytest.mark.parametrize("last", ["t", "status", "latency_s"])
def test_what_follows_the_answer_is_read_to_the_very_last_member(last: str) -> None:
    record = json.loads(logs.line(random.Random(7), 1, 60_000))
    record[last] = record.pop(last)
    line = json.dumps(record).encode()
    found = quick.quick_line(line)
    assert found is not None
    assert last in found.fields
    fast, full, _ = both_ways(line)
    assert fast.rows == full.rows


@pytest.mark.parametrize("after", ["request", "note"])
def test_usage_that_a_request_tells_of_is_not_counted(after: str) -> None:
    """An agent may print a whole answer, with the id of the one it gets, and the gateway may log that behind the answer."""
    record = json.loads(logs.line(random.Random(7), 1, 60_000))
    ending = {"type": "response.completed", "response": {"id": "resp_1", "usage": {"input_tokens": 999, "output_tokens": 9}}}
    record[after] = f"data: {json.dumps(ending)}\n\n"
    fast, full, _ = both_ways(json.dumps(record).encode())
    assert fast.rows == full.rows
    assert full.rows[0][4] != 999


def test_fast_find_is_find() -> None:
    rng = random.Random(5)
    for _ in range(300):
        size = rng.choice([10, 5_000, 40_000])
        haystack = bytes(rng.choices(b'ab"', k=size))
        start, end = sorted((rng.randint(0, size), rng.randint(0, size)))
        what = bytes(rng.choices(b'ab"', k=rng.randint(1, 12)))
        assert fastfind.find(haystack, what, start, end) == haystack.find(what, start, end)
        assert fastfind.rfind(haystack, what, start, end) == haystack.rfind(what, start, end)


def test_without_memmem_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fastfind, "_memmem", None)
    for seed in range(100):
        check(seed)


def long_line(place: str, size: int) -> bytes:
    """A line of `size` bytes more than a usual one; `place` says where they stand."""
    rng = random.Random(6)
    record = json.loads(logs.line(rng, 1, 60_000))
    record["status"] = 200
    stream = logs.responses_stream(rng, 30_000, 1)
    if place == "tail":
        record["tail"].append(logs.image(rng, size))
    elif place == "many outputs":
        record["tail"] += [{"output": logs.prose(rng, 50_000)} for _ in range(size // 50_000)]
    elif place in ("stream", "usage amid"):
        delta = "data: " + json.dumps({"type": "response.output_text.delta", "delta": "x" * 1000}) + "\n\n"
        head, last = stream[: stream.index("event: response.output_text")], stream[stream.index("event: response.completed") :]
        stream = head + delta * (size // 1000) + last
    record["response"] = stream
    if place == "usage amid":
        record["response"] += 'data: {"type": "x", "pad": "' + "y" * size + '"}\n\n'
    return json.dumps(record).encode()


def shortened(line: bytes) -> bytes:
    """As the reader does it: whenever the held part of the line is beyond LONG."""
    held = b""
    for at in range(0, len(line), 1 << 20):
        held += line[at : at + (1 << 20)]
        if len(held) > LONG:
            held = shorten(held)
    return held


@pytest.mark.parametrize("place", ["tail", "many outputs", "stream"])
def test_a_line_too_long_to_be_held_still_counts(place: str) -> None:
    line = long_line(place, 12_000_000)
    _, full, _ = both_ways(line)
    short = shortened(line)
    tally = Tally()
    gateway_log.take_line(tally, Line(5, 6, short, True))
    assert len(short) < LONG + HEAD
    assert tally.rows == full.rows
    assert tally.rows[0][4] is not None


def test_a_long_line_whose_usage_was_cut_out_is_missing_usage_and_named() -> None:
    short = shortened(long_line("usage amid", 12_000_000))
    tally = Tally()
    gateway_log.take_line(tally, Line(5, 6, short, True))
    assert tally.rows[0][2:5] == [200, None, None]
    assert list(tally.problems) == ["a line too long to be held, whose usage was not found"]
