"""`benchpipe serve`: the site on 127.0.0.1, rebuilt when something changes."""

import rich_click as click

from benchpipe.cli.main import lab_of, public_build
from benchpipe.cli.progress import progress
from benchpipe.lab import Lab


@click.command("serve")
@click.option("--port", type=click.IntRange(1, 65535), help="The port; default: the first free one from 8000.")
@click.option("--public", is_flag=True, help="The public site, from the committed snapshot only.")
@click.pass_context
def command(ctx: click.Context, port: int | None, public: bool) -> None:
    """Serve the site on 127.0.0.1, rebuild what changed, refresh the open page.

    It reads only; `benchpipe edit` serves the same site and lets you curate. Ends with the shell that started it.

    Example: benchpipe serve --port 8123
    """
    serve_site(lab_of(ctx), port, public=public_build(public))


def serve_site(lab: Lab, port: int | None, *, public: bool = False) -> None:
    """Build, print the address on stdout, serve until interrupted. Progress goes to stderr."""
    from benchpipe.site import serving
    from benchpipe.site.build import default_out

    def say(line: str) -> None:
        click.echo(line, err=True)

    out = default_out(lab, public=public)
    with progress("site", lines=False) as step:
        serving.rebuild(lab, out, public=public, on_made=lambda n: step(n, None, f"{n:,} files made"))
    server = serving.open_server(lab, out, port, say)
    click.echo(server.address)
    serving.serve(server, lab, public=public, say=say)
