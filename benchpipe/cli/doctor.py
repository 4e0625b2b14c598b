"""`benchpipe doctor`: each host, key and file, one line each: what works and what to do."""

import os
from pathlib import Path

import msgspec
import rich_click as click

from benchpipe.cli.main import lab_of
from benchpipe.errors import UsageError
from benchpipe.files import json_bytes


@click.command()
@click.option("--hosts", "hosts_file", type=click.Path(path_type=Path), help="Read only this hosts file.")
@click.option("--json", "as_json", is_flag=True, help="Print the lines as JSON.")
@click.pass_context
def command(ctx: click.Context, hosts_file: Path | None, as_json: bool) -> int:
    """Look at every host and file of the lab: name, login, Python, jobs directory, clock, time, cache; charges and billing.

    Exit code 1 if anything needs doing, 2 if there is no host to look at. Example: benchpipe doctor
    """
    from benchpipe.hosts.doctor import examine
    from benchpipe.hosts.pool import open_pool
    from benchpipe.registry.load import load_registry

    lab = lab_of(ctx)
    registry = load_registry(lab, hosts_files=[hosts_file] if hosts_file else None)
    found = []
    with open_pool(os.environ) as pool:
        for line in examine(lab, registry, pool):
            found.append(line)
            if not as_json:
                click.echo(f"{'✓ ok ' if line.ok else '✗ fix'}  {line.subject:<16} {line.check:<8} {line.says}")
                if line.fix:
                    click.echo(f"{'':<33}→ {line.fix}")
    ok = all(line.ok for line in found)
    if as_json:
        click.echo(json_bytes({"ok": ok, "checks": msgspec.to_builtins(found)}), nl=False)
    if not registry.hosts:
        raise UsageError("no host to look at: write data/runs/hosts.<name>.local.yml (docs/hosts.md)")
    return 0 if ok else 1
