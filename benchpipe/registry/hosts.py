"""Hosts files → `Host` (runs-system 3.6). They stay on each person's machine; several may lie side by side."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from benchpipe.registry.fields import NAME, NAME_WANTED, Fields
from benchpipe.registry.quoting import short
from benchpipe.registry.records import Host
from benchpipe.registry.source import Source

TRANSPORTS = ("local", "paramiko", "openssh")


def load_hosts(source: Source, files: Sequence[Path] | None, aliases: Mapping[str, str]) -> dict[str, Host]:
    """Hosts by name over all files in name order (`files` replaces them). A name that is defined differently stays the first's.

    A former run id (`aliases`) means its run: who renames a run can't reach everybody's hosts files.
    """
    hosts: dict[str, Host] = {}
    for path in source.lab.hosts_files() if files is None else files:
        for name, fields in source.mapping(Path(os.path.abspath(path)), "host").entries("host-field"):
            host = _host(name, fields, aliases)
            if host is None:
                continue
            first = hosts.setdefault(name, host)
            if msgspec.structs.replace(host, place=first.place) != first:
                message = f"{name} is defined differently in {first.place}, which counts: give one of them another name"
                fields.problem(None, message, "host-twice")
    return hosts


def _host(name: str, fields: Fields, aliases: Mapping[str, str]) -> Host | None:
    if not NAME.fullmatch(name):
        fields.problem(None, f"'{short(name)}' can't be a host's name: {NAME_WANTED}")
        return None
    jobs = fields.text("jobs")
    if jobs is None:
        fields.problem(None, f"{name} has no `jobs`: give the path of its jobs directory")
        return None
    ssh = fields.text("ssh")
    runs = fields.texts("runs")
    return Host(
        name=name,
        place=fields.place(),
        jobs=jobs,
        ssh=ssh,
        transport=_transport(fields, ssh),
        python=fields.text("python") or "python3",
        benchmarks=fields.texts("benchmarks"),
        runs=None if runs is None else tuple(aliases.get(run, run) for run in runs),
    )


def _transport(fields: Fields, ssh: str | None) -> Literal["local", "paramiko", "openssh"]:
    asked = fields.choice("transport", TRANSPORTS)
    if asked and (asked == "local") == (ssh is not None):
        fix = "remove `ssh` or the transport" if ssh else "add `ssh: <alias>` or remove the transport"
        fields.problem("transport", f"`transport: {asked}` doesn't go {'with' if ssh else 'without'} `ssh`: {fix}")
        asked = None
    return asked or ("paramiko" if ssh else "local")
