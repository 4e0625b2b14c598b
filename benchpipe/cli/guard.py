"""`benchpipe guard`: what git must not hold."""

import rich_click as click

from benchpipe.checks.guard import guard
from benchpipe.cli.main import lab_of

MAX_SHOWN = 50


@click.command()
@click.pass_context
def command(ctx: click.Context) -> int:
    """Look through git's index for collected data, run media, contributed archives and huge files.

    Example: benchpipe guard
    """
    findings = guard(lab_of(ctx).root)
    for finding in findings[:MAX_SHOWN]:
        click.echo(str(finding))
    errors = sum(finding.severity == "error" for finding in findings)
    more = f" (the first {MAX_SHOWN} are shown)" if len(findings) > MAX_SHOWN else ""
    click.echo(f"guard: {errors} files that git must not hold{more}")
    return 1 if errors else 0
