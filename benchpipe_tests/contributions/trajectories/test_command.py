"""`benchpipe contrib mirror` as maintainers call it."""

import subprocess
import sys

import pytest

from benchpipe_tests.contributions.trajectories.conftest import World


def mirror(world: World, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab", str(world.contribution.lab.root)]
    return subprocess.run([*command, "contrib", "mirror", *options], capture_output=True, text=True, timeout=120)


def test_a_dry_run_says_what_would_be_done_and_asks_nobody(world: World) -> None:
    done = mirror(world, "--dry-run")
    assert done.returncode == 0
    assert "contrib/results/deskwork/first-come/v1.json: download" in done.stdout
    assert world.server.asked == []
    assert not world.trail_path.exists()
    world.go()
    assert "v1.json: nothing to do" in mirror(world, "--submission", str(world.file), "--dry-run").stdout


def test_private_addresses_are_refused_without_a_question(world: World) -> None:
    done = mirror(world, "--folder", str(world.store), "--base", "https://mirror.example/data")
    assert done.returncode == 1
    assert "none → unreachable; not downloaded: 127.0.0.1 leads to a loopback address" in done.stdout
    assert world.server.asked == []


def test_only_hosts_that_the_lab_lists_are_asked(world: World) -> None:
    public = world.contribution.lab.public_file
    public.write_text("trajectory_hosts: [huggingface.co]\n")
    done = mirror(world, "--folder", str(world.store), "--base", "https://mirror.example/data")
    assert "not downloaded: 127.0.0.1 is not among the hosts that are asked" in done.stdout


@pytest.mark.parametrize("options", [("--folder", "x"), ("--submission", "nowhere.json"), ("--folder", "x", "--base", "http://x")])
def test_wrong_use_is_one_line(options: tuple[str, ...], world: World) -> None:
    done = mirror(world, *options)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
