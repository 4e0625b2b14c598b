"""`benchpipe media`: replays and images of published trials, from this machine to the dataset."""

from pathlib import Path

import rich_click as click

from benchpipe.cli.main import lab_of
from benchpipe.errors import FoundProblems
from benchpipe.lab import Lab
from benchpipe.publish.media.compress import Compressed, compress
from benchpipe.publish.media.export import Exported, export, named_media
from benchpipe.publish.media.stores import FolderStore, HubStore, Store, StoreError
from benchpipe.publish.media.upload import Uploaded, upload
from benchpipe.registry.load import load_registry

benchmark_option = click.option("--benchmark", metavar="ID", help="Only this benchmark's folder.")
out_option = click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Where the result goes; default: the lab's .cache."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Write and send nothing; say what would be done.")
images_option = click.option("--image-jobs", type=click.IntRange(min=1), help="Images at once; default: the CPUs.")
jobs_option = click.option("--jobs", type=click.IntRange(min=1), help="Videos at once; default: half the CPUs.")


@click.group
def command() -> None:
    """Export, compress and upload run media. Metadata is stripped; pictures are not examined for text in them.

    Examples: benchpipe media upload --benchmark tabletop --dry-run; benchpipe media export --out /tmp/media
    """


@command.command("export")
@benchmark_option
@out_option
@dry_run_option
@click.pass_context
def export_command(ctx: click.Context, benchmark: str | None, out: Path | None, dry_run: bool) -> int:
    """Link every file that published logs name into one folder."""
    lab = lab_of(ctx)
    _tell_export(export(lab, out or exported(lab), benchmark, dry_run=dry_run))
    return 0


@command.command("compress")
@benchmark_option
@out_option
@click.option("--src", type=click.Path(path_type=Path), metavar="DIR", help="The exported folder; default: the lab's .cache.")
@jobs_option
@images_option
@dry_run_option
@click.pass_context
def compress_command(
    ctx: click.Context,
    benchmark: str | None,
    out: Path | None,
    src: Path | None,
    jobs: int | None,
    image_jobs: int | None,
    dry_run: bool,
) -> int:
    """Make small videos and WebP images of the exported files, without their metadata."""
    lab = lab_of(ctx)
    source = src or exported(lab)
    if dry_run:
        click.echo(f"media: would compress the files below {source / (benchmark or '')}")
        return 0
    return _tell_compress(_compress(lab, source, out or compressed(lab), benchmark, jobs, image_jobs))


@command.command("upload")
@click.option("--benchmark", required=True, metavar="ID", help="The benchmark whose folder is brought up to date.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Upload to this folder instead of the dataset.")
@jobs_option
@images_option
@dry_run_option
@click.pass_context
def upload_command(
    ctx: click.Context, benchmark: str, out: Path | None, jobs: int | None, image_jobs: int | None, dry_run: bool
) -> int:
    """Export, compress and upload one benchmark's folder; withdrawn media are removed from the dataset."""
    lab = lab_of(ctx)
    settings = load_registry(lab).public
    store: Store = FolderStore(out) if out else HubStore(settings.hub_dataset)
    _tell_export(export(lab, exported(lab), benchmark))
    failed = _tell_compress(_compress(lab, exported(lab), compressed(lab), benchmark, jobs, image_jobs))
    named = [one.address for one in named_media(lab, benchmark)]
    try:
        done = upload(
            store,
            compressed(lab),
            benchmark,
            named,
            dry_run=dry_run,
            on_progress=lambda done, n, what: click.echo(f"media: {done} of {n} files there, {what}", err=True),
        )
    except StoreError as error:
        raise FoundProblems(f"the upload did not end: {error}; start it again, it goes on where it stopped") from error
    _tell_upload(done, dry_run)
    return failed


def exported(lab: Lab) -> Path:
    """Where exports go unless something else is said."""
    return lab.cache / "media" / "exported"


def compressed(lab: Lab) -> Path:
    """Where compressed media go unless something else is said."""
    return lab.cache / "media" / "compressed"


def _compress(lab: Lab, source: Path, out: Path, benchmark: str | None, jobs: int | None, image_jobs: int | None) -> Compressed:
    return compress(
        source,
        out,
        benchmark,
        images=load_registry(lab).public.run_media_images,
        jobs=jobs,
        image_jobs=image_jobs,
        on_progress=lambda done, n, name: click.echo(f"media: {done} of {n}: {name}", err=True),
    )


def _tell_export(done: Exported) -> None:
    for address in done.missing:
        click.echo(f"missing: {address}", err=True)
    click.echo(f"export: {done.files} files, {done.bytes / 1e6:,.1f} MB, {done.written} written, {len(done.missing)} missing here")


def _tell_compress(done: Compressed) -> int:
    for failure in done.failed:
        click.echo(f"failed: {failure}")
    click.echo(
        f"compress: {done.files} files, {done.source_bytes / 1e6:,.1f} → {done.bytes / 1e6:,.1f} MB, {len(done.failed)} failed"
    )
    return 1 if done.failed else 0


def _tell_upload(done: Uploaded, dry_run: bool) -> None:
    for sign, addresses in (("+", done.sent), ("-", done.deleted)):
        for address in addresses if dry_run else ():
            click.echo(f"{sign} {address}")
    would = "would send" if dry_run else "sent"
    click.echo(
        f"upload: {would} {len(done.sent)} files, {done.bytes / 1e6:,.1f} MB; {len(done.deleted)} deleted; {done.unchanged} unchanged"
    )
