"""Progress is for the person who watches: a bar on a terminal, lines in a log, and nothing of either on stdout."""

import os
import pty
import subprocess
import sys
from pathlib import Path

from benchpipe.lab import Lab

COMMAND = [sys.executable, "-c", "from benchpipe.cli.main import main; main()"]


def on_a_terminal(arguments: list[str]) -> tuple[str, str]:
    """Stdout through a pipe, and what a terminal got as stderr."""
    leader, follower = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=follower, env=environment) as process:
        os.close(follower)
        seen = b""
        try:
            while block := os.read(leader, 1 << 16):
                seen += block
        except OSError:  # the end of a terminal that nobody writes to any more
            pass
        finally:
            os.close(leader)
        out = process.stdout.read() if process.stdout else b""
    return out.decode(), seen.decode()


def test_on_a_terminal_a_bar_is_shown_and_taken_away(lab: Lab) -> None:
    out, seen = on_a_terminal(["--lab", str(lab.root), "check"])
    assert "check: site and links" in seen
    assert "━" in seen
    assert "\x1b[2K" in seen
    assert "4 of 4" not in seen
    assert out.splitlines()[-1].startswith("check: 0 errors")
    assert "\x1b" not in out


def test_elsewhere_it_is_a_line_per_step(lab: Lab) -> None:
    done = subprocess.run([*COMMAND, "--lab", str(lab.root), "check"], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "check: 4 of 4: site and links"
    assert "\x1b" not in done.stderr


def test_a_poll_counts_the_hosts_that_answered(lab: Lab, tmp_path: Path) -> None:
    _, seen = on_a_terminal(["--lab", str(lab.root), "runs"])
    assert "runs: " in seen
    assert "answered" in seen
    assert "gpu1: 17 trials in 2 jobs" in seen


def test_a_build_counts_the_files_that_it_made(lab: Lab) -> None:
    out, seen = on_a_terminal(["--lab", str(lab.root), "site", "build"])
    assert "files made" in seen
    assert "written, 0 linked, 0 removed" in out
