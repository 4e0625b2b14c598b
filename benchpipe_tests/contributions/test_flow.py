"""The way of a submission: issue to patch or branch, one round of questions, correction, withdrawal, the commands (2, F6)."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchpipe.contributions import decisions, intake
from benchpipe.contributions.codes import CHECKS
from benchpipe.contributions.comment import MAX_BESIDES, MAX_COMMENT, besides, submission_comment
from benchpipe.contributions.report import Report, Said
from benchpipe.errors import BenchpipeError, UsageError
from benchpipe_tests.contributions.conftest import Contribution

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
ADA = intake.author("ada-l", 1815)


def issue(contribution: Contribution, *, extra: str = "") -> str:
    parts = ["### Submission", "", "```json", contribution.file.read_text(), "```"]
    for n in range(len(contribution.doc["runs"])):
        parts += ["", f"### Per-task records of run {n}", "", "```text", contribution.per_task(n).read_text(), "```"]
    return "\r\n".join([*parts, extra])


def git(root: Path, *arguments: str, data: str | None = None) -> str:
    command = ["git", "-C", str(root), "-c", "user.name=Maintainer", "-c", "user.email=m@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=data).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "clone"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "start")
    return root


def test_an_issue_becomes_a_patch_by_its_author_that_git_applies(honest: Contribution, repository: Path) -> None:
    honest.edit(lambda doc: doc["credit"].update(contact="ada_wx_1815"))
    taken = intake.take(issue(honest))
    assert taken.had_contact
    git(repository, "am", "-q", data=intake.patch(taken, ADA, NOW))
    assert git(repository, "log", "-1", "--format=%an <%ae> %cn") == "ada-l <1815+ada-l@users.noreply.github.com> Maintainer"
    names = git(repository, "ls-files").splitlines()
    assert names == sorted(
        ["contrib/results/deskwork/first-come/v1.json", *(f"contrib/{run['per_task']}" for run in honest.doc["runs"])]
    )
    written = (repository / "contrib/results/deskwork/first-come/v1.json").read_text()
    assert "ada_wx_1815" not in written
    expected = honest.doc
    del expected["credit"]["contact"]
    assert json.loads(written) == expected
    assert json.loads((repository / f"contrib/{honest.doc['runs'][1]['per_task']}").read_text()) == json.loads(
        honest.per_task(1).read_text()
    )


def test_an_issue_becomes_a_branch_and_the_working_tree_stays(honest: Contribution, repository: Path) -> None:
    commit = intake.branch(repository, "contrib/ada", intake.take(issue(honest)), ADA, NOW)
    assert git(repository, "rev-parse", "contrib/ada") == commit
    assert git(repository, "log", "-1", "--format=%an", commit) == "ada-l"
    assert git(repository, "status", "--porcelain") == ""
    assert not (repository / "contrib").exists()
    with pytest.raises(UsageError):
        intake.branch(repository, "--force", intake.take(issue(honest)), ADA, NOW)


def test_numbers_of_an_issue_keep_their_form(honest: Contribution) -> None:
    text = issue(honest).replace('"score": 0.4,', '"score": 0.40000,')
    assert '"score": 0.40000,' in intake.take(text).files["contrib/results/deskwork/first-come/v1.json"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("nothing here", "INTAKE-001"),
        ("```json\n{}\n```\n```json\n{}\n```\n", "INTAKE-002"),
        ("[a.json](https://example.org/a.json) [b.json](https://example.org/b.json)", "INTAKE-002"),
        ("[a.json](https://example.org/a.json)", "download it and give it with --attachment"),
        ("```json\n{,}\n```\n", "is not JSON"),
        ('```json\n{"dataset": "../..", "method": {"name": "m"}, "variant": "v"}\n```\n', "plain dataset"),
    ],
)
def test_an_issue_that_can_not_be_taken_says_why(body: str, message: str) -> None:
    with pytest.raises(BenchpipeError, match=message):
        intake.take(body)


def test_an_attachment_is_taken_where_there_is_no_block(honest: Contribution) -> None:
    taken = intake.take("[s.json](https://example.org/s.json)", honest.file.read_text())
    assert taken.name == "deskwork/first-come/v1"


def test_per_task_files_of_an_issue_stay_in_the_submission_s_folder(honest: Contribution) -> None:
    with pytest.raises(UsageError, match="has to lie below results/deskwork/first-come/v1/"):
        intake.take(issue(honest).replace('"per_task": "results/deskwork', '"per_task": "results/elsewhere', 1))


def test_the_author_comes_from_the_issue_s_json() -> None:
    body, who = intake.issue_of(json.dumps({"body": "b", "author": {"login": "ada-l"}}))
    assert (body, who) == ("b", intake.Author("ada-l"))
    assert intake.issue_of("plain")[1] is None
    with pytest.raises(UsageError):
        intake.author("ada\nBcc: x")


def command(contribution: Contribution, *arguments: str, data: str | None = None) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "benchpipe.cli.main", "--lab", str(contribution.lab.root), "contrib", *arguments]
    code = "from benchpipe.cli.main import main; main()"
    program[1:3] = ["-c", code]
    return subprocess.run(program, capture_output=True, text=True, input=data, check=False)


def test_check_prints_the_contract_and_exits_by_the_verdict(honest: Contribution) -> None:
    done = command(honest, "check", str(honest.file), "--json")
    value = json.loads(done.stdout)
    assert done.returncode == 0
    assert list(value["checks"]) == ["schema", "task_set", "validity", "score", "state", "config", "trajectories"]
    assert {"run_id", "round", "checks"} <= value["runs"][0].keys()
    honest.edit(lambda doc: doc["runs"][1].update(score=0.5))
    done = command(honest, "check", str(honest.file), "--json")
    assert done.returncode == 1
    finding = json.loads(done.stdout)["findings"][0]
    assert {"code", "severity", "message", "file", "pointer", "hint"} <= finding.keys()
    assert finding["code"] == "SCO-001"
    assert finding["message"].startswith(
        "reported 0.5, recomputed 0.4 from 30 tasks (12 solved); difference 1.0e-01, but a score with"
    )
    assert command(honest, "check", "nothing.json").returncode == 2
    assert "no such file" in command(honest, "check", "nothing.json").stderr


def test_the_report_is_a_comment(honest: Contribution) -> None:
    done = command(honest, "report", str(honest.file))
    assert done.returncode == 0
    assert done.stdout.startswith("<!-- benchpipe: contribution report -->")
    assert "**verified**" in done.stdout


def test_dataset_directories_and_what_else_a_pull_request_changes_stand_in_the_comment(
    honest: Contribution, tmp_path: Path
) -> None:
    others = tmp_path / "besides"
    others.write_bytes(b"state/contrib/deskwork.yml\0a `b` @c\nd\0")
    done = command(honest, "report", "--besides", str(others), str(honest.lab.contrib / "Experiments"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2:4] == ["- `state/contrib/deskwork.yml`", "- `a 'b' @c d`"]
    assert "**refused**" in done.stdout
    assert "| all methods |" in done.stdout
    assert "- **DS-" in done.stdout
    assert len(besides([f"f{n}" for n in range(1_000)]).splitlines()) == MAX_BESIDES + 3
    nothing = command(honest, "report")
    assert (nothing.returncode, "nothing to report on" in nothing.stderr) == (2, True)


def test_a_comment_holds_no_markup_of_strangers_and_stays_short() -> None:
    nasty = "<img src=x> [x](https://evil.example) @everyone &commat;everyone www.evil.example | `code`"
    said = [Said(code="SUB-004", severity="error", message=nasty * 20, file="f`", pointer=f"/{n}", hint="") for n in range(500)]
    report = Report(file="f`", verdict="refused", checks=dict.fromkeys(CHECKS, "failed"), findings=tuple(said))
    text = submission_comment(report)
    assert len(text) <= MAX_COMMENT
    assert "cut; the whole report is an artifact" in text
    assert not re.search(r"(?<!\\)<img", text)
    assert not re.search(r"(?<!\\)\[x", text)
    assert "@everyone" not in text
    assert not re.search(r"(?<!\\)&|www\.", text)
    assert "https://" not in text


def state_of(contribution: Contribution) -> str:
    return (contribution.lab.state_contrib / "deskwork.yml").read_text()


def test_there_is_at_most_one_round_of_questions(honest: Contribution) -> None:
    key = "deskwork/first-come/v1"
    assert command(honest, "decide", key, "--ask", "Which commit?").returncode == 0
    again = command(honest, "decide", key, "--ask", "And which day?")
    assert again.returncode == 2
    assert "at most one round" in again.stderr
    assert command(honest, "decide", key, "--answered", "questions").returncode == 0
    assert command(honest, "decide", key, "--ask", "And which day?").returncode == 2
    assert "answered" in state_of(honest)


def test_withdrawal_and_correction_keep_reason_scores_and_comments(honest: Contribution) -> None:
    state = honest.lab.state_contrib / "deskwork.yml"
    state.write_text("# ours\nmethods:\n  x: {author: Y}  # why\n")
    fixed = honest.lab.root / "fixed.json"
    value = honest.doc
    value["runs"][1]["score"] = 0.4
    before = honest.file.read_text().replace('"score": 0.4,', '"score": 0.41,')
    fixed.write_text(json.dumps(value))
    honest.file.write_text(before)
    done = command(honest, "correct", "deskwork/first-come/v1", "--file", str(fixed), "--reason", "a typing error in round 3")
    assert done.returncode == 0, done.stderr
    assert honest.file.read_text() == fixed.read_text()
    assert command(honest, "withdraw", "deskwork/first-come/v1", "--reason", "the platform was changed").returncode == 0
    text = state_of(honest)
    assert text.startswith("# ours\nmethods:\n  x: {author: Y}  # why\n")
    decided = decisions.parse_decisions(text.encode(), "x").on("first-come/v1")
    assert (decided.corrections[0].before["toy-1@3"], decided.corrections[0].after["toy-1@3"]) == ("0.41", "0.4")
    assert decided.withdrawn is not None
    assert command(honest, "withdraw", "deskwork/first-come/v1", "--reason", "again").returncode == 2


def test_a_public_reason_holds_no_contact(honest: Contribution) -> None:
    done = command(honest, "withdraw", "deskwork/first-come/v1", "--reason", "ask " + "ada@" + "mail.example.org")
    assert done.returncode == 2
    assert "public" in done.stderr
    assert not (honest.lab.state_contrib / "deskwork.yml").exists()


def test_a_status_is_the_platform_s_only_where_the_decisions_say_so(honest: Contribution) -> None:
    from benchpipe.files import sha256

    status = {"verified": True, "mirrored": False, "reasons": [], "reference": None, "checked_at": "2026-11-30T08:00:00Z"}
    status |= {"checker": "benchpipe@0.1.0", "input_sha256": sha256(honest.file.read_bytes())}
    honest.edit(lambda doc: doc.update(status=status))
    assert honest.check().report.verdict == "refused"
    written = sha256(honest.file.read_bytes())
    (honest.lab.state_contrib / "deskwork.yml").write_text(f"submissions:\n  first-come/v1: {{written: {written}}}\n")
    assert honest.check().report.verdict == "verified"
    honest.edit(lambda doc: doc["credit"].update(name="Somebody Else"))
    assert honest.check().report.verdict == "refused"


def test_intake_on_the_command_line_prints_a_patch(honest: Contribution, repository: Path) -> None:
    text = json.dumps({"body": issue(honest), "author": {"login": "ada-l"}})
    done = command(honest, "intake", "-", data=text)
    assert done.returncode == 0, done.stderr
    git(repository, "am", "-q", data=done.stdout)
    assert command(honest, "intake", "-", data="nothing").returncode == 2
