"""Does every round's task archive hold one file per task and trial, and say what the curve says, played again? (DS-008, DS-016)"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from benchpipe.contributions.artifacts.codes import CODES
from benchpipe.contributions.artifacts.gate import trials_of
from benchpipe.contributions.artifacts.records import Line, MethodRecord, at
from benchpipe.contributions.artifacts.secrets import Search
from benchpipe.contributions.findings import Finding
from benchpipe.contributions.gate.score import decimal
from benchpipe.contributions.pools import TaskSet
from benchpipe.contributions.run_record import scores_of
from benchpipe.contributions.trajectories.adapters import Wanted
from benchpipe.contributions.trajectories.contents import means, read_contents, slots


def archive(record: MethodRecord, line: Line, pools: Mapping[str, TaskSet], wanted: Wanted) -> list[Finding]:
    """DS-008, DS-016 and DS-011 of one round's archive. One pass, streaming; `wanted` is how far it is to be replayed."""
    name = f"tasks/round-{line.round}.tar.gz"
    path, file = record.place.tasks(line.round), f"{record.place.name}/{name}"
    if path.is_symlink() or not path.is_file():
        return [at(CODES["DS-016"].finding(fault=f"{name} is not here", round=line.round), file)]
    pool = pools.get(str(line.record["pool"]))
    tasks = pool.ids if pool and pool.ids is not None else frozenset(line.record["per_task"])
    search = Search(file)
    with open(path, "rb") as stream:
        player = wanted.adapter.player if wanted.adapter else None
        contents = read_contents(stream, slots(None, tasks, trials_of(line.record)), player=player, visit=search.line)
    search.flush()
    faults = [f"{code} {message.rstrip('.')}" for code, message in contents.faults]
    found = [at(CODES["DS-008"].finding(archive=name, fault=fault), file) for fault in faults]
    if not faults:
        found += _scores(name, file, line, dict(means(contents.recorded, None)), "has verdict", "records no verdict of")
        if wanted.adapter:
            played = dict(means(contents.replayed, None))
            found += _scores(name, file, line, played, f"replayed at {wanted.adapter.level} gives", "holds nothing to replay of")
        elif wanted.at_least > "L1":
            fault = f"{name}: {wanted.missing or 'there is no adapter'}; {wanted.at_least} is wanted, L1 was reached"
            found.append(at(CODES["DS-016"].finding(fault=fault, round=line.round), file))
    return [*found, *search.findings.values()]


def _scores(name: str, file: str, line: Line, scores: Mapping[str, Fraction | None], gives: str, silence: str) -> Iterator[Finding]:
    """Verdicts of an archive against the curve. `gives` and `silence` say where they come from."""
    silent = [task for task, score in scores.items() if score is None]
    if silent:
        yield at(CODES["DS-016"].finding(fault=f"{name} {silence} {silent[0]}", round=line.round), file)
    said = scores_of(line.record)
    for task, score in scores.items():
        if score is not None and task in said and abs(score - said[task]) > Fraction(1, 10**9):
            fault = f"{task} {gives} {decimal(score)}, curve.jsonl says {decimal(said[task])}"
            yield at(CODES["DS-008"].finding(archive=name, fault=fault), file)
