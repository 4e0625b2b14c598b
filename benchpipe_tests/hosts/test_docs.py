"""The manual page for hosts is true: its example loads, and every message it explains is one that the code says."""

import re
from pathlib import Path

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe_tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "hosts.md").read_text("utf-8")


def test_the_example_hosts_file_loads_without_a_problem(lab: Lab) -> None:
    example = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert example
    (lab.runs / "hosts.demo.local.yml").write_text(example[1])
    registry = load_registry(lab)
    assert registry.problems == ()
    assert {name: host.transport for name, host in registry.hosts.items()} == {
        "here": "local", "gpu1": "paramiko", "gpu2": "paramiko", "vault": "openssh", "old": "paramiko"
    }  # fmt: skip


def test_every_message_in_troubleshooting_is_one_that_the_code_says() -> None:
    package = REPOSITORY / "benchpipe"
    code = " ".join(path.read_text("utf-8") for room in ("hosts", "probe") for path in Path(package / room).glob("*.py"))
    rows = re.findall(r"^\| (`.*?`) \|", PAGE.partition("## Troubleshooting")[2], re.MULTILINE)
    assert len(rows) > 15
    pieces = [piece.strip() for row in rows for message in re.findall(r"`([^`]+)`", row) for piece in message.split("…")]
    assert [piece for piece in pieces if piece not in code] == []
