"""Redaction: nothing secret is left in any field, nothing harmless is touched."""

import copy
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from benchpipe.publish.find import Finder
from benchpipe.publish.redact import redact, redact_text
from benchpipe.publish.rules import built_in_rules
from benchpipe.publish.scan import Scan
from benchpipe_tests.publish import corpus
from benchpipe_tests.publish.corpus import ENCODINGS, harmless, secrets


@pytest.fixture(scope="module")
def finder() -> Finder:
    return Finder(built_in_rules())


def log_with(pieces: list[str]) -> dict[str, Any]:
    """A trial log that says `pieces` in each field that may hold text; many pieces only where texts are streamed."""
    whole = pieces[0] if len(pieces) == 1 else None
    steps: list[dict[str, Any]] = []
    for n, piece in enumerate(pieces):
        steps += [
            {"k": "say", "t": n + 0.5, "text": piece},
            {"k": "run", "t": n + 0.7, "tool": "exec", "cmd": "ls", "out": piece, "n": 7},
        ]
    document: dict[str, Any] = {
        "v": 1,
        "task": "pour_water",
        "span": 844.4,
        "calls": [[0.0, 5.3, 200, 23862, 19192, 114, None]],
        "steps": steps,
    }
    if whole is not None:
        steps += [
            {"k": "run", "t": 9.0, "tool": "exec", "cmd": whole, "out": ""},
            {"k": "run", "t": 9.1, "tool": "x", "code": whole},
        ]
        document |= {
            "exception": whole, "note": whole, "gen": whole, "ended": {"error": whole},
            "media": {"problem": whole}, "robot": [{"t": 1.5, "ev": "submit", "note": whole}],
            "snapshots": [{"src": "a.png", "name": whole, "t": 1}],
        }  # fmt: skip
    return document


def shape(node: Any) -> Any:
    """A document with every string value blanked: keys, numbers and structure."""
    if isinstance(node, dict):
        return {key: shape(value) for key, value in node.items()}
    if isinstance(node, list):
        return [shape(value) for value in node]
    return "" if isinstance(node, str) else node


def cases(seed: int, n: int) -> Iterator[tuple[str, corpus.Secret, list[str], list[str]]]:
    rng = random.Random(seed)
    for secret in secrets(seed, n):
        for encode in ENCODINGS:
            if encode is corpus.wrapped and not secret.rule.wraps and secret.rule.kind != "private key":
                continue  # names of people and places are not joined over lines
            pieces, gone = encode(secret, rng)
            yield encode.__name__, secret, pieces, gone


def test_nothing_of_400_secrets_in_any_encoding_is_left_in_any_field(finder: Finder) -> None:
    left: dict[str, list[str]] = {}
    for name, secret, pieces, gone in cases(seed=1, n=400):
        document = log_with(pieces)
        before = shape(document)
        redact(document, finder)
        written = orjson.dumps(document)
        values = "\n".join(_strings(document))
        if any(part in values or json.dumps(part)[1:-1].encode() in written for part in gone):
            left.setdefault(f"{name} {secret.rule.id}", []).append(values[:300])
        assert shape(document) == before
        assert orjson.loads(written) == document
    assert left == {}


def _strings(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from _strings(value)
    elif isinstance(node, list):
        for value in node:
            yield from _strings(value)


def test_redacting_twice_changes_nothing_more_and_the_scan_finds_nothing(finder: Finder) -> None:
    scan = Scan(finder)
    for name, secret, pieces, _ in cases(seed=2, n=150):
        document = log_with(pieces)
        redact(document, finder)
        once = copy.deepcopy(document)
        redact(document, finder)
        assert document == once, (name, secret.rule.id)
        assert scan.bytes("x.json", orjson.dumps(document)) == [], (name, secret.rule.id, once)


def test_the_scan_finds_in_written_bytes_what_redaction_would_have_taken_out(finder: Finder) -> None:
    scan = Scan(finder)
    missed = []
    for name, secret, pieces, _ in cases(seed=3, n=150):
        if len(pieces) == 1 and not scan.bytes("x.json", orjson.dumps(log_with(pieces))):
            missed.append((name, secret.rule.id))
    assert missed == []


def test_a_thousand_harmless_texts_stay_as_they_are(finder: Finder) -> None:
    touched = []
    for text in harmless(seed=4, n=1000):
        if redact_text(text, finder) != text:
            touched.append((text, redact_text(text, finder)))
    assert touched == []
    scan = Scan(finder)
    assert scan.bytes("x.json", orjson.dumps({"steps": list(harmless(seed=4, n=1000))})) == []


def test_a_key_that_looks_like_a_secret_is_not_changed_but_found_by_the_scan(finder: Finder) -> None:
    key = "ghp" + "_" + corpus.characters(random.Random(5), "b62", 36)
    document = {key: 1.5}
    redact(document, finder)
    assert document == {key: 1.5}
    assert [finding.rule for finding in Scan(finder).bytes("x.json", orjson.dumps(document))] == ["github"]


def test_a_marker_stands_in_the_place_of_the_secret_alone(finder: Finder) -> None:
    password = corpus.characters(random.Random(6), "low", 12)
    assert redact_text(f"psql postgres://app:{password}@db.example/x -c 'select 1'", finder) == (
        "psql postgres://app:<redacted>@db.example/x -c 'select 1'"
    )
    assert redact_text("cd /home/somebody/work && ls", finder) == "cd /home/<user>/work && ls"
    assert redact_text("ping 10.1.2.3 and 8.8.8.8", finder) == "ping <ip> and 8.8.8.8"


def test_the_next_line_stays_unless_it_looks_like_the_rest_of_the_key(finder: Finder) -> None:
    key = "ghp" + "_" + corpus.characters(random.Random(7), "b62", 36)
    assert redact_text(f"export TOKEN={key}\nexport PATH=/usr/bin\n", finder) == "export TOKEN=<redacted>\nexport PATH=/usr/bin\n"
    assert redact_text(f"{key[:24]}\n    {key[24:]}\nrest", finder) == "<redacted>\nrest"


@pytest.mark.parametrize("seed", range(3))
def test_the_plain_fallback_gives_the_same_result_as_the_prefilter(finder: Finder, seed: int) -> None:
    plain = Finder(built_in_rules(), plain=True)
    texts = [piece for _, _, pieces, _ in cases(seed=10 + seed, n=60) for piece in pieces] + list(harmless(seed, 100))
    for text in texts:
        assert redact_text(text, plain) == redact_text(text, finder)


def test_one_very_long_line_with_a_secret_far_inside_is_redacted(finder: Finder) -> None:
    key = "hf" + "_" + corpus.characters(random.Random(8), "b62", 34)
    line = "the robot moves to the cube " * 150_000
    assert redact_text(f"{line}{key} {line}", finder) == f"{line}<redacted> {line}"


def test_samples_of_published_logs_change_only_where_a_reader_would_expect(shared: Any, finder: Finder) -> None:
    folder = shared / "samples" / "eai" / "data" / "published_runs"
    scan = Scan(finder)
    for file in sorted(folder.rglob("*.json")):
        data = file.read_bytes()
        document = orjson.loads(data)
        redact(document, finder)
        assert document == orjson.loads(data), file
        assert scan.bytes(file.name, data) == []


def test_text_that_no_json_reader_minds_stays_readable(finder: Finder) -> None:
    text = "naïve 你好 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16") + " /home/someone/x \x00 \x01"
    assert redact_text(text, finder) == re.sub("someone", "<user>", text)


def test_a_field_named_like_a_streamed_one_is_redacted_wherever_it_stands(finder: Finder) -> None:
    key = "ghp" + "_" + corpus.characters(random.Random(9), "b62", 36)
    document = {
        "text": key,
        "steps": [{"text": "x", "args": {"text": key, "out": [key]}}],
        "other": [{"text": key, "out": {"out": key}}],
    }
    redact(document, finder)
    assert key not in json.dumps(document)


HOSTILE = {
    "headers of keys that never end": "-----BEGIN RSA PRIVATE KEY-----\nA1b2\n",
    "tokens that begin and never end": "eyJaaaaaaaaa\n",
    "anchors broken over lines": "e\nyJ",
    "prefixes in one word": "sk-aaaa.",
    "assignments in one word": "password=aaaaaa",
    "base64 of zeros": "A",
    "base64 of text and none": "QUFBQUFBQUFBQUFBQUFBQf//",
    "folders in one path": "/home/",
    "characters without width": "\u200b",
    "colours": "\x1b[0m",
    "entities": "&amp;",
    "hexadecimal digits": "41",
}


@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_put_together_grows_with_the_text_and_not_with_its_square(
    name: str, pieces: bool, finder: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchpipe.publish import match, views

    made = 0

    def counted(*arguments: Any, **options: Any) -> views.View:
        nonlocal made
        view = edited(*arguments, **options)
        made += len(view.data)
        return view

    edited = views.edited
    monkeypatch.setattr(views, "edited", counted)
    monkeypatch.setattr(match, "_LEAST_WORK", 0)
    text = (HOSTILE[name] * 60_000)[:60_000]
    parts = [text[at : at + 40] for at in range(0, len(text), 40)] if pieces else [text]
    redact({"steps": [{"text": part} for part in parts]}, finder)
    assert made < 600 * len(text.encode())


def test_where_the_work_ends_the_rest_of_that_text_is_a_finding(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchpipe.publish import match

    monkeypatch.setattr(match, "_LEAST_WORK", 0)
    monkeypatch.setattr(match, "_WORK_PER_BYTE", 2)
    key = "ghp" + "_" + corpus.characters(random.Random(8), "b62", 36)
    left = redact_text("eyJaaaaaaaaa\n" * 200 + key, finder)
    assert key not in left
    assert left.startswith("eyJaaaaaaaaa\n")


@pytest.mark.parametrize(
    "text",
    [
        "authorization = request.headers['Authorization']",
        "_OIDC_TOKEN_LOCK = Lock()",
        "GIT_CREDENTIAL_REGEX = re.compile(r'x')",
        "    rest, token = token[2:], token[:2]",
        "TOKEN_QUERY = 0x8\nTOKEN_ALL = 0x10",
        "ERRORTOKEN = 58\nCOLONEQUAL = 59",
        "token = -1\n\n\n_DEFAULT_TIMEOUT: Final = 3",
    ],
)
def test_source_code_about_tokens_stays_readable(text: str, finder: Finder) -> None:
    assert redact_text(text, finder) == text
