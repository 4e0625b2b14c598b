"""`benchpipe runs`: ask the hosts, then build what is due. Once, or every few seconds until interrupted."""

import os
import time
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import rich_click as click

from benchpipe.cli.main import lab_of
from benchpipe.cli.progress import Step, progress
from benchpipe.errors import LockHeld, UsageError
from benchpipe.hosts.poll import Progress
from benchpipe.hosts.reading import HostReading
from benchpipe.lab import Lab
from benchpipe.registry.records import Registry


@click.command
@click.option("--benchmark", "benchmarks", multiple=True, metavar="ID", help="Only this benchmark (repeatable).")
@click.option("--run", "runs", multiple=True, metavar="ID", help="Only benchmarks that take part in this run (repeatable).")
@click.option("--hosts", "hosts_file", type=click.Path(path_type=Path), help="Read only this hosts file.")
@click.option("--once", is_flag=True, help="One cycle with the rules of --watch: what changes no state may wait.")
@click.option("--watch", type=click.FloatRange(min=1), metavar="SECONDS", help="Again every so many seconds until interrupted.")
@click.option("--no-sync", is_flag=True, help="States and money only: fetch no raw records, leave pages as they are.")
@click.option("--detail-every", type=click.FloatRange(min=0), default=900, show_default=True, metavar="SECONDS")
@click.pass_context
def command(
    ctx: click.Context,
    benchmarks: tuple[str, ...],
    runs: tuple[str, ...],
    hosts_file: Path | None,
    once: bool,
    watch: float | None,
    no_sync: bool,
    detail_every: float,
) -> int:
    """Ask every host what its job directories hold; decide states, count tokens and money, build log pages and pages.

    Examples: benchpipe runs --benchmark tabletop; benchpipe runs --watch 180; benchpipe runs --once --no-sync
    """
    lab = lab_of(ctx)
    from benchpipe.definitions import defs
    from benchpipe.hosts.pool import open_pool
    from benchpipe.pipeline.collecting import collect_once
    from benchpipe.pipeline.instance import open_instance
    from benchpipe.pipeline.scene import Scene, use_lab

    use_lab(lab, hosts_file)
    failed, first = False, True
    with open_instance(lab) as instance, open_pool(os.environ, patient=watch is not None) as pool:
        while True:
            scene = Scene(lab, hosts_files=[hosts_file] if hosts_file else None)
            _tell_problems(scene.registry)
            try:
                wanted = chosen(scene.registry, benchmarks, runs)
                hosts = serving(scene.registry, wanted)
                with progress("runs", lines=False) as step:
                    cycle = collect_once(
                        instance,
                        scene,
                        defs,
                        now=datetime.now(UTC).replace(microsecond=0),
                        pool=pool,
                        benchmarks=wanted,
                        hosts=hosts,
                        detail_every_s=detail_every if once or watch else 0,
                        sync=not no_sync,
                        on_host=_counting(tell_host, step, len(scene.registry.hosts if hosts is None else hosts)),
                        on_build=lambda due: _tell_build(due.partition or due.job, due.assets, step),
                    )
            except (LockHeld, UsageError) as error:  # while watching, a file that is being edited is whole again the next time
                if watch is None or (first and isinstance(error, UsageError)):
                    raise
                click.echo(str(error), err=True)
            else:
                for name in cycle.waiting:
                    click.echo(f"{name}: is being built by another process; it will be up to date when that ends", err=True)
                for name, reason in cycle.failed.items():
                    click.echo(f"{name}: {reason}", err=True)
                tell_problems_found(cycle.built)
                failed = bool(cycle.failed)
                down = sorted(r.host for r in cycle.poll.readings.values() if r.asked and not r.ok)
                click.echo(summary(lab, scene.registry, cycle.built, down, datetime.now(UTC)))
            if watch is None:
                return 1 if failed else 0
            first = False
            time.sleep(watch)


def chosen(registry: Registry, benchmarks: tuple[str, ...], runs: tuple[str, ...]) -> set[str] | None:
    """Benchmarks that the filters leave; None = all. UsageError where there is no host, or a filter names nothing."""
    if not registry.hosts:
        raise UsageError(
            "no host to ask: write data/runs/hosts.<your name>.local.yml with a line like `mybox: {ssh: mybox, jobs: /data/jobs}`"
        )
    if unknown := sorted(set(benchmarks) - set(registry.plans)):
        raise UsageError(f"{', '.join(unknown)}: no such benchmark with runs; there are: {', '.join(registry.plans)}")
    current = {registry.aliases.get(run, run) for run in runs}
    if unknown := sorted(current - set(registry.agents)):
        raise UsageError(f"{', '.join(unknown)}: no such run in data/agents/")
    if not benchmarks and not runs:
        return None
    picked = registry.bench_runs(benchmarks=set(benchmarks) or None, runs=current or None)
    return {bench_run.benchmark for bench_run in picked}


def serving(registry: Registry, benchmarks: set[str] | None) -> set[str] | None:
    """Hosts that are searched for these benchmarks; None = every host."""
    if benchmarks is None:
        return None
    bench_runs = registry.bench_runs(benchmarks=benchmarks)
    return {name for name, host in registry.hosts.items() if any(host.serves(bench_run) for bench_run in bench_runs)}


def summary(lab: Lab, registry: Registry, built: dict[str, dict[str, Any]], down: list[str], now: datetime) -> str:
    """The last line of a cycle: time, files written and unchanged, trials per state, log pages, hosts down."""
    from benchpipe.trials.store import load_run_file

    states: Counter[str] = Counter()
    files = 0
    for bench_run in registry.bench_runs():
        if run_file := load_run_file(lab, bench_run.benchmark, bench_run.run):
            files += 1
            states.update(record.state for modes in run_file.tasks.values() for record in modes.values())
    written = sum(int(values.get("n_runs_written", 0)) for values in built.values())
    logs = sum(int(values.get("n_built", 0)) for values in built.values())
    counts = ", ".join(f"{count} {state}" for state, count in states.most_common()) or "no trial collected yet"
    return (
        f"{now:%Y-%m-%d %H:%M:%SZ}  run files: {written} written, {files - written} unchanged; {counts}; "
        f"{logs} log pages; hosts down: {', '.join(down) or 'none'}"
    )


def _counting(tell: Progress, step: Step, n: int) -> Progress:
    """`tell`, and how many of `n` hosts have answered."""
    answered = count(1)

    def told(reading: HostReading, seconds: float) -> None:
        tell(reading, seconds)
        step(next(answered), n, f"{reading.host} answered" if reading.ok else f"{reading.host} did not answer")

    return told


def _tell_build(what: str, assets: Iterable[str], step: Step) -> None:
    click.echo(f"{what}: {', '.join(assets)}", err=True)
    step(0, None, f"building {what}")


def _tell_problems(registry: Registry) -> None:
    for problem in registry.faults:
        click.echo(f"skipped: {problem.place}: {problem.message}", err=True)


def tell_problems_found(built: dict[str, dict[str, Any]]) -> None:
    """What could not be read, counted or decided of benchmarks' trials, on stderr: asset, then one line for each.

    Assets without a partition only repeat what the registry's own problems said.
    """
    for name, values in built.items():
        for line in str(values.get("problems", "")).splitlines() if name.endswith("]") else ():
            click.echo(f"{name}: {line.removeprefix('- ')}", err=True)


def tell_host(reading: HostReading, seconds: float) -> None:
    """A host's line of progress, on stderr."""
    trials = sum(len(job.trials) for job in reading.jobs)
    said = f"{trials} trials in {len(reading.jobs)} jobs" if reading.ok else f"down: {reading.error}"
    click.echo(f"{reading.host}: {said} ({seconds:.1f} s)", err=True)
