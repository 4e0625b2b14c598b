"""`benchpipe prices check`: our price list beside a price library's. It never writes."""

from datetime import UTC, datetime

import msgspec
import rich_click as click

from benchpipe.cli.main import lab_of
from benchpipe.errors import UsageError
from benchpipe.files import json_bytes
from benchpipe.registry.load import load_registry
from benchpipe.usage.pricecheck import opinions


@click.group()
def command() -> None:
    """Our prices against a price library.

    Example: benchpipe prices check
    """


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON; rates are decimal strings in US dollars.")
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> int:
    """Compare data/prices.yml with genai-prices, offline; exit 1 if a rate differs. Never writes.

    Example: benchpipe prices check
    """
    prices = load_registry(lab_of(ctx)).prices
    if not prices:
        raise UsageError("data/prices.yml has no entry: docs/costs.md shows one")
    found = opinions(prices.values(), datetime.now(UTC))
    differ = any(opinion.verdict == "differs" for opinion in found)
    if as_json:
        rates = [{**opinion._asdict(), "verdict": opinion.verdict} for opinion in found]
        click.echo(json_bytes({"ok": not differ, "rates": msgspec.to_builtins(rates)}), nl=False)
        return int(differ)
    for opinion in found:
        theirs = "no opinion" if opinion.theirs is None else f"{opinion.theirs:f}"
        click.echo(f"{opinion.file_line}: {opinion.key} {opinion.rate}: ours {opinion.ours}, library {theirs} ({opinion.verdict})")
    counts = {verdict: sum(o.verdict == verdict for o in found) for verdict in ("same", "differs", "no opinion")}
    click.echo(f"{len(prices)} entries: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.items()))
    return int(differ)
