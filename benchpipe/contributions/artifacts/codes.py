"""Codes and messages of the mechanical checks on a directory of the dataset repository (contributions 17.7).

DS-001 to DS-011 are the specification's; DS-012 and above say what it leaves open. A message may begin with the code of the
room whose rule was broken (`ID-001`, `SET-001`, `SCO-001`).
"""

from benchpipe.contributions.findings import FAIL, NOT_RUN, WARN, Code, code_table

CHECKS = ("layout", "agents", "baseline", "identity", "patches", "coverage", "tasks", "gate", "manifest", "secrets")
"""The checks in the order in which they are shown."""

CODES = code_table(
    [
        Code("DS-001", "agents", FAIL, "{what} is {a}, {where} says {b}.", "Make the record name the agents of its manifests."),
        Code(
            "DS-002",
            "baseline",
            FAIL,
            "round 0 is {a}; the baseline of {agent} is {b} (used by {n} families).",
            "Start from the agreed baseline: its tree lies in harness/round-0 of every other family.",
        ),
        Code(
            "DS-003",
            "baseline",
            FAIL,
            "round 0 config.{item} is {a}, baseline {b}.",
            "Measure round 0 under the baseline's conditions.",
        ),
        Code(
            "DS-004",
            "identity",
            FAIL,
            "{code} {tree} {fault}.",
            "Publish the tree as it was measured, with modes and line ends (docs/experiments.md).",
        ),
        Code(
            "DS-005",
            "patches",
            FAIL,
            "{patch} does not join round-{before} to round-{after}: {fault}.",
            "Write it with git diff --binary --full-index between the two trees.",
        ),
        Code("DS-006", "coverage", FAIL, "{fault}.", "Write it anew: benchpipe contrib dataset PATH --write-coverage."),
        Code("DS-007", "layout", FAIL, "{fault}.", "docs/experiments.md shows the layout."),
        Code("DS-008", "tasks", FAIL, "{archive}: {fault}.", "Pack one JSONL per task and trial of the pool, and nothing else."),
        Code("DS-009", "gate", FAIL, "{code} round {round}: {message}", "{hint}"),
        Code("DS-010", "manifest", FAIL, "{fault}.", "A method may change the harness's code, not what it is."),
        Code(
            "DS-011",
            "secrets",
            FAIL,
            "possible {kind} in {place} (rule {rule}; the value is not shown).",
            "Take it out, in the archive as well, and revoke it if it was genuine.",
        ),
        Code("DS-012", "layout", FAIL, "{fault}.", "Write it as docs/experiments.md shows."),
        Code(
            "DS-013",
            "baseline",
            WARN,
            "round 0 scores {a}, the baseline of {where} {b}: further apart than two standard errors of {n} tasks ({limit}).",
            "Look whether both were measured under equal conditions.",
        ),
        Code("DS-014", "identity", NOT_RUN, "ID-002 no harness tree was supplied for {sha} (round {round}).", "Add the tree."),
        Code("DS-015", "patches", NOT_RUN, "{fault}; the join of round {round} was not checked.", "Add patch and trees."),
        Code("DS-016", "tasks", NOT_RUN, "{fault}; the tasks of round {round} were not checked.", "Add the archive."),
        Code(
            "DS-017",
            "gate",
            NOT_RUN,
            "{code} round {round}: {message}",
            "{hint}",
        ),
        Code("DS-018", "gate", WARN, "{code} round {round}: {message}", "{hint}"),
        Code(
            "DS-019",
            "baseline",
            FAIL,
            "round 0 has {item} {a}, the baseline of family.json {b}.",
            "Write into family.json what its methods' round 0 is.",
        ),
    ]
)
"""Every code by id."""
