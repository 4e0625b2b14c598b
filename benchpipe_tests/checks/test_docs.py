"""Pages of docs/ that are made from the code are current."""

from benchpipe.checks.page import rules_page
from benchpipe.checks.rules import RULES
from benchpipe.cli.docs import stale_pages


def test_every_generated_page_is_current() -> None:
    assert stale_pages() == [], "run `benchpipe docs`"


def test_every_rule_is_on_its_page_once() -> None:
    page = rules_page()
    assert [page.count(f"| `{rule.id}` | {rule.severity} | {rule.title} |") for rule in RULES] == [1] * len(RULES)
