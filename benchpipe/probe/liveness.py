"""Which jobs a live process of this host names (B5). Reads `/proc` only; where there is none nothing counts as alive."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional, Set

NAME_OPTIONS = ("--job-name",)
PATH_OPTIONS = ("-p", "--job-path")
CONFIG_OPTIONS = ("-c", "--config")
CONFIG_ENDINGS = (".json", ".yaml", ".yml", ".toml")
LOOKERS = {"bash", "dash", "fish", "ksh", "sh", "zsh", "less", "more", "tail", "vi", "vim", "nvim", "nano", "screen", "tmux"}
"""Programs of somebody who looks into a job directory: that they stand in one says nothing about a runner."""


class Runners:
    """What live processes name: job names, and the directories they work in (resolved)."""

    def __init__(self) -> None:
        self.names: Set[str] = set()
        self.folders: Set[str] = set()

    def alive(self, path: str) -> bool:
        """Whether a process names the job directory `path`, by its own name or by the one behind its links."""
        real = os.path.realpath(path)
        return bool({os.path.basename(path), os.path.basename(real)} & self.names) or real in self.folders


def find_runners(proc: str = "/proc") -> Runners:
    """Read every process that is visible. Processes that end meanwhile or belong to others are passed over."""
    found = Runners()
    try:
        pids = [name for name in os.listdir(proc) if name.isdigit()]
    except OSError:
        return found
    for pid in pids:
        arguments = _arguments(os.path.join(proc, pid, "cmdline"))
        if not arguments:  # a kernel thread, or one that has ended already
            continue
        try:
            folder = os.readlink(os.path.join(proc, pid, "cwd"))
        except OSError:
            folder = ""
        if folder and os.path.basename(arguments[0]).lstrip("-") not in LOOKERS:
            found.folders.add(folder)
        found.names.update(_named(arguments, folder))
    return found


def _arguments(path: str) -> List[str]:
    try:
        with open(path, "rb") as file:
            return [os.fsdecode(part) for part in file.read(1 << 20).split(b"\0") if part]
    except OSError:
        return []


def _named(arguments: List[str], folder: str) -> Set[str]:
    names: Set[str] = set()
    for position, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        if not equals:
            value = arguments[position + 1] if position + 1 < len(arguments) else ""
        name = _job_name(option, value, folder)
        if name:
            names.add(name)
    return names


def _job_name(option: str, value: str, folder: str) -> Optional[str]:
    if not value:
        return None
    if option in NAME_OPTIONS:
        return value
    path = os.path.normpath(os.path.join(folder, value))
    if option in PATH_OPTIONS:
        return os.path.basename(path)
    if option in CONFIG_OPTIONS and value.endswith(CONFIG_ENDINGS) and " " not in value:
        return os.path.basename(os.path.dirname(path))
    return None
