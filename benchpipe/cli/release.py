"""`benchpipe release`: the one-shot publication with its gates."""

from datetime import UTC, datetime

import rich_click as click

from benchpipe.cli.main import lab_of
from benchpipe.errors import FoundProblems
from benchpipe.publish.media.stores import HubStore
from benchpipe.publish.release import Steps, release
from benchpipe.registry.load import load_registry


@click.command
@click.option("--no-push", is_flag=True, help="Do everything up to the commit; push nothing.")
@click.pass_context
def command(ctx: click.Context, no_push: bool) -> int:
    """Collect, publish the snapshot, upload its media, check, build, commit and push. Each step is a gate.

    Meant to be run once per finished batch. Example: benchpipe release --no-push
    """
    from benchpipe.cli.check import command as check
    from benchpipe.cli.runs import command as runs
    from benchpipe.cli.site import build

    lab = lab_of(ctx)
    registry = load_registry(lab)
    steps = Steps(
        collect=lambda: _passed(ctx.invoke(runs)),
        check=lambda: _passed(ctx.invoke(check, quiet=True)),
        build_public=lambda: _passed(ctx.invoke(build, public=True)),
        store=lambda: HubStore(registry.public.hub_dataset),
    )
    done = release(lab, registry, steps, push=not no_push, now=datetime.now(UTC), say=lambda line: click.echo(line, err=True))
    click.echo(f"release: {done.message}" + (f" ({done.commit[:12]})" if done.commit else ""))
    return 0


def _passed(code: int | None) -> None:
    """A step's exit code as a gate."""
    if code:
        raise FoundProblems("see above")
