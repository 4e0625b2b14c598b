"""Every rule of `benchpipe check` about registry files, in one table (runs-system 13 and the page's list).

The same entries are the command's findings, Dagster's asset checks and `docs/rules.md`. Faults that reading a file finds
carry the id of one of these rules; a rule with a function as last value looks at the whole registry besides.
"""

from collections.abc import Mapping

from benchpipe.checks import agents, files, machines, plans
from benchpipe.checks.findings import Asset, Finding, Rule, Severity, Workspace, rule, warning

__all__ = ["DECISIONS", "RULES", "Finding", "Rule", "Workspace", "run_rules"]

AGENTS: Asset = "agent_registry"
PRICES: Asset = "price_list"
BENCHMARKS: Asset = "benchmark_registry"

RULES: tuple[Rule, ...] = (
    rule(AGENTS, "agent-file", "Every file in data/agents/ is a YAML mapping"),
    rule(AGENTS, "agent-field", "Every field of an agent file has its type"),
    warning(AGENTS, "agent-key", "No key of an agent file looks misspelt"),
    rule(AGENTS, "agent-label", "Every run has a label", agents.label_missing),
    rule(AGENTS, "agent-billing", "`billing` is subscription, openrouter, api or none"),
    rule(AGENTS, "agent-modes", "`modes` is a list of mode names (letters, digits, _)"),
    rule(AGENTS, "agent-price", "Every `price` is a key of data/prices.yml", agents.price_unknown),
    warning(AGENTS, "agent-no-price", "Every run with a `billing` other than none names its price", agents.price_missing),
    rule(AGENTS, "agent-id-form", "Every run id has three or four fields of a-z, 0-9 and _", agents.id_malformed),
    rule(AGENTS, "agent-id-fields", "Every file name is the id that its fields spell", agents.id_differs_from_fields),
    rule(AGENTS, "agent-formerly", "No former id is a registered run", agents.former_id_is_registered),
    rule(AGENTS, "agent-formerly-twice", "No former id belongs to two runs", agents.former_id_claimed_twice),
    rule(PRICES, "price-file", "data/prices.yml is a YAML mapping"),
    rule(PRICES, "price-field", "Every field of a price entry has its type"),
    warning(PRICES, "price-key", "No key of data/prices.yml looks misspelt"),
    rule(PRICES, "price-numbers", "`input` and `output` of every price are numbers"),
    rule(PRICES, "price-cached-input", "`cached_input` and `cache_write`, where given, are numbers"),
    rule(PRICES, "price-bands-and-tiers", "Every tier names a number of tokens, every band its end"),
    rule(PRICES, "price-id-form", "Every price's `id` can be a field of a run id"),
    rule(PRICES, "price-id-unique", "No two prices have the same `id`"),
    rule(BENCHMARKS, "benchmark-file", "Every file in data/benchmarks/ can be read"),
    rule(BENCHMARKS, "benchmark-field", "Every field of a benchmark file has its type"),
    warning(BENCHMARKS, "benchmark-key", "No key of a benchmark file looks misspelt"),
    rule(BENCHMARKS, "benchmark-tasks", "Every benchmark with runs lists its tasks, each once and with an id"),
    rule(BENCHMARKS, "benchmark-score", "Scores of contributed results go from 0 to 1, and `binary` is true or false"),
    rule(BENCHMARKS, "benchmark-pools", "Every pool is its list: size, order, hash", files.pool_lists_wrong),
    rule(BENCHMARKS, "task-file", "Every file in state/tasks/ is a YAML mapping"),
    rule(BENCHMARKS, "task-field", "Every field of a curated task has its type"),
    warning(BENCHMARKS, "task-key", "No key of state/tasks/ looks misspelt"),
    warning(BENCHMARKS, "task-benchmark", "Every file in state/tasks/ belongs to a registered benchmark"),
    warning(BENCHMARKS, "task-unlisted", "Every curated task is in its benchmark's task list"),
    rule(BENCHMARKS, "task-excluded", "`excluded` is the reason, as text"),
    rule(BENCHMARKS, "task-status", "`status` is keep, drop, needs-review or pending"),
    rule(BENCHMARKS, "task-difficulty", "`difficulty` is easy, medium, hard, extreme or unrated"),
    rule(BENCHMARKS, "plan-file", "Every file in state/runs/ is a YAML mapping"),
    rule(BENCHMARKS, "plan-field", "Every field of state/runs/ has its type"),
    warning(BENCHMARKS, "plan-key", "No key of state/runs/ looks misspelt"),
    rule(BENCHMARKS, "plan-benchmark", "Every file in state/runs/ belongs to a registered benchmark"),
    warning(BENCHMARKS, "plan-runs", "Every file in state/runs/ has runs", plans.runs_missing),
    rule(BENCHMARKS, "plan-default", "Every default is one of the benchmark's runs", plans.default_not_a_run),
    rule(
        BENCHMARKS,
        "plan-task-dir",
        "`task_dir` fills in only {benchmark}, {task} and {task_dashed}, and keeps tasks apart",
        plans.task_directories_collide,
    ),
    rule(BENCHMARKS, "metric-key", "Every metric has a key"),
    rule(BENCHMARKS, "metric-format", "Every metric's format formats a number"),
    rule(BENCHMARKS, "metric-better", "`better` is higher or lower"),
    rule(BENCHMARKS, "metric-summary", "`summary` is mean or median"),
    rule(BENCHMARKS, "per-family-metric", "`per_family` uses a declared metric", plans.per_family_not_a_metric),
    rule(BENCHMARKS, "run-registered", "Every run of a benchmark is registered in data/agents/", plans.run_not_registered),
    rule(BENCHMARKS, "run-batch", "Every run of a benchmark names its batch"),
    warning(BENCHMARKS, "run-modes", "Every mode of a benchmark's run is one of the agent's", plans.mode_of_no_agent),
    rule(BENCHMARKS, "run-hidden", "`hidden` is true or false"),
    rule(BENCHMARKS, "run-default-hidden", "No default run is hidden", plans.default_hidden),
    rule(BENCHMARKS, "run-task-exists", "Every task named in a run exists", plans.task_unknown),
    rule(BENCHMARKS, "run-task-both", "No task is both in a run and removed from it", plans.task_in_and_removed),
    rule(BENCHMARKS, "run-task-twice", "No task stands twice in a run"),
    warning(BENCHMARKS, "run-others", "Tasks outside a run have a reason", plans.others_missing),
    warning(BENCHMARKS, "run-rerun-all", "`rerun_all` stands beside rerun batches", plans.rerun_all_alone),
    warning(
        BENCHMARKS,
        "run-batch-progress",
        "Benchmarks that share a batch name read the same progress key",
        plans.batch_with_two_progress_keys,
    ),
    rule(BENCHMARKS, "run-stopped", "Every `stopped` entry has a task and mode of the run, and a note", plans.stopped_wrong),
    rule(BENCHMARKS, "run-followups", "Every follow-up has a task and mode of the run, and a note", plans.followups_wrong),
    warning(BENCHMARKS, "run-followup-trial", "Every follow-up names its trial", plans.followup_without_trial),
    rule(BENCHMARKS, "run-notes", "Every note has a task and mode of the run, a trial and a text", plans.notes_wrong),
    rule(
        BENCHMARKS,
        "run-not-counted",
        "Every `not_counted` entry has a task and mode of the run, a trial and a note",
        plans.not_counted_wrong,
    ),
    rule(BENCHMARKS, "run-withdrawn", "`withdrawn` maps modes of the run to a label", plans.withdrawn_mode_unknown),
    warning(
        BENCHMARKS,
        "run-trial-seen",
        "Every trial that a remark names was collected (only where anything was)",
        files.remark_matches_no_trial,
    ),
    rule(BENCHMARKS, "host-file", "Every hosts file is a YAML mapping"),
    rule(BENCHMARKS, "host-field", "Every host has a name, `jobs` and fields of their types"),
    warning(BENCHMARKS, "host-key", "No key of a hosts file looks misspelt"),
    warning(
        BENCHMARKS, "host-filter", "Every benchmark and run that a host is limited to is registered", plans.host_filter_unknown
    ),
    rule(BENCHMARKS, "host-twice", "No host is defined in two different ways"),
    rule(BENCHMARKS, "public-file", "data/public.yml is a YAML mapping"),
    rule(BENCHMARKS, "public-field", "Every setting of the public build has its type"),
    warning(BENCHMARKS, "public-key", "No key of data/public.yml looks misspelt"),
    warning(
        BENCHMARKS,
        "public-machine",
        "`machine_names` has every machine of your hosts files that a committed text names",
        machines.machine_unhidden,
    ),
)

DECISIONS: Mapping[str, tuple[Severity, str]] = {
    "decisions-file": ("error", "Every file in state/contrib/ can be read; without it none of its results are shown"),
    "decisions-key": ("warning", "No key of state/contrib/ looks misspelt"),
}
"""Rules on maintainers' decisions, which are read with the contributed results."""


def run_rules(workspace: Workspace) -> list[Finding]:
    """Every finding of every rule, by file and line."""
    findings = {finding for one in RULES for finding in one.find(workspace)}
    return sorted(findings, key=lambda f: (f.file, f.line or 0, f.severity, f.rule, f.message))
