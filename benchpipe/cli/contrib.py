"""`benchpipe contrib …`: the gate on a submission, issues turned into files, and maintainers' decisions."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import rich_click as click

from benchpipe.cli.contrib_artifacts import dataset, mirror, scrub
from benchpipe.cli.main import lab_of
from benchpipe.errors import UsageError
from benchpipe.lab import Lab


@click.group()
def command() -> None:
    """Contributed results: check them, take them in, decide about them.

    Example: benchpipe contrib check contrib/example-submission.json
    """


command.add_command(dataset)
command.add_command(mirror)
command.add_command(scrub)


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--artifacts", is_flag=True, help="Also look up the declared platform commit in this repository.")
@click.option(
    "--dataset-root", "roots", multiple=True, type=click.Path(path_type=Path), help="A checkout of the dataset repository."
)
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.pass_context
def check(ctx: click.Context, file: Path, artifacts: bool, roots: tuple[Path, ...], as_json: bool) -> int:
    """The whole gate on one submission: the maintainers' verdict, word for word.

    Exit 0 if it is verified, else 1. Example: benchpipe contrib check contrib/example-submission.json
    """
    from benchpipe.contributions import report

    checked = _check(lab_of(ctx), file, artifacts, roots)
    if as_json:
        click.echo(json.dumps(report.as_json(checked.report), indent=1, ensure_ascii=False))
    else:
        click.echo(report.as_text(checked.report))
    return 0 if checked.report.verdict == "verified" else 1


@command.command("report")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--artifacts", is_flag=True, help="As for check.")
@click.option("--besides", type=click.File("rb"), help="Names of other changed files, each ended by a null: listed first.")
@click.pass_context
def report_(ctx: click.Context, files: tuple[Path, ...], artifacts: bool, besides: Any) -> int:
    """The reports of submissions and dataset directories as Markdown, for a comment. Exit 0: the verdicts stand in the text.

    Example: benchpipe contrib report contrib/results/deskwork/skill-search/rules.json contrib/Experiments/deskwork
    """
    from benchpipe.contributions import comment
    from benchpipe.contributions.artifacts.checking import check_directory
    from benchpipe.registry.load import load_registry

    if not files and besides is None:
        raise UsageError("nothing to report on: name submissions or dataset directories")
    lab = lab_of(ctx)
    others = [name.decode("utf-8", "replace") for name in besides.read().split(b"\0") if name] if besides else []
    parts = [comment.besides(others)] if others else []
    for file in files:
        if file.is_dir():
            parts.append(comment.directory_comment(check_directory(file, lab, load_registry(lab).benchmarks)))
        else:
            parts.append(comment.submission_comment(_check(lab, file, artifacts, ()).report))
    click.echo("\n".join(parts), nl=False)
    return 0


@command.command()
@click.argument("file", type=click.File("r", encoding="utf-8"))
@click.option("--author", "login", help="The contributor's login; default: what the issue's JSON names.")
@click.option("--attachment", type=click.File("r", encoding="utf-8"), help="The issue's attached .json, downloaded.")
@click.option("--branch", metavar="NAME", help="Make a branch with the commit, instead of printing a patch.")
@click.pass_context
def intake(ctx: click.Context, file: Any, login: str | None, attachment: Any, branch: str | None) -> int:
    """An issue's text (or its JSON; - for standard input) to a patch with the contributor as author.

    Example: gh issue view 12 --json body,author | benchpipe contrib intake - | git am
    """
    from benchpipe.contributions import intake as door

    body, named = door.issue_of(file.read())
    who = door.author(login) if login else named
    if who is None:
        raise UsageError("who sent it? give --author LOGIN, or the issue as JSON with its author")
    taken = door.take(body, attachment.read() if attachment else None)
    if taken.had_contact:
        click.echo("the issue holds contact data; it went into no file. Remove it from the issue too", err=True)
    now = datetime.now(UTC)
    if branch:
        commit = door.branch(lab_of(ctx).root, branch, taken, who, now)
        click.echo(f"{branch}: {commit} adds {', '.join(sorted(taken.files))}")
    else:
        click.echo(door.patch(taken, who, now), nl=False)
    return 0


@command.command()
@click.argument("submission")
@click.option("--reason", required=True, help="Why; it is published.")
@click.pass_context
def withdraw(ctx: click.Context, submission: str, reason: str) -> int:
    """Take the rows of SUBMISSION (dataset/method/variant) off the tables, with a public reason.

    Example: benchpipe contrib withdraw deskwork/first-come/rules --reason "measured on a changed platform"
    """
    from benchpipe.contributions import decisions

    return _decide(ctx, submission, lambda e, b: decisions.withdraw(e, b, day=_today(), reason=reason), "withdrawn")


@command.command()
@click.argument("submission")
@click.option("--file", "new", type=click.Path(path_type=Path), help="The corrected submission.")
@click.option("--was", type=click.Path(path_type=Path), help="The file as it was, if it was edited in place.")
@click.option("--reason", required=True, help="Why; it is published.")
@click.pass_context
def correct(ctx: click.Context, submission: str, new: Path | None, was: Path | None, reason: str) -> int:
    """Replace SUBMISSION by a corrected file and record scores before and after, with a public reason.

    What the platform wrote into it (status, mirror) comes out; contrib mirror enters it again.

    Example: benchpipe contrib correct deskwork/first-come/rules --file fixed.json --reason "round 2 was reported as 3"
    """
    from benchpipe.contributions import decisions, reading, strict_json
    from benchpipe.contributions.trajectories.writing_back import without_blocks
    from benchpipe.files import write_bytes

    lab = lab_of(ctx)
    target, _ = _target(lab, submission)
    if (new is None) == (was is None):
        raise UsageError("give either --file (the corrected file) or --was (the file as it was)")
    before, after = (target, new) if new else (was, target)
    try:
        old, data = (reading.Reader(lab).read(path or target) for path in (before, after))
        scores = (decisions.scores_of_file(old), decisions.scores_of_file(data))
        data = without_blocks(data)
    except strict_json.Refused as refused:
        raise UsageError(f"{submission}: one of the files {refused}") from None
    done = _decide(ctx, submission, lambda e, b: decisions.correct(e, b, day=_today(), reason=reason, scores=scores), "corrected")
    write_bytes(target, data)
    return done


@command.command()
@click.argument("submission")
@click.option("--unverified", is_flag=True, help="It may be shown unverified, with its reasons.")
@click.option("--ask", metavar="TEXT", help="The one round of questions; published.")
@click.option("--request-trajectories", "wanted", metavar="REASON", help="Ask for the trajectories; published.")
@click.option("--answered", type=click.Choice(["questions", "trajectories"]), help="What was asked has been answered.")
@click.option("--decline", metavar="REASON", help="It will not be published; the reason is.")
@click.pass_context
def decide(
    ctx: click.Context,
    submission: str,
    unverified: bool,
    ask: str | None,
    wanted: str | None,
    answered: str | None,
    decline: str | None,
) -> int:
    """Record a maintainer's decision about SUBMISSION (dataset/method/variant).

    Example: benchpipe contrib decide deskwork/first-come/rules --ask "Which platform commit was it?"
    """
    from benchpipe.contributions import decisions

    edits: list[Callable[[dict[str, Any], Any], None]] = []
    if unverified:
        edits.append(lambda entry, before: entry.update(unverified=True))
    if ask is not None:
        edits.append(lambda entry, before: decisions.ask(entry, before, day=_today(), text=ask))
    if wanted is not None:
        edits.append(lambda entry, before: decisions.request_trajectories(entry, before, day=_today(), reason=wanted))
    if answered is not None:
        edits.append(lambda entry, before: decisions.answer(entry, before, day=_today(), what=answered))
    if decline is not None:
        edits.append(lambda entry, before: entry.update(declined=decisions.public_reason(decline)))
    if not edits:
        raise UsageError("nothing to decide: give --unverified, --ask, --request-trajectories, --answered or --decline")

    def edit(entry: dict[str, Any], before: Any) -> None:
        for each in edits:
            each(entry, before)

    return _decide(ctx, submission, edit, "recorded")


def _check(lab: Lab, file: Path, artifacts: bool, roots: tuple[Path, ...]) -> Any:
    from benchpipe.contributions.checking import check_submission
    from benchpipe.contributions.platform_git import PlatformLook
    from benchpipe.contributions.resent import with_duplicates
    from benchpipe.contributions.trajectories.known import replayed_of
    from benchpipe.registry.load import load_registry

    if not file.exists():
        raise UsageError(f"{file}: no such file")
    benchmarks, today = load_registry(lab).benchmarks, datetime.now(UTC).date()
    checked = check_submission(
        file,
        lab,
        benchmarks,
        today=today,
        replayed=replayed_of(lab, benchmarks, file.absolute(), today),
        roots=roots,
        platform=PlatformLook(lab.root) if artifacts else None,
    )
    return with_duplicates(checked, file, lab, benchmarks, today=today)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _target(lab: Lab, submission: str) -> tuple[Path, tuple[str, str]]:
    """The file of `dataset/method/variant` and its key in the dataset's decisions."""
    parts = submission.removeprefix("contrib/results/").removesuffix(".json").split("/")
    if len(parts) != 3 or not all(parts):
        raise UsageError(f"{submission}: name a submission as dataset/method/variant")
    target = lab.contrib_results / parts[0] / parts[1] / f"{parts[2]}.json"
    if not target.is_file():
        raise UsageError(f"{lab.relative(target)}: no such submission")
    return target, (parts[0], f"{parts[1]}/{parts[2]}")


def _decide(ctx: click.Context, submission: str, edit: Callable[[dict[str, Any], Any], None], done: str) -> int:
    from benchpipe.contributions import decisions

    lab = lab_of(ctx)
    _, (dataset, key) = _target(lab, submission)
    file = lab.state_contrib / f"{dataset}.yml"
    decisions.change(file, key, edit)
    click.echo(f"{dataset}/{key}: {done} in {lab.relative(file)}", file=sys.stdout)
    return 0
