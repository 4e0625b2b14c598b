"""The command line. Commands are thin: they find the lab, call plain functions or jobs, print results on stdout.

A command is imported only when it is called, so that `benchpipe runs` pays for no other command's libraries.
"""

import importlib
import importlib.util
import os
import sqlite3
import sys
from pathlib import Path

import rich_click as click

from benchpipe import __version__
from benchpipe.errors import BenchpipeError
from benchpipe.files import NOT_WRITABLE
from benchpipe.lab import Lab

COMMANDS = {
    "demo": "a lab of genuine jobs in .demo/: collect, build, serve",
    "runs": "ask every host what its job directories hold",
    "check": "every registry rule, guard, contributions, site build and link check",
    "guard": "what git must not hold",
    "site": "build the site as plain files",
    "serve": "the site on 127.0.0.1, rebuilt when data changes",
    "edit": "serve, and curate from the page (writes state/ only)",
    "publish": "write the redacted, scanned snapshot",
    "release": "the one-shot publishing flow with its gates",
    "media": "run media to the Hub dataset",
    "contrib": "contributed results: check, intake, decide, mirror",
    "doctor": "each host, key, price and file: what works and what to do",
    "prices": "our prices against a price library",
    "explain": "where a number comes from",
    "dev": "the Dagster UI on this lab",
    "docs": "write the generated pages of docs/ again",
}
"""Command name → one line of help. The command is `command` in `benchpipe/cli/<name>.py`."""


SQLITE_NO_ROOM = ("is full", "readonly", "disk I/O error", "unable to open")
"""What SQLite says when its file can't be written."""


class LazyGroup(click.RichGroup):
    """Knows every command's name and help; imports a command's module when it is called or asked for its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if importlib.util.find_spec(f"benchpipe.cli.{name}")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        return importlib.import_module(f"benchpipe.cli.{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--lab",
    "lab_dir",
    metavar="DIR",
    envvar="BENCHPIPE_LAB",
    help="The lab's folder; default: found upwards from here.",
)
@click.version_option(__version__, "--version")
@click.pass_context
def cli(ctx: click.Context, lab_dir: str | None) -> None:
    """benchpipe: a lab's memory of coding-agent runs.

    Example: benchpipe --lab ~/lab runs --benchmark tabletop
    """
    ctx.obj = lab_dir


def lab_of(ctx: click.Context) -> Lab:
    """The lab that this call works on. UsageError if there is none."""
    return Lab.find(ctx.obj, Path.cwd())


def public_build(asked: bool) -> bool:
    """Whether the public build is meant: `--public`, or RB_PUBLIC set to anything but empty, 0, false or no."""
    return asked or os.environ.get("RB_PUBLIC", "").strip().lower() not in ("", "0", "false", "no")


def _no_room(error: BaseException | None) -> str | None:
    """Why a write failed, if a full or read-only place is behind `error`; Dagster's storage hides it in errors of its own."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NOT_WRITABLE:
            return os.strerror(error.errno or 0)
        if isinstance(error, sqlite3.OperationalError) and any(word in str(error) for word in SQLITE_NO_ROOM):
            return str(error)
        error = error.__cause__ or error.__context__
    return None


def main() -> None:
    """Run the command line: a user's mistake is one line on stderr and an exit code, never a traceback."""
    try:
        result = cli(standalone_mode=False)
        sys.exit(result if isinstance(result, int) else 0)
    except BenchpipeError as error:
        click.echo(f"benchpipe: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("benchpipe: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if not (reason := _no_room(error)):
            raise
        click.echo(f"benchpipe: the lab can't be written ({reason}); check rights and space", err=True)
        sys.exit(2)
