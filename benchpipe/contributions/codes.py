"""Codes and message templates of the gate (contributions 3 to 18), in one table; `docs/contribution-codes.md` is made from it.

A code says which check it belongs to and what it does to it. When a code is said is decided in the modules of `gate/`.
"""

from benchpipe.contributions.file_codes import SUB
from benchpipe.contributions.findings import FAIL, NOT_RUN, REFUSE, WARN, Code, code_table

CHECKS = ("schema", "task_set", "validity", "score", "state", "config", "trajectories")
"""The checks of a submission in the order in which they are shown (F3)."""

CODES = SUB | code_table(
    [
        # --- the per-task file (4)
        Code("PTF-001", "schema", REFUSE, "{name}: {fault}.", "Write the per-task file as docs/contributing.md shows."),
        Code("PTF-002", "score", FAIL, "the per-task file says {name} {a}, the submission {b}.", "Point at this run's own file."),
        Code("PTF-003", "validity", FAIL, "{ids}: both scored and listed as invalid.", "An unmeasured task has no score."),
        Code(
            "PTF-004",
            "validity",
            FAIL,
            "{ids}: in harness_failed but not in tasks.",
            "A task with a failed harness keeps its score.",
        ),
        # --- task set (5.4)
        Code(
            "SET-001",
            "task_set",
            REFUSE,
            "pool {pool} declares {size} tasks; {scored} are scored. Missing: {ids}. Measure them and resubmit; a partial point "
            "is not published.",
            "Run the missing tasks; nothing is averaged over the rest.",
        ),
        Code(
            "SET-002", "task_set", REFUSE, "{n} scored id(s) are not in pool {pool}: {ids}.", "Check the pool name or remove them."
        ),
        Code(
            "SET-003",
            "task_set",
            REFUSE,
            "the scored ids equal no declared pool of {dataset}; nearest is {pool} ({missing} missing, {extra} extra).",
            "Name the pool, and score exactly its tasks.",
        ),
        Code("SET-004", "task_set", FAIL, "n_tasks says {said}, the per-task file has {there} ids.", "Make them equal."),
        Code(
            "SET-005", "task_set", FAIL, "{n} study ids are also exam ids of {pool}: {ids}.", "Study other tasks than the exam's."
        ),
        Code(
            "SET-006",
            "task_set",
            REFUSE,
            "pool {pool} is a study pool; its score is an inflated progress number, not a result.",
            "Measure an exam pool.",
        ),
        Code("SET-007", "task_set", REFUSE, "{dataset} has no pool {pool}; there are: {pools}.", "Name one of them."),
        Code(
            "SET-008",
            "task_set",
            NOT_RUN,
            "the ids of pool {pool} are not registered here; only their number ({size}) was compared.",
            "A maintainer adds data/benchmarks/{dataset}/pools/{pool}.txt.",
        ),
        Code(
            "SET-009",
            "schema",
            REFUSE,
            "no benchmark {dataset} is registered here; those that take results are {known}.",
            "Name one of them, or have it registered.",
        ),
        Code(
            "SET-010",
            "task_set",
            NOT_RUN,
            "the registered pool {pool} {fault}; nothing can be compared with it.",
            "A maintainer mends data/benchmarks/{dataset}.yml.",
        ),
        # --- validity (6)
        Code(
            "VAL-001",
            "validity",
            FAIL,
            "{n} task(s) could not be measured ({example}). Re-measure them; an unmeasured task is not a zero.",
            "Measure them again.",
        ),
        Code(
            "VAL-002",
            "validity",
            FAIL,
            "{n} task(s) have a score but no trace ({example}). The harness probably never started.",
            "Find out why, and measure them again.",
        ),
        Code(
            "VAL-003",
            "validity",
            NOT_RUN,
            "n_harness_failed is neither in the submission nor in the per-task file; Validity cannot be checked.",
            "Send the per-task file in its full form.",
        ),
        Code("VAL-004", "validity", FAIL, "{name} says {said}, the {map} map lists {n} id(s).", "Make them equal."),
        Code(
            "VAL-005",
            "validity",
            REFUSE,
            "round {round} was reported by the method, not measured; it has no score of its own.",
            "Report a measured round.",
        ),
        Code("VAL-006", "validity", FAIL, "round {round} was scored on the tasks the method studied.", "Report an exam score."),
        Code(
            "VAL-007",
            "validity",
            FAIL,
            "run_meta says the harness ran outside the sandbox; numbers of the two modes are not comparable.",
            "Measure inside the sandbox.",
        ),
        Code(
            "VAL-008",
            "validity",
            NOT_RUN,
            "n_harness_failed is only claimed by the submission; no file of the run lists it.",
            "Send the per-task file in its full form.",
        ),
        # --- score (7.2)
        Code(
            "SCO-001",
            "score",
            FAIL,
            "reported {reported}, recomputed {exact} from {n} tasks ({solved}); difference {difference}{rule}.",
            "Report the mean of the per-task scores.",
        ),
        Code("SCO-002", "score", FAIL, "task {task} has score {score}, outside [0, 1].", "Mend the per-task file."),
        Code("SCO-003", "score", FAIL, "per-trial scores of {task} average to {a}, the file says {b}.", "Mend the per-task file."),
        Code("SCO-004", "score", FAIL, "task {task}: the per-task file says {a}, curve.jsonl says {b}.", "Send files of one run."),
        Code(
            "SCO-005",
            "score",
            FAIL,
            "task {task} scores {score}, which {trials} trial(s) of a pass/fail verifier can't give.",
            "Mend the per-task file.",
        ),
        Code(
            "SCO-006",
            "score",
            WARN,
            "{n} task(s) rest on fewer than {trials} trials ({ids}).",
            "Measure the missing trials if you can.",
        ),
        Code("SCO-007", "score", FAIL, "{n} task(s) list no trials, {trials} were declared ({ids}).", "List one score per trial."),
        # --- harness and platform identity (8, 9)
        Code(
            "ID-001",
            "state",
            FAIL,
            "{tree} hashes to {a}, {where} reports {b} (closest: {closest}).",
            "Send the tree exactly as it was measured.",
        ),
        Code("ID-002", "state", NOT_RUN, "no harness tree was supplied for {sha}.", "Send it as a dataset directory (artifacts)."),
        Code(
            "ID-003", "state", FAIL, "harness.json says {a}, submission says {b}.", "Make task_agent.base_harness the manifest's."
        ),
        Code("ID-004", "state", FAIL, "nested repository at {path}.", "Send plain files."),
        Code(
            "ID-005", "state", FAIL, "the recorded model conflicts: harness says {a}, platform says {b}.", "Measure with one model."
        ),
        Code("ID-006", "state", FAIL, "{tree} can't be read: {fault}.", "Send plain files with ordinary names."),
        Code("ID-007", "state", WARN, "the run used a modified copy of the improver.", "Nothing to do; the row says so."),
        Code("PLT-001", "state", FAIL, "declared content_sha {a}, run_meta records {b}.", "Declare the platform that measured."),
        Code("PLT-002", "state", NOT_RUN, "{why}; State cannot be checked.", "Send a run_meta.json that records it."),
        Code(
            "PLT-003",
            "state",
            FAIL,
            "content_sha {a} does not match commit {commit} (recomputed {b}): the platform was modified or the commit is wrong.",
            "Declare the commit that measured, unmodified.",
        ),
        Code("PLT-004", "state", FAIL, "the run ended as {end}, not complete.", "Report a run that was completed."),
        Code("PLT-005", "state", WARN, "run_meta does not say how the run ended.", "Record end_state: complete."),
        Code(
            "SUB-019", "state", FAIL, "commit {commit} is not reachable in the platform's repository.", "Name a published commit."
        ),
        # --- config (12)
        Code("CFG-001", "config", FAIL, "trials: submission says {a}, run recorded {b}.", "Declare what was run."),
        Code("CFG-002", "config", FAIL, "study ids: submission says {a}, run recorded {b}.", "Declare what was run."),
        Code("CFG-003", "config", FAIL, "sampling: submission says {a}, run recorded {b}.", "Declare what was run."),
        Code("CFG-004", "config", FAIL, "model: submission says {a}, run recorded {b}.", "Declare what was run."),
        Code("CFG-005", "config", FAIL, "decoding: submission says temperature {a}, run recorded {b}.", "Declare what was run."),
        Code("CFG-006", "config", FAIL, "rounds: submission says {a}, run recorded {b}.", "Declare what was run."),
        Code("CFG-007", "config", FAIL, "seed: submission says {a}, run recorded {b}.", "Declare what was run."),
        Code("CFG-010", "config", NOT_RUN, "{item} is not recorded by this run; not checked.", "Send a run record that has it."),
        Code("CFG-011", "config", WARN, "study ids were compared by file name only.", "Give study_ids_sha256."),
        # --- reference (13): said beside a row, part of no check
        Code(
            "REF-001",
            "",
            WARN,
            "no H0 for stack {stack}; published as an absolute score, marked no reference.",
            "Measure H0 on it.",
        ),
        Code(
            "REF-002",
            "",
            WARN,
            "H0 in this file has harness_sha {a}, the agreed baseline of {agent} is {b}.",
            "Start from the agreed baseline.",
        ),
        Code(
            "REF-003",
            "",
            WARN,
            "H0 was measured with trials={a}, this row with trials={b}; no improvement is shown.",
            "Measure H0 with the same trials.",
        ),
        Code(
            "REF-004",
            "",
            WARN,
            "the registered baseline of {agent} {fault}; it is no reference.",
            "A maintainer mends the benchmark's file.",
        ),
        # --- trajectories (15)
        Code("TRJ-000", "trajectories", NOT_RUN, "the linked trajectories were not downloaded and replayed yet.", "Nothing to do."),
        Code("TRJ-001", "trajectories", FAIL, "{fault}", "Put the archive where it can be read."),
        Code("TRJ-002", "trajectories", FAIL, "{fault}", "Declare size and sha256 of the archive that is at the link."),
        Code("TRJ-003", "trajectories", FAIL, "{fault}", "Pack plain files with relative names, nothing else."),
        Code("TRJ-004", "trajectories", FAIL, "{fault}", "One JSONL per task and trial (docs/experiments.md)."),
        Code("TRJ-005", "trajectories", FAIL, "{fault}", "One JSON object per line, steps in their order."),
        Code("TRJ-006", "trajectories", FAIL, "{fault}", "Send the trajectories of the run that was scored."),
        Code("TRJ-007", "trajectories", WARN, "{fault}", "Nothing to do; the maintainers mirror it again."),
        Code("TRJ-008", "trajectories", FAIL, "{fault}", "Pack a .tar.gz within the limits of docs/experiments.md."),
        # --- never published (18)
        Code("PUB-001", "schema", REFUSE, "runs[{n}] has a total score but no per-task record.", "Send the per-task file."),
        Code(
            "PUB-002", "task_set", REFUSE, "runs[{n}] was measured on another task set than the pool's.", "Score exactly the pool."
        ),
        Code(
            "PUB-003",
            "schema",
            REFUSE,
            "method {method} is registered for {author}, and x_agreement is missing.",
            "Give the address where its author agreed.",
        ),
        Code("PUB-004", "trajectories", REFUSE, "trajectories were asked for on {asked} and are not here.", "Send or link them."),
        Code("PUB-005", "state", REFUSE, "the agent ran on the mock back end.", "Measure with a model."),
        Code("PUB-006", "state", REFUSE, "the harness has role control; it never becomes a row.", "Submit a harness of your own."),
        Code("PUB-007", "state", REFUSE, "the run ended because the platform's files were changed.", "Measure again, unmodified."),
        Code(
            "PUB-008",
            "schema",
            REFUSE,
            "possible {kind} in {place} (rule {rule}; the value is not shown).",
            "Take it out (of a run_meta.json with benchpipe contrib scrub), and revoke it if it was genuine.",
        ),
        # --- among submissions and at the door (2)
        Code(
            "DUP-001",
            "",
            WARN,
            "the measurement {row} has the same harness, tasks and scores under another name.",
            "A maintainer looks at both; say in the pull request why it is sent again.",
        ),
        Code("DUP-002", "", FAIL, "this is the measurement {row}, sent before.", "It gets no rows; withdraw one of the two."),
        Code("INTAKE-001", "", REFUSE, "the issue holds no JSON block and links no .json file.", "Fill in the form's first box."),
        Code("INTAKE-002", "", REFUSE, "the issue holds {n} candidates for the submission.", "Keep one."),
    ]
)
"""Every code by id, the file's own (SUB) first."""
