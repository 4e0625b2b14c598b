"""`data/benchmarks/<id>.yml`, its task list and `state/tasks/<id>.yml` → `Benchmark` (runs-system 3.4, 3.5; F6, G1)."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from benchpipe.registry.agents import stem_of
from benchpipe.registry.fields import NAME, NAME_WANTED, Fields
from benchpipe.registry.quoting import short
from benchpipe.registry.records import Benchmark, Plan, Pool, Task
from benchpipe.registry.source import Source

DIFFICULTIES = ("easy", "medium", "hard", "extreme", "unrated")
STATUSES = ("keep", "drop", "needs-review", "pending")
READ_ELSEWHERE = {
    "baseline": (),
    "description": (),
    "exam_tests": (),
    "experiments": (),
    "platform": ("paths",),
    "replay": ("at_least", "adapter", "answers"),
}
"""Keys of a benchmark's file that contributions and pages read, with the keys below them."""
NO_REASON = "no reason given"


def load_benchmarks(source: Source) -> dict[str, Benchmark]:
    """Every registered benchmark by id, in file-name order, with its tasks as listed and as curated."""
    benchmarks = {}
    for path in source.yaml_files(source.lab.benchmarks, "benchmark"):
        benchmark = stem_of(path.name)
        benchmarks[benchmark] = _benchmark(source, benchmark, source.mapping(path, "benchmark"))
    return {name: _curated(source, benchmark) for name, benchmark in benchmarks.items()}


def unregistered(source: Source, plan: Plan) -> Benchmark:
    """Stand-in for a benchmark that has bench-runs and no file: what was collected for it stays visible."""
    return _curated(source, Benchmark(id=plan.benchmark, place=plan.place, name=plan.benchmark))


def with_tasks(benchmark: Benchmark, tasks: Iterable[str]) -> Benchmark:
    """The benchmark with these tasks added where it lacks them."""
    missing = {task: _plain_task(task) for task in tasks if task not in benchmark.tasks}
    return msgspec.structs.replace(benchmark, tasks={**benchmark.tasks, **missing}) if missing else benchmark


def untouched(task: Task) -> bool:
    """Whether nobody wrote anything of the task but its id."""
    return task == _plain_task(task.id)


def _plain_task(task: str) -> Task:
    return Task(id=task, title=_title(task))


def _benchmark(source: Source, benchmark: str, fields: Fields) -> Benchmark:
    fields.read_elsewhere(*READ_ELSEWHERE)
    for key, below in READ_ELSEWHERE.items():
        if isinstance(fields.get(key), Mapping):
            fields.inner(key, fields.data[key]).read_elsewhere(*below)
    _check_score(fields)
    listed = _tasks_listed_here(fields) if "tasks" in fields else _tasks_of_cache(source, benchmark)
    return Benchmark(
        id=benchmark,
        place=fields.place(),
        name=fields.text("name") or benchmark,
        simulator=fields.text("simulator"),
        status=fields.text("status"),
        skill_vocabulary=fields.texts("skill_vocabulary") or (),
        scenes=fields.texts("scenes") or (),
        tasks=listed,
        listed=bool(listed),
        pools=_pools(source, benchmark, fields),
        raw=fields.data,
    )


def _tasks_listed_here(fields: Fields) -> dict[str, Task]:
    """`tasks:` of the benchmark's own file: ids, or entries with at least an id."""
    tasks: dict[str, Task] = {}
    value = fields.data["tasks"]
    if not isinstance(value, list):
        fields.problem("tasks", "`tasks` has to be a list of ids or of {id, title, family} entries", "benchmark-tasks")
        return tasks
    for n, item in enumerate(value):
        at = f"tasks.{n}"
        entry = fields.inner(at, item if isinstance(item, Mapping) else {"id": item})
        task = entry.text("id", "benchmark-tasks")
        if task is None or not NAME.fullmatch(task):
            if task is not None or entry.get("id") is None:
                fields.problem(at, f"a task needs an `id`: {NAME_WANTED}", "benchmark-tasks")
        elif task in tasks:
            fields.problem(at, f"the task {task} is listed twice: remove one", "benchmark-tasks")
        else:
            tasks[task] = Task(
                id=task,
                title=entry.text("title") or _title(task),
                family=entry.text("family"),
                continuous_score=entry.text("continuous_score") or entry.text("continuous"),
                instruction=entry.text("instruction"),
                difficulty=_known(entry, "difficulty", "difficulty_label"),
            )
    return tasks


def _tasks_of_cache(source: Source, benchmark: str) -> dict[str, Task]:
    """`<id>.tasks.upstream.json`, an importer's cache. Its keys differ per suite, so only what has the right type is taken."""
    path = source.lab.benchmarks / f"{benchmark}.tasks.upstream.json"
    if not source.exists(path):
        return {}
    value = source.json(path, "benchmark")
    entries = value.get("tasks") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        if value is not None:
            source.problem(source.place(path), "benchmark-tasks", "has no list `tasks`: import it again")
        return {}
    tasks = {}
    for n, entry in enumerate(entries):
        task = _text(entry, "id") if isinstance(entry, dict) else None
        if task is None or not NAME.fullmatch(task):
            source.problem(source.place(path), "benchmark-tasks", f"`tasks[{n}]` has no usable `id`: import it again")
            continue
        tasks[task] = Task(
            id=task,
            title=_text(entry, "title") or _title(task),
            family=_text(entry, "family"),
            continuous_score=_text(entry, "continuous_score", "continuous"),
            instruction=_text(entry, "instruction"),
            difficulty=_known(entry, "difficulty", "difficulty_label"),
        )
    return tasks


def _curated(source: Source, benchmark: Benchmark) -> Benchmark:
    """The benchmark with what its owner decided about its tasks; a task that only `state/tasks` knows exists too."""
    tasks = dict(benchmark.tasks)
    top = source.optional(source.lab.state_tasks / f"{benchmark.id}.yml", "task")
    for task, fields in top.entries():
        if not NAME.fullmatch(task):
            top.problem(task, f"'{short(task)}' can't be a task's id: {NAME_WANTED}")
            continue
        if benchmark.listed and task not in benchmark.tasks:
            top.problem(task, f"the task list of {benchmark.id} doesn't have {task}: correct the id or list it", "task-unlisted")
        known = tasks.get(task) or _plain_task(task)
        tasks[task] = msgspec.structs.replace(
            known,
            difficulty=fields.choice("difficulty", DIFFICULTIES, "task-difficulty") or known.difficulty,
            status=fields.choice("status", STATUSES, "task-status") or known.status,
            excluded=_excluded(fields),
            labels=fields.texts("labels") or (),
            owner=fields.text("owner"),
            note=fields.text("note"),
        )
    return msgspec.structs.replace(benchmark, tasks=tasks)


def _excluded(fields: Fields) -> str | None:
    """The reason; anything that only says "yes" excludes as well, and is a fault."""
    value = fields.get("excluded")
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    fields.problem("excluded", "`excluded` has to be the reason, as text; remove it if the task belongs in", "task-excluded")
    return NO_REASON if value is True else None


def _check_score(fields: Fields) -> None:
    """`score: {min, max, binary}`. Rows, intervals and improvements are of scores from 0 to 1, so another range is a fault."""
    entry = fields.mapping("score", "benchmark-score")
    if entry is None:
        return
    entry.flag("binary", "benchmark-score")
    for key, end in (("min", 0), ("max", 1)):
        value = entry.number(key, "benchmark-score")
        if value is not None and value != end:
            message = (
                f"`{key}` is {short(value)}, but scores of contributed results go from 0 to 1: have them divided by the full one"
            )
            entry.problem(key, message, "benchmark-score")


def _pools(source: Source, benchmark: str, fields: Fields) -> dict[str, Pool]:
    pools: dict[str, Pool] = {}
    declared = fields.mapping("pools", "benchmark-pools")
    for pool, entry in declared.entries("benchmark-pools") if declared else ():
        size = entry.number("size", "benchmark-pools")
        if not NAME.fullmatch(pool) or size is None or size != int(size) or size < 1:
            entry.problem("size", f"the pool '{short(pool)}' needs a plain name and `size`, its number of tasks", "benchmark-pools")
            continue
        path = source.lab.benchmarks / benchmark / "pools" / f"{pool}.txt"
        pools[pool] = Pool(
            id=pool,
            size=int(size),
            sha256=entry.text("sha256", "benchmark-pools"),
            role=entry.choice("role", ("exam", "study"), "benchmark-pools") or "exam",
            default=entry.flag("default", "benchmark-pools") or False,
            file=source.lab.relative(path) if source.exists(path) else None,
        )
    return pools


def _title(task: str) -> str:
    return task.replace("_", " ")


def _text(entry: Mapping[str, Any] | Fields, *keys: str) -> str | None:
    """The first of `keys` that holds text."""
    values = [entry.get(key) for key in keys]
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _known(entry: Mapping[str, Any] | Fields, *keys: str) -> str:
    """A suite's own difficulty where it uses our words; other suites' words mean nothing here."""
    said = _text(entry, *keys)
    return said if said in DIFFICULTIES else "unrated"
