"""`benchpipe prices check` compares and never writes."""

import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchpipe.cli.main import cli
from benchpipe.errors import UsageError
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.registry.records import Place, Price, Rates
from benchpipe.usage.pricecheck import opinions

NOW = datetime(2026, 11, 30, tzinfo=UTC)
PRICES = """\
openai/gpt-4o: {input: 2.50, cached_input: 1.25, output: 10.00}
openai/gpt-4o-mini: {input: 0.16, output: 0.60}
nobody/never-heard-of-9: {input: 1, output: 2}
"""


@pytest.fixture
def small(tmp_path: Path) -> Lab:
    (tmp_path / "data" / "agents").mkdir(parents=True)
    (tmp_path / "data" / "prices.yml").write_text(PRICES)
    return Lab(tmp_path)


def test_it_tells_same_different_and_unknown_apart(small: Lab) -> None:
    found = opinions(load_registry(small).prices.values(), NOW)
    assert [(o.key, o.rate, o.verdict) for o in found] == [
        ("openai/gpt-4o", "input", "same"),
        ("openai/gpt-4o", "cached_input", "same"),
        ("openai/gpt-4o", "output", "same"),
        ("openai/gpt-4o-mini", "input", "differs"),
        ("openai/gpt-4o-mini", "output", "same"),
        ("nobody/never-heard-of-9", "input", "no opinion"),
        ("nobody/never-heard-of-9", "output", "no opinion"),
    ]


def test_the_command_names_file_and_line_and_writes_nothing(small: Lab) -> None:
    done = CliRunner().invoke(cli, ["--lab", str(small.root), "prices", "check"], standalone_mode=False, catch_exceptions=False)
    assert done.return_value == 1
    assert "data/prices.yml:2: openai/gpt-4o-mini input: ours 0.16, library 0.15 (differs)" in done.stdout
    assert done.stdout.endswith("3 entries: 4 same, 1 differs, 2 no opinion\n")
    assert small.prices_file.read_text() == PRICES
    assert [path.name for path in small.root.rglob("*") if path.is_file()] == ["prices.yml"]


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    price = Price(key="a/b", place=Place("data/prices.yml", 1), rates=Rates(input=Decimal(1), output=Decimal(1)))
    with pytest.raises(UsageError, match="pip install genai-prices"):
        opinions([price], NOW)
