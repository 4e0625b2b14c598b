"""`benchpipe contrib dataset` and `benchpipe contrib mirror`: what outsiders send beside the JSON."""

import json
from datetime import UTC, datetime
from pathlib import Path

import rich_click as click

from benchpipe.cli.main import lab_of


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--write-coverage", is_flag=True, help="First bring coverage.json to what is there (PATH is a folder here).")
@click.option("--leaks", is_flag=True, help="For maintainers: also list what a person should look at; changes no verdict.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.pass_context
def dataset(ctx: click.Context, path: Path, write_coverage: bool, leaks: bool, as_json: bool) -> int:
    """The mechanical checks of Experiments/ or any directory below it, here or on the Hub.

    Exit 0 if everything was checked and holds, else 1. A place on the Hub is written
    hf://datasets/OWNER/NAME@REVISION/Experiments/…; REVISION may be refs/pr/N.

    Example: benchpipe contrib dataset contrib/Experiments/deskwork
    """
    from benchpipe.contributions.artifacts import checking, coverage, layout
    from benchpipe.registry.load import load_registry

    lab = lab_of(ctx)
    benchmarks = load_registry(lab).benchmarks
    if write_coverage:
        for file in coverage.write(layout.scope_of(path), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")):
            click.echo(f"wrote {lab.relative(file)}", err=True)
    report = checking.check_directory(path, lab, benchmarks, on_progress=lambda text: click.echo(text, err=True))
    click.echo(json.dumps(checking.as_json(report), indent=1, ensure_ascii=False) if as_json else checking.as_text(report))
    return 0 if report.verdict == "verified" else 1
