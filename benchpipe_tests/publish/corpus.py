"""Texts for the tests of publishing, made from a seed: synthetic secrets in every encoding, and harmless ones.

No secret is written down here or in the rules: templates such as `<hex:32>` are filled when a test runs.
"""

import base64
import json
import random
import re
import string
import urllib.parse
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchpipe.publish.rules import Rule, built_in_rules

ALPHABETS = {
    "b62": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
    "up": string.ascii_uppercase + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "digit": string.digits,
}
PLACEHOLDER = re.compile(r"<(b62|hex|url|b64|b64text|up|low|digit|uuid|oct)(?::(\d+))?>")


class Secret(NamedTuple):
    """A text with a secret in it, and the random parts of which nothing may be left."""

    rule: Rule
    text: str
    parts: tuple[str, ...]


def characters(rng: random.Random, kind: str, n: int) -> str:
    """`n` characters of an alphabet, with a digit and a letter among them where it has both, and no dash at the ends."""
    while True:
        text = "".join(rng.choice(ALPHABETS[kind]) for _ in range(n))
        mixed = any(c.isdigit() for c in text) and any(c.isalpha() for c in text)
        if (mixed or kind == "digit" or n < 4) and text[0].isalnum() and text[-1].isalnum():
            return text


def fill(rng: random.Random, rule: Rule, template: str) -> Secret:
    """A template of the rule file with its placeholders filled."""
    parts: list[str] = []

    def one(match: re.Match[str]) -> str:
        kind, n = match[1], int(match[2] or 0)
        if kind == "uuid":
            part = "-".join(characters(rng, "hex", k) for k in (8, 4, 4, 4, 12))
        elif kind == "oct":
            return str(rng.randint(2, 254))
        elif kind == "b64text":
            part = base64.b64encode(f"me:{characters(rng, 'b62', n - 3)}".encode()).decode()
        else:
            part = characters(rng, kind, n)
        parts.append(part)
        return part

    text = PLACEHOLDER.sub(one, template)
    return Secret(rule, text, tuple(part for part in parts if len(part) >= 5) or (text,))


def secrets(seed: int, n: int) -> Iterator[Secret]:
    """`n` secrets that go through every example of every rule in turn."""
    rng = random.Random(seed)
    templates = [(rule, template) for rule in built_in_rules() for template in rule.must]
    for k in range(n):
        rule, template = templates[k % len(templates)]
        yield fill(rng, rule, template)


# --- encodings: each gives the pieces of a text and the strings that must be gone from them ----------------------------

Encoded = tuple[list[str], list[str]]


def plain(secret: Secret, rng: random.Random) -> Encoded:
    return [f"I will use {secret.text} now"], list(secret.parts)


def json_in_json(secret: Secret, rng: random.Random) -> Encoded:
    inner = json.dumps({"env": f"first\n{secret.text}\nlast", "n": 3})
    return [json.dumps({"body": inner})], list(secret.parts)


def url_encoded(secret: Secret, rng: random.Random) -> Encoded:
    quoted = urllib.parse.quote(f"x={secret.text}", safe="")
    return [f"GET /cb?state={quoted}&z=1"], [urllib.parse.quote(part, safe="") for part in secret.parts]


def wholly_url_encoded(secret: Secret, rng: random.Random) -> Encoded:
    def hexed(text: str) -> str:
        return "".join(f"%{byte:02X}" for byte in text.encode())

    return [f"GET /cb?state={hexed(secret.text)} HTTP/1.1"], [hexed(part) for part in secret.parts]


def base64_encoded(secret: Secret, rng: random.Random) -> Encoded:
    before = "x" * rng.randint(0, 5) + " "
    text = f"{before}{secret.text} and some more"
    code = base64.b64encode(text.encode()).decode()
    gone = []
    for part in secret.parts:
        start = text.index(part)
        aligned = code[-(-start // 3) * 4 : (start + len(part)) // 3 * 4]
        gone += [aligned] if len(aligned) >= 8 else []
    return [f"payload {code} end"], gone


def unicode_escaped(secret: Secret, rng: random.Random) -> Encoded:
    def escaped(text: str) -> str:
        return "".join(f"\\u{ord(c):04x}" if c.isascii() and ord(c) >= 32 else json.dumps(c)[1:-1] for c in text)

    return [f'{{"v": "{escaped(secret.text)}"}}'], [escaped(part) for part in secret.parts]


def wrapped(secret: Secret, rng: random.Random) -> Encoded:
    width = rng.choice((20, 24, 32))
    lines = [line[k : k + width] for line in secret.text.split("\n") for k in range(0, len(line), width)]
    return ["output:\n" + "\n".join(lines) + "\ndone"], _of_parts(secret, lines)


def in_pieces(secret: Secret, rng: random.Random) -> Encoded:
    cut = rng.randint(1, len(secret.text) - 1)
    pieces = [secret.text[:cut], secret.text[cut:]]
    return [f"it says {pieces[0]}", f"{pieces[1]} and goes on"], _of_parts(secret, pieces)


def in_a_traceback(secret: Secret, rng: random.Random) -> Encoded:
    where = f'  File "/app/x.py", line 3, in f\n    run(["tool", "{secret.text}"])'
    trace = f"Traceback (most recent call last):\n{where}\nError: {secret.text}"
    return [trace], list(secret.parts)


def percent_twice(secret: Secret, rng: random.Random) -> Encoded:
    once = "".join(f"%{byte:02X}" for byte in secret.text.encode())
    return [f"GET /cb?state={urllib.parse.quote(once)} HTTP/1.1"], [urllib.parse.quote(part) for part in secret.parts]


def hexadecimal(secret: Secret, rng: random.Random) -> Encoded:
    digits = f" {secret.text} and more".encode().hex()
    return [f"payload {random.Random(secret.text).choice((digits, digits.upper()))} end"], [
        part.encode().hex() for part in secret.parts
    ]


def entities(secret: Secret, rng: random.Random) -> Encoded:
    form = random.Random(secret.text).choice(("&#{};", "&#x{:x};", "&#x{:X};"))

    def written(text: str) -> str:
        return "".join(form.format(ord(c)) for c in text)

    return [f"<td>{written(secret.text)}</td>"], [secret.text]


def unseen(secret: Secret, rng: random.Random) -> Encoded:
    """Characters without width and colours of a terminal inside, wide characters for some."""
    by = random.Random(secret.text).choice(("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\x1b[1m", "\\u200b", "\\u001b[0m"))
    hidden = "".join(chr(ord(c) + 0xFEE0) if c in "_-" else c + (by if k % 5 == 4 else "") for k, c in enumerate(secret.text))
    return [f"I see {hidden} there"], [hidden]


def coloured(secret: Secret, rng: random.Random) -> Encoded:
    colour = random.Random(secret.text).choice(("\x1b[32m", "\x1b[1;31m", "\\u001b[0;36m"))
    return [f"{colour}{secret.text}\x1b[0m"], list(secret.parts)


def binary_in_base64(secret: Secret, rng: random.Random) -> Encoded:
    data = b"a text before\x00\xff\xfe " + f"{secret.text} and more".encode() + b"\x00\xff"
    return [f"blob {base64.b64encode(data).decode()}"], [base64.b64encode(data)[16:-8].decode()]


def base64_twice(secret: Secret, rng: random.Random) -> Encoded:
    own = random.Random(secret.text)
    (once,), _ = base64_encoded(secret, own)
    code = once.split()[1]
    return base64_encoded(secret._replace(text=code, parts=(code[12:-24],)), own)


def utf16_in_base64(secret: Secret, rng: random.Random) -> Encoded:
    text = random.Random(secret.text).choice(("", "x", "xx")) + f" first {secret.text} and some more"
    data = text.encode(random.Random(secret.text).choice(("utf-16", "utf-16-le", "utf-16-be")))
    middle = len(text[: text.index(secret.parts[0])]) * 2 + len(secret.parts[0])
    code = base64.b64encode(data).decode()
    return [f"powershell -enc {code}"], [code[middle // 3 * 4 : middle // 3 * 4 + 8]]


def with_gutters(secret: Secret, rng: random.Random) -> Encoded:
    """Cut by lines that begin as those of a diff, a listing or a mail do."""
    return _cut_by(secret, random.Random(secret.text).choice(("\n+", "\n-", "\n> ", "\n| ", "\n    12\t", "\n7: ", "\\n+")))


def quoted_by_line(secret: Secret, rng: random.Random) -> Encoded:
    """Cut as texts are that Python or a shell prints or writes in several lines."""
    return _cut_by(secret, random.Random(secret.text).choice(("'\n '", '"\n    "', "' +\n  '", '" \\\n"', "\\'\\n \\'")))


def _cut_by(secret: Secret, cut: str) -> Encoded:
    part = max(secret.parts, key=len)
    told_by_its_end = secret.rule.id == "url-token"
    if len(part) < 24 or "\n" in secret.text or told_by_its_end:
        return plain(secret, random.Random(0))
    at = secret.text.index(part) + 12
    pieces = [secret.text[:at], secret.text[at:]]
    return [f"it says ['{cut.join(pieces)}'] there"], _of_parts(secret, pieces)


ENCODINGS: tuple[Callable[[Secret, random.Random], Encoded], ...] = (
    plain, json_in_json, url_encoded, wholly_url_encoded, base64_encoded, unicode_escaped, wrapped, in_pieces, in_a_traceback,
    percent_twice, hexadecimal, entities, unseen, coloured, binary_in_base64, base64_twice, utf16_in_base64,
    with_gutters, quoted_by_line,
)  # fmt: skip


def _of_parts(secret: Secret, pieces: list[str]) -> list[str]:
    """What of the random parts lies in each piece, where it is long enough to be worth anything."""
    gone = []
    for part in secret.parts:
        for piece in pieces:
            common = max(
                (part[a:b] for a in range(len(part)) for b in range(a + 8, len(part) + 1) if part[a:b] in piece),
                key=len,
                default="",
            )
            gone += [common] if common else []
    return gone


# --- harmless texts ----------------------------------------------------------------------------------------------------


def harmless(seed: int, n: int) -> Iterator[str]:
    """`n` texts that look a little like secrets and are none."""
    rng = random.Random(seed)

    def h(kind: str, k: int) -> str:
        return characters(rng, kind, k)

    makers: tuple[Callable[[], str], ...] = (
        lambda: f"commit {h('hex', 40)}",
        lambda: f"sha256:{h('hex', 64)}",
        lambda: f"model gpt-{rng.randint(3, 9)}-luna-{rng.randint(2024, 2026)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
        lambda: f"claude-opus-{rng.randint(3, 6)}-{rng.randint(0, 9)} with max_tokens={rng.randint(1, 200000)}",
        lambda: f'{{"max_tokens": {rng.randint(1, 9999)}, "token_count": {rng.randint(1, 99999)}}}',
        lambda: f"numpy=={rng.randint(1, 3)}.{rng.randint(0, 30)}.{rng.randint(0, 9)} scipy>=1.{rng.randint(0, 20)}",
        lambda: f"nvidia-cublas-cu12==12.{rng.randint(1, 8)}.{rng.randint(0, 9)}.{rng.randint(0, 9)}",
        lambda: f"nvidia-curand-cu12        10.3.{rng.randint(0, 9)}.{rng.randint(0, 255)}",
        lambda: f"listening on 127.0.0.1:{rng.randint(1024, 65535)} and 0.0.0.0",
        lambda: f"dns {rng.choice(('8.8.8.8', '1.1.1.1', '9.9.9.9'))} answers in {rng.randint(1, 99)} ms",
        lambda: f"https://docs.example.org/page/{h('low', 12)}?version={rng.randint(1, 9)}#part-{rng.randint(1, 9)}",
        lambda: "data:image/png;base64," + base64.b64encode(rng.randbytes(rng.randint(60, 300))).decode(),
        lambda: f"{rng.choice(('disk', 'task', 'risk', 'mask', 'desk'))}-usage-of-the-whole-machine-{rng.randint(1, 99)}",
        lambda: f"robot_{rng.choice(('shelf', 'half', 'sheriff'))}_{h('b62', 24)}",
        lambda: f"git@github.com:lab/{h('low', 8)}.git",
        lambda: f"uses actions/checkout@v{rng.randint(2, 5)}.{rng.randint(0, 9)}.{rng.randint(0, 9)}",
        lambda: f"@app.route\ndef f_{h('low', 5)}(x): return x @ y.T",
        lambda: f"-rw-r--r-- 1 root root {rng.randint(1, 99999)} Oct  3 15:51 trajectory_{h('low', 6)}.npz",
        lambda: f"tokenizer.pad_token = '<pad>'  # token {rng.randint(1, 99999)} of {rng.randint(1, 99999)}",
        lambda: f"password: str = field(default=None)  # row {rng.randint(1, 999)}",
        lambda: f"API_KEY=${{{h('up', 8)}}}",
        lambda: "PASSWORD=" + "*" * rng.randint(4, 16),
        lambda: f"trial tabletop-pour-water-i00__{h('b62', 7)}",
        lambda: f"{rng.random():.6f} {rng.random():.6f} reward {rng.randint(0, 1)}",
        lambda: f"2026-10-0{rng.randint(1, 9)}T15:38:{rng.randint(10, 59)}.{rng.randint(100000, 999999)}Z",
        lambda: f"uuid {h('hex', 8)}-{h('hex', 4)}-{h('hex', 4)}-{h('hex', 4)}-{h('hex', 12)}",
        lambda: f"/opt/tools/{h('low', 9)}/rcb_client.py:{rng.randint(1, 999)}: in step",
        lambda: f"basic functionality works, bearer of the cube number {rng.randint(1, 99)}",
    )
    for k in range(n):
        yield makers[k % len(makers)]()
