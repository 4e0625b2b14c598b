"""`benchpipe dev`: Dagster's UI on a lab, on the same instance that the other commands write to."""

import os
import sys
from pathlib import Path

import rich_click as click

from benchpipe.cli.main import lab_of
from benchpipe.demo import REPOSITORY


@click.command
@click.option("--port", type=int, default=3000, show_default=True)
@click.pass_context
def command(ctx: click.Context, port: int) -> None:
    """Open the Dagster UI on this lab: assets, checks, sensors, runs. History lies in <lab>/.dagster.

    Example: benchpipe --lab .demo dev --port 3001
    """
    lab = lab_of(ctx)
    from benchpipe.pipeline.instance import prepare_home

    home = prepare_home(lab)
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(home.resolve()),
        "BENCHPIPE_LAB": str(lab.root),
        "PYTHONWARNINGS": os.environ.get("PYTHONWARNINGS", "ignore::FutureWarning"),
    }
    dagster = Path(sys.executable).with_name("dagster")
    workspace = REPOSITORY / "workspace.yaml"
    os.execve(dagster, [str(dagster), "dev", "-w", str(workspace), "-p", str(port)], environment)
