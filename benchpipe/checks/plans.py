"""What has to hold between `state/runs`, agents and benchmarks (runs-system 3.3, 13). Reads no file."""

from collections.abc import Iterable, Iterator

from benchpipe.checks.findings import Spot, Workspace
from benchpipe.registry.quoting import short
from benchpipe.registry.records import Benchmark, BenchRun, Place, Plan, Registry, Remark


def _place(plan: Plan, path: str, bench_run: BenchRun | None = None) -> Place:
    """Where a key path stands, else where what is around it does."""
    while path and path not in plan.lines:
        path = path.rpartition(".")[0]
    return Place((bench_run or plan).place.file, plan.lines.get(path, 1))


def _place_of_wide(plan: Plan, bench_run: BenchRun, key: str) -> Place:
    """Where a value stands that a run may set for itself and otherwise has from its benchmark."""
    own = f"runs.{bench_run.run}.{key}"
    return _place(plan, own, bench_run) if own in plan.lines else _place(plan, key)


def _bench_runs(registry: Registry) -> Iterator[tuple[Plan, BenchRun, Benchmark]]:
    for plan in registry.plans.values():
        for bench_run in plan.runs.values():
            yield plan, bench_run, registry.benchmarks[plan.benchmark]


def runs_missing(workspace: Workspace) -> Iterator[Spot]:
    for plan in workspace.registry.plans.values():
        if plan.raw and not plan.raw.get("runs"):
            yield _place(plan, "runs"), f"{plan.benchmark} has no `runs`: add one below `runs:`, or remove the file"


def default_not_a_run(workspace: Workspace) -> Iterator[Spot]:
    for plan in workspace.registry.plans.values():
        default = plan.raw.get("default")
        if isinstance(default, str) and default.strip() and plan.specs and default not in plan.specs:
            yield _place(plan, "default"), f"`default: {short(default)}` is none of its runs: name one of {_some(plan.specs)}"


def default_hidden(workspace: Workspace) -> Iterator[Spot]:
    for plan in workspace.registry.plans.values():
        default = plan.runs.get(str(plan.raw.get("default")))
        if default and default.hidden:
            message = f"the default run {default.run} is hidden: make another run the default, or show it"
            yield _place(plan, f"runs.{default.run}.hidden", default), message


def task_directories_collide(workspace: Workspace) -> Iterator[Spot]:
    """A template without the task gives every task the same directory, so all trials would count for one of them."""
    spots = {}
    for plan, bench_run, _ in _bench_runs(workspace.registry):
        first: dict[str, str] = {}
        for task in bench_run.tasks:
            directory = bench_run.task_directory(task)
            other = first.setdefault(directory, task)
            if other != task:
                message = (
                    f"`task_dir` gives {other} and {task} one directory, {short(directory)}: put {{task}} or {{task_dashed}} in it"
                )
                spots[_place_of_wide(plan, bench_run, "task_dir")] = message
                break
    yield from spots.items()


def mode_of_no_agent(workspace: Workspace) -> Iterator[Spot]:
    for plan, bench_run, _ in _bench_runs(workspace.registry):
        agent = workspace.registry.agents.get(bench_run.run)
        for mode in bench_run.modes:
            if agent and agent.raw and mode not in agent.modes:
                message = f"`modes` names {mode}, but {bench_run.run} has {_some(agent.modes)}: correct it, or add it to the agent"
                yield _place(plan, f"runs.{bench_run.run}.modes", bench_run), message


def run_not_registered(workspace: Workspace) -> Iterator[Spot]:
    for plan in workspace.registry.plans.values():
        for run in plan.specs:
            if run not in workspace.registry.agents:
                renamed = workspace.registry.aliases.get(run)
                fix = f"it was renamed, write {renamed}" if renamed else f"add data/agents/{short(run)}.yml or correct the id"
                message = f"the run {short(run)} is not registered: {fix}"
                yield _place(plan, f"runs.{run}", plan.runs.get(run)), message


def task_unknown(workspace: Workspace) -> Iterator[Spot]:
    for plan, bench_run, benchmark in _bench_runs(workspace.registry):
        if not benchmark.listed:
            continue
        for task in bench_run.tasks:
            if task not in benchmark.tasks:
                message = f"{benchmark.id} has no task {task}: correct the id or add the task to its list"
                yield _task_place(plan, bench_run, task), message
        for task in bench_run.removed:
            if task not in benchmark.tasks:
                message = f"{benchmark.id} has no task {short(task)} that could be removed: correct the id or remove the line"
                yield _place(plan, f"runs.{bench_run.run}.removed.{task}", bench_run), message


def task_in_and_removed(workspace: Workspace) -> Iterator[Spot]:
    for plan, bench_run, _ in _bench_runs(workspace.registry):
        for task in bench_run.tasks:
            if task in bench_run.removed:
                message = f"{task} is both in the run and removed from it: keep it under `tasks` or under `removed`"
                yield _place(plan, f"runs.{bench_run.run}.removed.{task}", bench_run), message


def others_missing(workspace: Workspace) -> Iterator[Spot]:
    for plan, bench_run, benchmark in _bench_runs(workspace.registry):
        outside = [task for task in benchmark.tasks if task not in bench_run.tasks and task not in bench_run.removed]
        if outside and not bench_run.others:
            message = f"{len(outside)} tasks are neither in the run nor removed ({_some(outside)}): say why in `others`"
            yield _place(plan, f"runs.{bench_run.run}", bench_run), message


def stopped_wrong(workspace: Workspace) -> Iterator[Spot]:
    return _remarks_wrong(workspace.registry, "stopped")


def followups_wrong(workspace: Workspace) -> Iterator[Spot]:
    return _remarks_wrong(workspace.registry, "followups")


def notes_wrong(workspace: Workspace) -> Iterator[Spot]:
    return _remarks_wrong(workspace.registry, "notes")


def not_counted_wrong(workspace: Workspace) -> Iterator[Spot]:
    return _remarks_wrong(workspace.registry, "not_counted")


def _remarks_wrong(registry: Registry, key: str) -> Iterator[Spot]:
    """Entries of one list whose task is not in the run or whose mode the run doesn't have."""
    for plan, bench_run, _ in _bench_runs(registry):
        remarks: tuple[Remark, ...] = getattr(bench_run, key)
        for remark in remarks:
            place = remark.place or _place(plan, f"runs.{bench_run.run}.{key}", bench_run)
            if remark.task not in bench_run.tasks:
                yield place, f"`{key}` names {short(remark.task)}, which is not in the run: correct the task or add it to `tasks`"
            if remark.mode not in bench_run.modes:
                yield place, f"`{key}` names the mode {short(remark.mode)}, but the run has {_some(bench_run.modes)}: correct it"


def followup_without_trial(workspace: Workspace) -> Iterator[Spot]:
    for plan, bench_run, _ in _bench_runs(workspace.registry):
        for remark in bench_run.followups:
            if remark.trial is None:
                message = f"the follow-up for {short(remark.task)} names no `trial`, so it would never show: add the trial's name"
                yield remark.place or _place(plan, f"runs.{bench_run.run}.followups", bench_run), message


def withdrawn_mode_unknown(workspace: Workspace) -> Iterator[Spot]:
    for plan, bench_run, _ in _bench_runs(workspace.registry):
        for mode in bench_run.withdrawn:
            if mode not in bench_run.modes:
                message = f"`withdrawn` names the mode {mode}, but the run has {_some(bench_run.modes)}: correct it"
                yield _place(plan, f"runs.{bench_run.run}.withdrawn.{mode}", bench_run), message


def per_family_not_a_metric(workspace: Workspace) -> Iterator[Spot]:
    spots = {}
    for plan, bench_run, _ in _bench_runs(workspace.registry):
        family = bench_run.per_family
        if family and family.key not in {metric.key for metric in bench_run.metrics}:
            message = f"`per_family` uses {short(family.key)}, which no entry of `metrics` has: declare it as a metric"
            spots[_place_of_wide(plan, bench_run, "per_family")] = message
    yield from spots.items()


def rerun_all_alone(workspace: Workspace) -> Iterator[Spot]:
    for plan, bench_run, _ in _bench_runs(workspace.registry):
        spec = plan.specs.get(bench_run.run) or {}
        if spec.get("rerun_all") is True and not bench_run.rerun_batches:
            message = "`rerun_all` does nothing without `rerun_batches`: name the batch that redoes everything, or remove it"
            yield _place(plan, f"runs.{bench_run.run}.rerun_all", bench_run), message


def batch_with_two_progress_keys(workspace: Workspace) -> Iterator[Spot]:
    first: dict[str, BenchRun] = {}
    for plan, bench_run, _ in _bench_runs(workspace.registry):
        for batch in bench_run.batches:
            other = first.setdefault(batch, bench_run)
            if other.benchmark != bench_run.benchmark and other.progress != bench_run.progress:
                message = (
                    f"the batch {short(batch)} serves {other.benchmark} with progress {short(other.progress)} and "
                    f"{bench_run.benchmark} with {short(bench_run.progress)}: name the batches apart, or use one progress key"
                )
                yield _place(plan, f"runs.{bench_run.run}.batch", bench_run), message


def host_filter_unknown(workspace: Workspace) -> Iterator[Spot]:
    """A filter that names nothing keeps a host from being asked at all, which looks like a host without jobs."""
    registry = workspace.registry
    for host in registry.hosts.values():
        for key, named, known in (("benchmarks", host.benchmarks, registry.plans), ("runs", host.runs, registry.agents)):
            for name in named or ():
                if name not in known:
                    yield host.place, f"`{key}` of {host.name} names {short(name)}, which is not registered: correct or remove it"


def _task_place(plan: Plan, bench_run: BenchRun, task: str) -> Place:
    n = plan.specs[bench_run.run]["tasks"].index(task)
    return _place(plan, f"runs.{bench_run.run}.tasks.{n}", bench_run)


def _some(names: Iterable[str]) -> str:
    """The first few of many names."""
    listed = list(names)
    return ", ".join(map(short, listed[:5])) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")
