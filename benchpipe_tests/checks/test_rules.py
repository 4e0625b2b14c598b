"""Every rule finds the fault it is for, at its file and line, and finds nothing in a healthy lab."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from benchpipe.checks.rules import RULES, Finding, Workspace, run_rules
from benchpipe.lab import Lab
from benchpipe.registry.load import load_registry
from benchpipe_tests.checks import healthy

LUNA = "data/agents/codex-gpt6_luna-xhigh.yml"
OPUS = "data/agents/claude_code-claude_opus5_5-adaptive-persist.yml"
PRICES = "data/prices.yml"
BENCH = "data/benchmarks/my-bench.yml"
POOL = "data/benchmarks/my-bench/pools/valid.txt"
CURATION = "state/tasks/my-bench.yml"
PLAN = "state/runs/my-bench.yml"
OTHER = "state/runs/other.yml"
HOSTS = "data/runs/hosts.me.local.yml"
YOURS = "data/runs/hosts.you.local.yml"
PUBLIC = "data/public.yml"
NOTHING = ""


class Case(NamedTuple):
    """Replace `old` by `new` in `file` (`old` empty: the whole text); the rule then names `at` (default `file`) and `line`."""

    rule: str
    file: str
    old: str
    new: str
    line: int | None
    says: str
    at: str | None = None


CASES = [
    Case("agent-file", LUNA, NOTHING, "label: [unclosed", 1, "is not YAML"),
    Case("agent-file", LUNA, "label: Codex CLI", "label: Codex: CLI", 1, "quote a text that has `: ` in it"),
    Case("agent-file", "data/agents/new.yaml", NOTHING, "label: New", None, "its name doesn't end in .yml: rename it"),
    Case("plan-file", "state/runs/other.YML", NOTHING, "runs: {}", None, "its name doesn't end in .yml: rename it"),
    Case("agent-field", LUNA, "reasoning_effort: xhigh", "reasoning_effort: 3", 4, "`reasoning_effort` is a number"),
    Case("agent-file", LUNA, NOTHING, "- a list", 1, "no `key: value` pairs"),
    Case("agent-file", LUNA, "billing: subscription", "label: again", 5, "`label` stands twice (first in line 1"),
    Case("agent-field", LUNA, "short: Codex CLI 0.157 · GPT-6 Luna · xhigh · ChatGPT login", "short: 5", 2, "`short` is a number"),
    Case("agent-key", LUNA, "billing: ", "bilingg: ", 5, "`bilingg` is read by nobody: did you mean `billing`?"),
    Case("agent-key", LUNA, "reasoning_effort: ", "reasoning_efort: ", 4, "did you mean `reasoning_effort`?"),
    Case("agent-label", LUNA, "label: Codex CLI 0.157.0 + GPT-6 Luna, reasoning xhigh (ChatGPT login)\n", "", 1, "has no `label`"),
    Case(
        "agent-label", LUNA, "label: Codex CLI 0.157.0 + GPT-6 Luna, reasoning xhigh (ChatGPT login)", "label: 6", 1, "is a number"
    ),
    Case("agent-billing", LUNA, "billing: subscription", "billing: free", 5, "one of subscription, openrouter, api, none"),
    Case("agent-modes", LUNA, "modes: [unlimited, limited]", "modes: unlimited", 7, "has to be a list"),
    Case("agent-modes", LUNA, "modes: [unlimited, limited]", "modes: [un-limited, limited]", 7, "'un-limited' in `modes`"),
    Case("agent-modes", LUNA, "modes: [unlimited, limited]", "modes: []", 7, "`modes` is empty"),
    Case("agent-price", LUNA, "price: openai/gpt-6-luna", "price: openai/gpt-7", 6, "no key of data/prices.yml"),
    Case("agent-no-price", LUNA, "price: openai/gpt-6-luna", "model_id: gpt6_luna", 1, "has no `price`"),
    Case("agent-id-form", "data/agents/Codex.yml", NOTHING, healthy.FILES[LUNA], 3, "the id Codex is not <harness>-<model>"),
    Case("agent-id-fields", LUNA, "harness_id: codex", "harness_id: codex_cli", 3, "spell codex_cli-gpt6_luna-xhigh"),
    Case("agent-id-fields", LUNA, "harness_id: codex\n", "", 1, "`harness_id` missing"),
    Case("agent-id-fields", LUNA, "reasoning_effort: xhigh, ", "", 3, "`settings.reasoning_effort` missing"),
    Case("agent-id-fields", OPUS, "tag: persist\n", "", 2, "spell claude_code-claude_opus5_5-adaptive,"),
    Case("agent-id-fields", PRICES, "  id: gpt6_luna\n", "", 3, "`id` of its price entry or `model_id` missing", LUNA),
    Case("agent-formerly", LUNA, "codex-0.157-gpt6luna-xhigh-cgpt", OPUS[12:-4], 8, "is a registered run"),
    Case("agent-field", LUNA, "[codex-0.157-gpt6luna-xhigh-cgpt]", "-1", 8, "`formerly` is a number"),
    Case("agent-formerly-twice", LUNA, "codex-0.157-gpt6luna-xhigh-cgpt", "claude-opus-old", 8, "belongs to claude_code-claude"),
    Case("price-file", PRICES, NOTHING, "", 1, "is empty"),
    Case("price-field", PRICES, "as_of: 2026-09-25", "as_of: [2026]", 6, "`as_of` is a list"),
    Case("price-key", PRICES, "cached_input: 0.01", "cache_input: 0.01", 4, "did you mean `cached_input`?"),
    Case("price-key", PRICES, "output: 37.5}}", "ouput: 37.5}}", 12, "did you mean `output`?"),
    Case("price-key", PRICES, "- {until:", "- {untill:", 14, "did you mean `until`?"),
    Case("price-numbers", PRICES, "input: 0.10", "input: a dime", 3, "`input` is text, but has to be a number"),
    Case("price-numbers", PRICES, "  output: 0.50\n", "", 1, "has no `output`"),
    Case("price-numbers", PRICES, "output: 0.50", "output: -0.50", 5, "from 0 to 1,000,000"),
    Case("price-numbers", PRICES, "output: 0.50", "output: .nan", 5, "has to be a number"),
    Case("price-cached-input", PRICES, "cached_input: 0.01", "cached_input: true", 4, "`cached_input` is yes/no"),
    Case("price-cached-input", PRICES, "cache_write: 6.25", "cache_write: '6.25'", 11, "`cache_write` is text"),
    Case("price-bands-and-tiers", PRICES, "{200000: {", "{many: {", 12, "'many' is no number of tokens"),
    Case("price-bands-and-tiers", PRICES, "until: 2026-06-01", "until: last summer", 14, "a band needs `until`"),
    Case("price-id-form", PRICES, "id: gpt6_luna", "id: gpt-6-luna", 2, "can't be a field of a run id"),
    Case("price-id-unique", PRICES, "id: claude_opus5_5", "id: gpt6_luna", 8, "the id of openai/gpt-6-luna already"),
    Case("benchmark-file", BENCH, "name: My Bench", "name:\tMy Bench\n\tscenes: []", 2, "a tab stands where YAML wants blanks"),
    Case("benchmark-field", BENCH, "scenes: [kitchen]", "scenes: kitchen", 2, "`scenes` is text, but has to be a list"),
    Case("benchmark-key", BENCH, "scenes: ", "scene: ", 2, "did you mean `scenes`?"),
    Case("benchmark-key", BENCH, "family: kitchen", "familly: kitchen", 4, "did you mean `family`?"),
    Case("benchmark-key", BENCH, "role: exam", "roll: exam", 8, "did you mean `role`?"),
    Case("benchmark-key", BENCH, "scenes: [kitchen]", "score: {bianry: false}", 2, "did you mean `binary`?"),
    Case("benchmark-score", BENCH, "scenes: [kitchen]", "score: {min: 0, max: 100}", 2, "`max` is 100, but scores"),
    Case("benchmark-score", BENCH, "scenes: [kitchen]", "score: {binary: 'no'}", 2, "`binary` is text"),
    Case("benchmark-score", BENCH, "scenes: [kitchen]", "score: IoU", 2, "`score` is text, but has to be a mapping"),
    Case("benchmark-tasks", BENCH, "- stack_cups", "- open_drawer", 6, "listed twice"),
    Case("benchmark-tasks", BENCH, "- stack_cups", "- on", 6, "`id` is yes/no, but has to be text: put it in quotes"),
    Case("benchmark-tasks", BENCH, "- stack_cups", "- ../secret", 6, "needs an `id`"),
    Case("benchmark-tasks", "data/benchmarks/other.yml", "tasks: [pour]\n", "", None, "nobody lists the tasks of other"),
    Case("benchmark-pools", BENCH, "size: 2", "size: 3", None, "lists 2 tasks, but the pool valid declares 3", POOL),
    Case("benchmark-pools", BENCH, "sha256: ", "sha256: f", None, "but the pool valid declares f", POOL),
    Case("benchmark-pools", POOL, NOTHING, "pick_cube\nopen_drawer\n", 2, "sorted, one per line"),
    Case("benchmark-pools", BENCH, "role: exam", "role: test", 8, "has to be one of exam, study"),
    Case("task-file", CURATION, NOTHING, "\x00", None, "is not YAML"),
    Case("task-field", CURATION, "status: keep", "status: keep, owner: [me]", 1, "`owner` is a list"),
    Case("task-key", CURATION, "  excluded: ", "  exclude: ", 3, "did you mean `excluded`?"),
    Case("task-benchmark", "state/tasks/gone.yml", NOTHING, "a: {}", None, "gone is not registered as a benchmark"),
    Case("task-unlisted", CURATION, "stack_cups:", "stack_cup:", 2, "doesn't have stack_cup"),
    Case("task-excluded", CURATION, "excluded: the cups are not modelled", "excluded: true", 3, "has to be the reason"),
    Case("task-excluded", CURATION, "excluded: the cups are not modelled", "excluded: ''", 3, "has to be the reason"),
    Case("task-status", CURATION, "status: keep", "status: maybe", 1, "has to be one of keep, drop, needs-review, pending"),
    Case("task-difficulty", CURATION, "difficulty: easy", "difficulty: simple", 1, "has to be one of easy"),
    Case("plan-file", PLAN, "runs:", "runs: {", None, "is not YAML"),
    Case("plan-field", PLAN, "    tasks: [pick_cube]", "    tasks: pick_cube", 29, "`tasks` is text, but has to be a list"),
    Case("plan-key", PLAN, "default: ", "Default: ", 1, "did you mean `default`?"),
    Case("plan-key", PLAN, "    removed:", "    removd:", 15, "`removd` is read by nobody: did you mean `removed`?"),
    Case("plan-key", PLAN, "    rerun_batches:", "    rerun-batches:", 10, "did you mean `rerun_batches`?"),
    Case("plan-key", PLAN, "trial: my-bench-pick-cube-i00__aaaaaaa", "trail: x", 18, "did you mean `trial`?"),
    Case("plan-key", PLAN, "{key: iou, label: IoU, format:", "{key: iou, label: IoU, fromat:", 5, "did you mean `format`?"),
    Case("plan-key", "state/runs/my-bench.local.yml", NOTHING, "run: {}", 1, "did you mean `runs`?"),
    Case("plan-benchmark", "state/runs/gone.yml", NOTHING, healthy.FILES[OTHER], None, "gone is not registered"),
    Case("plan-runs", OTHER, NOTHING, "task_dir: '{task}'", 1, "has no `runs`"),
    Case("plan-default", PLAN, "default: codex-gpt6_luna-xhigh", "default: codex-gpt6_sol-xhigh", 1, "is none of its runs"),
    Case("plan-task-dir", PLAN, "{task_dashed}", "{tsk}", 2, "has the field {tsk}"),
    Case("plan-task-dir", PLAN, "{task_dashed}", "{task_dashed", 2, "a brace without its partner"),
    Case("plan-task-dir", PLAN, "{task_dashed}", "{task.upper}", 2, "has the field {task.upper}"),
    Case("plan-task-dir", PLAN, "{task_dashed}", "{task:>9999999}", 2, "has the field {task:>9999999}"),
    Case("plan-task-dir", PLAN, "{task_dashed}", "{}", 2, "has the field {}"),
    Case("plan-task-dir", PLAN, "    hidden: false", "    task_dir: '{0}'", 26, "has the field {0}"),
    Case("plan-task-dir", PLAN, "{task_dashed}", "x", 2, "gives pick_cube and open_drawer one directory, my-bench-x-i00"),
    Case("plan-task-dir", PLAN, "    hidden: false", "    task_dir: 'x'", 26, "one directory, x"),
    Case("metric-key", PLAN, "{key: iou, ", "{", 5, "a metric needs a `key`"),
    Case("metric-key", PLAN, "    hidden: false", "    metrics: [{label: x}]", 26, "a metric needs a `key`"),
    Case("metric-format", PLAN, 'format: ".3f"', "format: three", 5, "doesn't format a number"),
    Case("metric-format", PLAN, 'format: ".3f"', "format: '99999999f'", 5, "doesn't format a number"),
    Case("metric-better", PLAN, "better: higher", "better: more", 5, "one of higher, lower"),
    Case("metric-summary", PLAN, "summary: median", "summary: mode", 5, "one of mean, median"),
    Case("per-family-metric", PLAN, "{key: iou, label: overlap}", "{key: f1, label: F1}", 6, "`per_family` uses f1"),
    Case(
        "run-registered", PLAN, "  claude_code-claude_opus5_5-adaptive-persist:", "  codex-gpt6_sol-low:", 27, "is not registered"
    ),
    Case("run-batch", PLAN, "    batch: mybench-cc-opus-1002\n", "", 27, "has no `batch`"),
    Case("run-batch", PLAN, "batch: mybench-cc-opus-1002", "batch: 1002", 28, "`batch` is a number"),
    Case("run-batch", PLAN, "batch: mybench-cc-opus-1002", "batch: ' '", 27, "has no `batch`"),
    Case("run-modes", PLAN, "    hidden: false", "    modes: [unlimited, limited, ulimited]", 26, "`modes` names ulimited"),
    Case("run-hidden", PLAN, "hidden: false", "hidden: 'no'", 26, "`hidden` is text, but has to be `true` or `false`"),
    Case("run-default-hidden", PLAN, "hidden: false", "hidden: true", 26, "the default run codex-gpt6_luna-xhigh is hidden"),
    Case("run-task-exists", PLAN, "    - pick_cube", "    - pick_cup", 13, "my-bench has no task pick_cup"),
    Case("run-task-exists", PLAN, "      stack_cups: ", "      stack_cup: ", 16, "no task stack_cup that could be removed"),
    Case("run-task-both", PLAN, "      stack_cups: ", "      pick_cube: ", 16, "both in the run and removed"),
    Case("run-task-twice", PLAN, "    - open_drawer", "    - pick_cube", 14, "pick_cube stands twice"),
    Case("run-others", PLAN, "    others: first try on one task\n", "", 27, "2 tasks are neither in the run nor removed"),
    Case("run-rerun-all", PLAN, "    rerun_batches: [mybench-lunaxh-1002]\n", "", 10, "does nothing without `rerun_batches`"),
    Case("run-batch-progress", OTHER, "other-1001", "mybench-lunaxh-1001\n    progress: q_score", 3, "name the batches apart"),
    Case("run-stopped", PLAN, ", note: stopped by us", "", 24, "an entry of `stopped` has no `note`"),
    Case("run-stopped", PLAN, "{task: open_drawer, mode: unlimited,", "{task: stack_cups, mode: unlimited,", 24, "not in the run"),
    Case("run-stopped", PLAN, "mode: unlimited, note: stopped", "mode: fast, note: stopped", 24, "names the mode fast"),
    Case("run-followups", PLAN, ", note: regrade queued", "", 18, "has no `note`"),
    Case("run-followups", PLAN, "{task: pick_cube, mode: limited,", "{task: stack_cups, mode: limited,", 18, "not in the run"),
    Case("run-followups", PLAN, "{task: pick_cube, mode: limited,", "{task: pick_cube, mode: fast,", 18, "names the mode fast"),
    Case("run-followup-trial", PLAN, "trial: my-bench-pick-cube-i00__aaaaaaa, ", "", 18, "names no `trial`"),
    Case("run-notes", PLAN, "trial: my-bench-pick-cube-i00__bbbbbbb, ", "", 20, "has no `trial`"),
    Case("run-notes", PLAN, ", note: killed itself", "", 20, "has no `note`"),
    Case("run-notes", PLAN, "{task: pick_cube, mode: unlimited,", "{task: stack_cups, mode: unlimited,", 20, "not in the run"),
    Case(
        "run-not-counted", PLAN, "trial: my-bench-open-drawer-i00__ccccccc, note: no GPU", "x: y", 22, "has no `note` and `trial`"
    ),
    Case(
        "run-not-counted", PLAN, "{task: open_drawer, mode: limited,", "{task: open_drawer, mode: fast,", 22, "names the mode fast"
    ),
    Case("run-withdrawn", PLAN, "withdrawn: {limited: rerun pending}", "withdrawn: limited", 25, "has to be a mapping"),
    Case("run-withdrawn", PLAN, "withdrawn: {limited: rerun pending}", "withdrawn: {fast: slow}", 25, "names the mode fast"),
    Case("run-trial-seen", PLAN, "i00__aaaaaaa", "i00__zzzzzzz", 18, "no collected record is the trial"),
    Case("host-file", HOSTS, NOTHING, "just text", 1, "no `key: value` pairs"),
    Case("host-field", HOSTS, "{jobs: jobs/here}", "{job: jobs/here}", 1, "here has no `jobs`"),
    Case("host-field", HOSTS, "{jobs: jobs/here}", "jobs/here", 1, "has to be a mapping"),
    Case("host-field", HOSTS, "{jobs: jobs/here}", "{jobs: jobs/here, transport: openssh}", 1, "doesn't go without `ssh`"),
    Case("host-field", HOSTS, "here: ", "../here: ", 1, "can't be a host's name"),
    Case("host-key", HOSTS, "benchmarks: [my-bench]", "benchmark: [my-bench]", 2, "did you mean `benchmarks`?"),
    Case("host-filter", HOSTS, "{jobs: jobs/here}", "{jobs: jobs/here, benchmarks: [my-bnch]}", 1, "names my-bnch"),
    Case("host-filter", HOSTS, "{jobs: jobs/here}", "{jobs: jobs/here, runs: [codex]}", 1, "`runs` of here names codex"),
    Case("host-twice", YOURS, "/data/me/jobs", "/data/you/jobs", 1, "defined differently in data/runs/hosts.me.local.yml:2"),
    Case("public-file", PUBLIC, NOTHING, "- a", 1, "no `key: value` pairs"),
    Case("public-field", PUBLIC, "runs/", "runs", 2, "has to end with `/`"),
    Case("public-key", PUBLIC, "run_media_images", "run_media_image", 3, "did you mean `run_media_images`?"),
    Case("public-machine", PLAN, "note: no GPU", "note: mybox has no GPU", 22, "names the machine mybox"),
    Case("public-machine", PLAN, "stack_cups: 'one step only'", "stack_cups: 'slow on mybox'", 16, "names the machine mybox"),
    Case("public-machine", CURATION, "the cups are not modelled", "mybox's GPU can't draw cups", 3, "names the machine mybox"),
    Case("public-machine", OPUS, "tag", "notes: ran on mybox\ntag", 4, "names the machine mybox"),
]


OWN_NOTES = {
    LUNA: "since: 2026-09-25\nharbor: harbor run -a codex\nhidden_by: me\n",
    BENCH: "platform: MuJoCo\nembodiment: two arms\nkey_dates: {frozen: 2026-09-01}\n",
    PUBLIC: "mirror_of: elsewhere\n",
}
"""What labs write down for themselves, beside the keys that are read."""


def findings(lab: Lab) -> list[Finding]:
    return run_rules(Workspace(lab, load_registry(lab)))


def changed(root: Path, case: Case) -> Lab:
    text = healthy.FILES.get(case.file, "")
    assert case.old in text, "the case changes nothing"
    return healthy.make(root, {case.file: text.replace(case.old, case.new, 1) if case.old else case.new})


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.says[:40]}")
def test_a_fault_is_found_at_its_line_with_the_fix(case: Case, tmp_path: Path) -> None:
    found = findings(changed(tmp_path, case))
    wanted = [f for f in found if f.rule == case.rule and case.says in f.message and f.file == (case.at or case.file)]
    assert wanted, "\n".join(map(str, found))
    if case.line is not None:
        assert wanted[0].line == case.line
    severity = next(rule.severity for rule in RULES if rule.id == case.rule)
    assert str(wanted[0]).startswith(f"{wanted[0].file}:{wanted[0].line}: {severity} {case.rule}: ") or wanted[0].line is None


def test_every_rule_has_a_case_that_breaks_it() -> None:
    assert {case.rule for case in CASES} == {rule.id for rule in RULES}
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_a_healthy_lab_has_no_finding(tmp_path: Path) -> None:
    assert findings(healthy.make(tmp_path)) == []


def test_the_shipped_lab_has_no_finding(lab: Lab) -> None:
    assert [str(finding) for finding in findings(lab)] == []


def test_keys_that_resemble_nothing_are_an_owners_notes(tmp_path: Path) -> None:
    lab = healthy.make(tmp_path, {file: healthy.FILES[file] + notes for file, notes in OWN_NOTES.items()})
    assert findings(lab) == []


def test_a_machine_may_be_named_where_the_public_build_hides_it_and_where_nothing_is_committed(tmp_path: Path) -> None:
    named = {PLAN: healthy.FILES[PLAN].replace("no GPU", "mybox has no GPU")}
    hidden = {PUBLIC: healthy.FILES[PUBLIC] + 'machine_names: ["my[a-z]+"]\n'}
    assert findings(healthy.make(tmp_path / "hidden", named | hidden)) == []
    local = {"state/runs/my-bench.local.yml": f"runs:\n  {Path(OPUS).stem}-x: {{batch: b, others: for mybox}}\n"}
    assert not [f for f in findings(healthy.make(tmp_path / "local", local)) if f.rule == "public-machine"]
    spelled = {PLAN: healthy.FILES[PLAN].replace("no GPU", "see mybox/notes and my-mybox")}
    assert findings(healthy.make(tmp_path / "spelled", spelled)) == []


def test_names_that_an_owner_chooses_are_no_misspelt_keys(tmp_path: Path) -> None:
    """Tasks, modes, pools, hosts, runs and settings may be called anything, also `task` beside `tasks`."""
    text = healthy.FILES[PLAN].replace("withdrawn: {limited: rerun pending}", "withdrawn: {limited: rerun, unlimited: {label: x}}")
    settings = healthy.FILES[LUNA].replace("version: 0.157.0", "versions: 0.157.0, effort: xhigh")
    files = {PLAN: text, LUNA: settings, "data/benchmarks/other.yml": "name: Other\ntasks: [pour, removd]\n"}
    files[OTHER] = healthy.FILES[OTHER] + "    removed: {removd: a task of this name}\n    task_suffixes: {limted: [-l]}\n"
    assert findings(healthy.make(tmp_path, files)) == []


def test_the_registries_in_use_have_no_misspelt_key(shared: Path) -> None:
    assert [str(f) for f in findings(Lab(shared / "samples" / "eai")) if f.rule.endswith("-key") and f.rule != "metric-key"] == []


LONG = "x" * 5_000 + "\n\x1b[31m"
QUOTED = [
    (LUNA, "price: openai/gpt-6-luna", f"price: {json.dumps(LONG)}"),
    (LUNA, "billing: subscription", f"billing: {json.dumps(LONG)}"),
    (LUNA, "tag", f"tag: {json.dumps(LONG)}\nbiling: x"),
    (LUNA, "modes: [unlimited, limited]", f"modes: [{json.dumps(LONG)}]"),
    (PRICES, "id: gpt6_luna", f"id: {json.dumps(LONG)}"),
    (PRICES, "input: 0.10", f"input: {json.dumps(LONG)}"),
    (PRICES, "{200000: {", f"{{{json.dumps(LONG)}: {{"),
    (BENCH, "  valid: {", f"  {json.dumps(LONG)}: {{"),
    (BENCH, "sha256: ", f"sha256: {'f' * 5_000}"),
    (CURATION, "stack_cups:", f"? {json.dumps(LONG)}\n:"),
    (PLAN, "default: codex-gpt6_luna-xhigh", f"default: {json.dumps(LONG)}"),
    (PLAN, "{task_dashed}", f"{{{'x' * 5_000}}}"),
    (PLAN, "{task_dashed}", "y" * 5_000),
    (PLAN, 'format: ".3f"', f"format: {json.dumps(LONG)}"),
    (PLAN, "{key: iou, label: overlap}", f"{{key: {json.dumps(LONG)}}}"),
    (PLAN, "  claude_code-claude_opus5_5-adaptive-persist:", f"  ? {json.dumps(LONG)}\n  :"),
    (PLAN, "      stack_cups: ", f"      ? {json.dumps(LONG)}\n      : "),
    (PLAN, "{task: pick_cube, mode: limited,", f"{{task: {json.dumps(LONG)}, mode: {json.dumps(LONG)},"),
    (PLAN, "i00__aaaaaaa", "x" * 5_000),
    (PLAN, "withdrawn: {limited: rerun pending}", f"withdrawn: {{{json.dumps(LONG)}: x}}"),
    (PLAN, "default: ", f"default: !{'t' * 5_000} "),
    (HOSTS, "{jobs: jobs/here}", f"{{jobs: jobs/here, runs: [{json.dumps(LONG)}]}}"),
    (HOSTS, "here: ", f"{json.dumps(LONG)}: "),
]
"""A file, what is replaced in it, and the very long value put there."""


@pytest.mark.parametrize(("file", "old", "new"), QUOTED, ids=lambda text: text[:30])
def test_a_finding_quotes_no_more_of_a_value_than_a_line_can_hold(file: str, old: str, new: str, tmp_path: Path) -> None:
    text = healthy.FILES[file]
    found = findings(healthy.make(tmp_path, {file: text.replace(old, new, 1) if old in text else text + new}))
    assert found
    assert [str(f) for f in found if len(str(f)) > 900 or not str(f).isprintable()] == []


def test_a_renamed_runs_former_id_is_answered_with_the_new_one(tmp_path: Path) -> None:
    old = "codex-0.157-gpt6luna-xhigh-cgpt"
    found = findings(healthy.make(tmp_path, {OTHER: healthy.FILES[OTHER].replace("codex-gpt6_luna-xhigh", old)}))
    assert [f.message for f in found] == [f"the run {old} is not registered: it was renamed, write codex-gpt6_luna-xhigh"]


def test_faults_that_reading_finds_carry_the_id_of_a_rule(tmp_path: Path) -> None:
    known = {rule.id for rule in RULES}
    for n, case in enumerate(CASES):
        registry = load_registry(changed(tmp_path / str(n), case))
        assert {problem.rule for problem in registry.problems} <= known


def test_a_broken_file_says_only_its_own_fault(tmp_path: Path) -> None:
    """An unreadable price list, agent or benchmark would make much else look wrong; the cause is said once."""
    for n, file in enumerate((PRICES, LUNA, "data/benchmarks/other.yml")):
        found = findings(healthy.make(tmp_path / str(n), {file: "a: b: c"}))
        assert [(f.file, f.line) for f in found] == [(file, 1)]


def test_a_change_can_be_judged_before_it_is_written(tmp_path: Path) -> None:
    lab = healthy.make(tmp_path)
    path = tmp_path / PLAN
    text = healthy.FILES[PLAN].replace("    - pick_cube", "    - pick_cup")
    for name in (path, Path(PLAN)):
        found = run_rules(Workspace(lab, load_registry(lab, overrides={name: text})))
        assert {f.rule for f in found} == {"run-task-exists", "run-followups", "run-notes", "run-others"}
    assert path.read_text() == healthy.FILES[PLAN]
    added = load_registry(lab, overrides={Path("state/tasks/other.yml"): "pour: {difficulty: hard}"})
    assert added.benchmarks["other"].tasks["pour"].difficulty == "hard"


def test_remarks_are_not_held_against_a_lab_where_nothing_was_collected(tmp_path: Path) -> None:
    lab = healthy.make(tmp_path)
    (tmp_path / "data/runs/my-bench/codex-gpt6_luna-xhigh.json").unlink()
    assert findings(lab) == []
