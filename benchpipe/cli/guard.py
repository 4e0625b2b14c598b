"""`benchpipe guard`: what git must not hold."""

import msgspec
import rich_click as click

from benchpipe.checks.guard import guard
from benchpipe.cli.main import lab_of
from benchpipe.files import json_bytes

MAX_SHOWN = 50


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """Look through git's index for collected data, run media, contributed archives and huge files.

    Example: benchpipe guard
    """
    findings = guard(lab_of(ctx).root)
    errors = sum(finding.severity == "error" for finding in findings)
    if as_json:
        click.echo(json_bytes({"ok": not errors, "findings": msgspec.to_builtins(findings)}), nl=False)
        return 1 if errors else 0
    for finding in findings[:MAX_SHOWN]:
        click.echo(str(finding))
    more = f" (the first {MAX_SHOWN} are shown)" if len(findings) > MAX_SHOWN else ""
    click.echo(f"guard: {errors} files that git must not hold{more}")
    return 1 if errors else 0
