"""Every usage shape comes out as the samples say; what fits none is refused by name, never read as zero."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from benchpipe.probe.answers import answer_of
from benchpipe.probe.gateway_log import take_line
from benchpipe.probe.growing import Line, Tally
from benchpipe.probe.lenient import decode, epoch
from benchpipe.probe.usage_shapes import UnknownUsage, normalise

SAMPLES = Path(__file__).parent.parent / "data" / "usage-objects"
CASES = [decode(line) for line in (SAMPLES / "usage.jsonl").read_text().splitlines()]
STREAMS = {  # of the samples' README: input, cached, cache_write, output, reasoning, charge
    "openai-chat.sse": (1200, 1024, None, 300, 200, None),
    "openai-responses.sse": (24000, 20480, 2048, 1500, 1100, None),
    "anthropic-messages.sse": (31812, 30000, 1800, 450, None, None),
    "gemini.sse": (1204, 1000, None, 104, 96, None),
    "openrouter-chat.sse": (4000, 3000, None, 200, 120, "0.00315"),
}


def counted(text: bytes) -> Tally:
    tally = Tally()
    take_line(tally, Line(0, len(text) + 1, text, False))
    return tally


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['convention']}: {case['case']}")
def test_a_sample_usage_object_reads_as_its_normal_form(case: dict) -> None:
    usage, normal = normalise(case["usage"]), case["normal"]
    assert usage.shape == case["convention"]
    assert usage[:5] == tuple(normal[key] for key in ("input", "cached", "cache_write", "output", "reasoning"))
    assert (None if usage.charge is None else Decimal(usage.charge)) == normal["billed"]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_sample_stream_reads_as_its_table_says(name: str, newline: str) -> None:
    text = (SAMPLES / "streams" / name).read_text().replace("\n", newline)
    assert answer_of(text).usage[:6] == STREAMS[name]
    assert answer_of(text.replace("data: ", "data:")).usage[:6] == STREAMS[name]


def test_thoughts_of_an_answer_without_cache_fields_are_reasoning_too() -> None:
    said = {"input_tokens": 900, "output_tokens": 400, "output_tokens_details": {"thinking_tokens": 250}}
    assert normalise(said)[:5] == (900, None, None, 400, 250)


def test_a_cut_off_stream_has_no_usage_and_no_zero() -> None:
    assert answer_of((SAMPLES / "streams" / "openai-chat-cut-off.sse").read_text()).usage is None


@pytest.mark.parametrize("ending", ["completed", "incomplete", "failed"])
def test_all_three_endings_of_a_response_are_charged(ending: str) -> None:
    text = (SAMPLES / "streams" / "openai-responses.sse").read_text().replace("completed", ending)
    assert answer_of(text).usage[:2] == (24000, 20480)


def test_gemini_in_snake_case_reads_the_same() -> None:
    assert normalise({"prompt_token_count": 10, "candidates_token_count": 4, "thoughts_token_count": 2})[:5] == (
        10,
        None,
        None,
        6,
        2,
    )


def test_an_event_split_over_data_lines_is_one_event() -> None:
    assert answer_of('data: {"id": "a",\ndata: "usage": {"prompt_tokens": 3,\ndata: "completion_tokens": 1}}\n\n').usage[:4] == (
        3, None, None, 1,
    )  # fmt: skip


def test_a_gemini_answer_as_one_array_counts_its_last_chunk() -> None:
    chunk = '{"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": %d}}'
    assert answer_of(f"[{chunk % 1},\n{chunk % 5}]").usage[:4] == (7, None, None, 5)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -1, "completion_tokens": 2},
        {"prompt_tokens": True, "completion_tokens": 2},
        {"prompt_tokens": 10**30, "completion_tokens": 2},
        {"prompt_tokens": 1.5, "completion_tokens": 2},
        {"prompt_tokens": "12", "completion_tokens": 2},
        {"prompt_tokens": float("nan"), "completion_tokens": 2},
        {"prompt_tokens": float("inf"), "completion_tokens": 2},
        {"prompt_tokens": 10, "completion_tokens": False},
        {"prompt_tokens": 10, "prompt_tokens_details": [1]},
        {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 11}},
        {"prompt_tokens": 10, "completion_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 4}},
        {"tokens_in": 10, "tokens_out": 3},
        {},
        [],
        "many",
    ],
)
def test_what_can_be_no_usage_is_refused(usage: object) -> None:
    with pytest.raises(UnknownUsage):
        normalise(usage)


def test_an_unknown_shape_is_a_request_without_usage_and_is_named() -> None:
    tally = counted(b'{"t": 5, "method": "POST", "status": 200, "response": "{\\"usage\\": {\\"words\\": 3}}"}')
    assert tally.rows[0][4:11] == [None] * 7
    assert list(tally.problems) == ["an answer with usage of an unknown shape (keys words)"]


def test_a_cost_that_is_no_number_is_no_charge_and_loses_no_token() -> None:
    assert normalise({"prompt_tokens": 1, "completion_tokens": 2, "cost": {"total_cost": 1}}).charge is None


@pytest.mark.parametrize(
    "money",
    [
        '"cost": -0.1',
        '"cost": 1e99',
        '"cost": NaN',
        '"cost": 0.1, "is_byok": true, "cost_details": {"upstream_inference_cost": -2}',
    ],
)
def test_a_charge_out_of_range_is_unknown_and_said_and_loses_no_token(money: str) -> None:
    body = f'{{"usage": {{"prompt_tokens": 10, "completion_tokens": 3, {money}}}}}'
    tally = counted(json.dumps({"t": 5, "method": "POST", "status": 200, "response": body}).encode())
    assert tally.rows[0][4:10] == [10, None, None, 3, None, None]
    assert list(tally.problems) == ["an answer with a cost out of range"]


def test_with_an_own_key_the_upstream_cost_alone_is_a_charge() -> None:
    details = {"upstream_inference_cost": Decimal("0.007")}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "cost_details": details}
    assert normalise({**usage, "is_byok": True}).charge == "0.007"
    assert normalise({**usage, "is_byok": True, "cost": None}).charge == "0.007"
    assert normalise({**usage, "is_byok": False}).charge is None


def test_a_charge_keeps_every_digit() -> None:
    body = '{"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.1000000000000000055511151231257827}}'
    assert answer_of(body).usage.charge == "0.1000000000000000055511151231257827"


def test_a_litellm_payload_is_one_request_and_its_list_price_is_not_read() -> None:
    tally = counted(
        b'{"id": "x1", "call_type": "acompletion", "status": "success", "startTime": 100.5, "endTime": 102.0, "response_cost": 9,'
        b' "prompt_tokens": 50, "completion_tokens": 7, "model": "m", "metadata": {"usage_object": {"prompt_tokens": 50,'
        b' "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 40}}}}'
    )
    assert tally.rows == [[100.5, 1.5, 200, "x1", 50, 40, None, 7, None, None, "openai-chat", "m", 0]]


def test_a_litellm_cache_hit_bought_nothing_and_a_failure_has_its_code() -> None:
    hit = counted(b'{"id": "x", "call_type": "c", "status": "success", "cache_hit": true, "prompt_tokens": 50}')
    assert hit.rows[0][4:8] == [0, None, None, 0]
    failed = counted(b'{"id": "x", "call_type": "c", "status": "failure", "error_information": {"error_code": "429"}}')
    assert failed.rows[0][2:5] == [429, None, None]


def test_a_usage_log_line_holds_the_object_itself() -> None:
    tally = counted(
        b'{"method": "POST", "status": 200, "ts": 7, "usage_raw": {"input_tokens": 9, "output_tokens": 2, "cost": 0.5}}'
    )
    assert tally.rows == [[7.0, None, 200, None, 9, None, None, 2, None, "0.5", "openrouter-responses", None, 0]]


@pytest.mark.parametrize(
    "line",
    [
        b'{"t": "soon", "method": "POST", "status": "ok", "latency_s": [1], "response": 5}',
        b'{"t": null, "method": "POST", "status": true, "latency_s": -1, "response": null}',
        b'{"t": 1e999, "method": "POST", "status": 200, "latency_s": NaN, "response": {"usage": 3}}',
        b'{"t": -5, "method": "POST"}',
        b'{"t": 99999999999999, "method": "POST", "status": 2e2, "response": [[], 1, {"usage": {"usage": {}}}]}',
    ],
)
def test_fields_of_wrong_types_make_a_request_without_figures(line: bytes) -> None:
    (row,) = counted(line).rows
    assert row[0] is None
    assert row[1] is None
    assert row[4:11] == [None] * 7


@pytest.mark.parametrize("line", [b"", b"  ", b"5", b"[]", b'{"method": "GET"}', b"{", b"\xff\xfe", b'"POST"', b"{" * 100000])
def test_a_line_that_is_no_request_makes_no_row(line: bytes) -> None:
    assert counted(line).rows == []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01T01:00:10.25+01:00", 10.25),
        ("1970-01-01 00:00:10", 10.0),
        ("1970-13-01T00:00:10Z", None),
        ("now", None),
    ],
)
def test_times_are_read_with_any_zone(text: str, seconds: float | None) -> None:
    assert epoch(text) == seconds
