"""`benchpipe check` and `benchpipe guard` as a person or CI calls them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchpipe.lab import Lab
from benchpipe_tests.checks import healthy

PROGRAM = Path(sys.executable).parent / "benchpipe"


def benchpipe(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "BENCHPIPE_LAB"}
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


Make = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path) -> Make:
    """`made({file: text})`: the healthy lab inside a git repository, with changes; nothing was collected in it yet."""

    def make(changes: dict[str, str] | None = None) -> Path:
        root = tmp_path / "lab"
        healthy.make(root, changes)
        shutil.rmtree(root / "data/runs/my-bench")
        subprocess.run(["git", "init", "-q", root], check=True)
        return root

    return make


def test_a_healthy_lab_passes_also_strictly_and_from_a_folder_inside(made: Make) -> None:
    root = made()
    done = benchpipe("check", "--strict", cwd=root / "state" / "runs")
    assert (done.returncode, done.stdout) == (0, "check: 0 errors, 0 warnings in 2 runs, 2 benchmarks, 3 bench-runs\n")


def test_the_shipped_lab_passes(lab: Lab) -> None:
    done = benchpipe("--lab", lab.root, "check")
    assert done.returncode == 0, done.stdout


def test_findings_are_printed_like_a_compilers_and_fail_the_check(made: Make) -> None:
    root = made({"data/benchmarks/other.yml": "name:\tOther\n\ttasks: [pour]\n"})
    done = benchpipe("--lab", root, "check")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "data/benchmarks/other.yml:2: error benchmark-file: is not YAML: "
        "a tab stands where YAML wants blanks; replace it by spaces",
        "check: 1 error, 0 warnings in 2 runs, 2 benchmarks, 3 bench-runs",
    ]


def test_warnings_fail_only_the_strict_check_and_can_be_left_out(made: Make) -> None:
    text = healthy.FILES["state/runs/my-bench.yml"].replace("    others: first try on one task\n", "")
    root = made({"state/runs/my-bench.yml": text})
    plain, quiet, strict = (benchpipe("--lab", root, "check", *options) for options in ((), ("--quiet",), ("--strict", "--quiet")))
    assert [done.returncode for done in (plain, quiet, strict)] == [0, 0, 1]
    warning = "state/runs/my-bench.yml:27: warning run-others:"
    assert [warning in done.stdout for done in (plain, quiet, strict)] == [True, False, True]
    assert quiet.stdout.splitlines()[-1].startswith("check: 0 errors, 1 warning ")


def test_the_json_has_the_documented_shape_and_stands_alone_on_stdout(made: Make) -> None:
    root = made({"data/prices.yml": healthy.FILES["data/prices.yml"].replace("input: 0.10", "input: cheap")})
    done = benchpipe("--lab", root, "check", "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["ok"]) == (1, False)
    assert said["findings"] == [
        {
            "rule": "price-numbers",
            "severity": "error",
            "file": "data/prices.yml",
            "line": 3,
            "message": "`input` is text, but has to be a number, without quotes and units",
        }
    ]
    assert json.loads(benchpipe("--lab", made(), "check", "--json").stdout) == {"ok": True, "findings": []}


def test_every_fault_has_its_own_line_and_the_rest_is_still_checked(made: Make) -> None:
    root = made(
        {
            "data/runs/hosts.ann.local.yml": "mybox: {jobs: /elsewhere}\n",
            "data/runs/hosts.bob.local.yml": "mybox: [not, {a: host\n",
            "data/benchmarks/third.yml": "a:\n\tb: c\n",
            "state/runs/other.yml": 'task_dir: "{tsk}"\nruns:\n  nobody-knows-this: {batch: x, tasks: [pour]}\n',
        }
    )
    (root / "data/agents/folder.yml").mkdir()
    done = benchpipe("--lab", root, "check")
    assert done.returncode == 1
    starts = [line.split(": ")[:2] for line in done.stdout.splitlines()[:-1]]
    assert starts == [
        ["data/agents/folder.yml", "error agent-file"],
        ["data/benchmarks/third.yml:2", "error benchmark-file"],
        ["data/runs/hosts.bob.local.yml:1", "error host-file"],
        ["data/runs/hosts.me.local.yml:2", "error host-twice"],
        ["data/runs/hosts.you.local.yml:1", "error host-twice"],
        ["state/runs/other.yml:1", "error plan-task-dir"],
        ["state/runs/other.yml:3", "error run-registered"],
    ]


def test_without_a_lab_or_with_an_empty_one_there_is_nothing_to_check(tmp_path: Path) -> None:
    nowhere = benchpipe("check", cwd=tmp_path)
    assert (nowhere.returncode, nowhere.stderr.count("\n")) == (2, 1)
    assert "no lab found" in nowhere.stderr
    empty = benchpipe("--lab", tmp_path, "check")
    assert empty.returncode == 2
    assert "holds no run and no benchmark yet" in empty.stderr


def test_what_is_true_of_every_run_of_a_submission_is_said_once(lab: Lab) -> None:
    file = lab.contrib_results / "deskwork/first-come/rules.json"
    file.write_text(file.read_text().replace('"x_publish_unverified": true', '"x_publish_unverified": false'))
    said = [line for line in benchpipe("--lab", lab.root, "check").stdout.splitlines() if "first-come/rules.json" in line]
    assert any("CFG-010" in line for line in said)
    assert len(said) == len(set(said))


def test_a_lab_that_cannot_be_written_is_checked_all_the_same(lab: Lab) -> None:
    """What checks remember, and their site, only save time: nothing has to be written to find the same."""
    root = lab.root
    assert list(lab.contrib_results.rglob("*.json"))
    (root / "data/public.yml").write_text("- a")
    script = f'mount --bind "{root}" "{root}" && mount -o remount,bind,ro "{root}" && exec "{PROGRAM}" --lab "{root}" check'
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("mount namespaces need root (Debian package util-linux)")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert not lab.cache.exists()
    usual = benchpipe("--lab", root, "check")
    assert (done.returncode, done.stdout, done.stderr) == (usual.returncode, usual.stdout, usual.stderr)
    assert done.stdout.startswith("data/public.yml:1: error public-file: ")
    assert "check: 4 of 4: site and links" in done.stderr


@pytest.mark.parametrize(
    ("decisions", "code", "finding"),
    [
        ("submissions: [", 1, ":1: error decisions-file: is not YAML: "),
        ("submissions:\n  skill-search/rules: no", 1, ":2: error decisions-file: `skill-search/rules` is yes/no, but has to be"),
        (
            "submissions: {skill-search/rules: {trajectories: {asked: 2026-11-20 10:00:00, reason: x}}}",
            1,
            ": error decisions-file: 2026-11-20T10:00:00 in the decisions on skill-search/rules is no day",
        ),
        ("submissions: {skill-search/rules: {withdrawn: {at: today, reason: x}}}", 1, ": error decisions-file: today in the "),
        ("submissions: {skill-search/rules: {unverified: 3}}", 1, ": error decisions-file: Expected `bool`, got `int`"),
        ("submissions:\n  skill-search/rules:\n    withdrwan: {at: 2026-11-20, reason: x}", 0, ":3: warning decisions-key: "),
        ("submissions: {skill-search/rules: {questions: {askd: 2026-11-20, asked: 2026-11-20, text: x}}}", 0, ""),
        ("notes: ours\nmethods: {unused: {author: A, since: 2026-11-20}}", 0, ""),
    ],
)
def test_decisions_that_cannot_be_read_or_have_a_slip_are_said(decisions: str, code: int, finding: str, lab: Lab) -> None:
    lab.state_contrib.mkdir(parents=True, exist_ok=True)
    (lab.state_contrib / "deskwork.yml").write_text(decisions)
    done = benchpipe("--lab", lab.root, "check")
    assert done.returncode == code
    said = [line for line in done.stdout.splitlines() if "decisions-" in line]
    assert [line.startswith(f"state/contrib/deskwork.yml{finding}") for line in said] == [True] * bool(finding)


def test_a_slip_in_decisions_hides_no_fault_of_the_same_file(lab: Lab) -> None:
    lab.state_contrib.mkdir(parents=True, exist_ok=True)
    slip, fault = "withdrwan: {at: 2026-11-20, reason: x}", "unverified: 3"
    (lab.state_contrib / "deskwork.yml").write_text(f"submissions: {{skill-search/rules: {{{slip}, {fault}}}}}")
    said = [line for line in benchpipe("--lab", lab.root, "check").stdout.splitlines() if "decisions-" in line]
    assert [line.split(": ")[1] for line in said] == ["error decisions-file", "warning decisions-key"]


def test_guard_prints_what_git_holds_and_at_most_fifty(made: Make) -> None:
    root = made()
    assert benchpipe("--lab", root, "guard").stdout == "guard: 0 files that git must not hold\n"
    for n in range(60):
        (root / f"video{n:02}.mp4").write_bytes(b"x")
    subprocess.run(["git", "-C", root, "add", "-f", "."], check=True)
    done = benchpipe("--lab", root, "guard")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert len(lines) == 51
    assert lines[0].startswith("data/runs/hosts.me.local.yml: error guard-run-data: must not be in git")
    assert lines[-1] == "guard: 62 files that git must not hold (the first 50 are shown)"
