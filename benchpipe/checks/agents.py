"""What has to hold between agent files, their names and the price list (runs-system 3.1, 13). Reads no file."""

from collections.abc import Iterator

from benchpipe.checks.findings import Spot, Workspace
from benchpipe.registry.agents import ID_FIELD, spelled_id
from benchpipe.registry.quoting import short
from benchpipe.registry.records import Agent, Place, Registry


def _read_agents(registry: Registry) -> Iterator[Agent]:
    """Agents whose file could be read: of the others that fault alone is said."""
    return (agent for agent in registry.agents.values() if agent.raw)


def _at(agent: Agent, key: str) -> Place:
    return Place(agent.place.file, agent.lines.get(key, 1))


def label_missing(workspace: Workspace) -> Iterator[Spot]:
    for agent in _read_agents(workspace.registry):
        if not str(agent.raw.get("label") or "").strip():
            yield _at(agent, "label"), "has no `label`: write the run's name as people should read it"


def price_unknown(workspace: Workspace) -> Iterator[Spot]:
    known = {*workspace.registry.prices, *workspace.registry.unpriced}
    for agent in _read_agents(workspace.registry):
        if agent.price and agent.price not in known and not _prices_unreadable(workspace.registry):
            message = f"`price: {short(agent.price)}` is no key of data/prices.yml: add its list price there or leave `price` out"
            yield _at(agent, "price"), message


def price_missing(workspace: Workspace) -> Iterator[Spot]:
    for agent in _read_agents(workspace.registry):
        if not agent.price and agent.billing != "none":
            message = "has no `price`, so nothing estimates its costs: name a key of data/prices.yml (or say `billing: none`)"
            yield _at(agent, "price"), message


def id_malformed(workspace: Workspace) -> Iterator[Spot]:
    for agent in _read_agents(workspace.registry):
        if not _is_well_formed(agent.id):
            message = f"the id {agent.id} is not <harness>-<model>-<effort>[-<tag>], each of a-z, 0-9 and _: rename the file"
            yield _at(agent, "harness_id"), message


def id_differs_from_fields(workspace: Workspace) -> Iterator[Spot]:
    registry = workspace.registry
    if _prices_unreadable(registry):
        return
    for agent in _read_agents(registry):
        if not _is_well_formed(agent.id):
            continue
        model = _model_of_price(registry, agent)
        spelled = spelled_id(agent, model)
        if spelled is None:
            missing = " and ".join(_missing_fields(agent, model))
            yield _at(agent, "harness_id"), f"its fields spell no id: {missing} missing; add what the file name {agent.id} says"
        elif spelled != agent.id:
            message = f"its fields spell {short(spelled)}, but the file is named {agent.id}: rename the file or correct the fields"
            yield _at(agent, "harness_id"), message


def former_id_is_registered(workspace: Workspace) -> Iterator[Spot]:
    for agent, place, old in _former_ids(workspace.registry):
        if old in workspace.registry.agents:
            yield place, f"the former id {old} of {agent.id} is a registered run: remove it here or remove data/agents/{old}.yml"


def former_id_claimed_twice(workspace: Workspace) -> Iterator[Spot]:
    owners = workspace.registry.aliases
    for agent, place, old in _former_ids(workspace.registry):
        if owners.get(old, agent.id) != agent.id:
            yield place, f"the former id {old} belongs to {owners[old]} already, which keeps it: remove one"


def _former_ids(registry: Registry) -> Iterator[tuple[Agent, Place, str]]:
    for agent in registry.agents.values():
        for n, old in enumerate(agent.raw["formerly"] if agent.formerly else ()):
            if old in agent.formerly:
                yield agent, _at(agent, f"formerly.{n}"), old


def _prices_unreadable(registry: Registry) -> bool:
    """With a price list that can't be read every agent would seem wrong; the list's own fault says it once."""
    return any(problem.rule == "price-file" for problem in registry.problems)


def _is_well_formed(run: str) -> bool:
    fields = run.split("-")
    return len(fields) in (3, 4) and all(ID_FIELD.fullmatch(field) for field in fields)


def _model_of_price(registry: Registry, agent: Agent) -> str | None:
    price = registry.price_of(agent.id)
    return price.id if price else registry.unpriced.get(agent.price or "")


def _missing_fields(agent: Agent, model: str | None) -> Iterator[str]:
    if not agent.harness_id:
        yield "`harness_id`"
    if not (model or agent.model_id):
        yield "the `id` of its price entry or `model_id`"
    if not isinstance(agent.settings.get("reasoning_effort"), str):
        yield "`settings.reasoning_effort`"
