"""`benchpipe contrib dataset` and `benchpipe contrib mirror`: what outsiders send beside the JSON."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import rich_click as click

from benchpipe.cli.main import lab_of
from benchpipe.errors import LockHeld, UsageError
from benchpipe.lab import Lab
from benchpipe.registry.records import Benchmark

if TYPE_CHECKING:
    from benchpipe.contributions.artifacts.layout import Scope
    from benchpipe.contributions.leaks import Review


@click.command()
@click.argument("path")
@click.option("--write-coverage", is_flag=True, help="First bring coverage.json to what is there (PATH is a folder here).")
@click.option("--leaks", is_flag=True, help="For maintainers: also list what a person should look at; changes no verdict.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.pass_context
def dataset(ctx: click.Context, path: str, write_coverage: bool, leaks: bool, as_json: bool) -> int:
    """The mechanical checks of Experiments/ or any directory below it, here or on the Hub.

    Exit 0 if everything was checked and holds, else 1. A place on the Hub is written
    hf://datasets/OWNER/NAME@REVISION/Experiments/…; REVISION may be refs/pr/N.

    Example: benchpipe contrib dataset contrib/Experiments/deskwork
    """
    from benchpipe.contributions.artifacts import checking, coverage, layout, remote
    from benchpipe.registry.load import load_registry

    lab = lab_of(ctx)
    benchmarks = load_registry(lab).benchmarks
    place = remote.place_of(path)
    if place and write_coverage:
        raise UsageError("--write-coverage writes into a folder on this machine; check the dataset out first")
    folder = remote.bring(place, lab.cache / "contrib" / "hub" / place.dataset, _tell) if place else Path(path)
    if write_coverage:
        for file in coverage.write(layout.scope_of(folder), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")):
            click.echo(f"wrote {lab.relative(file)}", err=True)
    report = checking.check_directory(folder, lab, benchmarks, on_progress=_tell)
    looks = _reviews(lab, benchmarks, layout.scope_of(folder)) if leaks else []
    if as_json:
        shown = {**checking.as_json(report), **({"review": [msgspec.to_builtins(one) for one in looks]} if leaks else {})}
        click.echo(json.dumps(shown, indent=1, ensure_ascii=False))
    else:
        for one in looks:
            click.echo(f"REVIEW {one.code} {one.place}  {one.message}")
        click.echo(checking.as_text(report))
    return 0 if report.verdict == "verified" else 1


def _reviews(lab: Lab, benchmarks: Mapping[str, Benchmark], scope: "Scope") -> "list[Review]":
    """What a maintainer should look at, in every method directory of a scope."""
    from benchpipe.contributions import leaks

    found = []
    for place in scope.methods():
        if benchmark := benchmarks.get(place.benchmark):
            _tell(f"{place.name}: looking for traces of the exam")
            found += leaks.review_directory(place, leaks.exam_of(benchmark, lab))
    return found


@click.command()
@click.argument("file", metavar="RUN_META", type=click.Path(path_type=Path))
def scrub(file: Path) -> int:
    """A run_meta.json as it may be published, on standard output; the file stays as it is. Exit 1 if something must go by hand.

    Without local paths, private hosts, credentials and addresses; the sha256 of the original stays in it as scrubbed_from.

    Example: benchpipe contrib scrub out/run_meta.json > contrib/results/deskwork/first-come/my-first/run_meta.json
    """
    from benchpipe.contributions.reading import MAX_RECORD_BYTES
    from benchpipe.contributions.scrub import scrubbed
    from benchpipe.contributions.strict_json import Refused, read_limited

    try:
        done = scrubbed(read_limited(file, MAX_RECORD_BYTES))
    except Refused as refused:
        raise UsageError(f"{file} {refused}") from None
    click.echo(done.data, nl=False)
    for pointer in done.dropped:
        _tell(f"dropped {pointer}")
    for message in done.left:
        _tell(message)
    _tell(f"{len(done.dropped)} dropped, {done.n_redacted} text(s) redacted, {len(done.left)} left to take out by hand")
    return 1 if done.left else 0


def _tell(text: str) -> None:
    click.echo(text, err=True)


@click.command()
@click.option("--submission", "files", multiple=True, type=click.Path(path_type=Path), help="Only this file; default: all.")
@click.option("--dry-run", is_flag=True, help="Ask nobody, change nothing; say what would be done.")
@click.option("--no-mirror", is_flag=True, help="Download, check and replay only.")
@click.option("--folder", type=click.Path(path_type=Path), help="Mirror into this folder instead of the Hub dataset.")
@click.option("--base", metavar="URL", help="The https address under which that folder is served.")
@click.pass_context
def mirror(
    ctx: click.Context, files: tuple[Path, ...], dry_run: bool, no_mirror: bool, folder: Path | None, base: str | None
) -> int:
    """Linked trajectories: download, check, replay, mirror, and write both links into the merged file.

    Goes on where it was left. Exit 1 if something was found wrong with an archive, a link or a mirror.

    Example: benchpipe contrib mirror --submission contrib/results/deskwork/skill-search/rules.json --dry-run
    """
    from benchpipe.contributions.store import datasets, submission_files
    from benchpipe.contributions.trajectories import mirroring
    from benchpipe.contributions.trajectories.fetching import Policy
    from benchpipe.contributions.trajectories.known import declared_of
    from benchpipe.registry.load import load_registry

    lab = lab_of(ctx)
    registry = load_registry(lab)
    if missing := [file for file in files if not file.is_file()]:
        raise UsageError(f"{missing[0]}: no such file")
    if (folder is None) != (base is None) or (base and not base.startswith("https://")):
        raise UsageError("give --folder DIR together with --base https://…, the address under which DIR is served")
    chosen = [file.absolute() for file in files] or [
        file for dataset_ in datasets(lab, registry.benchmarks) for file in submission_files(lab, dataset_)
    ]
    today = mirroring.utc_now().date()
    linked = [found for file in chosen if (found := declared_of(lab, registry.benchmarks, file, today))]
    if dry_run:
        for declared in linked:
            click.echo(f"{declared.path}: {mirroring.planned(lab, declared) or 'nothing to do'}")
        for file in chosen:
            if mirroring.outdated(lab, registry.benchmarks, file, mirroring.utc_now()) is not None:
                click.echo(f"{lab.relative(file)}: enter the verdict of now and the mirror")
        return 0
    store = None if no_mirror or not linked else mirroring.mirror_of(registry.public.hub_dataset, folder, base)
    policy, wrong = Policy(hosts=frozenset(registry.public.trajectory_hosts)), 0
    for declared in linked:
        click.echo(f"{declared.path}: {mirroring.planned(lab, declared) or 'nothing to do'}", err=True)
        try:
            done = mirroring.advance_submission(
                lab, registry.benchmarks, declared, mirror=store, now=mirroring.utc_now, policy=policy
            )
        except LockHeld as held:
            click.echo(str(held), err=True)
            continue
        level = f", replayed at {done.replay_level}" if done.replay_level else ""
        why = "".join(f"; {text}" for text in (done.fault, done.link) if text)
        click.echo(f"{done.path}: {done.before} → {done.after}{level}{why}")
        wrong += bool(why)
    for file in chosen:
        if mirroring.restate(lab, registry.benchmarks, file, mirroring.utc_now()):
            click.echo(f"{lab.relative(file)}: entered the verdict of now and the mirror")
    click.echo(f"{len(linked)} submission(s) with linked trajectories, {wrong} with something to look at", err=True)
    return 1 if wrong else 0
