"""Patches applied without git give what git gives: random histories, text and binary, against real git (DS-005)."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from benchpipe.contributions import identity
from benchpipe.contributions.artifacts import patches
from benchpipe.contributions.identity import Blob

NAMES = ["a", "b.py", "é x", "d/q", "d/r.bin", 'we"ird\\n', "e/f/g", "tab\there"]
DIFFS = (["--binary", "--full-index"], ["--binary", "-M", "-C"], [], ["-U0", "--binary"], ["-M", "--full-index"])


def git(root: Path, *arguments: str) -> bytes:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(root)}
    environment |= {f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, env=environment).stdout


def content(rng: random.Random) -> bytes:
    if (kind := rng.random()) < 0.1:
        return b""
    if kind < 0.35:
        return rng.randbytes(rng.randint(1, 3000))
    lines = [rng.choice([b"x", b"yy", b"", b"\r", b"zzz\x0b", b"-- ", b"diff --git a/x b/x"]) for _ in range(rng.randint(1, 40))]
    return b"\n".join(lines) + rng.choice([b"", b"\n"])


def edited(rng: random.Random, data: bytes) -> bytes:
    if rng.random() < 0.3 or not data:
        return content(rng)
    if rng.random() < 0.4:
        at = rng.randrange(len(data))
        return data[:at] + rng.randbytes(3) + data[at:]
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    lines[at : at + rng.randint(0, 2)] = [b"new%d" % rng.randint(0, 9)] * rng.randint(0, 3)
    return b"\n".join(lines)


def put(rng: random.Random, path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(rng.choice([0o644, 0o644, 0o755]))


def tree_of(root: Path) -> dict[str, Blob]:
    files = [path for path in root.rglob("*") if ".git" not in path.parts and path.is_file()]
    modes = {True: identity.EXECUTABLE, False: identity.FILE}
    return {
        path.relative_to(root).as_posix(): identity.blob(path.read_bytes(), modes[bool(path.stat().st_mode & 0o100)])
        for path in files
    }


def history(seed: int, root: Path) -> tuple[dict[str, Blob], dict[str, Blob], str]:
    """(tree before, tree after, git's id of it) of a random repository whose second state is staged."""
    rng = random.Random(seed)
    root.mkdir()
    for name in rng.sample(NAMES, rng.randint(1, 6)):
        put(rng, root / name, content(rng))
    git(root, "init", "-q")
    git(root, "add", "-A", "-f")
    git(root, "commit", "-qm", "before")
    before = tree_of(root)
    for name in NAMES:
        path = root / name
        if rng.random() < 0.5:
            continue
        if not path.exists():
            put(rng, path, content(rng))
        elif (kind := rng.random()) < 0.3:
            path.unlink()
        elif kind < 0.5:
            path.rename(root / f"moved{rng.randint(0, 9)}")
        else:
            put(rng, path, edited(rng, path.read_bytes()))
    git(root, "add", "-A", "-f")
    return before, tree_of(root), git(root, "write-tree").decode().strip()


def check_against_git(seed: int, root: Path) -> None:
    before, after, wanted = history(seed, root)
    for options in DIFFS:
        data = git(root, "diff", "--cached", *options)
        fault = patches.joins(data, before, after, frozenset([wanted]), lambda path, file: file.data or b"")
        assert fault == "", (seed, options)
        if before != after:  # the same patch joins nothing to the tree it began with
            assert patches.joins(data, before, before, frozenset([identity.tree_id(before)]), lambda path, file: file.data or b"")


def test_patches_of_random_histories_join_as_git_says(tmp_path: Path) -> None:
    for seed in range(12):
        check_against_git(seed, tmp_path / str(seed))


@pytest.mark.long
def test_patches_of_three_hundred_random_histories(tmp_path: Path) -> None:
    for seed in range(300):
        check_against_git(seed, tmp_path / str(seed))


def test_damaged_patches_are_refused_and_never_crash(tmp_path: Path) -> None:
    before, after, wanted = history(3, tmp_path / "repository")
    data = git(tmp_path / "repository", "diff", "--cached", "--binary", "--full-index")
    rng = random.Random(1)
    n_refused = 0
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(damaged))
            damaged[at : at + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 3))
        n_refused += bool(patches.joins(bytes(damaged), before, after, frozenset([wanted]), lambda path, file: file.data or b""))
    assert n_refused > 200


def test_a_patch_may_carry_a_mail_head_and_signature() -> None:
    before = {"a.txt": identity.blob(b"one\ntwo\n")}
    after = {"a.txt": identity.blob(b"one\n2\n")}
    data = (
        b"Subject: [PATCH] two\n\n---\n a.txt | 2 +-\n\ndiff --git a/a.txt b/a.txt\nindex "
        + f"{before['a.txt'].id[:7]}..{after['a.txt'].id[:7]} 100644\n".encode()
        + b"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n-- \n2.39.5\n"
    )
    assert patches.joins(data, before, after, frozenset([identity.tree_id(after)]), lambda path, file: file.data or b"") == ""


def test_a_binary_part_may_not_unpack_to_more_than_it_says() -> None:
    import base64
    import zlib

    packed = zlib.compress(b"x" * 10_000_000)[:52]
    line = chr(len(packed) - 27 + ord("a")) if len(packed) > 26 else chr(len(packed) + 64)
    data = b"diff --git a/b b/b\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral 10\n"
    data += line.encode() + base64.b85encode(packed, pad=True) + b"\n\n"
    assert "has not the 10 bytes" in patches.joins(data, {}, {}, frozenset(["0" * 40]), lambda path, file: b"")
