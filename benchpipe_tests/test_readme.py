"""The README is true: what it names is there, and its example is a run that `check` accepts."""

import re
from pathlib import Path

from benchpipe.checks.findings import Workspace
from benchpipe.checks.rules import run_rules
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe_tests.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text()
PAGES = [REPOSITORY / "README.md", REPOSITORY / "ARCHITECTURE.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


def test_every_page_that_a_page_links_to_exists() -> None:
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#\s]+)", page.read_text())]
    missing = [f"{page.name}: {link}" for page, link in links if "://" not in link and not (page.parent / link).exists()]
    assert links
    assert missing == []


def test_every_make_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+(?: [a-z-]+)*):", (REPOSITORY / "Makefile").read_text(), re.M))
    known = {name for group in targets for name in group.split()}
    named = {(page.name, name) for page in PAGES for name in re.findall(r"`?make ([a-z]+(?:-[a-z]+)*)`?", _code(page.read_text()))}
    assert {name for _, name in named} >= {"demo", "test", "runs", "check"}
    assert sorted(f"{page}: make {name}" for page, name in named if name not in known) == []


def _code(text: str) -> str:
    """Only what stands in backticks or code blocks."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.S))


def test_the_example_of_a_run_is_accepted(lab: Lab) -> None:
    example = re.search(r"```yaml\n# (data/agents/\S+)\n(.*?)```", README, re.S)
    assert example
    (lab.root / example[1]).write_text(example[2])
    registry = load_registry(lab)
    assert Path(example[1]).stem in registry.agents
    assert [finding for finding in run_rules(Workspace(lab, registry)) if finding.file == example[1]] == []


def test_every_room_is_on_the_map() -> None:
    text = (REPOSITORY / "ARCHITECTURE.md").read_text()
    rooms = sorted(folder.name for folder in (REPOSITORY / "benchpipe").iterdir() if (folder / "__init__.py").exists())
    assert len(rooms) > 10
    assert [room for room in rooms if f"`{room}/`" not in text] == []


def test_every_file_on_the_map_exists() -> None:
    text = (REPOSITORY / "ARCHITECTURE.md").read_text()
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|yml))`", text)
    rooms = [
        (room, file)
        for room, files in re.findall(r"^\| `([a-z_]+)/` \|.*\| (.+?) \|$", text, re.M)
        for file in re.findall(r"`(\w+\.py)`", files)
    ]
    assert len(named) + len(rooms) > 20
    known = [REPOSITORY / "benchpipe", REPOSITORY]
    assert [name for name in named if not any((root / name).exists() for root in known)] == []
    assert [pair for pair in rooms if not (REPOSITORY / "benchpipe" / pair[0] / pair[1]).exists()] == []
