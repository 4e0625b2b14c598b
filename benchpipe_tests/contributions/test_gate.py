"""Forged and faulty submissions are refused or unverified with the right code; honest ones are verified (F3, F4)."""

import json
from collections import Counter
from pathlib import Path

import pytest

from benchpipe.contributions.codes import CHECKS, CODES
from benchpipe.contributions.evidence import Replayed
from benchpipe.contributions.findings import FAIL, REFUSE
from benchpipe.contributions.platform_git import PlatformLook
from benchpipe_tests.contributions.conftest import Contribute, Contribution
from benchpipe_tests.contributions.forgeries import FORGERIES, Forgery
from benchpipe_tests.contributions.honesties import HONESTIES, Honesty


def test_there_are_eighty_forgeries_and_thirty_honest_variants() -> None:
    assert len(FORGERIES) >= 80
    assert len(HONESTIES) >= 30
    assert not [name for name, n in Counter(case.name for case in (*FORGERIES, *HONESTIES)).items() if n > 1]


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_a_forgery_is_named_by_its_code(forgery: Forgery, contribute: Contribute) -> None:
    contribution = contribute(trials=forgery.trials)
    forgery.change(contribution)
    report = contribution.check().report
    codes = {finding.code for finding in report.findings}
    assert forgery.code in codes, report.findings
    assert report.verdict == forgery.verdict, report.findings
    check = CODES[forgery.code].check
    wanted = "failed" if CODES[forgery.code].effect in (REFUSE, FAIL) else "not_run"
    assert report.checks[check] == wanted


@pytest.mark.parametrize("honesty", HONESTIES, ids=lambda honesty: honesty.name)
def test_an_honest_submission_is_verified(honesty: Honesty, contribute: Contribute) -> None:
    contribution = contribute(trials=honesty.trials)
    honesty.change(contribution)
    report = contribution.check().report
    assert not [finding for finding in report.findings if finding.severity == "error"]
    assert report.verdict == "verified"
    assert report.checks == dict.fromkeys(CHECKS, "passed") | {"trajectories": "not_applicable"}


def test_every_code_of_the_gate_is_reached_by_a_forgery_or_a_test_of_its_own() -> None:
    elsewhere = {
        "SUB-018", "SUB-019", "SUB-025", "SET-008", "SET-010", "SCO-006", "PLT-003", "PLT-005", "CFG-011", "REF-001", "REF-002",
        "REF-003", "REF-004", "ID-007", "PUB-003", "PUB-004", "DUP-001", "DUP-002", "INTAKE-001", "INTAKE-002",
    }  # fmt: skip
    here = {code for code in CODES if not code.startswith("TRJ-")}
    assert here - {forgery.code for forgery in FORGERIES} == elsewhere


@pytest.mark.parametrize("base", ["contrib/results/deskwork/first-come/", ""])
def test_two_runs_share_no_per_task_file_however_its_path_is_spelt(base: str, honest: Contribution) -> None:
    name = honest.per_task(0).name
    honest.edit(lambda doc: doc["runs"][1].update(per_task=f"{base}v1/{name}"))
    report = honest.check().report
    said = [finding.message for finding in report.findings if finding.code == "SUB-017"]
    assert (report.verdict, said) == ("refused", ["runs[1].per_task is the file of runs[0] too."])


def test_the_example_of_the_page_does_not_pass_and_says_why(shared: Path, honest: Contribution) -> None:
    honest.file = shared / "samples" / "harnessgrad" / "submission.page-example.json"
    report = honest.check().report
    assert report.verdict == "refused"
    found = {(finding.code, finding.pointer) for finding in report.findings}
    assert ("SUB-022", "/method/name") in found
    assert ("SUB-006", "/runs/0/harness_sha") in found
    assert ("SUB-018", "/runs/0/score") in found
    attainable = next(finding for finding in report.findings if finding.code == "SUB-018")
    assert "124/134 = 0.9254, 125/134 = 0.9328" in attainable.message


@pytest.mark.parametrize("base", ["contrib", "contrib/results/deskwork/first-come", "."])
def test_the_evidence_says_which_per_task_file_was_read(base: str, honest: Contribution) -> None:
    target = honest.lab.root / base / "somewhere" / "p.json"
    target.parent.mkdir(parents=True)
    honest.per_task(0).rename(target)
    honest.edit(lambda doc: doc["runs"][0].update(per_task="somewhere/p.json"))
    report = honest.check().report
    assert report.verdict == "verified"
    assert report.runs[0].evidence["schema"].startswith(f"{honest.lab.relative(target)} holds")


def test_a_score_that_no_pass_fail_verifier_can_give_is_only_a_warning(honest: Contribution) -> None:
    honest.edit(lambda doc: doc["runs"][1].update(score=0.4321))
    report = honest.check().report
    assert {(f.code, f.severity) for f in report.findings} == {("SUB-018", "warning"), ("SCO-001", "error")}


@pytest.mark.parametrize(
    ("reported", "said"),
    [
        (0.41, "difference 1.0e-02, but a score with fewer than 4 decimals has to be exact."),
        (0.4001, "difference 1.0e-04 exceeds 5e-05."),
    ],
)
def test_a_score_that_is_no_mean_hears_the_rule_that_it_broke(reported: float, said: str, honest: Contribution) -> None:
    honest.edit(lambda doc: doc["runs"][1].update(score=reported))
    message = next(finding.message for finding in honest.check().report.findings if finding.code == "SCO-001")
    assert message.endswith(f"(12 solved); {said}")


def test_a_pool_whose_ids_are_not_here_is_compared_by_number_and_never_passes(contribute: Contribute) -> None:
    honest = contribute(method="first-come")
    ids = [f"game-{n}" for n in range(134)]
    folder = honest.lab.contrib_results / "alfworld" / "first-come"
    (folder / "v1").mkdir(parents=True)

    def move(doc: dict[str, object]) -> None:
        doc["dataset"] = "alfworld"
        doc["credit"]["submitted"] = [{"dataset": "alfworld", "method": "first-come"}]  # type: ignore[index]
        run = doc["runs"][1] | {
            "score": 1,
            "n_tasks": 134,
            "pool": "valid_unseen",
            "per_task": "results/alfworld/first-come/v1/p.json",
        }  # type: ignore[index]
        doc["runs"] = [run]

    honest.edit(move)
    honest.file = honest.file.rename(folder / "v1.json")
    per_task = folder / "v1" / "p.json"
    per_task.write_text(json.dumps(dict.fromkeys(ids, 1)))
    assert honest.check().report.checks["task_set"] == "not_run"
    per_task.write_text(json.dumps(dict.fromkeys(ids[1:], 1)))
    report = honest.check().report
    assert report.verdict == "refused"
    assert "pool valid_unseen declares 134 tasks; 133 are scored." in {f.code: f.message for f in report.findings}["SET-001"]


def test_a_registered_list_that_contradicts_its_declaration_decides_nothing(honest: Contribution) -> None:
    pool = honest.lab.benchmarks / "deskwork" / "pools" / "exam.txt"
    pool.write_text(pool.read_text() + "zebra_1\n")
    report = honest.check().report
    assert report.checks["task_set"] == "not_run"
    assert "SET-010" in {finding.code for finding in report.findings}


def test_a_method_of_somebody_else_needs_an_agreement(honest: Contribution) -> None:
    state = honest.lab.state_contrib / "deskwork.yml"
    state.write_text("methods:\n  first-come: {author: Somebody Else}\n")
    assert "PUB-003" in {finding.code for finding in honest.check().report.findings}
    honest.edit(lambda doc: doc.update(x_agreement="https://example.org/agreed"))
    assert honest.check().report.verdict == "verified"


def test_trajectories_that_were_asked_for_have_thirty_days(honest: Contribution) -> None:
    state = honest.lab.state_contrib / "deskwork.yml"
    for asked, verdict in (("2026-10-31", "verified"), ("2026-10-30", "refused")):
        state.write_text(f"submissions:\n  first-come/v1:\n    trajectories: {{asked: {asked}, reason: spot check}}\n")
        assert honest.check().report.verdict == verdict, asked


def test_replayed_trajectories_pass_and_failed_ones_say_why(honest: Contribution) -> None:
    block = {"location": "https://example.org/t.tar.gz", "format": "one JSONL per task", "bytes": 10, "sha256": "0" * 64}
    honest.edit(lambda doc: doc.update(trajectories=block))
    assert honest.check(replayed=Replayed(fine=True, level="L1")).report.verdict == "verified"
    report = honest.check(replayed=Replayed(fine=False, fault="replay of backwards_1 gives 0, per-task file says 1.")).report
    assert report.verdict == "unverified"
    assert [f.message for f in report.findings] == ["replay of backwards_1 gives 0, per-task file says 1."]


def test_the_declared_commit_is_looked_up_and_its_platform_recomputed(honest: Contribution) -> None:
    import subprocess

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(honest.lab.root), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    look = PlatformLook(honest.lab.root)
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "start")
    assert "SUB-019" in {finding.code for finding in honest.check(platform=look).report.findings}
    tool = honest.lab.root / "tools" / "toy_benchmark" / "run.py"
    tool.parent.mkdir(parents=True)
    tool.write_text("pass\n")
    git("add", "tools")
    git("commit", "-q", "-m", "platform")
    commit = git("rev-parse", "HEAD")
    honest.edit(lambda doc: doc["platform"].update(commit=commit))
    assert {finding.code for finding in honest.check(platform=look).report.findings} == {"PLT-003"}
    from benchpipe.contributions.identity import content_sha

    sha = content_sha({"tools/toy_benchmark/run.py": b"pass\n"})
    for content in (sha, git("rev-parse", "HEAD^{tree}")):
        honest.edit(lambda doc, content=content: doc["platform"].update(content_sha=content))
        honest.edit(lambda doc, content=content: doc["platform"].update(content_sha=content), honest.run_meta)
        assert honest.check(platform=look).report.verdict == "verified"
    tool.write_text("raise\n")
    git("commit", "-q", "-a", "-m", "changed")
    honest.edit(lambda doc: doc["platform"].update(commit=git("rev-parse", "HEAD")))
    assert {finding.code for finding in honest.check(platform=look).report.findings} == {"PLT-003"}


def test_what_is_wrong_in_a_per_task_file_is_said_at_that_file(honest: Contribution) -> None:
    honest.edit(lambda doc: doc.update(round=2), honest.per_task(1))
    honest.edit(lambda doc: doc["tasks"]["sum_amounts_1"].update(score=7), honest.per_task(1))
    places = {(f.code, f.file) for f in honest.check().report.findings if f.code in ("PTF-002", "SCO-002", "SCO-004")}
    assert places == {(code, honest.doc["runs"][1]["per_task"]) for code in ("PTF-002", "SCO-002", "SCO-004")}
