"""Killed at random while mirroring: whoever goes on ends with the same files as if nothing had happened."""

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.contributions.trajectories.conftest import World


def start(world: World, root: Path, store: Path) -> "subprocess.Popen[str]":
    file = root / world.file.relative_to(world.contribution.lab.root)
    place = [str(root), str(file), str(store), str(world.server.server_port), str(world.server.certificate)]
    command = [sys.executable, "-m", "benchpipe_tests.contributions.trajectories.mirror_process", *place]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)


def finished(process: "subprocess.Popen[str]") -> str:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return out.split()[-1]


def contents(*folders: Path) -> dict[str, bytes]:
    """Every file that counts: not the caches, not locks, not what a killed writer left beside its target."""
    files = {
        f"{folder.name}/{path.relative_to(folder)}": path for folder in folders for path in folder.rglob("*") if path.is_file()
    }
    return {name: path.read_bytes() for name, path in files.items() if ".cache" not in path.parts and not path.name.startswith(".")}


def kill_and_go_on(world: World, tmp_path: Path, seeds: range) -> None:
    lab = world.contribution.lab.root
    fresh = tmp_path / "fresh"
    shutil.copytree(lab, fresh)
    undisturbed = start(world, lab, world.store)
    assert undisturbed.stdout is not None
    undisturbed.stdout.readline()
    ready = time.monotonic()
    assert finished(undisturbed) == "mirrored"
    whole = time.monotonic() - ready
    wanted = contents(lab / "contrib", lab / "state", world.store)
    n_killed = 0
    for seed in seeds:
        rng = random.Random(seed)
        root, store = tmp_path / f"{seed}" / "lab", tmp_path / f"{seed}" / "store"
        shutil.copytree(fresh, root)
        for _ in range(rng.randint(1, 3)):
            process = start(world, root, store)
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(rng.uniform(0, whole))
            n_killed += process.poll() is None
            process.kill()
            process.communicate()
        assert finished(start(world, root, store)) == "mirrored"
        assert contents(root / "contrib", root / "state", store) == wanted
        assert not list((root / ".cache" / "contrib" / "trajectories").rglob("archive*"))
        shutil.rmtree(root.parent)
    assert n_killed >= len(seeds) // 3


def test_killed_five_times_it_ends_the_same(world: World, tmp_path: Path) -> None:
    kill_and_go_on(world, tmp_path, range(5))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_killed_thirty_times_it_ends_the_same(world: World, tmp_path: Path) -> None:
    kill_and_go_on(world, tmp_path, range(100, 130))


@pytest.mark.parametrize("n", range(1, 9))
def test_cut_off_right_after_any_saved_state_it_ends_the_same(n: int, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at random: after the nth saved state, all of them in turn."""
    from benchpipe.contributions.trajectories import mirroring

    saved: list[str] = []
    save = mirroring.save_trail

    class Cut(Exception):
        pass

    def save_and_cut(file: Path, trail: object) -> None:
        save(file, trail)  # type: ignore[arg-type]
        saved.append(trail.state)  # type: ignore[attr-defined]
        if len(saved) == n:
            raise Cut

    with monkeypatch.context() as patched:
        patched.setattr(mirroring, "save_trail", save_and_cut)
        with pytest.raises(Cut):
            world.go()
    assert world.go().after == "mirrored"
    assert world.report().verdict == "verified"
