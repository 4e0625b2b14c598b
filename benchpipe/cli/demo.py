"""`benchpipe demo`: a lab of genuine jobs, collected, built and served. What a newcomer types first."""

import os
from datetime import UTC, datetime
from pathlib import Path

import rich_click as click

from benchpipe import demo
from benchpipe.cli.runs import summary, tell_host
from benchpipe.cli.serve import serve_site


@click.command
@click.option("--port", type=int, help="Port of the site; default: the first free one from 8000.")
@click.option("--no-serve", is_flag=True, help="Collect and build, then end.")
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), default=Path(".demo"), show_default=True)
@click.pass_context
def command(ctx: click.Context, port: int | None, no_serve: bool, into: Path) -> int:
    """Make a lab in .demo/ from the shipped registry and genuine jobs, collect it, build its site and serve it.

    Example: benchpipe demo --port 8080
    """
    from benchpipe.definitions import defs
    from benchpipe.hosts.pool import open_pool
    from benchpipe.pipeline.collecting import collect_once
    from benchpipe.pipeline.instance import open_instance
    from benchpipe.pipeline.scene import Scene, use_lab

    lab = demo.make_lab(into)
    use_lab(lab)
    scene = Scene(lab)
    with open_instance(lab) as instance, open_pool(os.environ) as pool:
        cycle = collect_once(instance, scene, defs, now=datetime.now(UTC).replace(microsecond=0), pool=pool, on_host=tell_host)
    for name, reason in cycle.failed.items():
        click.echo(f"{name}: {reason}", err=True)
    click.echo(summary(lab, scene.registry, cycle.built, [], datetime.now(UTC)))
    click.echo(f"The Dagster UI on this lab: make dev LAB={into}")
    if not no_serve and not cycle.failed:
        serve_site(lab, port)
    return 1 if cycle.failed else 0
