"""Stacks, H0, improvements, duplicates and the two tables (contributions 13, 14)."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest
from scipy.stats import binomtest

from benchpipe.contributions.duplicates import Twin, twins
from benchpipe.contributions.per_task import read_scores
from benchpipe.contributions.rows import NO_REFERENCE, Results, Row, results_of
from benchpipe.contributions.stacks import Candidate, conditions_of, gained_and_lost, interval, reference_of, stack_key, stack_of
from benchpipe.contributions.store import check_dataset
from benchpipe.contributions.tables import COLUMNS, rows_csv, rows_json, rows_parquet
from benchpipe_tests.contributions.conftest import TODAY, Contribute, Contribution

CONFIG = "{base_harness: clerk@0.1.0, model: rules, decoding: rules only (temperature=0), sampling: all}"


def results(contribution: Contribution) -> Results:
    benchmarks = contribution.benchmarks()
    return results_of(check_dataset(contribution.lab, "deskwork", benchmarks, today=TODAY))


def row_at(found: Results, round_: int, variant: str = "v1", *, verified: bool = True) -> Row:
    rows = found.verified if verified else found.unverified
    return next(row for row in rows if row.round == round_ and row.variant == variant)


def test_a_verified_file_gives_rows_with_their_improvement_over_its_own_h0(honest: Contribution) -> None:
    found = results(honest)
    assert (found.unverified, found.open) == ((), ())
    row, h0 = row_at(found, 3), row_at(found, 0)
    assert row.reference == h0.row_id == "deskwork/first-come/v1#toy-1@0"
    assert h0.reference == "H0"
    by_task = [json.loads(honest.per_task(n).read_text())["tasks"] for n in (0, 1)]
    solved = [{task for task, entry in tasks.items() if entry["score"] == 1} for tasks in by_task]
    assert (row.gained, row.lost) == (len(solved[1] - solved[0]), len(solved[0] - solved[1]))
    assert row.delta == pytest.approx(row.score - h0.score)
    assert row.delta > 0
    assert (row.score_reported, row.n_solved) == ("0.4", 12)
    assert row.score_exact == "2/5"


def test_without_an_h0_a_row_is_an_absolute_score(contribute: Contribute) -> None:
    row = row_at(results(contribute(rounds=[3])), 3)
    assert (row.reference, row.delta, row.gained) == (NO_REFERENCE, None, None)
    assert [remark.code for remark in row.remarks] == ["REF-001"]
    assert "clerk@0.1.0 · rules" in row.remarks[0].message


def test_a_verified_h0_of_another_file_serves_and_an_unverified_one_does_not(contribute: Contribute) -> None:
    with_h0 = contribute(variant="a")
    row = contribute(variant="b", method="other", rounds=[2], lab=with_h0.lab)
    row.edit(lambda doc: doc["runs"][0].update(run_id="other-1"))
    row.edit(lambda doc: doc.update(run_id="other-1"), row.per_task(0))
    row.edit(lambda doc: doc.update(run_id="other-1"), row.run_meta)
    assert row_at(results(row), 2, "b").reference == "deskwork/first-come/a#toy-1@0"
    with_h0.edit(lambda doc: doc["runs"][1].update(score=0.9))
    with_h0.edit(lambda doc: doc.update(x_publish_unverified=True))
    assert row_at(results(row), 2, "b").reference == NO_REFERENCE


def test_a_failed_h0_leaves_the_row_without_reference_and_does_not_poison_it(honest: Contribution) -> None:
    honest.edit(lambda doc: doc["runs"][0].update(score=0.5))
    honest.edit(lambda doc: doc.update(x_publish_unverified=True))
    found = results(honest)
    assert found.verified == ()
    assert row_at(found, 3, verified=False).reference == NO_REFERENCE


def candidate(
    name: str, round_: int, *, trials: int = 1, sha: str = "a" * 40, path: str = "p", sound: bool = True, verified: bool = True
) -> Candidate:
    names = ("d", "exam", "h@1", "Model", "greedy")
    stack = stack_of(*names, stack_key(*names))
    scores = {"t1": Fraction(1), "t2": Fraction(0)}
    return Candidate(name, path, stack, conditions_of(trials, "all"), round_, sha, scores, sound, verified)


def test_h0_with_other_trials_gives_no_improvement_and_says_so() -> None:
    reference = reference_of(candidate("row", 3, trials=3), [candidate("h0", 0)], None)
    assert (reference.h0, reference.code) == (None, "REF-003")


def test_h0_of_a_file_that_differs_from_the_agreed_baseline_is_named() -> None:
    from benchpipe.contributions.stacks import Baseline

    own, agreed = candidate("own", 0, sha="b" * 40), candidate("agreed", 0, path="q")
    reference = reference_of(candidate("row", 3), [own, agreed], Baseline("m_h", "a" * 40))
    assert (reference.h0, reference.code) == (own, "REF-002")
    elsewhere = reference_of(candidate("row", 3, path="z"), [own, agreed], Baseline("m_h", "a" * 40))
    assert elsewhere.h0 == agreed


def test_a_modified_improver_is_no_fault_and_stands_beside_the_row(honest: Contribution) -> None:
    honest.edit_curve(lambda points: points[3]["identity"].update(improver={"name": "first-come", "modified": True}))
    found = results(honest)
    assert [remark.code for remark in row_at(found, 3).remarks] == ["ID-007"]
    assert row_at(found, 0).remarks == ()
    honest.edit_curve(lambda points: points[3]["identity"]["improver"].update(modified=False))
    assert row_at(results(honest), 3).remarks == ()


def register_baseline(contribution: Contribution, per_task: Path, config: str = CONFIG) -> None:
    """A baseline of the task agent, measured as `per_task` says."""
    file = contribution.lab.benchmarks / "deskwork" / "baseline.json"
    file.write_bytes(per_task.read_bytes())
    sha = json.loads(file.read_text())["harness_sha"]
    entry = f"{{harness_sha: {sha}, config: {config}, per_task: {contribution.lab.relative(file)}}}"
    registered = contribution.lab.benchmarks / "deskwork.yml"
    registered.write_text(registered.read_text() + f"baseline: {{rules_clerk: {entry}}}\n")


def test_the_registered_baseline_serves_a_row_that_has_no_h0_of_its_own(contribute: Contribute) -> None:
    own = contribute(variant="a")
    row = contribute(variant="b", method="other", rounds=[2], lab=own.lab)
    register_baseline(own, own.per_task(0))
    assert row_at(results(own), 3, "a").reference == "deskwork/first-come/a#toy-1@0"
    alone, h0 = row_at(results(own), 2, "b"), row_at(results(own), 0, "a")
    assert (alone.reference, alone.h0_score) == ("deskwork/baseline/rules_clerk#toy-1@0", h0.score)
    own.file.unlink()
    assert row_at(results(row), 2, "b") == alone


@pytest.mark.parametrize(
    ("config", "change", "code", "why"),
    [
        ("{model: rules}", {}, "REF-004", "needs config: {base_harness, model, decoding, sampling}"),
        (CONFIG, {"round": 1}, "REF-004", "is not of round 0"),
        (CONFIG, {"score_kind": "training"}, "REF-004", "would not pass the gate"),
        (CONFIG, {"schema": "other"}, "REF-004", "schema"),
        (CONFIG, {"trials": 2}, "REF-003", "trials=2"),
        (CONFIG.replace("clerk@0.1.0", "clerk@0.2.0"), {}, "REF-001", "no H0"),
    ],
)
def test_a_registered_baseline_that_is_no_sound_h0_of_the_stack_is_no_reference_and_says_why(
    config: str, change: dict[str, object], code: str, why: str, contribute: Contribute
) -> None:
    row = contribute(rounds=[0, 3])
    h0 = row.per_task(0)
    row.edit(lambda doc: doc["runs"].pop(0))
    row.edit(lambda doc: doc.update(change), h0)
    register_baseline(row, h0, config)
    found = row_at(results(row), 3)
    assert (found.reference, [remark.code for remark in found.remarks]) == (NO_REFERENCE, [code])
    assert why in found.remarks[0].message


def test_a_registered_baseline_that_can_not_be_read_is_named_in_one_sentence(contribute: Contribute) -> None:
    row = contribute(rounds=[0, 3])
    h0 = row.per_task(0)
    row.edit(lambda doc: doc["runs"].pop(0))
    register_baseline(row, h0)
    file = row.lab.benchmarks / "deskwork" / "baseline.json"
    begin = "the registered baseline of rules_clerk "
    for data, why in (
        (b"[1]", "has a per-task file that can't be read: "),
        (b" " * (2 << 20), f"names {row.lab.relative(file)}, "),
    ):
        file.write_bytes(data)
        (remark,) = row_at(results(row), 3).remarks
        assert remark.message.startswith(begin + why)
        assert remark.message.endswith("; it is no reference.")
        assert ".;" not in remark.message


def test_two_different_h0s_without_an_agreed_one_are_no_reference() -> None:
    h0s = [candidate("x", 0, path="x"), candidate("y", 0, path="y", sha="b" * 40)]
    assert reference_of(candidate("row", 3, path="z"), h0s, None).h0 is None


def test_an_h0_on_other_tasks_is_no_reference() -> None:
    h0 = replace(candidate("h0", 0), by_task={"t1": Fraction(1), "t3": Fraction(0)})
    assert reference_of(candidate("row", 3), [h0], None).h0 is None


def test_stack_keys_ignore_case_of_the_model_and_unicode_form_only() -> None:
    assert stack_key("d", "p", "h@1", " Qwen ", "é") == stack_key("d", "p", "h@1", "qwen", "e\u0301")
    assert stack_of("d", "p", "h@1", " Qwen ", "é", "k") == stack_of("d", "p", "h@1", "qwen", "e\u0301", "k")
    assert stack_key("d", "p", "H@1", "m", "x") != stack_key("d", "p", "h@1", "m", "x")
    assert conditions_of(1, "below_.50") == conditions_of(1, "below_0.5")


def test_models_whose_names_are_shown_alike_stay_two_stacks(contribute: Contribute) -> None:
    one, other = "qwen3.5-9b@" + "local.vllm", "llama-4@" + "groq.com"
    with_h0 = contribute(variant="a")
    row = contribute(variant="b", method="other", rounds=[3], lab=with_h0.lab)
    measured_with(with_h0, one)
    measured_with(row, other)
    registered = with_h0.lab.benchmarks / "deskwork.yml"
    registered.write_text(registered.read_text() + f"baseline: {{'{one}_clerk': {{harness_sha: {'a' * 40}}}}}\n")
    found = results(row)
    assert {len({line.stack for line in found.verified}), len({line.stack_key for line in found.verified})} == {2}
    assert row_at(found, 3, "a").reference == "deskwork/first-come/a#toy-1@0"
    assert row_at(found, 3, "b").reference == NO_REFERENCE
    remarks = {variant: row_at(found, 3, variant).remarks for variant in "ab"}
    assert [remark.code for variant in "ab" for remark in remarks[variant][1:]] == ["REF-002", "REF-001"]
    assert not [secret for secret in (one, other) for line in found.verified if secret in repr(line)]


def measured_with(contribution: Contribution, model: str) -> None:
    """The same measurement by another model, in every record."""
    contribution.edit(lambda doc: (doc["task_agent"].update(model=model), doc["config"].update(model=model)))
    contribution.edit(lambda doc: doc.update(agent_model=model), contribution.run_meta)
    contribution.edit_curve(lambda points: [point["identity"].update(agent_model=model) for point in points])


def test_task_ids_that_are_shown_alike_stay_two_tasks() -> None:
    ids = ("ada@" + "one.example.org", "bob@" + "two.example.org", "plain_1")
    scores, _ = read_scores(json.dumps(dict.fromkeys(ids, 1)).encode(), "p.json", 0)
    assert scores is not None
    assert len(scores.shown) == 3
    assert {"plain_1", *ids} & scores.shown.keys() == {"plain_1"}


def test_gained_and_lost_are_tasks_with_the_full_score() -> None:
    one, half, none = Fraction(1), Fraction(1, 2), Fraction(0)
    assert gained_and_lost({"a": one, "b": half, "c": none}, {"a": none, "b": none, "c": one}) == (["a"], ["c"])


@pytest.mark.parametrize(("solved", "n"), [(0, 5), (5, 5), (21, 30), (1, 134), (125, 134)])
def test_the_interval_is_wilsons(solved: int, n: int) -> None:
    low, high = interval({str(k): Fraction(int(k < solved)) for k in range(n)}) or (-1, -1)
    wilson = binomtest(solved, n).proportion_ci(0.95, method="wilson")
    assert (low, high) == pytest.approx((wilson.low, wilson.high), abs=1e-9)


def test_several_trials_get_an_interval_from_their_spread_and_one_task_gets_none() -> None:
    scores = {"a": Fraction(1, 2), "b": Fraction(1), "c": Fraction(0)}
    low, high = interval(scores) or (-1, -1)
    assert (low, high) == (0.0, 1.0)
    assert interval({"a": Fraction(1)}) is None


def test_unverified_rows_need_somebody_who_asks_for_them(honest: Contribution) -> None:
    honest.edit(lambda doc: doc.pop("artifacts"))
    found = results(honest)
    assert (found.verified, found.unverified, found.open[0].standing) == ((), (), "open")
    (honest.lab.state_contrib / "deskwork.yml").write_text("submissions:\n  first-come/v1: {unverified: true}\n")
    found = results(honest)
    assert len(found.unverified) == 2
    assert all(row.reasons and not row.verified for row in found.unverified)
    (honest.lab.state_contrib / "deskwork.yml").unlink()
    honest.edit(lambda doc: doc.update(x_publish_unverified=True))
    assert len(results(honest).unverified) == 2


def test_a_refused_submission_never_has_rows_whoever_asks(honest: Contribution) -> None:
    honest.edit(lambda doc: doc.update(x_publish_unverified=True, variant="v1"))
    honest.edit(lambda doc: doc["tasks"].popitem(), honest.per_task(1))
    (honest.lab.state_contrib / "deskwork.yml").write_text("submissions:\n  first-come/v1: {unverified: true}\n")
    found = results(honest)
    assert (found.verified, found.unverified, found.open[0].standing) == ((), (), "refused")


def test_a_withdrawn_row_is_gone_from_tables_and_stands_in_the_change_log(honest: Contribution) -> None:
    state = honest.lab.state_contrib / "deskwork.yml"
    state.write_text("submissions:\n  first-come/v1:\n    withdrawn: {at: 2026-11-20, reason: measured on a changed platform}\n")
    found = results(honest)
    assert (found.verified, found.open[0].standing) == ((), "withdrawn")
    assert [(change.what, change.reason) for change in found.changes] == [("withdrawal", "measured on a changed platform")]


def test_the_same_measurement_under_another_name_is_found_by_content(contribute: Contribute) -> None:
    first = contribute(variant="a")
    copy = contribute(variant="b", method="mine", lab=first.lab)
    found = results(first)
    assert found.open == ()
    for variant, other in (("a", "mine/b"), ("b", "first-come/a")):
        message = f"the measurement deskwork/{other}#toy-1@3 has the same harness, tasks and scores under another name."
        assert [remark.message for remark in row_at(found, 3, variant).remarks] == [message]

    for path in (copy.per_task(0), copy.per_task(1), copy.run_meta):
        copy.edit(lambda doc: doc.update(run_id="mine-1"), path)
    copy.edit(lambda doc: [run.update(run_id="mine-1") for run in doc["runs"]])
    found = results(first)
    assert found.open == ()
    assert [remark.code for remark in row_at(found, 3, "b").remarks] == ["DUP-001"]


def test_a_copy_hides_nothing_but_itself_and_only_behind_one_that_was_merged_before() -> None:
    def row(path: str, merged_at: str) -> Candidate:
        return replace(candidate(f"deskwork/{path}#r@3", 3, path=path), merged_at=merged_at)

    old, thief = row("z/honest", "2026-11-01T00:00:00Z"), row("a/thief", "~")
    assert twins([old, thief]) == {thief.key: Twin(thief.row_id, old.row_id, copy=True)}
    old = row("z/honest", "~")
    assert {key: twin.copy for key, twin in twins([old, thief]).items()} == {thief.key: False, old.key: False}


def test_a_withdrawn_or_declined_submission_is_nobodys_reference_and_nobodys_twin(contribute: Contribute) -> None:
    first = contribute(variant="a")
    second = contribute(variant="b", method="mine", rounds=[3], lab=first.lab)
    assert row_at(results(first), 3, "b").h0_score is not None
    for decision in ("withdrawn: {at: 2026-11-20, reason: wrong}", "declined: wrong"):
        (first.lab.state_contrib / "deskwork.yml").write_text(f"submissions:\n  first-come/a:\n    {decision}\n")
        row = row_at(results(second), 3, "b")
        assert (row.reference, [remark.code for remark in row.remarks]) == ("no reference", ["REF-001"])


def test_one_run_on_two_pools_is_two_rows_with_their_own_numbers(contribute: Contribute) -> None:
    honest = contribute(rounds=[3])
    pools = honest.lab.root / "data" / "benchmarks" / "deskwork" / "pools"
    few = sorted((pools / "exam.txt").read_text().split())[:5]
    (pools / "few.txt").write_text("".join(f"{task}\n" for task in few))
    registered = pools.parent.with_suffix(".yml")
    registered.write_text(registered.read_text().replace("pools:\n", "pools:\n  few: {size: 5, role: exam}\n", 1))
    other = honest.per_task(0).with_name("few.json")
    other.write_bytes(honest.per_task(0).read_bytes())
    honest.edit(lambda doc: doc.update(pool="few", tasks={task: doc["tasks"][task] for task in few}), other)
    score = sum(json.loads(other.read_text())["tasks"][task]["score"] for task in few) / 5
    path = other.relative_to(honest.lab.contrib).as_posix()
    change = {"pool": "few", "n_tasks": 5, "score": score, "per_task": path}
    honest.edit(lambda doc: doc.update(runs=[doc["runs"][0], {**doc["runs"][0], **change}], x_publish_unverified=True))
    assert {row.pool: (row.n_tasks, row.score) for row in results(honest).unverified} == {"exam": (30, 0.4), "few": (5, score)}


def test_rows_of_other_trials_stand_in_the_same_stack_behind_each_other(contribute: Contribute) -> None:
    one = contribute(variant="one")
    contribute(variant="two", trials=2, lab=one.lab)
    rows = results(one).verified
    assert len({row.stack for row in rows}) == 1
    assert [row.trials for row in rows] == [1, 1, 2, 2]


def test_every_column_is_explained() -> None:
    assert list(COLUMNS) == [field.name for field in msgspec.structs.fields(Row)]


def test_data_files_hold_the_same_rows_and_no_formula(contribute: Contribute) -> None:
    import csv
    import io

    import pandas

    contribution = contribute()
    contribution.edit(lambda doc: doc["credit"].update(name='=HYPERLINK("http://example.org")'))
    rows = results(contribution).verified
    table = list(csv.DictReader(io.StringIO(rows_csv(rows).decode())))
    assert [line["row_id"] for line in table] == [row.row_id for row in rows] == [r["row_id"] for r in json.loads(rows_json(rows))]
    assert table[0]["credit"].startswith("'=")
    frame = pandas.read_parquet(io.BytesIO(rows_parquet(rows)))
    assert list(frame["score"]) == [row.score for row in rows]
    assert rows_parquet(rows) == rows_parquet(rows)
    assert len(pandas.read_parquet(io.BytesIO(rows_parquet([])))) == 0
