"""One benchmark from its hosts' files to money: pages' totals, `explain` and what pandas computes are the same numbers."""

import functools
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import msgspec
import pandas
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from benchpipe.cli.main import cli
from benchpipe.files import json_bytes
from benchpipe.hosts.poll import poll_hosts
from benchpipe.hosts.store import load_requests
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe.trials.collect import collect_states
from benchpipe.trials.records import Record
from benchpipe.trials.view import View, view
from benchpipe.usage.collect import Collected, collect_costs, load_costs
from benchpipe.usage.costs import SlotCosts
from benchpipe.usage.records import Bill, Estimate
from benchpipe.usage.tables import ATTEMPTS, REQUESTS, parquet_bytes, schema, schema_page
from benchpipe.usage.totals import Totals, totals

RUN = "bench_scripted-scripted-default"
LITERAL = "bench_literal-gpt6_luna-xhigh"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ZERO = Decimal(0)


def collect(lab: Lab) -> tuple[Collected, Mapping[str, View]]:
    """Poll, decide and price the shipped benchmark."""
    registry = load_registry(lab)
    readings = poll_hosts(lab, registry, now=NOW).readings
    states = collect_states(lab, registry, readings, "tabletop", NOW)
    tasks = registry.benchmarks["tabletop"].tasks
    views = {b.run: view(b, states.run_files.get(b.run), tasks) for b in registry.plans["tabletop"].shown()}
    return collect_costs(lab, registry, "tabletop", views.values(), functools.partial(load_requests, lab)), views


@pytest.fixture
def charged(lab: Lab) -> Lab:
    """The shipped lab, its scripted run priced, billed by a router, with a charge in most answers."""
    agent = lab.agents / f"{RUN}.yml"
    agent.write_text(agent.read_text().replace("billing: none", "billing: openrouter\nprice: openai/gpt-6-luna"))
    for n, log in enumerate(sorted(lab.root.glob("jobs/*/*scripted*/**/gateway.jsonl"))):
        if n != 1:
            cost = f'\\"cost\\": 0.00{n}123456, \\"total_tokens\\"'
            log.write_text(log.read_text().replace('\\"total_tokens\\"', cost, 3 if n == 2 else -1))
    return lab


@dataclass
class Trial:
    task: str
    mode: str
    state: str
    record: Record
    estimate: Estimate
    bill: Bill


def page_totals(lab: Lab, seen: View) -> Totals:
    """The totals that a page shows, from the costs file."""
    of_run = load_costs(lab, "tabletop").runs[seen.run]
    trials = []
    for slot in seen.records("bench"):
        cost = of_run.get(slot.task, {}).get(slot.mode, SlotCosts())
        trials.append(Trial(slot.task, slot.mode, slot.state, slot.record, cost.estimate, cost.bill))
    return totals(trials)


def explained(lab: Lab, *arguments: str) -> dict:
    done = CliRunner().invoke(cli, ["--lab", str(lab.root), "explain", "tabletop", *arguments, "--json"], catch_exceptions=False)
    return json.loads(done.stdout)


def test_pages_explain_and_pandas_agree_to_the_last_digit(charged: Lab) -> None:
    _, views = collect(charged)
    attempts = pandas.read_parquet(charged.attempts_table("tabletop"))
    requests = pandas.read_parquet(charged.requests_table("tabletop"))
    for run, seen in views.items():
        page, said = page_totals(charged, seen), explained(charged, run)
        own = attempts[(attempts.run == run) & attempts.in_totals]
        asked = requests[(requests.run == run) & requests.trial.isin(own.trial)]
        assert said["n"] == page.trials == len(own)
        for name in ("input", "cached", "output", "reasoning"):
            assert (said["tokens"][name] or 0) == getattr(page, name) == own[name].sum()
        assert Decimal(said["estimate_usd"] or 0) == page.est == sum(own.estimate_usd.dropna(), ZERO)
        assert said["estimate_n"] == page.est_n == own.estimate_usd.notna().sum()
        assert Decimal(said["billed_usd"] or 0) == page.billed == sum(own.billed_usd.dropna(), ZERO)
        assert said["billed_n"] == page.billed_n == own.billed_usd.notna().sum()
        assert sum(Decimal(t["estimate_usd"] or 0) for t in said["trials"]) == page.est
        assert sum(asked.charge_usd.dropna(), ZERO) == page.billed
        if run == RUN:
            assert sum(asked.estimate_usd.dropna(), ZERO) == page.est > 0
            assert asked[asked.status == 200].input.sum() == page.input
            assert page.billed_n == 7
            assert page.billed_complete_n == 6


def test_one_trial_opens_to_its_requests_file_offset_and_rate(charged: Lab) -> None:
    collect(charged)
    said = explained(charged, RUN, "set_table", "unlimited")
    (trial,) = said["trials"]
    assert sum(Decimal(r["estimate_usd"]) for r in said["requests"] if r["estimate_usd"]) == Decimal(said["estimate_usd"])
    assert {name.split("/", 2)[2] for name in trial["files"]} == {
        "steps/place-fork/agent/gateway.jsonl", "steps/place-plate/agent/gateway.jsonl",
    }  # fmt: skip
    host, folder = trial["files"][0].split(":", 1)
    folder = folder[: folder.index("/steps")]
    for request in said["requests"]:
        line = (charged.root / "jobs" / host / folder / request["source"]).read_bytes()[request["offset"] :].splitlines()[0]
        assert json.loads(line)["t"] == request["started_at"]
        assert request["status"] != 200 or request["rates"].startswith("input 0.10, cached 0.01, output 0.50 (openai/gpt-6-luna")


def test_money_of_superseded_attempts_stands_apart(lab: Lab) -> None:
    done, views = collect(lab)
    summed = next(run for run in done.runs if run.run == LITERAL)
    attempts = pandas.read_parquet(lab.attempts_table("tabletop"))
    gone = attempts[(attempts.run == LITERAL) & ~attempts.counts]
    assert summed.superseded_estimate_usd == sum(gone.estimate_usd.dropna(), ZERO) > 0
    said = explained(lab, LITERAL)
    assert Decimal(said["superseded"]["estimate_usd"]) == summed.superseded_estimate_usd
    assert Decimal(said["estimate_usd"]) == summed.estimate_usd == page_totals(lab, views[LITERAL]).est


def test_a_price_change_changes_estimates_and_no_bill_and_no_run_file(charged: Lab) -> None:
    before, _ = collect(charged)
    run_file = charged.run_file("tabletop", RUN).read_bytes()
    charged.prices_file.write_text(charged.prices_file.read_text().replace("input: 0.10", "input: 0.20"))
    after, _ = collect(charged)
    old, new = (next(run for run in one.runs if run.run == RUN) for one in (before, after))
    assert new.estimate_usd > old.estimate_usd
    assert new.billed_usd == old.billed_usd
    assert charged.run_file("tabletop", RUN).read_bytes() == run_file
    assert before.digest != after.digest


def test_under_a_subscription_charges_are_left_out_and_told(charged: Lab) -> None:
    agent = charged.agents / f"{RUN}.yml"
    agent.write_text(agent.read_text().replace("billing: openrouter", "billing: subscription"))
    done, _ = collect(charged)
    summed = next(run for run in done.runs if run.run == RUN)
    assert (summed.billed_usd, summed.billed_n) == (None, 0)
    assert done.problems == (f"{RUN}: charges of ${summed.left_out_usd} are no bill under its billing",)


def test_charges_of_a_costs_file_are_left_out_and_told_too_those_of_superseded_attempts_included(lab: Lab) -> None:
    agents = sorted((lab.root / "jobs").glob("*/*lunaxh-100*/*/agent"))
    for agent in agents:
        (agent / "openrouter_costs.json").write_text('{"g1": {"total_cost": 0.1}, "g2": {"total_cost": 0.2}}')
    done, views = collect(lab)
    summed = next(run for run in done.runs if run.run == LITERAL)
    costs = load_costs(lab, "tabletop").runs[LITERAL]
    slots = [costs.get(slot.task, {}).get(slot.mode, SlotCosts()) for slot in views[LITERAL].records("bench")]
    attempts = [attempt for slot in slots for attempt in slot.attempts]
    charged = [attempt for attempt in attempts if attempt.bill.left_out_usd is not None]
    assert any(not attempt.counts for attempt in charged)
    assert {attempt.bill.left_out_usd for attempt in charged} == {Decimal("0.3")}
    assert summed.left_out_usd == len(charged) * Decimal("0.3")
    assert f"{LITERAL}: charges of ${summed.left_out_usd} are no bill under its billing" in done.problems


def test_a_bill_from_a_costs_file_is_exact_and_says_how_many_requests_it_covers(charged: Lab) -> None:
    agent = sorted((charged.root / "jobs").glob("*/*scripted*/*stack-blocks*/agent"))[0]
    (agent / "openrouter_costs.json").write_text('{"g1": {"total_cost": 0.1234567890123456789}}')
    collect(charged)
    bills = [slot.bill for modes in load_costs(charged, "tabletop").runs[RUN].values() for slot in modes.values()]
    (bill,) = (bill for bill in bills if bill.source == "openrouter_costs.json")
    assert (bill.usd, bill.n_charged, bill.coverage) == (Decimal("0.1234567890123456789"), 1, "partial")
    assert bill.n_requests > 1


def test_collecting_again_changes_no_byte(charged: Lab) -> None:
    def written() -> dict[Path, bytes]:
        return {
            path: path.read_bytes()
            for path in (charged.costs_file("tabletop"), charged.attempts_table("tabletop"), charged.requests_table("tabletop"))
        }

    collect(charged)
    first = written()
    times = [path.stat().st_mtime_ns for path in first]
    collect(charged)
    assert written() == first
    assert [path.stat().st_mtime_ns for path in first] == times


def test_the_costs_file_reads_back_as_it_was_written(charged: Lab) -> None:
    collect(charged)
    text = charged.costs_file("tabletop").read_bytes()
    assert json_bytes(msgspec.to_builtins(load_costs(charged, "tabletop"))) == text
    assert json.loads(text)["runs"][RUN]["stack_blocks"]["unlimited"]["estimate"]["usd"].startswith("0.00")
    charged.costs_file("tabletop").write_text("{")
    assert load_costs(charged, "tabletop") is None


def test_rows_that_cannot_be_read_are_a_problem_and_stop_nothing(charged: Lab) -> None:
    collect(charged)
    registry = load_registry(charged)
    states = collect_states(charged, registry, poll_hosts(charged, registry, now=NOW).readings, "tabletop", NOW)
    bench_run = registry.plans["tabletop"].runs[RUN]
    seen = view(bench_run, states.run_files[RUN], registry.benchmarks["tabletop"].tasks)
    for path in (charged.readings / "requests").rglob("*.json"):
        path.write_text("[]")
    done = collect_costs(charged, registry, "tabletop", [seen], functools.partial(load_requests, charged))
    assert len(done.problems) == 8
    assert done.n_attempts == 8


def test_money_that_no_column_holds_costs_no_other_row_its_table() -> None:
    empty = dict.fromkeys((column.name for column in ATTEMPTS), None)
    rows = [{**empty, "billed_usd": Decimal(usd)} for usd in ("0.0000000005", "999999999.9", "1000000000", "1e30")]
    table = pyarrow.parquet.read_table(io.BytesIO(parquet_bytes(ATTEMPTS, rows)))
    assert table["billed_usd"].to_pylist() == [ZERO, Decimal("999999999.9"), None, None]


def test_tables_have_their_documented_schema(charged: Lab) -> None:
    collect(charged)
    for path, columns in ((charged.attempts_table("tabletop"), ATTEMPTS), (charged.requests_table("tabletop"), REQUESTS)):
        stored = pyarrow.parquet.read_schema(path)
        assert stored.equals(schema(columns))
        for column in columns:
            assert stored.field(column.name).metadata == {b"description": column.about.encode()}
            assert f"| `{column.name}` |" in schema_page()
    assert str(pyarrow.parquet.read_schema(charged.requests_table("tabletop")).field("charge_usd").type) == "decimal128(18, 9)"
    assert str(pyarrow.parquet.read_schema(charged.requests_table("tabletop")).field("started_at").type) == "timestamp[us, tz=UTC]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", RUN], "no benchmark nowhere with runs here; there are: tabletop"),
        (["tabletop", "nobody"], "tabletop has no run nobody; it has: "),
        (["tabletop", RUN], "nothing of bench_scripted-scripted-default on tabletop was collected yet: run `benchpipe runs` first"),
    ],
)
def test_explain_says_what_is_missing(lab: Lab, arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(cli, ["--lab", str(lab.root), "explain", *arguments])
    assert getattr(done.exception, "exit_code", None) == 2
    assert str(done.exception).startswith(message)


def test_explain_as_text_ends_at_the_request(charged: Lab) -> None:
    collect(charged)
    call = ["--lab", str(charged.root), "explain", "tabletop", RUN]
    whole = CliRunner().invoke(cli, call, catch_exceptions=False).stdout
    assert "8 trials have begun and count" in whole
    assert "over 7 of 8 trials (never added to the estimate)" in whole
    one = CliRunner().invoke(cli, [*call, "stack_blocks", "limited"], catch_exceptions=False).stdout
    assert "agent/gateway.jsonl at byte 0; input 0.10, cached 0.01, output 0.50 (openai/gpt-6-luna)" in one
