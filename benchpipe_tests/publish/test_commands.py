"""The commands as people and scripts call them, and the examples of docs/publishing.md."""

import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from benchpipe.cli.main import cli
from benchpipe.errors import BenchpipeError
from benchpipe.lab import Lab
from benchpipe.publish.scan import allowed_values
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.publish.collected import BENCHMARK, collect, record, tree
from benchpipe_tests.publish.corpus import characters

PAGE = REPOSITORY / "docs" / "publishing.md"


def call(lab: Lab, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, as `main` ends it."""
    runner = CliRunner()
    try:
        result = runner.invoke(cli, ["--lab", str(lab.root), *arguments], standalone_mode=False, catch_exceptions=False)
    except BenchpipeError as error:
        return error.exit_code, "", str(error)
    return result.return_value or 0, result.stdout, result.stderr


def test_publish_prints_a_line_per_run_and_the_sums(lab: Lab) -> None:
    collect(lab)
    code, out, err = call(lab, "publish")
    assert code == 0
    assert out.splitlines()[0].endswith("3 tasks, 6 logs, collected 2026-10-01T10:00:00+00:00")
    assert out.splitlines()[-1].startswith("publish: 7 files written, 0 removed, 0 unchanged, ")
    assert "publish: 1 of" in err
    assert call(lab, "publish")[1].strip().endswith("nothing changed")


def test_publish_exits_1_and_never_prints_the_value_when_something_is_quarantined(lab: Lab) -> None:
    secret = "ghp" + "_" + characters(random.Random(3), "b62", 36)
    collect(lab, records={"pour_water": {"limited": record("t", metrics={secret: 1.0}), "unlimited": record("u")}})
    for options in ((), ("--json",), ("--dry-run",), ("--strict",)):
        code, out, err = call(lab, "publish", *options)
        assert code == 1
        assert secret not in out + err
    assert "quarantined: tabletop" in call(lab, "publish")[1]
    report = json.loads(call(lab, "publish", "--json")[1])
    assert report["quarantined"][0]["mode"] == "limited"


def test_scan_exits_by_what_it_finds(lab: Lab) -> None:
    collect(lab)
    call(lab, "publish")
    assert call(lab, "publish", "--scan")[0] == 0
    (lab.published / BENCHMARK / "x.json").write_text('{"job": "y"}')
    code, out, _ = call(lab, "publish", "--scan")
    assert code == 1
    assert "machine field: field:job" in out


def test_wrong_use_exits_2_with_one_line(lab: Lab) -> None:
    assert call(lab, "publish", "--benchmark", "nothing")[0] == 2
    assert call(lab, "media", "export")[0] == 2


def test_media_go_to_a_folder_and_back(lab: Lab, tmp_path: Path) -> None:
    if shutil.which("ffmpeg") is None:
        pytest.skip("needs the Debian package ffmpeg")
    collect(lab, records={"pour_water": {"limited": record("t")}})
    call(lab, "publish")
    code, out, _ = call(lab, "media", "upload", "--benchmark", BENCHMARK, "--out", str(tmp_path / "to"))
    assert code == 0
    assert out.splitlines()[-1] == "upload: sent 0 files, 0.0 MB; 0 deleted; 0 unchanged"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def commands() -> list[list[str]]:
    return [
        shlex.split(line, comments=True)
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith(("benchpipe", "make"))
    ]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_of_the_page_is_one(command: list[str], lab: Lab, tmp_path: Path) -> None:
    if command[0] == "make":
        done = subprocess.run(["make", "-n", "-C", str(REPOSITORY), *command[1:]], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return
    if "media" in command and shutil.which("ffmpeg") is None:
        pytest.skip("needs the Debian package ffmpeg")
    collect(lab, records={"pour_water": {"limited": record("t")}})
    call(lab, "publish")
    if command[1:3] == ["media", "upload"] and "--out" not in command:
        command = [*command, "--out", str(tmp_path / "to")]
    folders = {"DIR": str(tmp_path / "a"), "DIR2": str(tmp_path / "b")}
    (tmp_path / "a").mkdir()
    arguments = [folders.get(word, word) for word in command[1:]]
    before = tree(lab.published)
    code, _, err = call(lab, *arguments)
    assert code == 0, err
    assert tree(lab.published) == before


def test_the_settings_of_the_page_are_read(lab: Lab) -> None:
    allow, names = (yaml.safe_load(block) for block in blocks("yaml"))
    assert [entry.rule for entry in allowed_values(allow)] == ["github"]
    assert all(re.compile(name) for name in names["machine_names"])


def test_the_page_names_every_setting_that_the_shipped_file_has() -> None:
    settings = yaml.safe_load((REPOSITORY / "data" / "public.yml").read_text())
    assert all(f"`{key}`" in PAGE.read_text() for key in settings)


def test_the_program_itself_ends_with_the_exit_code(lab: Lab) -> None:
    collect(lab)
    program = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab", str(lab.root)]
    done = subprocess.run([*program, "publish", "--benchmark", "nothing"], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("benchpipe: no runs are registered for nothing")
