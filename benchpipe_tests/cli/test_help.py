"""Every command's help has an example, and what prints a report prints it for machines too (the contract of the command line)."""

import json
import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from benchpipe.cli.main import cli
from benchpipe.lab import Lab


def commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The way to every command and every group of commands."""
    if path:
        yield path
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            if found := group.get_command(context, name):
                yield from commands(found, (*path, name))


@pytest.mark.parametrize("path", list(commands(cli)), ids=" ".join)
def test_every_help_has_an_example_that_is_a_command_line_of_it(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(cli, [*path, "--help"], env={"COLUMNS": "200"}, terminal_width=200).output
    assert "Example" in shown
    assert re.search(rf"benchpipe (--lab \S+ )?{' '.join(path)}\b", shown.split("Example", 1)[1])


@pytest.mark.parametrize("arguments", [["guard"], ["prices", "check"], ["check"]])
def test_reports_are_there_as_json(lab: Lab, arguments: list[str]) -> None:
    done = CliRunner().invoke(cli, ["--lab", str(lab.root), *arguments, "--json"])
    report = json.loads(done.stdout)
    assert report["ok"] is True
    if arguments[0] == "prices":
        assert {rate["verdict"] for rate in report["rates"]} <= {"same", "differs", "no opinion"}
        assert all(isinstance(rate["ours"], str) for rate in report["rates"] if rate["ours"] is not None)
