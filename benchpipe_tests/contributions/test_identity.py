"""Harness identity: the vectors, git itself on random folders, and what a tree that does not match has to say (8)."""

import json
import os
import random
import subprocess
import tracemalloc
from pathlib import Path

import pytest

from benchpipe.contributions import identity

NAMES = [
    "a",
    "b.py",
    "c.pyc",
    "foo",
    "foo-bar",
    "foo.txt",
    "foo0",
    "é",
    "x y",
    "#odd",
    "!odd",
    "keep.log",
    "z.log",
    ".state",
    "_harnessgrad",
    "__pycache__",
    "lib",
    "tools",
]
RULES = [
    "*.log",
    "!keep.log",
    "foo/",
    "/foo.txt",
    "lib/*.py",
    "**/a",
    "tools/**",
    "!tools/b.py",
    "x\\ y",
    "f?o",
    "[a-c].py",
    "[!a]*",
    "\\#odd",
    "\\!odd",
    "# comment",
    "",
    "é",
    "a/b/",
    "foo-*",
    "z.log   ",
]


def vectors(shared: Path) -> list[dict[str, object]]:
    return json.loads((shared / "spec" / "tree-hash-vectors.json").read_text())["vectors"]


def test_the_vectors_of_the_specification(shared: Path) -> None:
    for vector in vectors(shared):
        files = {f["path"]: identity.blob(f["text"].encode(), f["mode"]) for f in vector["files"]}  # type: ignore[index, attr-defined]
        files = identity.stage(files) if vector["staged"] else files
        assert identity.tree_id(files) == vector["harness_sha"], vector["id"]


def test_a_harness_without_ignore_file_gets_one_that_begins_with_an_empty_line() -> None:
    assert identity.normalised_ignore("") == "\n_harnessgrad/\n__pycache__/\n*.pyc\n.state/\n"
    assert ".state/\n" not in identity.normalised_ignore("keep.state/\n").replace("keep.state/\n", "")


def random_folder(rng: random.Random, root: Path, depth: int = 0) -> None:
    for name in rng.sample(NAMES, rng.randint(1, 6)):
        path = root / name
        if depth < 3 and rng.random() < 0.35:
            path.mkdir()
            random_folder(rng, path, depth + 1)
        else:
            path.write_bytes(rng.randbytes(rng.randint(0, 40)))
            path.chmod(rng.choice([0o644, 0o755, 0o600, 0o744]))
    if rng.random() < (0.5 if depth else 0.9):
        ignore = root / ".gitignore"
        if not ignore.exists():
            ends = rng.choice(["\n", "\n", "\r\n"])
            ignore.write_bytes(ends.join(rng.sample(RULES, rng.randint(1, 5))).encode() + rng.choice([b"", b"\n"]))


def git_tree(root: Path, *, force: bool, scratch: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(scratch)}
    environment |= {"GIT_DIR": str(scratch / "git"), "GIT_WORK_TREE": str(root)}

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], check=True, capture_output=True, text=True, env=environment, cwd=root
        ).stdout.strip()

    git("init", "-q")
    git("config", "core.excludesFile", os.devnull)
    git("add", "-A", *(["--force"] if force else []), ".")
    return git("write-tree")


def check_against_git(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    root = tmp_path / f"tree{seed}"
    root.mkdir()
    random_folder(rng, root)
    files = identity.read_tree(root)
    for force in (True, False):
        scratch = tmp_path / f"git{seed}{force}"
        scratch.mkdir()
        ours = identity.tree_id(files if force else identity.without_ignored(files))
        assert ours == git_tree(root, force=force, scratch=scratch), (seed, force, sorted(files))


def test_trees_are_those_of_git_for_random_folders(tmp_path: Path) -> None:
    for seed in range(15):
        check_against_git(seed, tmp_path)


@pytest.mark.long
def test_trees_are_those_of_git_for_two_hundred_random_folders(tmp_path: Path) -> None:
    for seed in range(200):
        check_against_git(seed, tmp_path)


def test_staging_twice_changes_nothing(tmp_path: Path) -> None:
    for seed in range(20):
        root = tmp_path / str(seed)
        root.mkdir()
        random_folder(random.Random(seed), root)
        once = identity.stage(identity.read_tree(root))
        if ".gitignore" in once:  # a rule may ignore the file that it stands in
            assert identity.tree_id(identity.stage(once)) == identity.tree_id(once)


TREE = {"run.sh": identity.blob(b"#!/bin/sh\n", identity.EXECUTABLE), "a.py": identity.blob(b"x = 1\ny = 2\n")}


@pytest.mark.parametrize(
    ("published", "how"),
    [
        ({**TREE, "run.sh": identity.blob(b"#!/bin/sh\n")}, "same files, executable bit of run.sh differs"),
        ({**TREE, "a.py": identity.blob(b"x = 1\r\ny = 2\r\n")}, "same texts with LF line ends"),
        ({**TREE, "a.py": identity.blob(b"x = 3\n")}, "no simple change of modes or line ends explains it"),
    ],
)
def test_a_mismatch_is_explained_and_never_accepted(published: dict[str, identity.Blob], how: str) -> None:
    match = identity.identify(published, identity.tree_id(TREE))
    assert not match.exact
    assert match.how == how


def test_a_tree_is_tried_as_it_is_before_it_is_staged() -> None:
    assert identity.identify(TREE, identity.tree_id(TREE)).how == "as is"
    assert identity.identify(TREE, identity.tree_id(identity.stage(TREE))).how == "staged"


def test_sha256_repositories_have_ids_of_64_characters(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert len(identity.tree_id(identity.read_tree(tmp_path, "sha256"))) == 64


def test_nested_repositories_and_links_have_no_identity(tmp_path: Path) -> None:
    (tmp_path / "lib" / ".git").mkdir(parents=True)
    with pytest.raises(identity.BadTree, match="nested repository") as caught:
        identity.read_tree(tmp_path)
    assert caught.value.code == "ID-004"
    (tmp_path / "lib" / ".git").rmdir()
    (tmp_path / "link").symlink_to("lib")
    with pytest.raises(identity.BadTree, match="link or a device"):
        identity.read_tree(tmp_path)


def test_a_large_file_is_hashed_a_piece_at_a_time(tmp_path: Path) -> None:
    with open(tmp_path / "weights.bin", "wb") as file:
        file.truncate(200 << 20)
    tracemalloc.start()
    files = identity.read_tree(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (
        files["weights.bin"].id
        == subprocess.run(
            ["git", "hash-object", tmp_path / "weights.bin"], check=True, capture_output=True, text=True
        ).stdout.strip()
    )
    assert (files["weights.bin"].data, peak < 20 << 20) == (None, True)


def test_a_file_that_grows_while_it_is_read_has_no_identity(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("one\n")
    for pieces in ([b"one\n", b"two\n"], [b"one"]):
        with pytest.raises(identity.BadTree, match="changed while it was read"):
            identity.read_tree(tmp_path, blocks=lambda path, pieces=pieces: pieces)


def test_the_platform_identity_is_its_written_rule() -> None:
    import hashlib

    lines = "".join(f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in ((("a/b.py"), b"1"), ("a/c.py", b"2")))
    assert identity.content_sha({"a/c.py": b"2", "a/b.py": b"1"}) == hashlib.sha256(lines.encode()).hexdigest()
