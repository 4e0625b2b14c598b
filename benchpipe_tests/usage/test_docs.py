"""docs/costs.md says what is true: its price entries load and price as it says, its code runs."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.usage.estimates import cost
from benchpipe.usage.prices import flat_rates, rates_for
from benchpipe.usage.tables import schema_page
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.usage.test_collect import collect

PAGE = (REPOSITORY / "docs" / "costs.md").read_text(encoding="utf-8")


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_price_entries_of_the_page_load_and_price_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "data" / "agents").mkdir(parents=True)
    (tmp_path / "data" / "prices.yml").write_text("\n".join(examples("yaml")), encoding="utf-8")
    registry = load_registry(Lab(tmp_path))
    assert registry.problems == ()
    luna, model = registry.prices["openai/gpt-6-luna"], registry.prices["vendor/model"]
    assert cost(luna.rates, 1_428_659, 1_297_408, 0, 39_217) == Decimal("0.04570768")
    before, after = (datetime(2026, month, day, tzinfo=UTC).timestamp() for month, day in ((9, 30), (10, 1)))
    assert [rates_for(model, after, n).input for n in (200_000, 200_001)] == [Decimal("3.00"), Decimal("6.00")]
    assert rates_for(model, after, 200_001).cache_write == Decimal("3.75")
    assert (flat_rates(model, before).input, flat_rates(model, before).cached_input) == (Decimal("5.00"), Decimal("0.30"))


def test_the_analysis_of_the_page_runs(lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    collect(lab)
    monkeypatch.chdir(lab.root)
    exec(examples("python")[0], {})
    assert "bench_literal-gpt6_luna-xhigh" in capsys.readouterr().out


def test_the_schema_page_is_the_one_that_the_code_makes() -> None:
    assert (REPOSITORY / "docs" / "data-schema.md").read_text(encoding="utf-8") == schema_page()
