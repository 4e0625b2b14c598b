"""A small lab that breaks no rule: two benchmarks, two runs, prices, pools, hosts, and one collected run file."""

import hashlib
from pathlib import Path

from benchpipe.lab import Lab

POOL = "open_drawer\npick_cube\n"
FILES = {
    "data/prices.yml": """\
openai/gpt-6-luna:
  id: gpt6_luna
  input: 0.10
  cached_input: 0.01
  output: 0.50
  as_of: 2026-09-25
anthropic/claude-opus-5.5:
  id: claude_opus5_5
  input: 5
  output: 25
  cache_write: 6.25
  above: {200000: {input: 10, output: 37.5}}
  bands:
  - {until: 2026-06-01, input: 7, output: 30}
""",
    "data/agents/codex-gpt6_luna-xhigh.yml": """\
label: Codex CLI 0.157.0 + GPT-6 Luna, reasoning xhigh (ChatGPT login)
short: Codex CLI 0.157 · GPT-6 Luna · xhigh · ChatGPT login
harness_id: codex
settings: {reasoning_effort: xhigh, version: 0.157.0}
billing: subscription
price: openai/gpt-6-luna
modes: [unlimited, limited]
formerly: [codex-0.157-gpt6luna-xhigh-cgpt]
""",
    "data/agents/claude_code-claude_opus5_5-adaptive-persist.yml": """\
label: Claude Code 2.1 + Claude Opus 5.5
harness_id: claude_code
settings: {reasoning_effort: adaptive}
tag: persist
billing: openrouter
price: anthropic/claude-opus-5.5
modes: [unlimited]
formerly: [claude-opus-old]
""",
    "data/benchmarks/my-bench.yml": f"""\
name: My Bench
scenes: [kitchen]
tasks:
- {{id: pick_cube, title: Pick the cube, family: kitchen}}
- open_drawer
- stack_cups
pools:
  valid: {{size: 2, sha256: {hashlib.sha256(POOL.encode()).hexdigest()}, role: exam, default: true}}
""",
    "data/benchmarks/my-bench/pools/valid.txt": POOL,
    "data/benchmarks/other.yml": """\
name: Other
tasks: [pour]
""",
    "state/tasks/my-bench.yml": """\
pick_cube: {difficulty: easy, status: keep}
stack_cups:
  excluded: the cups are not modelled
""",
    "state/runs/my-bench.yml": """\
default: codex-gpt6_luna-xhigh
task_dir: "my-bench-{task_dashed}-i00"
progress: final_reward
metrics:
- {key: iou, label: IoU, format: ".3f", better: higher, summary: median}
per_family: {key: iou, label: overlap}
runs:
  codex-gpt6_luna-xhigh:
    batch: mybench-lunaxh-1001
    rerun_batches: [mybench-lunaxh-1002]
    rerun_all: true
    tasks:
    - pick_cube
    - open_drawer
    removed:
      stack_cups: 'one step only'
    followups:
    - {task: pick_cube, mode: limited, trial: my-bench-pick-cube-i00__aaaaaaa, note: regrade queued}
    notes:
    - {task: pick_cube, mode: unlimited, trial: my-bench-pick-cube-i00__bbbbbbb, note: killed itself}
    not_counted:
    - {task: open_drawer, mode: limited, trial: my-bench-open-drawer-i00__ccccccc, note: no GPU}
    stopped:
    - {task: open_drawer, mode: unlimited, note: stopped by us}
    withdrawn: {limited: rerun pending}
    hidden: false
  claude_code-claude_opus5_5-adaptive-persist:
    batch: mybench-cc-opus-1002
    tasks: [pick_cube]
    others: first try on one task
""",
    "state/runs/other.yml": """\
runs:
  codex-gpt6_luna-xhigh:
    batch: other-1001
    tasks: [pour]
""",
    "data/runs/hosts.me.local.yml": """\
here:  {jobs: jobs/here}
mybox: {ssh: mybox, jobs: /data/me/jobs/agents, benchmarks: [my-bench]}
""",
    "data/runs/hosts.you.local.yml": """\
mybox: {ssh: mybox, jobs: /data/me/jobs/agents, benchmarks: [my-bench]}
""",
    "data/public.yml": """\
link_demos: []
run_media_base: "https://media.example/runs/"
run_media_images: webp
""",
    "data/runs/my-bench/codex-gpt6_luna-xhigh.json": """\
{"v": 1, "benchmark": "my-bench", "run": "codex-gpt6_luna-xhigh", "label": "", "batches": [], "hosts": {},
 "generated_at": "2026-10-02T00:00:00+00:00", "tasks": {
  "pick_cube": {
   "unlimited": {"state": "success", "job": "j", "trial": "my-bench-pick-cube-i00__bbbbbbb"},
   "limited": {"state": "failed", "job": "j", "trial": "my-bench-pick-cube-i00__aaaaaaa"}},
  "open_drawer": {
   "limited": {"state": "failed", "job": "j", "trial": "my-bench-open-drawer-i00__ddddddd",
               "supersedes": {"trial": "my-bench-open-drawer-i00__ccccccc"}}}}}
""",
}


def make(root: Path, changes: dict[str, str] | None = None) -> Lab:
    """The lab on disk with some files' texts replaced or added."""
    for name, text in {**FILES, **(changes or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Lab(root)
