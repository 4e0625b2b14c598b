"""Labs with many hosts and benchmarks, made of copies of one shipped genuine job."""

from pathlib import Path

from benchpipe import demo
from benchpipe.lab import Lab

JOB = demo.JOBS / "cpu1" / "tabletop-oracle-1004-0800-unlimited"
TASKS = ("stack_blocks", "open_drawer")


def many_hosts(root: Path, *, hosts: int, benchmarks: int) -> Lab:
    """Benchmarks `bench0` … over hosts `host00` …: host `i` holds the batch `b<i>-oracle-1` of benchmark `i % benchmarks`.

    Each batch is a job with two finished trials. Where a benchmark has several batches, the newest (last host) counts.
    """
    for folder in ("data/agents", "data/benchmarks", "data/runs", "state/runs", "state/tasks", "contrib"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    agent = "oracle-none-default"
    (root / f"data/agents/{agent}.yml").write_bytes((demo.REPOSITORY / f"data/agents/{agent}.yml").read_bytes())
    (root / "data/prices.yml").write_text("{}\n")
    lines = []
    for number in range(hosts):
        name = f"host{number:02}"
        demo.copy_jobs(JOB, root / "jobs" / name / f"{batch(number)}-unlimited")
        lines.append(f"{name}: {{jobs: jobs/{name}}}\n")
    (root / "data/runs/hosts.many.local.yml").write_text("".join(lines))
    tasks = ", ".join(TASKS)
    for number in range(benchmarks):
        batches = [batch(host) for host in range(number, hosts, benchmarks)]
        (root / f"data/benchmarks/bench{number}.yml").write_text(f"name: Bench {number}\ntasks: [{tasks}]\n")
        (root / f"state/runs/bench{number}.yml").write_text(
            f'task_dir: "tabletop-{{task_dashed}}-i00"\nruns:\n  {agent}:\n    batch: {batches[0]}\n'
            f"    rerun_batches: [{', '.join(batches[1:])}]\n    tasks: [{tasks}]\n"
        )
    return Lab(root.resolve())


def batch(host: int) -> str:
    """The batch that host number `host` holds."""
    return f"b{host:02}-oracle-1"


def trial_of(lab: Lab, host: int, task: str = TASKS[0]) -> Path:
    """The directory of a task's trial on a host."""
    return next((lab.root / "jobs" / f"host{host:02}" / f"{batch(host)}-unlimited").glob(f"tabletop-{task.replace('_', '-')}-*"))


def regrade(trial: Path, reward: float) -> None:
    """Change a trial's verdict as its owner would: by hand, without touching what the runner wrote."""
    (trial / "verifier_regrade").mkdir(exist_ok=True)
    (trial / "verifier_regrade" / "reward.json").write_text(f'{{"reward": {reward}}}')
