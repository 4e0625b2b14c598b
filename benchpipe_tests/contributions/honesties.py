"""Thirty ways to be honest: each has to be verified, with no error."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchpipe_tests.contributions.conftest import Contribution
from benchpipe_tests.contributions.forgeries import both, drop, meta, point, put, tasks


@dataclass(frozen=True)
class Honesty:
    """A named change that leaves an honest contribution honest."""

    name: str
    change: Callable[[Contribution], object]
    trials: int = 1


def flat_with_curve(contribution: Contribution) -> None:
    path = contribution.per_task(1)
    path.write_text(json.dumps({task: entry["score"] for task, entry in json.loads(path.read_text())["tasks"].items()}))


def beside(contribution: Contribution) -> None:
    """Per-task files named relative to the JSON's own folder."""
    contribution.edit(
        lambda d: [run.update(per_task=run["per_task"].removeprefix("results/deskwork/first-come/")) for run in d["runs"]]
    )


def from_root(contribution: Contribution) -> None:
    contribution.edit(lambda d: [run.update(per_task="contrib/" + run["per_task"]) for run in d["runs"]])


def only_h0(contribution: Contribution) -> None:
    contribution.edit(lambda d: (d["runs"].pop(), d.update(improver=None)))


def unstaged_scratch(contribution: Contribution) -> None:
    """The tree as it lay on disk: without the platform's .gitignore, with what it would ignore."""
    tree = contribution.tree(3)
    (tree / ".gitignore").unlink()
    (tree / "__pycache__").mkdir()
    (tree / "__pycache__" / "agent.cpython-311.pyc").write_bytes(b"x")
    (tree / ".state").mkdir()
    (tree / ".state" / "cache.json").write_text("{}")


def own_curve(contribution: Contribution) -> None:
    target = contribution.run_meta.with_name("curve.jsonl")
    shutil.move(contribution.dataset / "curve.jsonl", target)
    contribution.edit(lambda d: d["artifacts"].update(curve=str(target.relative_to(contribution.lab.contrib))))


def exact_scores(contribution: Contribution) -> None:
    before = contribution.file.read_text()
    contribution.file.write_text(before.replace("0.2333", "0.233333333333"))


def nan_interval(contribution: Contribution) -> None:
    curve = contribution.dataset / "curve.jsonl"
    lines = curve.read_text().splitlines()
    curve.write_text("".join(line[:-1] + ', "score_ci95": [NaN, NaN]}\n' for line in lines))


def fewer_samples(doc: dict[str, Any]) -> None:
    entry = doc["tasks"]["backwards_1"]
    entry["trials"] = entry["trials"][:1]


HONESTIES: tuple[Honesty, ...] = (
    Honesty("as the tool wrote it", lambda c: None),
    Honesty("two trials", lambda c: None, trials=2),
    Honesty("two trials, one of them lost", tasks(fewer_samples), trials=2),
    Honesty("our own schema name", put("schema", "benchpipe.submission.v1")),
    Honesty("the pool left to be found", drop("runs", 1, "pool")),
    Honesty("no word on selection", drop("runs", 1, "selection")),
    Honesty("best on the reported pool, and said so", put("runs", 1, "selection", "best_on_reported")),
    Honesty("no n_harness_failed in the submission", drop("runs", 1, "n_harness_failed")),
    Honesty("a flat per-task file with a curve", flat_with_curve),
    Honesty("per-task files beside the JSON", beside),
    Honesty("per-task files from the repository's root", from_root),
    Honesty("H0 only, without an improver", both(only_h0, put("config", "rounds", 3))),
    Honesty("scores with all digits", exact_scores),
    Honesty("the tree before staging, with scratch", unstaged_scratch),
    Honesty("a curve beside the submission", own_curve),
    Honesty("an interval of NaN in the curve", nan_interval),
    Honesty(
        "x_ keys everywhere", both(put("x_note", [1, {"a": None}]), put("runs", 0, "x_id", "s"), put("credit", "x_orcid", "0000"))
    ),
    Honesty("no paper and no code", both(drop("method", "paper"), drop("method", "code"))),
    Honesty(
        "a paper and code", both(put("method", "paper", "https://example.org/p"), put("method", "code", "https://example.org/c"))
    ),
    Honesty("a name with quotes and markup", put("credit", "name", 'Zoë "Z" O\'Hara & Søn')),
    Honesty(
        "an affiliation and an http link", both(put("credit", "affiliation", "Lab"), put("credit", "link", "http://example.org/a"))
    ),
    Honesty(
        "several submissions named",
        put("credit", "submitted", [{"dataset": "other", "method": "m"}, {"dataset": "deskwork", "method": "first-come"}]),
    ),
    Honesty("a seed that only one side knows", put("config", "seed", "abc")),
    Honesty("a seed that both sides know", both(put("config", "seed", 7), meta(lambda d: d.update(seed="7")))),
    Honesty("more jobs and slots than one", both(put("config", "jobs", 12), put("config", "slots", 48))),
    Honesty("an endpoint", put("config", "endpoint", "http://127.0.0.1:8002/v1")),
    Honesty("decoding without a number", put("task_agent", "decoding", "whatever the rules say")),
    Honesty(
        "a study list known by name only",
        both(drop("config", "study_ids_sha256"), meta(lambda d: d["config"].pop("study_ids_sha256"))),
    ),
    Honesty("the platform's sha at the top of run_meta", meta(lambda d: d.update(content_sha=d.pop("platform")["content_sha"]))),
    Honesty("no word on how the run ended", meta(lambda d: d.pop("end_state"))),
    Honesty("a sandbox that was active", meta(lambda d: d.update(sandbox={"requested": True, "active": True}))),
    Honesty(
        "verdicts as objects in the curve", point(lambda p: p.update(per_task={t: {"score": s} for t, s in p["per_task"].items()}))
    ),
)
