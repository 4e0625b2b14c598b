"""Eighty ways in which a submission can be wrong, each with what the gate has to answer.

A forgery changes an honest contribution in one respect. `code` has to be among the findings; `verdict` is the file's.
"""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchpipe_tests.contributions.conftest import Contribution

REFUSED, UNVERIFIED = "refused", "unverified"
MAIL, TOKEN, HOME = "ada@" + "mail.example.org", "hf_" + "Ab3" * 12, "/home/" + "ada/work"
"""What has to stay where it came from."""


@dataclass(frozen=True)
class Forgery:
    """A named change, the code that names it, the verdict, and from how many trials the contribution starts."""

    name: str
    code: str
    verdict: str
    change: Callable[[Contribution], object]
    trials: int = 1


def put(*path: Any) -> Callable[[Contribution], object]:
    """Set the submission's value at a path; the last argument is the value."""
    *keys, last, value = path

    def change(contribution: Contribution) -> None:
        def edit(doc: Any) -> None:
            for key in keys:
                doc = doc[key]
            doc[last] = value

        contribution.edit(edit)

    return change


def drop(*path: Any) -> Callable[[Contribution], object]:
    """Remove the submission's key at a path."""
    *keys, last = path

    def change(contribution: Contribution) -> None:
        def edit(doc: Any) -> None:
            for key in keys:
                doc = doc[key]
            del doc[last]

        contribution.edit(edit)

    return change


def text(old: str, new: str) -> Callable[[Contribution], object]:
    """Replace text of the submission file once."""

    def change(contribution: Contribution) -> None:
        before = contribution.file.read_text()
        assert old in before
        contribution.file.write_text(before.replace(old, new, 1))

    return change


def tasks(edit: Callable[[dict[str, Any]], object], run: int = 1) -> Callable[[Contribution], object]:
    """Change a run's per-task file."""
    return lambda c: c.edit(edit, c.per_task(run))


def meta(edit: Callable[[dict[str, Any]], object]) -> Callable[[Contribution], object]:
    """Change run_meta.json."""
    return lambda c: c.edit(edit, c.run_meta)


def point(edit: Callable[[dict[str, Any]], object], round_: int = 3) -> Callable[[Contribution], object]:
    """Change one round's record in curve.jsonl."""
    return lambda c: c.edit_curve(lambda points: edit(points[round_]))


def both(*changes: Callable[[Contribution], object]) -> Callable[[Contribution], object]:
    """Several changes after each other."""
    return lambda c: [change(c) for change in changes]


def move_task(doc: dict[str, Any], where: str, entry: dict[str, Any]) -> None:
    task = next(iter(doc["tasks"]))
    del doc["tasks"][task]
    doc[where][task] = entry


def flat(contribution: Contribution) -> None:
    """The per-task file in its flat form, and no curve."""
    path = contribution.per_task(1)
    path.write_text(json.dumps({task: entry["score"] for task, entry in json.loads(path.read_text())["tasks"].items()}))
    (contribution.dataset / "curve.jsonl").unlink()


def one_solved_more(doc: dict[str, Any]) -> None:
    task = next(task for task, entry in doc["tasks"].items() if entry["score"] == 0)
    doc["tasks"][task]["score"] = 1


def rename_task(doc: dict[str, Any]) -> None:
    doc["tasks"]["backwards_9"] = doc["tasks"].pop("backwards_1")


def link_per_task(contribution: Contribution) -> None:
    path = contribution.per_task(1)
    os.rename(path, path.with_suffix(".other"))
    path.symlink_to(path.with_suffix(".other"))


def lay_aside(contribution: Contribution) -> None:
    place = contribution.lab.contrib_results / "deskwork" / "v1.json"
    contribution.file = contribution.file.rename(place)


def crlf(contribution: Contribution) -> None:
    for file in contribution.tree(3).rglob("*.py"):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))


def study_pool(contribution: Contribution) -> None:
    """A run on the study pool, presented as a result."""

    def edit(doc: dict[str, Any]) -> None:
        doc["tasks"] = {f"{kind.rpartition('_')[0]}_s": {"score": 1} for kind in list(doc["tasks"])[::3]}

    contribution.edit(edit, contribution.per_task(1))
    contribution.edit(lambda doc: doc["runs"][1].update(n_tasks=10, score=1, pool="study"))


FORGERIES: tuple[Forgery, ...] = (
    # --- the file
    Forgery("not JSON", "SUB-001", REFUSED, lambda c: c.file.write_text("{")),
    Forgery("an empty file", "SUB-001", REFUSED, lambda c: c.file.write_text("")),
    Forgery("a list instead of an object", "SUB-005", REFUSED, lambda c: c.file.write_text("[]")),
    Forgery("a key twice", "SUB-001", REFUSED, text('"variant":', '"variant": "v1", "variant":')),
    Forgery("a score of NaN", "SUB-001", REFUSED, text('"score": 0.2333', '"score": NaN')),
    Forgery("a score of 1e400", "SUB-001", REFUSED, text('"score": 0.2333', '"score": 1e400')),
    Forgery("bytes that are no UTF-8", "SUB-001", REFUSED, lambda c: c.file.write_bytes(c.file.read_bytes() + b"\xff")),
    Forgery("a byte order mark", "SUB-001", REFUSED, lambda c: c.file.write_bytes(b"\xef\xbb\xbf" + c.file.read_bytes())),
    Forgery("true as a number", "SUB-005", REFUSED, put("runs", 1, "n_tasks", True)),
    Forgery("a score as text", "SUB-005", REFUSED, put("runs", 1, "score", "0.5")),
    Forgery("a count with a fraction", "SUB-005", REFUSED, text('"n_tasks": 30', '"n_tasks": 30.0')),
    Forgery("no score", "SUB-003", REFUSED, drop("runs", 1, "score")),
    Forgery("no credit", "SUB-003", REFUSED, drop("credit")),
    Forgery("no runs", "SUB-006", REFUSED, put("runs", [])),
    Forgery("an unknown field", "SUB-004", REFUSED, put("runs", 1, "n_solved", 12)),
    Forgery("another schema", "SUB-006", REFUSED, put("schema", "harnessgrad.submission.v9")),
    Forgery("a score above one", "SUB-006", REFUSED, put("runs", 1, "score", 1.2)),
    Forgery("a negative count", "SUB-006", REFUSED, put("runs", 1, "n_invalid", -1)),
    Forgery("a short identity", "SUB-006", REFUSED, put("runs", 1, "harness_sha", "abc123")),
    Forgery("a capital in an identity", "SUB-006", REFUSED, put("platform", "content_sha", "A" * 64)),
    Forgery("a link that is a script", "SUB-006", REFUSED, put("credit", "link", "javascript:alert(1)")),
    Forgery("a paper over plain http", "SUB-006", REFUSED, put("method", "paper", "http://example.org/p")),
    Forgery("a run id with a slash", "SUB-006", REFUSED, put("runs", 1, "run_id", "a/b")),
    Forgery("an unknown sampling", "SUB-006", REFUSED, put("config", "sampling", "best_5")),
    Forgery(
        "an unregistered benchmark",
        "SET-009",
        REFUSED,
        both(put("dataset", "chess"), put("credit", "submitted", [{"dataset": "chess", "method": "first-come"}])),
    ),
    # --- the file with itself
    Forgery("another variant than the file's name", "SUB-010", REFUSED, put("variant", "v2")),
    Forgery("a file in the folder of its dataset", "SUB-010", REFUSED, lay_aside),
    Forgery("another method in improver", "SUB-011", REFUSED, put("improver", "method", "other@1")),
    Forgery("other rounds in config", "SUB-012", REFUSED, put("config", "rounds", 5)),
    Forgery("another model in config", "SUB-013", REFUSED, put("config", "model", "gpt")),
    Forgery("another temperature in words", "SUB-014", REFUSED, put("task_agent", "decoding", "greedy (temperature=0.7)")),
    Forgery("a round that was never run", "SUB-015", REFUSED, put("runs", 1, "round", 4)),
    Forgery(
        "credit for something else", "SUB-016", REFUSED, put("credit", "submitted", [{"dataset": "deskwork", "method": "other"}])
    ),
    Forgery("a path out of the folder", "SUB-017", REFUSED, put("runs", 1, "per_task", "results/../../secret.json")),
    Forgery("an absolute path", "SUB-017", REFUSED, put("runs", 1, "per_task", "/etc/passwd")),
    Forgery("a path with backslashes", "SUB-017", REFUSED, put("runs", 1, "per_task", "results\\x.json")),
    Forgery("an address as a path", "SUB-017", REFUSED, put("runs", 1, "per_task", "https://example.org/x.json")),
    Forgery(
        "one file for two runs",
        "SUB-017",
        REFUSED,
        lambda c: c.edit(lambda d: d["runs"][1].update(per_task=d["runs"][0]["per_task"])),
    ),
    Forgery("a verdict of one's own", "SUB-020", REFUSED, put("status", {"verified": True})),
    Forgery(
        "a mirror of one's own",
        "SUB-020",
        REFUSED,
        put("trajectories", {"location": "https://example.org/t", "format": "x", "bytes": 1, "sha256": "0" * 64, "mirror": {}}),
    ),
    Forgery("contact data", "SUB-021", REFUSED, put("credit", "contact", "ada at home")),
    Forgery("a placeholder", "SUB-022", REFUSED, put("credit", "affiliation", "<your institution>")),
    Forgery("the page's method name", "SUB-022", REFUSED, put("improver", "harness", "your-method")),
    Forgery(
        "a run twice",
        "SUB-023",
        REFUSED,
        lambda c: c.edit(lambda d: d["runs"].append({**d["runs"][1], "per_task": "results/x.json"})),
    ),
    Forgery(
        "a run twice, its pool named and not named",
        "SUB-023",
        REFUSED,
        lambda c: c.edit(
            lambda d: d["runs"].append(
                {
                    key: value
                    for key, value in {**d["runs"][1], "per_task": "contrib/" + d["runs"][1]["per_task"]}.items()
                    if key != "pool"
                }
            )
        ),
    ),
    Forgery(
        "one per-task file by two names",
        "SUB-017",
        REFUSED,
        lambda c: c.edit(lambda d: d["runs"][0].update(per_task="contrib/" + d["runs"][1]["per_task"])),
    ),
    Forgery("another method's per-task file", "SUB-017", REFUSED, put("runs", 1, "per_task", "results/deskwork/theirs/v1/p.json")),
    Forgery("improvement without an improver", "SUB-024", REFUSED, put("improver", None)),
    # --- the per-task file
    Forgery("no per-task file", "PUB-001", REFUSED, lambda c: c.per_task(1).unlink()),
    Forgery("a per-task file that is a link", "PTF-001", REFUSED, link_per_task),
    Forgery("a per-task file that is not JSON", "PTF-001", REFUSED, lambda c: c.per_task(1).write_text("[1")),
    Forgery("a per-task file with a task twice", "PTF-001", REFUSED, lambda c: c.per_task(1).write_text('{"a": 1, "a": 0}')),
    Forgery("a per-task score that is true", "PTF-001", REFUSED, lambda c: c.per_task(1).write_text('{"a": true}')),
    Forgery("an empty per-task file", "PTF-001", REFUSED, lambda c: c.per_task(1).write_text("{}")),
    Forgery("a per-task file of another run", "PTF-002", UNVERIFIED, tasks(lambda d: d.update(run_id="other"))),
    Forgery("a per-task file of another state", "PTF-002", UNVERIFIED, tasks(lambda d: d.update(harness_sha="0" * 40))),
    # --- the task set
    Forgery("one task missing", "SET-001", REFUSED, both(tasks(lambda d: d["tasks"].popitem()), put("runs", 1, "n_tasks", 29))),
    Forgery(
        "one task too many",
        "SET-002",
        REFUSED,
        both(tasks(lambda d: d["tasks"].update(extra={"score": 0})), put("runs", 1, "n_tasks", 31)),
    ),
    Forgery("another task in its place", "PUB-002", REFUSED, tasks(rename_task)),
    Forgery("no pool that fits", "SET-003", REFUSED, both(tasks(rename_task), drop("runs", 1, "pool"))),
    Forgery("another count of tasks", "SET-004", UNVERIFIED, put("runs", 1, "n_tasks", 31)),
    Forgery("the study tasks as an exam", "SET-006", REFUSED, study_pool),
    Forgery("a pool that nobody declared", "SET-007", REFUSED, put("runs", 1, "pool", "easy")),
    Forgery(
        "study tasks that are the exam's",
        "SET-005",
        UNVERIFIED,
        both(put("config", "study_ids", "exam.txt"), drop("config", "study_ids_sha256")),
    ),
    # --- validity
    Forgery(
        "a task not measured",
        "VAL-001",
        REFUSED,
        both(tasks(lambda d: move_task(d, "invalid", {"stage": "start", "detail": "no space"})), put("runs", 1, "n_invalid", 1)),
    ),
    Forgery(
        "a harness that left no trace",
        "VAL-002",
        UNVERIFIED,
        both(
            tasks(lambda d: d["harness_failed"].update(backwards_1={"exit_code": 1, "stderr": "boom"})),
            put("runs", 1, "n_harness_failed", 1),
        ),
    ),
    Forgery(
        "a failed harness kept quiet",
        "VAL-004",
        UNVERIFIED,
        tasks(lambda d: d["harness_failed"].update(backwards_1={"exit_code": 1, "stderr": ""})),
    ),
    Forgery("a failed harness in the curve only", "VAL-004", UNVERIFIED, point(lambda p: p.update(n_harness_failed=2))),
    Forgery(
        "a task both scored and not measured",
        "PTF-003",
        UNVERIFIED,
        tasks(lambda d: d["invalid"].update(backwards_1={"stage": "check", "detail": ""})),
    ),
    Forgery(
        "a failed harness without a score",
        "PTF-004",
        UNVERIFIED,
        tasks(lambda d: d["harness_failed"].update(nobody={"exit_code": 1, "stderr": ""})),
    ),
    Forgery("a flat file without counters", "VAL-003", UNVERIFIED, both(flat, drop("runs", 1, "n_harness_failed"))),
    Forgery("counters that are only claimed", "VAL-008", UNVERIFIED, flat),
    Forgery("a round the platform never measured", "VAL-005", REFUSED, point(lambda p: p.update(measured_by_platform=False))),
    Forgery("a training score", "VAL-006", UNVERIFIED, tasks(lambda d: d.update(score_kind="training"))),
    Forgery(
        "a run outside the sandbox", "VAL-007", UNVERIFIED, meta(lambda d: d.update(sandbox={"requested": True, "active": False}))
    ),
    # --- score
    Forgery("a better score than measured", "SCO-001", UNVERIFIED, put("runs", 1, "score", 0.9667)),
    Forgery("a score rounded too far", "SCO-001", UNVERIFIED, put("runs", 0, "score", 0.23)),
    Forgery("a task's score of two", "SCO-002", UNVERIFIED, tasks(lambda d: d["tasks"]["backwards_1"].update(score=2))),
    Forgery(
        "trials that average to something else",
        "SCO-003",
        UNVERIFIED,
        tasks(lambda d: d["tasks"]["backwards_1"].update(trials=[1, 1], score=0.5)),
        trials=2,
    ),
    Forgery("a task flipped after the curve", "SCO-004", UNVERIFIED, tasks(one_solved_more)),
    Forgery(
        "half a point from a pass/fail task", "SCO-005", UNVERIFIED, tasks(lambda d: d["tasks"]["backwards_1"].update(score=0.5))
    ),
    Forgery(
        "trials that are not listed", "SCO-007", UNVERIFIED, tasks(lambda d: d["tasks"]["backwards_1"].pop("trials")), trials=2
    ),
    # --- state
    Forgery(
        "a harness changed afterwards", "ID-001", UNVERIFIED, lambda c: (c.tree(3) / "agent.py").write_text("print('better')\n")
    ),
    Forgery("an executable bit too many", "ID-001", UNVERIFIED, lambda c: (c.tree(3) / "agent.py").chmod(0o755)),
    Forgery("line ends of another system", "ID-001", UNVERIFIED, crlf),
    Forgery("another state than the curve's", "ID-001", UNVERIFIED, point(lambda p: p["identity"].update(harness_sha="1" * 40))),
    Forgery("no harness tree", "ID-002", UNVERIFIED, lambda c: shutil.rmtree(c.tree(3))),
    Forgery("another harness than declared", "ID-003", UNVERIFIED, put("task_agent", "base_harness", "clerk@0.2.0")),
    Forgery("a repository inside the harness", "ID-004", UNVERIFIED, lambda c: (c.tree(3) / "lib" / ".git").mkdir(parents=True)),
    Forgery(
        "two models at once",
        "ID-005",
        UNVERIFIED,
        point(lambda p: p["identity"].update(agent_model_conflict={"harness": "a", "platform_env": "b"})),
    ),
    Forgery("a link inside the harness", "ID-006", UNVERIFIED, lambda c: (c.tree(3) / "passwd").symlink_to("/etc/passwd")),
    Forgery("another platform than recorded", "PLT-001", UNVERIFIED, put("platform", "content_sha", "0" * 64)),
    Forgery("a run that recorded no platform", "PLT-002", UNVERIFIED, meta(lambda d: d.pop("platform"))),
    Forgery("a run record of another run", "PLT-002", UNVERIFIED, meta(lambda d: d.update(run_id="other"))),
    Forgery("a run that was interrupted", "PLT-004", UNVERIFIED, meta(lambda d: d.update(end_state="interrupted"))),
    Forgery("a mock model", "PUB-005", REFUSED, point(lambda p: p["identity"].update(agent_backend="mock"))),
    Forgery(
        "a control harness", "PUB-006", REFUSED, lambda c: c.edit(lambda d: d.update(role="control"), c.tree(3) / "harness.json")
    ),
    Forgery("a token in the submission", "PUB-008", REFUSED, put("improver", "harness", f"dsh with {TOKEN}")),
    Forgery("an address as the contributor's name", "PUB-008", REFUSED, put("credit", "name", f"Ada <{MAIL}>")),
    Forgery("a local path in run_meta.json", "PUB-008", REFUSED, meta(lambda d: d.update(workspace=HOME))),
    Forgery("a token in run_meta.json", "PUB-008", REFUSED, meta(lambda d: d.update(note=TOKEN))),
    Forgery("an address in a detail", "PUB-008", REFUSED, tasks(lambda d: d["tasks"]["backwards_1"].update(detail=MAIL))),
    Forgery("a private address in the curve", "PUB-008", REFUSED, point(lambda p: p.update(label="10." + "1.2.3"))),
    Forgery("a platform that was changed", "PUB-007", REFUSED, meta(lambda d: d.update(end_state="tampered"))),
    # --- config
    Forgery("more trials than run", "CFG-001", UNVERIFIED, meta(lambda d: d.update(trials=3))),
    Forgery("another study list", "CFG-002", UNVERIFIED, meta(lambda d: d["config"].update(study_ids="train100.csv"))),
    Forgery(
        "other study tasks under its name", "CFG-002", UNVERIFIED, meta(lambda d: d["config"].update(study_ids_sha256="1" * 64))
    ),
    Forgery("another sampling", "CFG-003", UNVERIFIED, meta(lambda d: d.update(sampling_policy="random_10"))),
    Forgery("another model in the curve", "CFG-004", UNVERIFIED, point(lambda p: p["identity"].update(agent_model="gpt"))),
    Forgery("another temperature", "CFG-005", UNVERIFIED, meta(lambda d: d["config"].update(temperature=1))),
    Forgery("more rounds than run", "CFG-006", UNVERIFIED, meta(lambda d: d.update(rounds=9))),
    Forgery("another seed", "CFG-007", UNVERIFIED, both(put("config", "seed", 7), meta(lambda d: d.update(seed=8)))),
    Forgery("no artifacts at all", "CFG-010", UNVERIFIED, drop("artifacts")),
    Forgery(
        "trajectories that nobody replayed",
        "TRJ-000",
        UNVERIFIED,
        put(
            "trajectories",
            {"location": "https://example.org/t.tar.gz", "format": "one JSONL per task", "bytes": 10, "sha256": "0" * 64},
        ),
    ),
)
