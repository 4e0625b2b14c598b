"""Ways in which a dataset directory can be wrong, each with the code that has to name it and words of its message."""

import gzip
import io
import json
import os
import re
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchpipe_tests.contributions.artifacts.conftest import Tree


@dataclass(frozen=True)
class Mutation:
    """A named change. `words` stand in the message; `also` are codes that may be said beside `code`; `covered`: the coverage
    file is written anew after the change."""

    name: str
    code: str
    words: str
    change: Callable[[Tree], object]
    also: frozenset[str] = field(default_factory=frozenset)
    covered: bool = True
    trials: int = 1


def repack(tree: Tree, round_: int, change: Callable[[dict[str, bytes]], object], special: tarfile.TarInfo | None = None) -> None:
    """Unpack a task archive, change its files (name → bytes), pack it again."""
    path = tree.tasks(round_)
    with tarfile.open(path) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}  # type: ignore[union-attr]
    change(files)
    with gzip.open(path, "wb") as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        if special:
            tar.addfile(special)


def other_replies(files: dict[str, bytes]) -> None:
    """The recorded verdicts stay; what was handed in would not have earned them."""
    for name in files:
        files[name] = re.sub(rb'"reply": "[^"]*"', b'"reply": "nonsense"', files[name])


def noted(text: str) -> Callable[[Tree], object]:
    """A text in a file of the last round's tree, with everything that depends on the tree mended."""

    def change(tree: Tree) -> None:
        (tree.harness(3) / "notes.txt").write_text(f"{text}\n")
        tree.adopt()

    return change


def without_adapter(tree: Tree) -> None:
    file = tree.lab.benchmarks / "deskwork.yml"
    file.write_text(file.read_text().replace("adapter: deskwork", "adapter: elsewhere"))


def link(name: str, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


def put(file: str, *path: Any) -> Callable[[Tree], object]:
    """Set a manifest's value at a path; `file` is family, agent or coverage, the last argument the value."""
    *keys, last, value = path

    def change(tree: Tree) -> None:
        def edit(doc: Any) -> None:
            for key in keys:
                doc = doc[key]
            doc[last] = value

        tree.edit({"family": tree.family_file, "agent": tree.agent_file, "coverage": tree.coverage_file}[file], edit)

    return change


def point(round_: int, *path: Any) -> Callable[[Tree], object]:
    """Set a value of one curve record."""
    *keys, last, value = path

    def change(tree: Tree) -> None:
        def edit(doc: Any) -> None:
            for key in keys:
                doc = doc[key]
            doc[last] = value

        tree.point(round_, edit)

    return change


def replace(path: Callable[[Tree], Path], old: bytes, new: bytes) -> Callable[[Tree], object]:
    def change(tree: Tree) -> None:
        file = path(tree)
        data = file.read_bytes()
        assert old in data
        file.write_bytes(data.replace(old, new, 1))

    return change


def scripted(tree: Tree) -> None:
    """Every round has an executable script and a binary file, from before the measurement."""
    for folder in (tree.method / "harness").iterdir():
        (folder / "run.sh").write_text("#!/bin/sh\nexec python agent.py\n")
        (folder / "run.sh").chmod(0o755)
        number = int(folder.name.removeprefix("round-"))
        (folder / "weights.bin").write_bytes(bytes(range(256)) * 40 + bytes([0, number]) * 9)
    tree.adopt()


def lost_bits(tree: Tree) -> None:
    scripted(tree)
    (tree.harness(2) / "run.sh").chmod(0o644)


def crlf(tree: Tree) -> None:
    file = tree.harness(3) / "agent.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))


def nested_repository(tree: Tree) -> None:
    (tree.harness(1) / "lib" / ".git").mkdir(parents=True)
    (tree.harness(1) / "lib" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


def dropped_ignore(tree: Tree) -> None:
    """The candidate dropped .gitignore, so that scratch is part of the measured tree; publishing without the scratch changes it."""
    (tree.harness(3) / ".gitignore").unlink()
    (tree.harness(3) / "__pycache__").mkdir()
    (tree.harness(3) / "__pycache__" / "a.pyc").write_bytes(b"1")
    tree.adopt()
    shutil.rmtree(tree.harness(3) / "__pycache__")


def announced_binary(tree: Tree, *, lie: bool) -> None:
    """A plain patch only announces the binary change; `lie` names another pre-image."""
    scripted(tree)
    plain_patches(tree)
    if lie:
        data = tree.patch(2).read_bytes()
        at = data.index(b"index ", data.index(b"weights.bin")) + len(b"index ")
        tree.patch(2).write_bytes(data[:at] + b"0123456" + data[at + 7 :])


def plain_patches(tree: Tree) -> None:
    """Patches as `git diff` writes them without options: ids of seven characters, binary changes announced."""
    import re

    for n in (1, 2, 3):
        data = tree.patch(n).read_bytes()
        data = re.sub(rb"index ([0-9a-f]{7})[0-9a-f]+\.\.([0-9a-f]{7})[0-9a-f]+", rb"index \1..\2", data)
        data = re.sub(
            rb"GIT binary patch\n.*?\n\n.*?\n\n",
            b"Binary files a/weights.bin and b/weights.bin differ\n",
            data,
            flags=re.DOTALL,
        )
        tree.patch(n).write_bytes(data)


def swapped_patches(tree: Tree) -> None:
    one, two = tree.patch(1).read_bytes(), tree.patch(2).read_bytes()
    tree.patch(1).write_bytes(two)
    tree.patch(2).write_bytes(one)


def other_verdict(files: dict[str, bytes]) -> None:
    name = next(name for name, data in files.items() if b'"verdict": {"score": 1' in data)
    files[name] = files[name].replace(b'"score": 1.0', b'"score": 0.0')


def bad_line(files: dict[str, bytes]) -> None:
    name = sorted(files)[0]
    files[name] = b"[1, 2]\n" + files[name]


def extra_file(files: dict[str, bytes]) -> None:
    files["notes.txt"] = b"hello\n"


def secret_line(files: dict[str, bytes]) -> None:
    name = sorted(files)[3]
    key = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    files[name] = json.dumps({"step": 0, "output": f"export TOKEN={key}"}).encode() + b"\n" + files[name]


def second_family(tree: Tree, sha: str) -> None:
    """Another family beside the first one, whose round 0 is something else."""
    family = tree.method.parent.with_name("shell-other")
    shutil.copytree(tree.method.parent, family)

    def edit(value: Any) -> None:
        value["id"] = "shell-other"
        value["baseline"]["harness_sha"] = sha

    tree.edit(family / "family.json", edit)


def skipped_round(tree: Tree) -> None:
    """Round 2 is left out although the run is of mode A; the patch of round 3 joins round 1."""
    tree.curve(lambda points: points.pop(2))
    for path in (tree.patch(2), tree.tasks(2)):
        path.unlink()
    shutil.rmtree(tree.harness(2))
    tree.patch(3).write_bytes(tree.tool.difference(tree.method / "harness", "round-1", "round-3"))


def version_change(tree: Tree) -> None:
    tree.edit(tree.harness(3) / "harness.json", lambda value: value.update(version="0.3.0"))
    tree.adopt()


def wider(tree: Tree) -> None:
    tree.edit(tree.harness(2) / "harness.json", lambda value: value.update(env_kinds=["files", "exec"]))
    tree.adopt()


def no_entry(tree: Tree) -> None:
    tree.edit(tree.harness(3) / "harness.json", lambda value: value.update(entrypoint="main.py"))
    tree.adopt()


def missing_manifest(tree: Tree) -> None:
    (tree.harness(3) / "harness.json").unlink()
    tree.adopt()


def control(tree: Tree) -> None:
    for n in range(4):
        tree.edit(tree.harness(n) / "harness.json", lambda value: value.update(role="control"))
    tree.adopt()


def fewer_tasks(tree: Tree) -> None:
    def edit(record: dict[str, Any]) -> None:
        record["per_task"].pop("backwards_1")
        record["n_scored"] = 29
        record["score"] = sum(record["per_task"].values()) / 29

    tree.point(2, edit)


def study_pool(tree: Tree) -> None:
    def edit(record: dict[str, Any]) -> None:
        record["pool"] = "study"
        record["per_task"] = {f"{name.rpartition('_')[0]}_s": 1.0 for name in record["per_task"]}
        record["n_scored"], record["score"] = 10, 1.0

    tree.point(2, edit)


def too_deep(files: dict[str, bytes]) -> None:
    name = sorted(files)[0]
    files[f"../{name}"] = files.pop(name)


MUTATIONS = [
    # --- agents named
    Mutation("another task model", "DS-001", "task agent model is gpt", point(2, "task_agent", "model", "gpt")),
    Mutation("another decoding", "DS-001", "task agent decoding", point(1, "task_agent", "decoding", "sampled")),
    Mutation(
        "another meta model",
        "DS-001",
        "line 4: meta agent model is other, family.json says none",
        point(3, "meta_agent", "model", "other"),
    ),
    Mutation("family of another harness", "DS-001", "base harness", put("family", "task_agent", "base_harness", "clerk@0.2.0")),
    # --- baseline
    Mutation("baseline of another id", "DS-002", "round 0 is", put("agent", "baseline", "harness_sha", "1" * 40)),
    Mutation("family from elsewhere", "DS-002", "used by 2 families", lambda t: second_family(t, "2" * 40)),
    Mutation(
        "more trials in round 0",
        "DS-003",
        "config.trials is 3, baseline 1",
        point(0, "config", "trials", 3),
        also=frozenset({"DS-008"}),
    ),
    Mutation("another study list", "DS-003", "study_ids", point(0, "config", "study_ids", "other.txt")),
    Mutation(
        "temperature in the family", "DS-003", "temperature is 1, baseline 0", put("family", "baseline", "config", "temperature", 1)
    ),
    Mutation("an item left out", "DS-003", "sampling is absent", lambda t: t.point(0, lambda p: p["config"].pop("sampling"))),
    # --- identity
    Mutation(
        "edited tree", "DS-004", "ID-001 harness/round-3 hashes to", lambda t: (t.harness(3) / "agent.py").write_text("x = 1\n")
    ),
    Mutation("lost executable bit", "DS-004", "executable bit of run.sh differs", lost_bits, also=frozenset({"DS-005"})),
    Mutation("CRLF", "DS-004", "same texts with LF line ends", crlf),
    Mutation(
        "file left out", "DS-004", "ID-001", lambda t: (t.harness(2) / "skills" / "50_sort.py").unlink(), also=frozenset({"DS-005"})
    ),
    Mutation("nested repository", "DS-004", "ID-004", nested_repository, also=frozenset({"DS-015"})),
    Mutation(
        "link in the tree", "DS-004", "ID-006", lambda t: (t.harness(1) / "x").symlink_to("/etc/passwd"), also=frozenset({"DS-015"})
    ),
    Mutation("scratch that was measured is left out", "DS-004", "ID-001", dropped_ignore),
    Mutation("record of another state", "DS-004", "reports 3333", point(3, "identity", "harness_sha", "3" * 40)),
    Mutation("tree not supplied", "DS-014", "ID-002", lambda t: shutil.rmtree(t.harness(3)), also=frozenset({"DS-015"})),
    # --- patches
    Mutation("patch of another round", "DS-005", "does not join round-0 to round-1", swapped_patches),
    Mutation("edited hunk", "DS-005", "round-2", replace(lambda t: t.patch(2), b"\n+", b"\n+# ")),
    Mutation("emptied patch", "DS-005", "applied, it gives", lambda t: t.patch(3).write_bytes(b"")),
    Mutation(
        "no patch format", "DS-005", "git diff --binary", lambda t: t.patch(3).write_bytes(b"--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n")
    ),
    Mutation(
        "wrong mode", "DS-005", "applied, it gives", replace(lambda t: t.patch(1), b"new file mode 100644", b"new file mode 100755")
    ),
    Mutation(
        "announced binary with another pre-image",
        "DS-005",
        "weights.bin pre-image 0123456",
        lambda t: announced_binary(t, lie=True),
    ),
    Mutation("patch missing", "DS-015", "not here", lambda t: t.patch(2).unlink()),
    # --- coverage
    Mutation("no coverage file", "DS-006", "is missing", lambda t: t.coverage_file.unlink(), covered=False),
    Mutation(
        "listed and absent", "DS-006", "file is absent", lambda t: t.tasks(2).unlink(), covered=False, also=frozenset({"DS-016"})
    ),
    Mutation(
        "there and not listed",
        "DS-006",
        "is not listed",
        lambda t: t.edit(t.coverage_file, lambda v: v["entries"].pop(1)),
        covered=False,
    ),
    Mutation("other hash", "DS-006", "coverage says", put("coverage", "entries", 1, "sha256", "patch", "0" * 64), covered=False),
    Mutation(
        "other number of task files", "DS-006", "n_task_files", put("coverage", "entries", 1, "n_task_files", 7), covered=False
    ),
    Mutation(
        "unsorted coverage",
        "DS-006",
        "not sorted",
        lambda t: t.edit(t.coverage_file, lambda v: v["entries"].reverse()),
        covered=False,
    ),
    # --- layout
    Mutation("stray file", "DS-007", "unexpected file", lambda t: (t.method / "model.bin").write_bytes(b"x")),
    Mutation(
        "link to a folder", "DS-007", "unexpected link", lambda t: (t.method / "tasks" / "round-9.tar.gz").symlink_to("/etc/hosts")
    ),
    Mutation("device", "DS-007", "unexpected device", lambda t: os.mkfifo(t.method / "tasks" / "round-8.tar.gz")),
    Mutation("patch of round 0", "DS-007", "round 0 has no patch", lambda t: t.patch(0).write_bytes(b"")),
    Mutation(
        "padded round number",
        "DS-007",
        "round-03",
        lambda t: t.harness(3).rename(t.harness(3).with_name("round-03")),
        also=frozenset({"DS-014", "DS-015"}),
    ),
    Mutation("method not in family.json", "DS-007", "lists methods", put("family", "methods", ["first-come", "ghost"])),
    Mutation("renamed family", "DS-007", "has id", put("family", "id", "dsh-x")),
    Mutation("renamed task agent", "DS-007", "has id", put("agent", "id", "rules")),
    Mutation("files of an unrecorded round", "DS-007", "no usable record", lambda t: shutil.copytree(t.harness(3), t.harness(7))),
    # --- task archives
    Mutation(
        "trial missing",
        "DS-008",
        "backwards_1 trial 1 has no file",
        lambda t: repack(t, 1, lambda f: f.pop("backwards_1/trial-1.jsonl")),
        trials=2,
    ),
    Mutation(
        "task missing",
        "DS-008",
        "TRJ-004 task backwards_1 trial 0",
        lambda t: repack(t, 2, lambda f: f.pop("backwards_1/trial-0.jsonl")),
    ),
    Mutation("file too many", "DS-008", "unexpected file notes.txt", lambda t: repack(t, 2, extra_file)),
    Mutation("other verdict", "DS-008", "has verdict 0, curve.jsonl says 1", lambda t: repack(t, 3, other_verdict)),
    Mutation("other replies", "DS-008", "replayed at L3 gives 0, curve.jsonl says 1", lambda t: repack(t, 3, other_replies)),
    Mutation("adapter that is not here", "DS-016", "L3 is wanted, L1 was reached", without_adapter),
    Mutation("line that is no object", "DS-008", "TRJ-005", lambda t: repack(t, 1, bad_line)),
    Mutation("traversal in the archive", "DS-008", "TRJ-003", lambda t: repack(t, 1, too_deep)),
    Mutation(
        "link in the archive", "DS-008", "TRJ-003", lambda t: repack(t, 1, lambda f: None, link("a/trial-0.jsonl", "/etc/passwd"))
    ),
    Mutation("cut archive", "DS-008", "ends in the middle", lambda t: t.tasks(1).write_bytes(t.tasks(1).read_bytes()[:-200])),
    Mutation("archive missing", "DS-016", "not here", lambda t: t.tasks(3).unlink()),
    # --- gate
    Mutation("one task short", "DS-009", "SET-001", fewer_tasks, also=frozenset({"DS-018"})),
    Mutation("study pool", "DS-009", "SET-006", study_pool, also=frozenset({"DS-008"})),
    Mutation("unknown pool", "DS-009", "SET-007", point(1, "pool", "valid"), also=frozenset({"DS-008"})),
    Mutation("unmeasured task", "DS-009", "VAL-001", point(2, "n_invalid", 1)),
    Mutation("no trace", "DS-009", "VAL-002", point(2, "n_harness_failed", 2)),
    Mutation("reported by the method", "DS-009", "VAL-005", point(3, "measured_by_platform", False)),
    Mutation("training score", "DS-009", "VAL-006", point(3, "score_kind", "training")),
    Mutation("raised score", "DS-009", "SCO-001", point(3, "score", 0.9)),
    Mutation("half a pass", "DS-009", "SCO-005", point(2, "per_task", "backwards_1", 0.5), also=frozenset({"DS-008"})),
    Mutation("more than a pass", "DS-009", "SCO-002", point(2, "per_task", "backwards_1", 1.5), also=frozenset({"DS-008"})),
    # --- manifests
    Mutation("new version", "DS-010", "round 3 changes harness version 0.1.0 -> 0.3.0", version_change),
    Mutation("wider environment", "DS-010", "widens env_kinds by exec", wider),
    Mutation("no entry point", "DS-010", "main.py is no file", no_entry),
    Mutation("no harness.json", "DS-010", "has no harness.json", missing_manifest),
    Mutation("control harness", "DS-010", "control harness", control),
    # --- secrets
    Mutation(
        "credential in the harness", "DS-011", "notes.txt:1 (rule sk-key", noted("call it with sk-" + "proj-" + "0aB1cD" * 10)
    ),
    Mutation("messenger id in the harness", "DS-011", "messenger id", noted("WeChat: " + "ada_wx_1815")),
    Mutation("telephone number in the harness", "DS-011", "telephone number", noted("call +49 " + "170 1234567")),
    Mutation("private host in the harness", "DS-011", "private host", noted("http://gpu7." + "internal:8000/v1")),
    Mutation("credential in a task archive", "DS-011", "tasks/round-2.tar.gz:", lambda t: repack(t, 2, secret_line)),
    Mutation(
        "e-mail in a patch",
        "DS-011",
        "e-mail",
        lambda t: t.patch(1).write_bytes(b"From: Jo <jo.doe@" + b"lab-mail.org>\n\n" + t.patch(1).read_bytes()),
    ),
    # --- records
    Mutation("broken curve", "DS-012", "line 2", replace(lambda t: t.method / "curve.jsonl", b'\n{"run_id"', b"\n{run_id")),
    Mutation("score as text", "DS-012", "score is of type string", point(1, "score", "0.5"), also=frozenset({"DS-007", "DS-005"})),
    Mutation(
        "no record of round 0",
        "DS-012",
        "no record of round 0",
        lambda t: t.curve(lambda p: p.pop(0)),
        also=frozenset({"DS-007", "DS-012"}),
    ),
    Mutation("skipped round in mode A", "DS-012", "mode B", skipped_round),
    Mutation("key twice in a manifest", "DS-012", "twice", lambda t: t.family_file.write_text('{"id": "a", "id": "b"}')),
    Mutation("round 0 by luck", "DS-013", "two standard errors", put("agent", "baseline", "score", 0.9)),
    Mutation("a family that boasts of its start", "DS-013", "of family.json 0.9", put("family", "baseline", "score", 0.9)),
    Mutation("a family that began on another pool", "DS-019", "pool exam, the", put("family", "baseline", "pool", "study")),
    Mutation("a family that began on fewer tasks", "DS-019", "n_tasks 30, the", put("family", "baseline", "n_tasks", 29)),
]
