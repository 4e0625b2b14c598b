"""Each rule catches its examples, leaves the harmless ones, and is needed."""

import random

import pytest

from benchpipe.publish.find import Finder
from benchpipe.publish.prefilter import hyperscan_candidates, plain_candidates
from benchpipe.publish.rules import Rule, built_in_rules, expand
from benchpipe_tests.publish.corpus import fill

RULES = built_in_rules()


@pytest.fixture(scope="module")
def finder() -> Finder:
    return Finder(RULES)


def left(finder: Finder, text: str, parts: tuple[str, ...]) -> list[str]:
    """The parts of a secret that would still be readable if what the finder finds were taken out."""
    data = bytearray(text.encode())
    for span in finder.find(bytes(data)):
        data[span.start : span.end] = b"\xff" * (span.end - span.start)
    return [part for part in parts if part.encode() in data]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_catches_every_example_it_gives(rule: Rule, finder: Finder) -> None:
    rng = random.Random(rule.id)
    for template in rule.must:
        for _ in range(5):
            secret = fill(rng, rule, template)
            assert any(span.rule.id == rule.id for span in finder.find(secret.text.encode())), secret.text
            assert not left(finder, secret.text, secret.parts), secret.text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_rule_touches_an_example_that_must_not_match(rule: Rule, finder: Finder) -> None:
    for text in rule.must_not:
        assert not finder.find(fill(random.Random(1), rule, text).text.encode()), text


def test_removing_any_one_rule_lets_a_secret_through() -> None:
    superfluous = []
    for removed in RULES:
        rng = random.Random(removed.id)
        finder = Finder([rule for rule in RULES if rule is not removed])
        secrets = [fill(rng, removed, template) for template in removed.must]
        if not any(left(finder, secret.text, secret.parts) for secret in secrets):
            superfluous.append(removed.id)
    assert superfluous == []


def test_every_rule_has_an_identity_and_a_marker_that_no_rule_matches(finder: Finder) -> None:
    assert len({rule.id for rule in RULES}) == len(RULES) >= 60
    for marker in {rule.marker for rule in RULES}:
        assert marker[0] + marker[-1] == "<>"
        for text in (marker, f"API_KEY={marker}", f"https://u:{marker}@x.example", f"/home/{marker}/x", f"Bearer {marker}"):
            assert not finder.find(text.encode()), text


def test_every_macro_in_a_pattern_exists() -> None:
    for rule in RULES:
        expand(rule.pattern)


def test_the_prefilter_misses_no_candidate_wherever_it_stands() -> None:
    # Hyperscan has been seen to miss a match behind some 20 bytes of text: `[\\/]{1,40}` before a literal.
    expressions = [expand(rule.near) for rule in RULES]
    fast, slow = hyperscan_candidates(expressions), plain_candidates(expressions)
    rng = random.Random(7)
    missed = set()
    for rule in RULES:
        for template in rule.must:
            for n in (0, 1, 7, 15, 31, 40, 64, 100, 1000):
                for padding in ("x", ". ", "é", "A b: "):
                    text = f"{(padding * n)[:n]} {fill(rng, rule, template).text} {padding * 3}".encode()
                    found = fast(text)
                    for number, start, end in slow(text):
                        if not any(n == number and a <= start and end <= b for n, a, b in found):
                            missed.add((RULES[number].id, padding))
    assert missed == set()
