"""Steps from gateway logs: three protocols, the tool rules of runs-system 10.3, damage, images, memory."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchpipe.transcripts.build import Facts, build_log
from benchpipe.transcripts.chunks import CHUNK_BYTES
from benchpipe.transcripts.records import LOG_FILE, Log, load_log
from benchpipe.transcripts.streams import answer_items, tail_outputs
from benchpipe.transcripts.texts import TEXT_LIMIT, cut, plain, tool_input, tool_output
from benchpipe_tests.transcripts import made_logs as made

FACTS = Facts(benchmark="b", run="codex-m-high", task="t", mode="limited", state="success", trial="t__1")


def built(tmp_path: Path, lines: list[Any], facts: Facts = FACTS) -> Log:
    made.write_lines(tmp_path / "trial/agent/gateway.jsonl", lines)
    requests = made.requests_of(tmp_path / "trial")
    return build_log(tmp_path / "trial", facts, requests, slot=tmp_path / "slot", now="2026-11-30T00:00:00+00:00")


def test_a_request_answers_with_a_message_and_a_run_and_the_next_one_closes_it(tmp_path: Path) -> None:
    log = built(
        tmp_path,
        [
            made.gateway_line(0, [], made.responses_stream(0, [made.message("I look."), made.exec_call("c1", "ls -la")])),
            made.gateway_line(1, [made.exec_output("c1", "a\nb\n", wall=0.3)], made.responses_stream(1, [made.message("Done.")])),
        ],
    )
    assert [step.k for step in log.steps] == ["say", "run", "say"]
    run = log.steps[1]
    assert (run.tool, run.cmd, run.code) == ("exec", "ls -la", None)
    assert (run.t, run.te, run.wall, run.status) == (2.0, 5.0, 0.3, "ok")
    assert (run.out, run.n) == ("a\nb\n", 4)
    assert log.start == made.T0
    assert log.source == "gateway"
    assert [row[:7] for row in log.calls] == [[0.0, 2.0, 200, 1200, 900, 40, 12], [5.0, 7.0, 200, 1300, 1000, 40, 12]]
    assert [log.files[file] for file, _ in log.lines] == ["agent/gateway.jsonl"] * 2
    assert (log.totals.calls, log.totals.input, log.totals.reasoning, log.span) == (2, 2500, 24, 7.0)
    assert load_log(tmp_path / "slot" / LOG_FILE) == log


def test_openai_chat_streams_are_read_with_their_tool_calls_in_pieces() -> None:
    events = [
        {"choices": [{"delta": {"role": "assistant", "content": "Hel"}}]},
        {"choices": [{"delta": {"content": "lo", "reasoning": "let me see"}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "k1", "function": {"name": "bash", "arguments": '{"comm'}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": 'and": "ls"}'}}]}}]},
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    ]
    think, say, call = answer_items(made.sse(events) + "data: [DONE]\n\n")
    assert (think.text, say.text) == ("let me see", "Hello")
    assert (call.id, call.tool, tool_input(call.input).cmd) == ("k1", "bash", "ls")


def test_anthropic_streams_are_read_with_their_blocks_in_pieces() -> None:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Look"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ing."}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "u1", "name": "Bash", "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"command": '}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '"pwd"}'}},
        {"type": "message_stop"},
    ]
    say, call = answer_items(made.sse(events))
    assert say.text == "Looking."
    assert (call.id, tool_input(call.input).cmd) == ("u1", "pwd")


@pytest.mark.parametrize(
    "body",
    [
        {"output": [made.message("hi")]},
        {"content": [{"type": "text", "text": "hi"}]},
        {"choices": [{"message": {"role": "assistant", "content": "hi"}}]},
    ],
)
def test_answers_that_were_not_streamed_are_read_too(body: dict[str, Any]) -> None:
    assert [item.text for item in answer_items(json.dumps(body))] == ["hi"]


def test_published_stream_samples_yield_their_words(shared: Path) -> None:
    streams = shared / "samples" / "usage-objects" / "streams"
    said = {path.name: [item.text for item in answer_items(path.read_text())] for path in streams.glob("*.sse")}
    assert said["openai-chat.sse"] == said["openrouter-chat.sse"] == said["anthropic-messages.sse"] == ["ok"]
    assert said["openai-chat-cut-off.sse"] == ["part"]


def test_tool_answers_of_all_protocols_are_found_in_a_tail() -> None:
    tail = [
        made.exec_output("c1", "one"),
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c3", "content": "three", "is_error": True}]},
    ]
    assert [(output.id, output.failed) for output in tail_outputs(tail)] == [("c1", None), ("c2", None), ("c3", True)]


def test_only_a_script_with_one_call_of_one_command_becomes_that_command() -> None:
    assert tool_input('const r = await tools.exec_command({cmd: "echo \\"x\\""});').cmd == 'echo "x"'
    two = 'await tools.a({cmd: "x"}); await tools.b({cmd: "y"});'
    assert tool_input(two).code == two
    assert tool_input({"command": ["bash", "-lc", "ls | wc"]}).cmd == "ls | wc"
    assert tool_input({"keystrokes": "ls\n"}).cmd == "ls\n"
    assert tool_input({"file_path": "/tmp/a.png"}).code == '{\n "file_path": "/tmp/a.png"\n}'


def test_headers_of_outputs_become_status_and_wall_time() -> None:
    failed = tool_output("Script failed\nWall time 1.5 seconds\nOutput:\nboom")
    assert (failed.status, failed.wall_s, failed.text) == ("failed", 1.5, "boom")
    assert tool_output("Script running with cell ID 3\nWall time 10 seconds\nOutput:\n").status == "background"
    assert tool_output("Exit code: 2\nWall time: 0.2 seconds\nOutput:\nno").status == "failed"
    assert tool_output("Output: of my program\nrest").text == "Output: of my program\nrest"
    assert tool_output("anything", failed=True).status == "failed"


def test_long_outputs_keep_their_beginning_and_end_and_say_how_much_is_missing(tmp_path: Path) -> None:
    text = "a" * 1800 + "b" * 12_000 + "c" * 700
    log = built(
        tmp_path,
        [
            made.gateway_line(0, [], made.responses_stream(0, [made.exec_call("c1", "x")])),
            made.gateway_line(1, [made.exec_output("c1", text)], ""),
        ],
    )
    out = log.steps[0].out or ""
    assert out == "a" * 1800 + "\n\n… 12,000 characters not shown …\n\n" + "c" * 700
    assert log.steps[0].n == len(text)
    whole = json.loads((tmp_path / "slot" / log.chunks[0].file).read_bytes())["steps"][0]["out"]
    assert whole == text
    assert cut("x" * 2700) == "x" * 2700


def test_a_text_too_long_for_a_chunk_gets_a_file_of_its_own(tmp_path: Path) -> None:
    text = "".join(f"line {n}\n" for n in range(200_000))
    log = built(
        tmp_path,
        [
            made.gateway_line(0, [], made.responses_stream(0, [made.exec_call("c1", "x")])),
            made.gateway_line(1, [made.exec_output("c1", text)], ""),
        ],
    )
    step = json.loads((tmp_path / "slot" / log.chunks[0].file).read_bytes())["steps"][0]
    assert len(step["out"]) < TEXT_LIMIT + 100
    file, length = step["raw"]["out"]
    assert (tmp_path / "slot" / file).read_text() == text
    assert length == len(text)


def test_images_are_files_in_order_of_appearance_and_equal_ones_are_stored_once(tmp_path: Path) -> None:
    one, two = made.png(1), made.png(2)
    svg = {"type": "input_image", "image_url": "data:image/svg+xml;base64,PHN2Zy8+"}
    output = made.exec_output("c2", "x", images=(one, two))
    output["output"].append(svg)
    log = built(
        tmp_path,
        [
            made.gateway_line(0, [], made.responses_stream(0, [made.exec_call("c1", "x"), made.exec_call("c2", "y")])),
            made.gateway_line(1, [made.exec_output("c1", "x", images=(one,)), output], ""),
        ],
    )
    assert [step.img for step in log.steps] == [["img/001.png"], ["img/001.png", "img/002.png"]]
    assert (tmp_path / "slot/img/002.png").read_bytes() == two
    assert log.totals.images == 2
    assert log.problems == ["an image is of a type that is not shown"]


def test_a_run_without_an_answer_stays_open(tmp_path: Path) -> None:
    log = built(tmp_path, [made.gateway_line(0, [], made.responses_stream(0, [made.exec_call("c1", "sleep 9")]))])
    assert (log.steps[0].status, log.steps[0].te, log.steps[0].out) == (None, None, None)


def test_a_request_sent_again_tells_nothing_twice(tmp_path: Path) -> None:
    ask = [{"role": "user", "content": "Stack the blocks."}]
    log = built(
        tmp_path,
        [
            made.gateway_line(0, ask, "", status=500),
            made.gateway_line(1, ask, made.responses_stream(0, [made.exec_call("c1", "ls")])),
            made.gateway_line(2, [made.exec_output("c1", "a")], "", status=429),
            made.gateway_line(3, [made.exec_output("c1", "a")], made.responses_stream(1, [made.message("ok")])),
        ],
    )
    assert [(step.k, step.by, step.te) for step in log.steps] == [("say", "user", None), ("run", None, 10.0), ("say", None, None)]


def test_broken_lines_are_counted_and_stop_nothing_and_a_torn_last_one_is_silent(tmp_path: Path) -> None:
    path = tmp_path / "trial/agent/gateway.jsonl"
    path.parent.mkdir(parents=True)
    good = [json.dumps(made.gateway_line(n, [], made.responses_stream(n, [made.message(f"m{n}")]))) for n in range(3)]
    odd = json.dumps({"method": "POST", "t": "yesterday", "response": 7, "tail": {"a": 1}})
    raw = b"\n".join(
        [good[0].encode(), b"\xff\xfe{", b"[1]", odd.encode(), b"", good[1].encode(), good[2].encode(), good[0].encode()[:50]]
    )
    path.write_bytes(raw)
    log = build_log(tmp_path / "trial", FACTS, made.requests_of(tmp_path / "trial"), slot=tmp_path / "slot", now="")
    assert [step.text for step in log.steps] == ["m0", "m1", "m2"]
    assert log.problems == [
        "a line of gateway.jsonl is not JSON",
        "a line of gateway.jsonl is no object",
        "a request of gateway.jsonl has no time",
    ]


NAMES = """type role content text item call_id output name arguments input tool_calls function choices delta index
image_url source summary id"""
KEYS = st.sampled_from(NAMES.split()) | st.text(max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.tuples(JSON, JSON), max_size=5))
def test_no_shape_of_answer_or_tail_stops_the_reading(tmp_path: Path, lines: list[tuple[Any, Any]]) -> None:
    good = made.gateway_line(99, [], made.responses_stream(0, [made.message("the end")]))
    odd = [
        made.gateway_line(n, tail, made.sse([answer] if isinstance(answer, dict) else [])) for n, (tail, answer) in enumerate(lines)
    ]
    odd += [made.gateway_line(n + 10, tail, answer) for n, (answer, tail) in enumerate(lines)]
    log = built(tmp_path, [*odd, good])
    assert log.steps[-1].text == "the end"


@pytest.mark.parametrize("odd", [[], {}, "x", True, 1e300, 10**400, None, float("nan"), -1])
def test_odd_numbers_in_the_places_that_matter_stop_nothing(tmp_path: Path, odd: Any) -> None:
    block = {"type": "content_block_delta", "index": odd, "delta": {"type": "text_delta", "text": "a"}}
    chat = {"choices": [{"delta": {"tool_calls": [{"index": odd, "id": odd, "function": {"name": odd, "arguments": odd}}]}}]}
    wrapped = json.dumps({"output": "b", "metadata": {"exit_code": odd, "duration_seconds": odd}})
    lines = [
        {"method": "POST", "t": odd, "latency_s": odd, "status": odd, "response": odd, "tail": odd},
        made.gateway_line(1, [], made.sse([block])),
        made.gateway_line(2, [], made.sse([chat])),
        made.gateway_line(3, [], made.responses_stream(1, [made.exec_call("c1", "x")])),
        made.gateway_line(4, [{"type": "function_call_output", "call_id": "c1", "output": wrapped}], ""),
    ]
    made.write_lines(tmp_path / "trial/artifacts/data/episode.jsonl", [{"ev": "step", "ts": odd, "call": odd, "success": odd}] * 2)
    log = built(tmp_path, lines)
    assert log.steps[-1].out == "b"
    assert load_log(tmp_path / "slot" / LOG_FILE).steps == log.steps


def test_colour_codes_go_and_control_and_direction_characters_become_visible() -> None:
    assert plain("\x1b[31mred\x1b[0m \x1b]0;title\x07ok") == "red ok"
    assert plain("a\x00b\u202ec\r\nd\re") == "a␀b⟨U+202E⟩c\nd␍e"
    assert plain("\ud800 tab\there") == "� tab\there"


def test_building_twice_gives_the_same_bytes_and_a_rebuild_leaves_nothing_behind(tmp_path: Path) -> None:
    lines = list(made.gateway_lines(60, output_chars=20_000, image_every=7))
    built(tmp_path, lines)
    first = {path: path.read_bytes() for path in (tmp_path / "slot").rglob("*") if path.is_file()}
    built(tmp_path, lines)
    assert {path: path.read_bytes() for path in (tmp_path / "slot").rglob("*") if path.is_file()} == first
    log = built(tmp_path, lines[:3])
    left = {path.relative_to(tmp_path / "slot").as_posix() for path in (tmp_path / "slot").rglob("*") if path.is_file()}
    assert left == {LOG_FILE, *(chunk.file for chunk in log.chunks), *(name for step in log.steps for name in step.img or ())}


def test_chunks_hold_every_step_once_in_files_of_bounded_size(tmp_path: Path) -> None:
    log = built(tmp_path, list(made.gateway_lines(300, output_chars=6_000)))
    numbers = [n for chunk in log.chunks for n in range(chunk.first, chunk.first + chunk.n)]
    assert numbers == list(range(len(log.steps)))
    assert len(log.chunks) > 3
    for chunk in log.chunks:
        data = (tmp_path / "slot" / chunk.file).read_bytes()
        assert len(data) < CHUNK_BYTES + 2 * TEXT_LIMIT
        assert len(json.loads(data)["steps"]) == chunk.n


def test_memory_is_bounded_by_what_is_shown_and_not_by_the_log(tmp_path: Path) -> None:
    """A log with twenty times the text may not take a fraction of that more memory."""
    script = (
        "import resource, sys; from pathlib import Path\n"
        "from benchpipe.transcripts.build import Facts, build_log\n"
        "f = Facts(benchmark='b', run='r', task='t', mode='m', state='success', trial='x')\n"
        "build_log(Path(sys.argv[1]), f, (), slot=Path(sys.argv[2]), now='')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks, sizes = [], []
    for name, chars in (("small", 1_000), ("large", 60_000)):
        rng = random.Random(1)
        tail: list[Any] = []
        lines = []
        for n in range(400):
            lines.append(made.gateway_line(n, tail, made.responses_stream(n, [made.exec_call(f"c{n}", "x")])))
            tail = [made.exec_output(f"c{n}", made.words(rng, chars))]
        path = made.write_lines(tmp_path / name / "agent/gateway.jsonl", lines)
        sizes.append(path.stat().st_size)
        command = [sys.executable, "-c", script, str(tmp_path / name), str(tmp_path / f"slot-{name}")]
        peaks.append(1024 * int(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    assert sizes[1] > sizes[0] + 20_000_000
    assert peaks[1] - peaks[0] < (sizes[1] - sizes[0]) / 3
