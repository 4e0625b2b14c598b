"""`docs/rules.md`, made from the rules themselves. Writes nothing."""

from collections.abc import Iterable

from benchpipe.checks import contact_data, guard, links
from benchpipe.checks.rules import AGENTS, BENCHMARKS, DECISIONS, PRICES, RULES

_HEAD = """# Rules of `benchpipe check`

This page is made by `benchpipe docs` from the code. Each line is what holds in a healthy lab; the id is what a finding, the
Dagster asset check and this page have in common. An error makes `check` exit with 1; `--strict` does so for warnings too.
How contributed results are checked stands in [contributing.md](contributing.md).
"""
_SECTIONS = {AGENTS: "Agents", PRICES: "Prices", BENCHMARKS: "Benchmarks, runs, tasks, hosts, settings"}


def rules_page() -> str:
    """The whole page as Markdown."""
    parts = [_HEAD]
    for asset, title in _SECTIONS.items():
        rows = [(rule.id, rule.severity, rule.title) for rule in RULES if rule.asset == asset]
        parts.append(_table(f"{title} (asset `{asset}`)", rows))
    parts.append(_table("Decisions on contributed results", [(id, severity, title) for id, (severity, title) in DECISIONS.items()]))
    guarded = [(id, "warning" if id == "guard-git" else "error", title) for id, title in guard.TITLES.items()]
    parts.append(_table("Git (`benchpipe guard`)", guarded))
    parts.append(_table("The built site", [(id, "error", title) for id, title in (links.TITLES | contact_data.TITLES).items()]))
    return "\n".join(parts)


def _table(title: str, rows: Iterable[tuple[str, str, str]]) -> str:
    lines = [f"| `{id}` | {severity} | {text} |" for id, severity, text in rows]
    return "\n".join([f"## {title}", "", "| id | severity | what holds |", "| --- | --- | --- |", *lines, ""])
