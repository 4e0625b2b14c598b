"""`state/runs/<benchmark>[.local].yml` → `Plan` with its bench-runs (runs-system 3.3; B1, B8).

Every value of a bench-run is resolved here: run spec > benchmark > agent > default.
"""

import re
import string
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from benchpipe.registry.agents import LOCAL, MODE, modes_of, stem_of
from benchpipe.registry.benchmarks import NO_REASON
from benchpipe.registry.fields import NAME, Fields
from benchpipe.registry.quoting import short
from benchpipe.registry.records import (
    DEFAULT_MODES,
    Agent,
    BenchRun,
    Metric,
    PerFamily,
    Place,
    Plan,
    Remark,
    Verdict,
    Withdrawal,
)
from benchpipe.registry.source import Source

TEMPLATE_FIELDS = ("benchmark", "task", "task_dashed")
FORMAT_SPEC = re.compile(r"[ +-]?,?(\.\d{1,2})?[fgeEG%d]?")
"""What a score needs: a sign, thousands, decimals, a kind. Widths and fills would only break tables."""


def load_plans(source: Source, agents: Mapping[str, Agent]) -> dict[str, Plan]:
    """Every benchmark's plan, in file-name order."""
    paths = source.yaml_files(source.lab.state_runs, "plan")
    plans = {}
    for benchmark in sorted({stem_of(path.name) for path in paths}):
        main, extra = (source.optional(source.lab.state_runs / f"{benchmark}{end}", "plan") for end in (".yml", LOCAL))
        of = main if any(path.name == f"{benchmark}.yml" for path in paths) else extra
        plans[benchmark] = _plan(benchmark, main, extra, agents, of.place())
    return plans


def _plan(benchmark: str, main: Fields, extra: Fields, agents: Mapping[str, Agent], place: Place) -> Plan:
    """`main` is the committed file, `extra` the local overlay; either may be empty, or not there. `place`: of the one that is."""
    wide = _wide(main, BenchRun(benchmark=benchmark, run="", place=main.place(), batch=""))
    runs = _bench_runs(main, wide, agents)
    committed = _specs(main)
    for run, bench_run in _bench_runs(extra, wide, agents).items():
        if run not in committed:
            runs[run] = msgspec.structs.replace(bench_run, local=True)
    asked = main.text("default", "plan-default")
    shown = [run for run, bench_run in runs.items() if not bench_run.hidden]
    default = asked if asked in shown else next(iter(shown), None)
    return Plan(
        benchmark=benchmark,
        place=place,
        default=default,
        runs={run: runs[run] for run in sorted(runs, key=lambda run: run != default)},
        raw=main.data,
        specs={**_specs(extra), **committed},
        lines={**extra.lines, **main.lines},
    )


def _specs(fields: Fields) -> Mapping[str, Any]:
    runs = fields.get("runs")
    return runs if isinstance(runs, Mapping) else {}


def _bench_runs(fields: Fields, wide: BenchRun, agents: Mapping[str, Agent]) -> dict[str, BenchRun]:
    """The bench-runs of one file over the benchmark-wide values. A run without a batch is left out."""
    runs = {}
    specs = fields.mapping("runs")
    for run, spec in specs.entries("run-batch") if specs else ():
        agent = agents.get(run)
        base = msgspec.structs.replace(wide, run=run, place=spec.place(), modes=agent.modes if agent else DEFAULT_MODES)
        bench_run = _bench_run(spec, base)
        if bench_run and NAME.fullmatch(run):  # another name can't be registered, which `run-registered` says
            runs[run] = bench_run
    return runs


def _wide(fields: Fields, base: BenchRun) -> BenchRun:
    """`base` with the values that a benchmark sets for all its runs, and a run may set for itself."""
    return msgspec.structs.replace(
        base,
        task_dir=_template(fields) or base.task_dir,
        progress=fields.text("progress") or base.progress,
        metrics=_metrics(fields) if "metrics" in fields else base.metrics,
        per_family=_per_family(fields) or base.per_family,
        verdict=_verdict(fields) or base.verdict,
        task_suffixes={**base.task_suffixes, **_suffixes(fields)},
    )


def _bench_run(spec: Fields, base: BenchRun) -> BenchRun | None:
    batch = spec.text("batch", "run-batch")
    if batch is None:
        if not str(spec.get("batch") or "").strip():
            spec.problem(None, f"{base.run} has no `batch`: name the batch that was launched", "run-batch")
        return None
    later = spec.texts("rerun_batches") or ()
    own = _wide(spec, base)
    return msgspec.structs.replace(
        own,
        batch=batch,
        rerun_batches=later,
        rerun_all=bool(spec.flag("rerun_all")) and bool(later),
        tasks=_tasks(spec),
        removed=_reasons(spec),
        others=spec.text("others"),
        modes=modes_of(spec, "plan-field") or own.modes,
        followups=_remarks(spec, "followups", "run-followups"),
        notes=_remarks(spec, "notes", "run-notes", needs_trial=True),
        not_counted=_remarks(spec, "not_counted", "run-not-counted", needs_trial=True),
        stopped=_remarks(spec, "stopped", "run-stopped", has_trial=False),
        withdrawn=_withdrawn(spec),
        closed=spec.text("closed"),
        hidden=_hidden(spec),
        harness=spec.text("harness"),
    )


def _template(fields: Fields) -> str | None:
    """`task_dir` if it can be filled in with our three fields, else None and a problem."""
    template = fields.text("task_dir", "plan-task-dir")
    fault = template_fault(template) if template else None
    if fault:
        fields.problem("task_dir", f"`task_dir` {fault}", "plan-task-dir")
        return None
    return template


def template_fault(template: str) -> str | None:
    """What keeps a task directory template from being filled in, with the fix; None = nothing."""
    wanted = "it fills in only {benchmark}, {task} and {task_dashed}"
    try:
        for _, name, spec, conversion in string.Formatter().parse(template):
            if name is not None and (name not in TEMPLATE_FIELDS or spec or conversion):
                field = f"{name}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}"
                return f"has the field {{{short(field)}}}: {wanted}"
    except ValueError as error:
        return f"has a brace without its partner ({error}): {wanted}"
    return None


def format_fault(spec: str) -> str | None:
    """What is wrong with a metric's format; None = it formats a number."""
    try:
        if FORMAT_SPEC.fullmatch(spec):
            format(1.5, spec)
            return None
    except ValueError:
        pass
    return f"`format` '{short(spec)}' doesn't format a number: use for example '.2f'"


def _metrics(fields: Fields) -> tuple[Metric, ...]:
    metrics = []
    for entry in fields.records("metrics", "metric-key"):
        key = entry.text("key", "metric-key")
        if key is None:
            if "key" not in entry:
                entry.problem(None, "a metric needs a `key`, its name in reward.json", "metric-key")
            continue
        form = entry.text("format", "metric-format") or ".2f"
        fault = format_fault(form)
        if fault:
            entry.problem("format", fault, "metric-format")
        metrics.append(
            Metric(
                key=key,
                label=entry.text("label") or key,
                format=".2f" if fault else form,
                unit=entry.text("unit") or "",
                better=entry.choice("better", ("higher", "lower"), "metric-better") or "higher",
                summary=entry.choice("summary", ("mean", "median"), "metric-summary") or "mean",
                help=entry.text("help") or "",
            )
        )
    return tuple(metrics)


def _per_family(fields: Fields) -> PerFamily | None:
    entry = fields.mapping("per_family")
    key = entry.text("key") if entry else None
    if entry and key is None:
        entry.problem("key", "`per_family` needs a `key`, one of the metrics")
    return PerFamily(key, (entry.text("label") if entry else None) or key) if key else None


def _verdict(fields: Fields) -> Verdict | None:
    entry = fields.mapping("verdict")
    if entry is None:
        return None
    key = entry.text("key")
    at_least = entry.number("at_least")
    if key is None or (at_least is None and "at_least" in entry):
        entry.problem("key", "`verdict` needs `key`, a reward key, and `at_least`, a number (default 1)")
        return None
    return Verdict(key=key, at_least=float(Decimal(1) if at_least is None else at_least))


def _suffixes(fields: Fields) -> dict[str, tuple[str, ...]]:
    """Mode → suffixes of its twin task directories; a mode that isn't named keeps its default."""
    entry = fields.mapping("task_suffixes")
    return {mode: entry.texts(mode) or () for mode in entry} if entry else {}


def _tasks(spec: Fields) -> tuple[str, ...]:
    tasks = spec.texts("tasks", form=NAME) or ()
    written = spec.data["tasks"] if tasks else []
    for n, task in enumerate(written):
        if task in written[:n]:
            spec.problem(f"tasks.{n}", f"{task} stands twice in `tasks`: remove one", "run-task-twice")
    return tuple(dict.fromkeys(tasks))


def _reasons(spec: Fields) -> dict[str, str]:
    """`removed`: task id → reason."""
    entry = spec.mapping("removed")
    return {task: entry.text(task) or NO_REASON for task in entry} if entry else {}


def _remarks(spec: Fields, key: str, rule: str, *, needs_trial: bool = False, has_trial: bool = True) -> tuple[Remark, ...]:
    """Entries of `{task, mode, trial, note}` that have all they need."""
    remarks = []
    needed = ("task", "mode", "note", *(("trial",) if needs_trial else ()))
    for entry in spec.records(key, rule):
        values = {name: entry.text(name, rule) for name in ("task", "mode", "note", "trial")}
        missing = [name for name in needed if values[name] is None]
        if missing:
            names = " and ".join(f"`{name}`" for name in missing)
            entry.problem(None, f"an entry of `{key}` has no {names}: write {{{', '.join(needed)}}}", rule)
            continue
        trial = values["trial"] if has_trial else None
        remarks.append(
            Remark(task=str(values["task"]), mode=str(values["mode"]), note=str(values["note"]), trial=trial, place=entry.place())
        )
    return tuple(remarks)


def _withdrawn(spec: Fields) -> dict[str, Withdrawal]:
    entry = spec.mapping("withdrawn", "run-withdrawn")
    if entry is None:
        return {}
    withdrawn = {}
    for mode, value in entry.data.items():
        if MODE.fullmatch(mode):
            withdrawn[mode] = _withdrawal(mode, value, entry)
        else:
            entry.problem(mode, f"'{short(mode)}' can't be a mode: name one of the run's", "run-withdrawn")
    return withdrawn


def _withdrawal(mode: str, value: Any, entry: Fields) -> Withdrawal:
    """A mode that is named is withdrawn, whatever is wrong with its texts: a slip must not bring results back."""
    if isinstance(value, Mapping):
        inner = entry.inner(mode, value)
        return Withdrawal(inner.text("label", "run-withdrawn") or Withdrawal().label, inner.text("note", "run-withdrawn"))
    label = entry.text(mode, "run-withdrawn")
    return Withdrawal(label) if label else Withdrawal()


def _hidden(spec: Fields) -> bool:
    """Anything but a plain false hides: a slip must not show what its owner wanted out of sight."""
    value = spec.get("hidden")
    return value is not None and spec.flag("hidden", "run-hidden") is not False
