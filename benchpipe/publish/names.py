"""A lab's own machines and places, which no text that leaves may name: rules made from hosts files and `data/public.yml`.

Nothing here is a list of names (decision E4), and nothing here reads a file.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

import msgspec

from benchpipe.errors import UsageError
from benchpipe.lab import Lab
from benchpipe.publish.rules import Rule, built_in_rules
from benchpipe.registry.machines import AFTER, BEFORE, machine_names
from benchpipe.registry.records import Registry

OURS = "one of our machines"
HOST, PATH = "<host>", "<path>"

_SAYS = r"(?:Linux[ \t]{1,3}|(?:HOSTNAME|[Hh]ostname)[\"']?[ \t]{0,3}[=:][ \t]{0,3}[\"']?)"
"""What a system says before its own name: `uname`, variables."""
_USER = "[A-Za-z0-9._-]+"
_COMMANDS = r"(?:ssh|scp|sftp|mosh|rsync)[ \t]"


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """What must not be named. `machines` are expressions for whole names, `paths` literal absolute folders."""

    machines: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def private_places(lab: Lab, registry: Registry) -> Places:
    """The machines of hosts files (alias, host part of `ssh`) and of `machine_names`, the lab's folder and the jobs folders."""
    names = machine_names(registry.hosts.values())
    machines = [*sorted((re.escape(name) for name in names), key=lambda n: (-len(n), n)), *_valid(registry.public.machine_names)]
    folders = {str(lab.root), *(host.jobs for host in registry.hosts.values())}
    paths = {path for path in folders if path.startswith("/") and len(PurePosixPath(path).parts) > 2}
    return Places(machines=tuple(machines), paths=tuple(sorted(paths, key=lambda p: (-len(p), p))))


def _valid(patterns: Iterable[str]) -> Iterator[str]:
    """The committed expressions. A broken one stops everything: what it should have hidden would get out."""
    for pattern in patterns:
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise UsageError(f"data/public.yml: machine_names: {pattern!r} is no expression ({error})") from error
        if compiled.groups or compiled.match(""):
            raise UsageError(f"data/public.yml: machine_names: {pattern!r} must match a whole name, without capture groups")
        yield f"(?:{pattern})"


def lab_rules(places: Places) -> tuple[Rule, ...]:
    """Rules for a lab's machines in paths, commands and what systems say of themselves, and for its folders."""
    rules: list[Rule] = []
    if places.machines:
        names = "|".join(places.machines)
        end = "(?![A-Za-z0-9_-])"
        maybe_login = f"(?:{_USER}@)?(?<![A-Za-z0-9_.-])(?:{names})"
        path = rf"({maybe_login}):\\?[/~]"
        command = rf"{_COMMANDS}[^\r\n\x00\x01]{{0,120}}?({maybe_login}){end}"

        def rule(name: str, near: str, pattern: str, back: int = 0) -> Rule:
            return Rule(id=f"machine-{name}", kind="machine", marker=HOST, near=near, pattern=pattern, back=back, wraps=False)

        rules += [
            rule("path", rf"(?:{names}):\\?[/~]", path, back=64),
            rule("command", _COMMANDS, command),
            rule("login", f"@(?:{names})", f"({_USER}@(?:{names})){end}", back=64),
            rule("said", f"{_SAYS}(?:{names})", f"{_SAYS}({names}){end}"),
        ]
    for n, folder in enumerate(places.paths):
        literal = re.escape(folder)
        pattern = f"{literal}(?![A-Za-z0-9_])"
        rules.append(Rule(id=f"lab-path-{n}", kind="lab path", marker=PATH, near=literal, pattern=pattern, wraps=False))
    return tuple(rules)


def all_rules(lab: Lab, registry: Registry) -> tuple[Rule, ...]:
    """The shipped rules and the ones of this lab."""
    return (*built_in_rules(), *lab_rules(private_places(lab, registry)))


def machine_filter(places: Places) -> Callable[[str], str]:
    """A function that rewrites notes and errors so that they name no machine (runs-system 15.3).

    "on gpu1" → "on one of our machines", "the gpu1 GPU" → "a GPU of ours", "gpu1's disk" → "one of our machines' disk".
    Not applied inside paths. For texts that people write; transcripts only get the rules of `lab_rules`.
    """
    if not places.machines:
        return lambda text: text
    name = f"{BEFORE}(?:{'|'.join(places.machines)})"
    gpu = re.compile(rf"(?:\b(?:[Tt]he|[Aa]|[Aa]n)\s+)?{name}(?:'s|’s)?\s+(GPUs?)\b")
    own = re.compile(rf"(?:\b[Tt]he\s+)?{name}(?:'s|’s){AFTER}")
    bare = re.compile(rf"(?:\b[Tt]he\s+)?{name}{AFTER}")

    def filtered(text: str) -> str:
        text = gpu.sub(lambda m: "GPUs of ours" if m[1] == "GPUs" else "a GPU of ours", text)
        return bare.sub(OURS, own.sub(f"{OURS}'", text))

    return filtered
