"""YAML text as people (and hostile people) write it: values, lines, faults, limits."""

from datetime import date
from decimal import Decimal

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import given, settings

from benchpipe.registry.yaml_text import MAX_VALUES, Parsed, parse_yaml


def fault(text: str) -> tuple[int | None, str]:
    parsed = parse_yaml(text)
    assert len(parsed.faults) == 1, parsed.faults
    return parsed.faults[0].line, parsed.faults[0].message


def test_every_key_and_item_knows_its_line() -> None:
    parsed = parse_yaml("a: 1\nb:\n  c: x\n  d:\n  - {e: 5}\n  - two\n")
    assert parsed.lines == {"a": 1, "b": 2, "b.c": 3, "b.d": 4, "b.d.0": 5, "b.d.0.e": 5, "b.d.1": 6}


def test_numbers_stay_as_written_and_exact() -> None:
    parsed = parse_yaml("a: 0.10\nb: 1_000.5\nc: 12\nd: 1.10\ne: '0.1'\nf: .inf\ng: 1:30.5\n")
    assert parsed.value == {
        "a": Decimal("0.10"), "b": Decimal("1000.5"), "c": 12, "d": Decimal("1.10"), "e": "0.1", "f": float("inf"), "g": 90.5,
    }  # fmt: skip
    assert str(parsed.value["d"]) == "1.10"


def test_keys_are_names_whatever_yaml_thinks_of_them() -> None:
    assert parse_yaml("on: 1\n2048: 2\n~: 3\n").value == {"on": 1, "2048": 2, "~": 3}


def test_anchors_aliases_and_merges_work() -> None:
    parsed = parse_yaml("base: &b {x: 1, y: 2}\none: {<<: *b, y: 3}\ntwo: [*b, *b]\nthree:\n  <<: [*b, {z: 9}]\n  y: 4\n")
    assert parsed.faults == ()
    assert parsed.value["one"] == {"y": 3, "x": 1}
    assert parsed.value["two"] == [{"x": 1, "y": 2}] * 2
    assert parsed.value["three"] == {"y": 4, "x": 1, "z": 9}
    assert parsed.lines["three.y"] == 6


def test_a_key_that_stands_twice_is_a_fault_and_the_first_counts() -> None:
    parsed = parse_yaml("a:\n  b: 1\n  c: 2\n  b: 3\n")
    assert parsed.value == {"a": {"b": 1, "c": 2}}
    assert [(f.line, f.message) for f in parsed.faults] == [(4, "`b` stands twice (first in line 2, which counts): remove one")]


def test_a_tab_is_named_as_the_cause() -> None:
    assert fault("a:\n\tb: 1\n") == (2, "is not YAML: a tab stands where YAML wants blanks; replace it by spaces")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a: 1\nb: [1, 2", 2, "is not YAML"),
        ("a: &x [*x]", 1, "nested more than"),
        ("a: *nobody", 1, "undefined alias"),
        ("a: 1\n---\nb: 2\n", 2, "is not YAML"),
        ("a: !!python/object/apply:os.system [id]", 1, "has the tag !!python/object/apply:os.system"),
        ("a: !secret x", 1, "has the tag !secret"),
        ("a: !!set {b}", 1, "has the tag !!set"),
        ("? [a, b]\n: 1", 1, "a list or mapping as a key"),
        ("a: {<<: 5}", 1, "merges (`<<`) something that is not a mapping"),
        ("x: 1\na: 2026-13-45", 2, "'2026-13-45' is no timestamp"),
        ("a: \x01", None, "is not YAML"),
        ("a: \ud800", None, "is not YAML"),
    ],
)
def test_faults_name_their_line(text: str, line: int | None, says: str) -> None:
    found_line, message = fault(text)
    assert says in message
    assert found_line == line


def test_a_file_that_multiplies_itself_by_aliases_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    _, message = fault("\n".join(lines))
    assert f"more than {MAX_VALUES} values once its aliases are written out" in message
    merges = ["a0: &a0 {x: 1}"] + [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 12)]
    assert f"more than {MAX_VALUES} values" in fault("\n".join(merges))[1]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_before_it_costs_anything(opening: str) -> None:
    parsed = parse_yaml(opening * 100_000)
    assert parsed.value is None
    assert parsed.faults


def test_a_long_number_is_text() -> None:
    assert parse_yaml("a: " + "1:" * 200 + "1").value == {"a": "1:" * 200 + "1"}
    assert parse_yaml("a: " + "9" * 5000).value == {"a": "9" * 5000}


def test_an_empty_text_is_nothing_without_a_fault() -> None:
    assert parse_yaml("") == parse_yaml("# only a comment\n") == Parsed(None, {}, ())


FRAGMENTS = st.sampled_from(
    ["a", "b: ", "- ", "\n", "  ", "\t", "[", "]", "{", "}", ",", ":", "&x ", "*x", "<<: ", "? ", "|", ">", "!!int ", "!t ", "'",
     '"', "#", "%", "---\n", "...\n", "2026-99-99", "0x", "1:99", ".nan", "0o9", "~", "é", "\x85", "\ufeff", "\U0001f600", "="]
)  # fmt: skip


def never_raises(text: str) -> None:
    parsed = parse_yaml(text)
    assert isinstance(parsed, Parsed)
    assert all(f.message and "\n" not in f.message for f in parsed.faults)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.lists(FRAGMENTS, max_size=30).map("".join) | st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    never_raises(text)


@pytest.mark.long
@settings(max_examples=20_000, deadline=None)
@given(st.lists(FRAGMENTS, max_size=40).map("".join) | st.text(max_size=200))
def test_no_text_raises_at_length(text: str) -> None:
    never_raises(text)


PLAIN = st.recursive(
    st.text(alphabet="abcdef _é", max_size=8) | st.integers(-1000, 1000) | st.booleans() | st.none() | st.dates(date(1970, 1, 1)),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet="abcdef", min_size=1, max_size=5), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.dictionaries(st.text(alphabet="abcdef", min_size=1, max_size=5), PLAIN, max_size=5))
def test_what_the_safe_loader_reads_reads_the_same(value: dict[str, object]) -> None:
    text = yaml.safe_dump(value)
    parsed = parse_yaml(text)
    assert parsed.faults == ()
    assert parsed.value == (yaml.safe_load(text) or {}) or parsed.value == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("a: b: c", "quote a text that has `: ` in it, or mend the indentation"),
        ("a:\n   b: 1\n  c: 2", "mend the indentation, or close a quote or bracket above"),
        ("a: [1, 2\nb: 3", "put a comma between the entries, or close the bracket"),
        ("a: @home", "quote a text that begins with @, % or `"),
        ("a: 'b\nc: d", "close the quote"),
        ("a: *json", "quote a text that begins with *"),
        ("a: *.json", "quote a text that begins with * or &"),
        ("a: 1\nb:2\nc: 3", "write `key: value`, with a blank after the colon"),
    ],
)
def test_the_usual_cause_of_a_syntax_fault_is_said_with_it(text: str, fix: str) -> None:
    assert fault(text)[1].endswith(f"; {fix}")
