"""Codes and messages of everything that a submission file alone can be faulted for (contributions 3, F2).

Standard library only: this module is a part of `contrib/validate.py`. The codes of the gate are in `codes.py`.
"""

from benchpipe.contributions.findings import REFUSE, WARN, Code, code_table


def _sub(number: int, template: str, hint: str, effect: str = REFUSE) -> Code:
    return Code(f"SUB-{number:03}", "schema", effect, template, hint)


SUB = code_table(
    [
        _sub(1, "{fault}.", "Mend the file; nothing else can be said about it before."),
        _sub(3, "{name} is missing.", "Add it ({kind}): {wanted}"),
        _sub(4, "{key} is no field here.", "Remove it, or begin its name with x_. Fields here: {known}."),
        _sub(5, "{name} is of type {got}; {kind} is wanted.", "Write: {wanted}"),
        _sub(6, "{name} {fault}.", "Write: {wanted}"),
        _sub(10, "the file lies at {path}, its content says {said}.", "Move the file, or mend dataset, method.name and variant."),
        _sub(11, "improver.method is {a}, method.name is {b}.", "Make the part before the @ equal to method.name."),
        _sub(12, "improver.rounds is {a}, config.rounds is {b}.", "Make them equal."),
        _sub(13, "task_agent.model is {a}, config.model is {b}.", "Make them equal."),
        _sub(14, "decoding names temperature {a}, config.temperature is {b}.", "Make them equal."),
        _sub(15, "runs[{n}].round is {a}, but only {b} rounds were run.", "Mend the round, or config.rounds and improver.rounds."),
        _sub(16, "credit.submitted does not name {dataset} × {method}.", "Add this file's own pair."),
        _sub(17, "runs[{n}].per_task {fault}.", "Give a path relative to contrib/, one file per run."),
        _sub(
            18,
            "score {score} can't come from {n_tasks} tasks with {trials} trial(s) each and a pass/fail verifier; nearest: {near}.",
            "Look for a typing error, in the score or in n_tasks.",
            WARN,
        ),
        _sub(20, "{name} is written by the platform only.", "Remove it; checks and mirrors are entered after the merge."),
        _sub(
            21,
            "{name} is filled in, and this file becomes public.",
            "Remove it; send it privately to the maintainers, whose contact stands on the results pages.",
        ),
        _sub(22, "{name} holds {text}, which is no value but a placeholder.", "Fill in your own, without < > and ellipsis."),
        _sub(23, "runs[{n}] repeats run_id, round and pool of runs[{first}].", "Give every measurement its own entry."),
        _sub(
            24, "without an improver only H0 can be reported, runs[{n}].round is {a}.", "Fill in improver, or report round 0 only."
        ),
        _sub(25, "platform.commit has {n} of 40 characters.", "Give the whole id; a short one may become ambiguous.", WARN),
    ]
)
