"""`data/agents/<run>[.local].yml` → `Agent` (runs-system 3.1), and the names a run had before."""

import re
from collections.abc import Iterable, Mapping

from benchpipe.registry.fields import NAME, Fields
from benchpipe.registry.records import DEFAULT_MODES, Agent
from benchpipe.registry.source import Source

BILLINGS = ("subscription", "openrouter", "api", "none")
MODE = re.compile(r"[A-Za-z0-9_]{1,100}")
"""A mode stands between `-` in the names of job directories, so it can't hold one."""
ID_FIELD = re.compile(r"[a-z0-9_]+")
LOCAL = ".local.yml"


def stem_of(name: str) -> str:
    """The id that a registry file's name gives: without `.local.yml` or `.yml`."""
    return name.removesuffix(LOCAL) if name.endswith(LOCAL) else name.removesuffix(".yml")


def load_agents(source: Source) -> dict[str, Agent]:
    """Every agent by id. Where a run has both files the committed one wins, since it comes later in name order."""
    agents = {}
    for path in source.yaml_files(source.lab.agents, "agent"):
        run = stem_of(path.name)
        agents[run] = _agent(run, source.mapping(path, "agent"), local=path.name.endswith(LOCAL))
    return agents


def _agent(run: str, fields: Fields, *, local: bool) -> Agent:
    label = fields.text("label", "agent-label") or run
    settings = fields.mapping("settings")
    if settings:
        settings.text("reasoning_effort")
    return Agent(
        id=run,
        place=fields.place(),
        label=label,
        short=fields.text("short") or label,
        harness_id=fields.text("harness_id"),
        price=fields.text("price"),
        model_id=fields.text("model_id"),
        settings=settings.data if settings else {},
        tag=fields.text("tag"),
        modes=modes_of(fields, "agent-modes") or DEFAULT_MODES,
        billing=fields.choice("billing", BILLINGS, "agent-billing") or "api",
        formerly=fields.texts("formerly", form=NAME) or (),
        sweep=fields.text("sweep"),
        harness=fields.text("harness"),
        route=fields.text("route"),
        model=fields.text("model"),
        notes=fields.text("notes"),
        local=local,
        lines=fields.lines,
        raw=fields.data,
    )


def modes_of(fields: Fields, rule: str) -> tuple[str, ...] | None:
    """The `modes` of an agent or a bench-run, each once; None = not given (or nothing right in it)."""
    modes = fields.texts("modes", rule, form=MODE)
    if modes == () and not fields.data["modes"]:
        fields.problem("modes", "`modes` is empty: name at least one mode, or leave it out", rule)
    return tuple(dict.fromkeys(modes)) if modes else None


def aliases_of(agents: Iterable[Agent], registered: Mapping[str, Agent]) -> dict[str, str]:
    """Former id → run id. A registered id is never an alias; of two runs that claim one the first has it."""
    aliases: dict[str, str] = {}
    for agent in agents:
        for old in agent.formerly:
            if old not in registered:
                aliases.setdefault(old, agent.id)
    return aliases


def spelled_id(agent: Agent, model: str | None) -> str | None:
    """The id that an agent's fields spell (id rule of runs-system 3.1). `model` is the `id` of its price entry, if any.

    None when harness, model or effort is missing.
    """
    effort = agent.settings.get("reasoning_effort")
    parts = [agent.harness_id, model or agent.model_id, effort if isinstance(effort, str) else None]
    if not all(parts):
        return None
    return "-".join([str(part) for part in parts] + ([agent.tag] if agent.tag else []))
