"""`benchpipe edit`: serve, and curate from the page."""

import secrets

import rich_click as click

from benchpipe.cli.main import lab_of


@click.command("edit")
@click.option("--port", type=click.IntRange(1, 65535), help="The port; default: the first free one from 8000.")
@click.pass_context
def command(ctx: click.Context, port: int | None) -> None:
    """Serve the site on 127.0.0.1 and let you curate: follow-ups, notes, what counts, task status and labels.

    It writes files of state/ only, shows the diff first, and refuses what `check` would. Only the printed address may
    edit: it holds a token. Ends with the shell that started it.

    Example: benchpipe edit --port 8123
    """
    from benchpipe.site import serving
    from benchpipe.site.build import default_out
    from benchpipe.site.editing import SCRIPT, Editor

    def say(line: str) -> None:
        click.echo(line, err=True)

    lab = lab_of(ctx)
    out = default_out(lab, public=False)
    editor = Editor(lab, secrets.token_urlsafe(24))
    serving.rebuild(lab, out, public=False)
    server = serving.open_server(lab, out, port, say, routes=editor.routes(), scripts=(SCRIPT,))
    editor.hosts = {f"{name}:{server.server_address[1]}" for name in ("127.0.0.1", "localhost")}
    click.echo(f"{server.address}#token={editor.token}")
    serving.serve(server, lab, public=False, say=say)
