"""The run picker: one choice per run, with the parts of its name in which the runs differ (runs-system 12.1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchpipe.registry.records import Agent

PART_NAMES = ("harness", "model", "reasoning effort", "access")
"""What the four parts of `short` are; other numbers of parts have no names."""


@dataclass(frozen=True)
class Part:
    """A piece of a run's short name; `differs` where the runs on this page don't agree in it."""

    text: str
    differs: bool


@dataclass(frozen=True)
class Choice:
    """One run of a picker. `formerly` is its former ids, blank-separated; `href` works without scripts."""

    id: str
    href: str
    parts: tuple[Part, ...]
    tags: tuple[str, ...]
    current: bool
    formerly: str


@dataclass(frozen=True)
class Picker:
    """`default` is the id that an address without `?run=` means ("" = all runs)."""

    label: str
    hint: str
    default: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Option:
    """What a picker has to know of a run."""

    agent: Agent
    href: str
    tags: tuple[str, ...] = ()


def picker(
    options: Sequence[Option], *, default: str, current: str, label: str = "Agent run", all_href: str | None = None
) -> Picker:
    """The picker over `options`, in their order; with `all_href` it begins with "All runs" (id "")."""
    split = [tuple(part.strip() for part in option.agent.short.split("·")) for option in options]
    differing = _differing(split)
    hint = ""
    if differing and len(split[0]) == len(PART_NAMES):
        hint = "differ in " + _listed(PART_NAMES[i] for i in sorted(differing))
    first = [Choice("", all_href, (Part("All runs", True),), (), current == "", "")] if all_href is not None else []
    choices = tuple(
        Choice(
            id=option.agent.id,
            href=option.href,
            parts=tuple(Part(text, i in differing) for i, text in enumerate(parts)),
            tags=option.tags,
            current=option.agent.id == current,
            formerly=" ".join(option.agent.formerly),
        )
        for option, parts in zip(options, split, strict=True)
    )
    return Picker(label, hint, default, (*first, *choices))


def _differing(split: Sequence[tuple[str, ...]]) -> set[int]:
    """Positions of parts that are not the same everywhere; none unless all runs have the same number of parts."""
    if len({len(parts) for parts in split}) != 1:
        return set()
    return {i for i, column in enumerate(zip(*split, strict=True)) if len(set(column)) > 1}


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
