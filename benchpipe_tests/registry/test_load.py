"""What people wrote becomes typed records: every field, every default, every precedence."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry, read_backfill
from benchpipe.registry.records import (
    Agent,
    Backfill,
    Band,
    Benchmark,
    BenchRun,
    Host,
    Metric,
    PerFamily,
    Place,
    Pool,
    Price,
    Public,
    Rates,
    Registry,
    Remark,
    Task,
    Tier,
    Verdict,
    Withdrawal,
)

Write = Callable[[str, str], Path]


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Registry]:
    """`load(**{"path": text})` writes the files and reads the lab, which must have no problem unless `faulty`."""

    def run(files: dict[str, str], *, faulty: bool = False) -> Registry:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        registry = load_registry(Lab(tmp_path))
        assert faulty or registry.problems == ()
        return registry

    return run


Load = Callable[..., Registry]
BENCH = {"data/benchmarks/b.yml": "tasks: [t, u, v]"}


def test_an_agent_with_every_field(load: Load) -> None:
    text = """\
id: ignored
label: L
short: A · B · C · D
harness_id: codex
price: openai/x
model_id: x1
settings: {reasoning_effort: high, version: 1.10}
tag: azure
modes: [limited, unlimited, limited]
billing: openrouter
formerly: [old-1, old.2]
sweep: s
harness: H
route: R
model: M
notes: N
since: 2026-09-25
harbor: harbor run
"""
    agent = load({"data/agents/codex-x1-high-azure.yml": text}).agents["codex-x1-high-azure"]
    assert agent == Agent(
        id="codex-x1-high-azure",
        place=Place("data/agents/codex-x1-high-azure.yml"),
        label="L",
        short="A · B · C · D",
        harness_id="codex",
        price="openai/x",
        model_id="x1",
        settings={"reasoning_effort": "high", "version": Decimal("1.10")},
        tag="azure",
        modes=("limited", "unlimited"),
        billing="openrouter",
        formerly=("old-1", "old.2"),
        sweep="s",
        harness="H",
        route="R",
        model="M",
        notes="N",
        lines=agent.lines,
        raw=agent.raw,
    )
    assert agent.lines["formerly.1"] == 11
    assert str(agent.raw["since"]) == "2026-09-25"


def test_an_agent_that_says_little_has_every_default(load: Load) -> None:
    agent = load({"data/agents/a.yml": "label: Only this"}).agents["a"]
    assert (agent.short, agent.modes, agent.billing, agent.settings) == ("Only this", ("unlimited", "limited"), "api", {})
    assert (agent.price, agent.tag, agent.sweep, agent.formerly, agent.local) == (None, None, None, (), False)


def test_the_committed_agent_wins_over_the_local_one(load: Load) -> None:
    files = {"data/agents/a.local.yml": "label: local", "data/agents/b.local.yml": "label: mine"}
    both = load({**files, "data/agents/a.yml": "label: committed"})
    assert (both.agents["a"].label, both.agents["a"].local) == ("committed", False)
    assert (both.agents["b"].label, both.agents["b"].local) == ("mine", True)


def test_former_ids_lead_to_the_run_unless_they_are_registered_or_taken(load: Load) -> None:
    registry = load(
        {
            "data/agents/a.yml": "label: A\nformerly: [x, b]",
            "data/agents/b.yml": "label: B\nformerly: [x, y]",
        }
    )
    assert registry.aliases == {"x": "a", "y": "b"}


def test_prices_are_exact_with_tiers_and_bands(load: Load) -> None:
    text = """\
flat: {input: 0.10, output: 0.5}
rich:
  id: m1
  input: 2
  cached_input: 0.2
  cache_write: 2.5
  output: 10
  above: {272_000: {input: 4, output: 15}, 500000: {input: 5}}
  bands:
  - {until: 2026-09-01, input: 3, source: list}
  - {until: 2026-06-01T12:00:00+02:00, output: 20, above: {100: {input: 9}}}
  as_of: 2026-09-30
  source: listing
not a price: just text
"""
    registry = load({"data/prices.yml": text})
    assert registry.prices["flat"] == Price(
        key="flat", place=Place("data/prices.yml", 1), rates=Rates(input=Decimal("0.10"), output=Decimal("0.5"))
    )
    base = Rates(input=Decimal(2), output=Decimal(10), cached_input=Decimal("0.2"), cache_write=Decimal("2.5"))

    def rates(**changes: int) -> Rates:
        names = ("input", "output", "cached_input", "cache_write")
        return Rates(**{name: Decimal(changes[name]) if name in changes else getattr(base, name) for name in names})

    assert registry.prices["rich"] == Price(
        key="rich",
        place=Place("data/prices.yml", 2),
        rates=base,
        tiers=(Tier(above=272_000, rates=rates(input=4, output=15)), Tier(above=500_000, rates=rates(input=5))),
        bands=(
            Band(
                until="2026-06-01T10:00:00+00:00", rates=rates(output=20), tiers=(Tier(above=100, rates=rates(input=9, output=20)),)
            ),
            Band(until="2026-09-01T00:00:00+00:00", rates=rates(input=3), source="list"),
        ),
        id="m1",
        as_of="2026-09-30",
        source="listing",
    )
    assert set(registry.prices) == {"flat", "rich"}


def test_a_price_is_the_number_that_was_written_not_a_binary_neighbour(load: Load) -> None:
    price = load({"data/prices.yml": "p: {input: 0.1234567890123456789, output: 1}"}).prices["p"]
    assert str(price.rates.input) == "0.1234567890123456789"


def test_an_entry_without_usable_numbers_is_no_price_and_still_names_its_model(load: Load) -> None:
    registry = load({"data/prices.yml": "p: {id: m, input: ten, output: 1}"}, faulty=True)
    assert (dict(registry.prices), dict(registry.unpriced)) == ({}, {"p": "m"})


def test_tasks_come_from_the_benchmarks_own_file(load: Load) -> None:
    text = """\
name: B
simulator: S
status: active
skill_vocabulary: [sorting]
scenes: [desk, floor]
edition: 3
tasks:
- t
- {id: u_v, title: You Vee, family: desk, continuous_score: IoU, difficulty: hard, instruction: do}
pools: {valid: {size: 2, sha256: abc, role: study, default: true}, seen: {size: 140}}
"""
    files = {"data/benchmarks/b.yml": text, "data/benchmarks/b/pools/valid.txt": "t\nu_v\n"}
    benchmark = load({**files, "data/benchmarks/b.tasks.upstream.json": "not read"}).benchmarks["b"]
    assert benchmark == Benchmark(
        id="b",
        place=Place("data/benchmarks/b.yml"),
        name="B",
        simulator="S",
        status="active",
        skill_vocabulary=("sorting",),
        scenes=("desk", "floor"),
        tasks={
            "t": Task(id="t", title="t"),
            "u_v": Task(id="u_v", title="You Vee", family="desk", continuous_score="IoU", difficulty="hard", instruction="do"),
        },
        listed=True,
        pools={
            "valid": Pool(id="valid", size=2, sha256="abc", role="study", default=True, file="data/benchmarks/b/pools/valid.txt"),
            "seen": Pool(id="seen", size=140),
        },
        raw=benchmark.raw,
    )
    assert list(benchmark.tasks) == ["t", "u_v"]
    assert benchmark.raw["edition"] == 3


def test_else_tasks_come_from_the_importers_cache(load: Load) -> None:
    cache = """{"source": "x", "tasks": [
      {"id": "z", "title": "Zed", "family": "f", "continuous": "1 - e", "difficulty": "simple", "instruction": "do"},
      {"id": "a_b", "difficulty_label": "hard", "title": 5}]}"""
    files = {"data/benchmarks/b.yml": "name: B", "data/benchmarks/b.tasks.upstream.json": cache}
    benchmark = load({**files, "state/tasks/b.yml": "a_b: {difficulty: easy}"}).benchmarks["b"]
    assert benchmark.tasks == {
        "z": Task(id="z", title="Zed", family="f", continuous_score="1 - e", instruction="do"),
        "a_b": Task(id="a_b", title="a b", difficulty="easy"),
    }
    assert list(benchmark.tasks) == ["z", "a_b"]


def test_curation_is_joined_to_the_tasks(load: Load) -> None:
    curation = """\
t: {difficulty: extreme, status: needs-review, excluded: too easy, labels: [one, two], owner: me, note: hm}
u: {excluded: true}
v:
"""
    registry = load({**BENCH, "state/tasks/b.yml": curation}, faulty=True)
    assert registry.benchmarks["b"].tasks == {
        "t": Task(
            id="t", title="t", difficulty="extreme", status="needs-review", excluded="too easy", labels=("one", "two"),
            owner="me", note="hm",
        ),
        "u": Task(id="u", title="u", excluded="no reason given"),
        "v": Task(id="v", title="v"),
    }  # fmt: skip
    assert [problem.rule for problem in registry.problems] == ["task-excluded"]


def test_where_nobody_lists_tasks_those_of_state_exist(load: Load) -> None:
    files = {
        "data/benchmarks/b.yml": "name: B",
        "state/tasks/b.yml": "t: {difficulty: easy}",
        "state/runs/b.yml": "runs: {r: {batch: x, tasks: [w]}}",
    }
    registry = load(files, faulty=True)
    assert list(registry.benchmarks["b"].tasks) == ["t", "w"]
    assert [problem.rule for problem in registry.problems] == ["benchmark-tasks"]


def test_a_bench_run_with_every_field(load: Load) -> None:
    plan = """\
runs:
  r:
    batch: b0
    rerun_batches: [b1, b2]
    rerun_all: true
    tasks: [t, u]
    removed: {v: too big}
    others: later
    modes: [fast]
    followups: [{task: t, mode: fast, trial: t__1, note: rerun}, {task: t, mode: fast, note: n}]
    notes: [{task: t, mode: fast, trial: t__2, note: n}]
    not_counted: [{task: t, mode: fast, trial: t__3, note: n}]
    stopped: [{task: u, mode: fast, trial: ignored, note: n}]
    withdrawn: {fast: {label: soon, note: why}, slow: later, other: }
    closed: over
    hidden: true
    harness: H
    task_dir: "x-{task}"
    progress: none
    metrics: [{key: k}]
    per_family: {key: k, label: K}
    verdict: {key: won, at_least: 0.5}
    task_suffixes: {fast: [-quick]}
"""
    run = load({**BENCH, "state/runs/b.yml": plan}).plans["b"].runs["r"]

    def remark(key: str, n: int, **values: str) -> Remark:
        return Remark(place=Place("state/runs/b.yml", lines[f"runs.r.{key}.{n}"]), **values)

    lines = load({}).plans["b"].lines
    assert run == BenchRun(
        benchmark="b",
        run="r",
        place=Place("state/runs/b.yml", 2),
        batch="b0",
        rerun_batches=("b1", "b2"),
        rerun_all=True,
        tasks=("t", "u"),
        removed={"v": "too big"},
        others="later",
        modes=("fast",),
        followups=(
            remark("followups", 0, task="t", mode="fast", trial="t__1", note="rerun"),
            remark("followups", 1, task="t", mode="fast", note="n"),
        ),
        notes=(remark("notes", 0, task="t", mode="fast", trial="t__2", note="n"),),
        not_counted=(remark("not_counted", 0, task="t", mode="fast", trial="t__3", note="n"),),
        stopped=(remark("stopped", 0, task="u", mode="fast", note="n"),),
        withdrawn={"fast": Withdrawal("soon", "why"), "slow": Withdrawal("later"), "other": Withdrawal("rerun pending")},
        closed="over",
        hidden=True,
        harness="H",
        task_dir="x-{task}",
        progress="none",
        metrics=(Metric(key="k", label="k"),),
        per_family=PerFamily("k", "K"),
        verdict=Verdict(key="won", at_least=0.5),
        task_suffixes={"limited": ("-limited", "-standard"), "unlimited": ("-privileged",), "fast": ("-quick",)},
    )
    assert run.batches == ("b0", "b1", "b2")
    assert run.task_directory("a_b") == "x-a_b"


def test_a_bench_run_that_says_little_has_every_default(load: Load) -> None:
    run = load({**BENCH, "state/runs/b.yml": "runs: {r: {batch: b0}}"}).plans["b"].runs["r"]
    assert run == BenchRun(benchmark="b", run="r", place=Place("state/runs/b.yml", 1), batch="b0")
    assert run.task_directory("a_b") == "b-a-b-i00"
    assert (run.progress, run.modes, run.verdict) == ("final_reward", ("unlimited", "limited"), None)


def test_what_a_run_says_goes_before_what_its_benchmark_says_before_its_agent(load: Load) -> None:
    plan = """\
task_dir: "{benchmark}_{task}"
progress: q_score
metrics: [{key: a, label: A, format: ",.1%", unit: mm, better: lower, summary: median, help: tip}]
per_family: {key: a}
verdict: {key: won}
task_suffixes: {limited: [-lim]}
runs:
  r: {batch: x}
  s: {batch: y, progress: none, metrics: [], modes: [slow], task_suffixes: {unlimited: []}, verdict: {key: v, at_least: 2}}
"""
    runs = load({**BENCH, "data/agents/r.yml": "label: R\nmodes: [own]", "state/runs/b.yml": plan}).plans["b"].runs
    assert (runs["r"].modes, runs["s"].modes) == (("own",), ("slow",))
    assert (runs["r"].progress, runs["s"].progress) == ("q_score", "none")
    assert runs["r"].metrics == (
        Metric(key="a", label="A", format=",.1%", unit="mm", better="lower", summary="median", help="tip"),
    )
    assert runs["s"].metrics == ()
    assert (runs["r"].verdict, runs["s"].verdict) == (Verdict(key="won", at_least=1), Verdict(key="v", at_least=2))
    assert runs["s"].task_suffixes == {"limited": ("-lim",), "unlimited": ()}
    assert runs["r"].per_family == PerFamily("a", "a")
    assert runs["s"].task_directory("a_b") == "b_a_b"


def test_the_default_run_comes_first_and_the_rest_in_file_order(load: Load) -> None:
    plan = load({**BENCH, "state/runs/b.yml": "default: r2\nruns: {r1: {batch: x}, r2: {batch: y}, r3: {batch: z}}"}).plans["b"]
    assert (plan.default, list(plan.runs)) == ("r2", ["r2", "r1", "r3"])
    assert [run.run for run in plan.shown()] == ["r2", "r1", "r3"]


def test_without_a_usable_default_the_first_shown_run_is_it(load: Load) -> None:
    runs = "runs: {r1: {batch: x, hidden: true}, r2: {batch: y}}"
    for head in ("", "default: r1\n", "default: gone\n"):
        plan = load({**BENCH, "state/runs/b.yml": head + runs}).plans["b"]
        assert (plan.default, list(plan.runs)) == ("r2", ["r2", "r1"])
        assert [run.run for run in plan.shown()] == ["r2"]
    assert load({"state/runs/b.yml": "runs: {r1: {batch: x, hidden: true}}"}).plans["b"].default is None


def test_rerun_all_needs_a_second_batch(load: Load) -> None:
    plan = load({**BENCH, "state/runs/b.yml": "runs: {r: {batch: x, rerun_all: true}}"}).plans["b"]
    assert plan.runs["r"].rerun_all is False


def test_the_local_overlay_adds_runs_and_changes_none(load: Load) -> None:
    committed = "default: r\nprogress: q\nruns: {r: {batch: x}}"
    overlay = "default: mine\nprogress: other\nruns:\n  mine: {batch: m}\n  r: {batch: changed}\n"
    plan = load({**BENCH, "state/runs/b.yml": committed, "state/runs/b.local.yml": overlay}).plans["b"]
    assert (plan.default, list(plan.runs), plan.runs["r"].batch) == ("r", ["r", "mine"], "x")
    assert (plan.runs["mine"].local, plan.runs["r"].local, plan.runs["mine"].progress) == (True, False, "q")
    assert plan.runs["mine"].place == Place("state/runs/b.local.yml", 4)


def test_the_local_overlay_does_not_mend_a_run_of_the_committed_file(load: Load) -> None:
    """Two owners' halves of one run would be nobody's: the committed one's fault is said, the other is ignored."""
    files = {**BENCH, "state/runs/b.yml": "runs: {r: {tasks: [one]}}", "state/runs/b.local.yml": "runs: {r: {batch: m}}"}
    registry = load(files, faulty=True)
    assert registry.plans["b"].runs == {}
    assert [(problem.rule, problem.place.file) for problem in registry.problems] == [("run-batch", "state/runs/b.yml")]


def test_the_local_overlay_may_stand_alone(load: Load) -> None:
    plan = load({**BENCH, "state/runs/b.local.yml": "runs: {mine: {batch: m}}"}).plans["b"]
    assert (plan.default, plan.runs["mine"].local) == ("mine", True)


def test_a_fault_beside_an_overlay_is_said_once_and_a_broken_plan_keeps_its_place(load: Load) -> None:
    overlay = {"state/runs/b.local.yml": "runs: {mine: {batch: m}}"}
    registry = load({**BENCH, **overlay, "state/runs/b.yml": "task_dir: '{x}'\nruns: {r: {batch: x}}"}, faulty=True)
    assert [(p.rule, p.place.line) for p in registry.problems] == [("plan-task-dir", 1)]
    (alone,) = load({"state/runs/c.yml": "runs: [", "data/benchmarks/c.yml": "tasks: [t]"}, faulty=True).problems[1:]
    assert str(alone.place) == "state/runs/c.yml:1"


def test_slips_that_would_show_too_much_hide_instead(load: Load) -> None:
    plan = "runs: {r: {batch: x, hidden: 'no', withdrawn: {limited: {label: 5}, fast: 7}}}"
    run = load({**BENCH, "state/runs/b.yml": plan}, faulty=True).plans["b"].runs["r"]
    assert run.hidden is True
    assert run.withdrawn == {"limited": Withdrawal(), "fast": Withdrawal()}


def test_a_bad_template_or_format_falls_back_to_the_default(load: Load) -> None:
    plan = """\
task_dir: "{oops}"
metrics: [{key: m, format: q}]
runs:
  r: {batch: x}
  s: {batch: y, task_dir: "{task"}
"""
    runs = load({**BENCH, "state/runs/b.yml": plan}, faulty=True).plans["b"].runs
    assert [run.task_directory("a_b") for run in runs.values()] == ["b-a-b-i00"] * 2
    assert runs["r"].metrics[0].format == ".2f"


def test_hosts_with_every_field_and_default(load: Load) -> None:
    text = """\
local: {jobs: ../jobs/agents}
gpu1: {ssh: gpu1, jobs: ~/jobs}
gpu2: {ssh: g, jobs: /j, transport: openssh, python: python3.9, benchmarks: [b], runs: [r]}
"""
    hosts = load({"data/runs/hosts.me.local.yml": text}).hosts
    place = "data/runs/hosts.me.local.yml"
    assert list(hosts.values()) == [
        Host(name="local", place=Place(place, 1), jobs="../jobs/agents"),
        Host(name="gpu1", place=Place(place, 2), jobs="~/jobs", ssh="gpu1", transport="paramiko"),
        Host(
            name="gpu2", place=Place(place, 3), jobs="/j", ssh="g", transport="openssh", python="python3.9",
            benchmarks=("b",), runs=("r",),
        ),
    ]  # fmt: skip


def test_every_hosts_file_is_read_in_name_order_and_the_first_definition_stays(load: Load) -> None:
    registry = load(
        {
            "data/runs/hosts.local.yml": "c: {jobs: /c}",
            "data/runs/hosts.ann.local.yml": "a: {jobs: /a}\nsame: {jobs: /s, ssh: s}",
            "data/runs/hosts.bob.local.yml": "a: {jobs: /other}\nsame: {ssh: s, jobs: /s}\nb: {jobs: /b}",
            "data/runs/hosts.yml": "ignored: {jobs: /x}",
        },
        faulty=True,
    )
    assert [(host.name, host.jobs) for host in registry.hosts.values()] == [
        ("a", "/a"),
        ("same", "/s"),
        ("b", "/b"),
        ("c", "/c"),
    ]
    (problem,) = registry.problems
    assert str(problem.place) == "data/runs/hosts.bob.local.yml:1"
    assert problem.message.startswith("a is defined differently in data/runs/hosts.ann.local.yml:1, which counts")


def test_a_hosts_file_can_be_named_and_is_then_the_only_one(load: Load, tmp_path: Path, write: Write) -> None:
    load({"data/runs/hosts.local.yml": "a: {jobs: /a}"})
    other = write("elsewhere/h.yml", "b: {jobs: /b}")
    registry = load_registry(Lab(tmp_path), hosts_files=[other])
    assert list(registry.hosts) == ["b"]
    missing = load_registry(Lab(tmp_path), hosts_files=[tmp_path / "none.yml"])
    assert "can't be read (No such file or directory)" in missing.problems[0].message


def test_settings_of_the_public_build(load: Load) -> None:
    text = """\
link_demos: [b]
run_media_base: https://media.example/x/
run_media_images: webp
hub_dataset: org/set
site_url: https://site.example/
contact: us
machine_names: [gpu, "node-*"]
"""
    public = load({"data/public.yml": text}).public
    assert public == Public(
        link_demos=("b",),
        run_media_base="https://media.example/x/",
        run_media_images="webp",
        hub_dataset="org/set",
        site_url="https://site.example/",
        contact="us",
        machine_names=("gpu", "node-*"),
        raw=public.raw,
    )
    assert load({"data/public.yml": "a: [b"}, faulty=True).public == Public()


def test_a_backfill_file_is_read_and_an_unreadable_one_is_empty(tmp_path: Path, write: Write) -> None:
    lab = Lab(tmp_path)
    assert read_backfill(lab, "b", "r") == {}
    write("data/runs/b/r.backfill.yml", "t/limited: {note: n, episode: e.jsonl, video: v.mp4, video_problem: p}\nu/limited-prev:\n")
    assert read_backfill(lab, "b", "r") == {
        "t/limited": Backfill(note="n", episode="e.jsonl", video="v.mp4", video_problem="p"),
        "u/limited-prev": Backfill(),
    }
    write("data/runs/b/r.backfill.yml", "t: [")
    assert read_backfill(lab, "b", "r") == {}


def test_an_empty_lab_is_an_empty_registry(tmp_path: Path) -> None:
    assert load_registry(Lab(tmp_path)) == Registry()


def test_a_host_that_is_limited_to_a_runs_former_id_is_asked_for_the_run(write: Write, tmp_path: Path) -> None:
    write("data/agents/new-run-id.yml", "{label: New, formerly: [old-run-id]}")
    write("state/runs/b.yml", "runs: {new-run-id: {batch: x, tasks: [t]}}")
    write("data/runs/hosts.local.yml", "here: {jobs: jobs, runs: [old-run-id]}")
    registry = load_registry(Lab(tmp_path))
    assert registry.hosts["here"].runs == ("new-run-id",)
    assert registry.hosts["here"].serves(registry.plans["b"].runs["new-run-id"])
