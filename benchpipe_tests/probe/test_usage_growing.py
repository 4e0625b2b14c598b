"""However a log grows, every reading equals one from the start of the same bytes, in bounded memory."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchpipe.probe.gateway_log import read_gateway
from benchpipe.probe.requests import trial_requests
from benchpipe_tests.bench import _gateway_logs as logs


class Kept(dict):
    """Cursors in memory."""

    put = dict.__setitem__


def request(n: int, tokens: int) -> bytes:
    answer = json.dumps({"id": f"r{n}", "usage": {"prompt_tokens": tokens, "completion_tokens": n % 7}})
    return json.dumps({"t": 1790000000 + n, "method": "POST", "status": 200, "latency_s": 1, "response": answer}).encode() + b"\n"


def numbers(path: Path, cursors: Kept) -> tuple[list, dict]:
    tally = read_gateway(str(path), cursors)
    return tally.rows, tally.problems


def disturb(rng: random.Random, log: Path, n: int) -> None:
    """One thing that may happen to a log between two polls."""
    data = log.read_bytes() if log.exists() else b""
    lines = b"".join(request(n * 10 + i, rng.randint(0, 10**6)) for i in range(rng.randint(0, 4)))
    what = rng.choice(["append", "append", "append", "tear", "truncate", "empty", "replace", "rotate", "rewrite", "junk", "copy"])
    if what == "append":
        with log.open("ab") as file:
            file.write(lines)
    elif what == "tear":
        with log.open("ab") as file:
            file.write(lines + request(n, 5)[: rng.randint(1, 60)])
    elif what == "truncate":
        os.truncate(log, rng.randint(0, len(data)))
    elif what == "empty":  # in place, then grown beyond where it was
        with log.open("r+b") as file:
            file.truncate(0)
            file.write(data[:5001] + lines + data[: rng.randint(0, len(data))])
    elif what == "replace":
        new = log.with_suffix(".new")
        new.write_bytes(lines)
        new.replace(log)
    elif what == "rotate":
        log.replace(log.with_suffix(".1"))
        log.write_bytes(lines)
    elif what == "rewrite":  # the same length, other numbers
        with log.open("r+b") as file:
            file.write(data.replace(b"1", b"2"))
    elif what == "junk":
        with log.open("ab") as file:
            file.write(rng.choice([b"\n", b"{}\n", b"\x00" * 50, b'{"t": 1}\n', b"[" * 3000 + b"\n", b"\xff\n"]))
    else:  # the same bytes under another inode
        log.unlink()
        log.write_bytes(data)


def check_schedule(folder: Path, seed: int) -> None:
    rng = random.Random(seed)
    log, cursors = folder / "gateway.jsonl", Kept()
    log.write_bytes(rng.choice([b"", b"-" * 5000 + b"\n"]))  # what is the same in every version of the log, or not
    for n in range(rng.randint(3, 12)):
        disturb(rng, log, n)
        if rng.random() < 0.8:
            assert numbers(log, cursors) == numbers(log, Kept()), seed
        if rng.random() < 0.1:
            cursors.clear()
        elif cursors and rng.random() < 0.1:
            cursors[rng.choice(list(cursors))] = rng.choice([b"", b"junk", b"{}", b"x\x9c\x03\x00\x00\x00\x00\x01"])


def test_random_schedules_equal_cold_readings(tmp_path: Path) -> None:
    for seed in range(200):
        check_schedule(tmp_path, seed)


@pytest.mark.long
@settings(max_examples=10_000, deadline=None)
@given(seed=st.integers(200, 2**63))
def test_ten_thousand_random_schedules_equal_cold_readings(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    check_schedule(tmp_path_factory.getbasetemp(), seed)


def test_numbers_rewritten_amid_a_log_are_noticed(tmp_path: Path) -> None:
    log, cursors = tmp_path / "gateway.jsonl", Kept()
    pad = b"-" * 50_000 + b"\n"
    log.write_bytes(pad + request(1, 111) + pad)
    assert numbers(log, cursors)[0][0][4] == 111
    with log.open("r+b") as file:
        file.write(pad + request(1, 222))
    assert numbers(log, cursors)[0][0][4] == 222


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, cursors = tmp_path / "gateway.jsonl", Kept()
    log.write_bytes(b"".join(request(n, n) for n in range(50)))
    read_gateway(str(log), cursors)
    with log.open("ab") as file:
        file.write(request(50, 50))
    taken = []
    monkeypatch.setattr("benchpipe.probe.gateway_log.take_line", lambda tally, line: taken.append(line.offset))
    read_gateway(str(log), cursors)
    assert len(taken) == 1


def test_a_torn_last_line_counts_when_it_is_whole(tmp_path: Path) -> None:
    log, cursors = tmp_path / "gateway.jsonl", Kept()
    line = request(1, 77)
    for at in range(1, len(line)):
        log.write_bytes(line[:at])
        assert numbers(log, cursors)[0] == []
    log.write_bytes(line)
    assert numbers(log, cursors)[0][0][4] == 77


def test_order_of_lines_does_not_change_a_trials_rows(tmp_path: Path) -> None:
    rng = random.Random(1)
    lines = [request(n, rng.randint(1, 99)) for n in range(40)]
    (tmp_path / "agent").mkdir()
    log = tmp_path / "agent" / "gateway.jsonl"
    found = []
    for _ in range(3):
        log.write_bytes(b"".join(lines))
        rows = trial_requests(str(tmp_path), Kept())["rows"]
        found.append([row[:12] for row in rows])
        rng.shuffle(lines)
    assert found[0] == found[1] == found[2]


PEAK = """
import re, sys
from benchpipe.probe.requests import trial_requests
class Kept(dict):
    put = dict.__setitem__
found = trial_requests(sys.argv[1], Kept())
status = open("/proc/self/status").read()
print(len(found["rows"]), sum(row[4] or 0 for row in found["rows"]), re.search(r"VmHWM:\\s*(\\d+)", status).group(1))
"""


def peak(trial: Path) -> tuple[int, int, int]:
    """Rows, input tokens and peak memory in kB of counting a trial in a process of its own."""
    done = subprocess.run([sys.executable, "-c", PEAK, str(trial)], check=True, capture_output=True, text=True)
    rows, tokens, kilobytes = map(int, done.stdout.split())
    return rows, tokens, kilobytes


def test_200_megabytes_are_counted_in_64_of_memory(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    logs.write_log(tmp_path / "agent" / "gateway.jsonl", seed=2, total=200_000_000)
    rows, _, kilobytes = peak(tmp_path)
    assert rows > 500
    assert kilobytes <= 64_000


@pytest.mark.long
def test_2_gigabytes_need_no_more_memory_than_200_megabytes(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    logs.write_log(tmp_path / "agent" / "gateway.jsonl", seed=2, total=2_000_000_000)
    rows, _, kilobytes = peak(tmp_path)
    assert rows > 5000
    assert kilobytes <= 64_000


@pytest.mark.parametrize("letter", ["x", "é", "😀"])
def test_a_line_of_64_megabytes_is_counted_in_64_of_memory(tmp_path: Path, letter: str) -> None:
    (tmp_path / "agent").mkdir()
    answer = 'data: {"id": "r", "usage": {"prompt_tokens": 31, "completion_tokens": 2}}\n\n'
    record = {"t": 1, "method": "POST", "status": 200, "latency_s": 1, "tail": [letter * 64], "response": answer}
    head, rest = json.dumps(record, ensure_ascii=False).split(letter * 64)
    with (tmp_path / "agent" / "gateway.jsonl").open("wb") as file:
        file.write(head.encode())
        for _ in range(64):
            file.write(letter.encode() * (1_000_000 // len(letter.encode())))
        file.write(rest.encode() + b"\n" + request(2, 9))
    rows, tokens, kilobytes = peak(tmp_path)
    assert (rows, tokens) == (2, 40)
    assert kilobytes <= 64_000


def test_lines_up_to_the_limit_that_must_be_decoded_fit_in_64_of_memory(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    record = {"response": {"id": "r", "usage": {"prompt_tokens": 31}}, "pad": ["😀" * 900_000], "method": "POST", "status": 200}
    (tmp_path / "agent" / "gateway.jsonl").write_bytes(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    rows, tokens, kilobytes = peak(tmp_path)
    assert (rows, tokens) == (1, 31)
    assert kilobytes <= 64_000
