"""The public build as a command: what selects it, and its gates."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchpipe.cli.main import cli
from benchpipe.errors import FoundProblems
from benchpipe.lab import Lab

NAV = "local build"


@pytest.mark.parametrize(
    ("value", "public"), [("1", True), ("yes", True), ("0", False), ("", False), ("False", False), ("no", False)]
)
def test_the_environment_selects_the_public_build(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, public: bool
) -> None:
    monkeypatch.setenv("RB_PUBLIC", value)
    done = CliRunner().invoke(cli, ["--lab", str(lab.root), "site", "build", "--out", str(tmp_path / "out")])
    assert done.exception is None, done.output
    assert (NAV not in (tmp_path / "out" / "index.html").read_text()) is public
    assert ("bytes in all" in done.output) is public


def test_a_public_site_that_is_too_large_fails_with_its_largest_files(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchpipe.publish.published.size_gate.__defaults__", (1000,))
    done = CliRunner().invoke(cli, ["--lab", str(lab.root), "site", "build", "--public", "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, FoundProblems)
    assert "more than 1,000" in str(done.exception)


def test_a_public_site_with_a_broken_link_fails_and_names_page_and_line(lab: Lab, tmp_path: Path) -> None:
    def built(*options: str) -> tuple[object, str]:
        command = ["--lab", str(lab.root), "site", "build", "--out", str(tmp_path / "out"), *options]
        done = CliRunner().invoke(cli, command, standalone_mode=False)
        return done.return_value, done.output

    assert built("--public")[0] == 0
    (tmp_path / "out/stray.html").write_text('<a href="index.html">here</a>\n<a href="gone/">there</a>\n')
    code, said = built("--public")
    assert code == 1
    assert "stray.html:2: error link-broken: 'gone/' leads nowhere" in said
    assert built()[0] == 0
