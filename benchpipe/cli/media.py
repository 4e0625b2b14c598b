"""`benchpipe media`: replays and images of published trials, from this machine to the dataset."""

from pathlib import Path

import rich_click as click

from benchpipe.cli.main import lab_of
from benchpipe.cli.progress import progress
from benchpipe.errors import FoundProblems
from benchpipe.publish.media.bring import bring_media, compressed_folder, exported_folder
from benchpipe.publish.media.compress import Compressed, compress
from benchpipe.publish.media.export import Exported, export
from benchpipe.publish.media.stores import FolderStore, HubStore, Store, StoreError
from benchpipe.publish.media.upload import Uploaded
from benchpipe.registry.load import load_registry

FOLDER = click.Path(path_type=Path)
AT_LEAST_ONE = click.IntRange(min=1)
benchmark_option = click.option("--benchmark", metavar="ID", help="Only this benchmark's folder.")
out_option = click.option("--out", type=FOLDER, metavar="DIR", help="Where it goes; default: the lab's .cache.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Change nothing; say what would be done.")
jobs_option = click.option("--jobs", type=AT_LEAST_ONE, help="Videos at once; default: half the CPUs.")
images_option = click.option("--image-jobs", type=AT_LEAST_ONE, help="Images at once; default: the CPUs.")


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
    """Link every file that published logs name into one folder.

    Example: benchpipe media export --benchmark tabletop --dry-run
    """
    lab = lab_of(ctx)
    _tell_export(export(lab, out or exported_folder(lab), benchmark, dry_run=dry_run))
    return 0


@command.command("compress")
@benchmark_option
@out_option
@click.option("--src", type=FOLDER, metavar="DIR", help="The exported folder; default: the lab's .cache.")
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
    """Make small videos and WebP images of the exported files, without their metadata.

    Example: benchpipe media compress --jobs 4
    """
    lab = lab_of(ctx)
    images = load_registry(lab).public.run_media_images
    with progress("media") as step:
        done = compress(
            src or exported_folder(lab),
            out or compressed_folder(lab),
            benchmark,
            images=images,
            jobs=jobs,
            image_jobs=image_jobs,
            dry_run=dry_run,
            on_progress=lambda done, n, what: step(done - 1, n, what),
        )
    return _tell_compress(done)


@command.command("upload")
@click.option("--benchmark", required=True, metavar="ID", help="The benchmark whose folder is brought up to date.")
@click.option("--out", type=FOLDER, metavar="DIR", help="Put them into this folder instead of the dataset.")
@jobs_option
@images_option
@dry_run_option
@click.pass_context
def upload_command(
    ctx: click.Context, benchmark: str, out: Path | None, jobs: int | None, image_jobs: int | None, dry_run: bool
) -> int:
    """Export, compress and upload one benchmark's folder; withdrawn media are removed from the dataset.

    Examples: benchpipe media upload --benchmark tabletop --dry-run; benchpipe media upload --benchmark tabletop --out /tmp/media
    """
    lab = lab_of(ctx)
    registry = load_registry(lab)
    store: Store = FolderStore(out) if out else HubStore(registry.public.hub_dataset)
    try:
        with progress("media") as step:
            done = bring_media(
                lab,
                registry,
                benchmark,
                store,
                dry_run=dry_run,
                jobs=jobs,
                image_jobs=image_jobs,
                on_progress=lambda done, n, what: step(done - 1, n, what),
            )
    except StoreError as error:
        raise FoundProblems(f"the upload did not end: {error}; start it again, it goes on where it stopped") from error
    _tell_export(done.exported)
    failed = _tell_compress(done.compressed)
    _tell_upload(done.uploaded, dry_run)
    return failed


def _tell_export(done: Exported) -> None:
    for address in done.missing:
        click.echo(f"missing: {address}", err=True)
    click.echo(f"export: {done.files} files, {_mb(done.bytes)}, {done.written} written, {len(done.missing)} missing here")


def _tell_compress(done: Compressed) -> int:
    for failure in done.failed:
        click.echo(f"failed: {failure}")
    click.echo(f"compress: {done.files} files, {_mb(done.source_bytes)} → {_mb(done.bytes)}, {len(done.failed)} failed")
    return 1 if done.failed else 0


def _tell_upload(done: Uploaded, dry_run: bool) -> None:
    for sign, addresses in (("+", done.sent), ("-", done.deleted)):
        for address in addresses if dry_run else ():
            click.echo(f"{sign} {address}")
    counts = f"{len(done.sent)} files, {_mb(done.bytes)}; {len(done.deleted)} deleted; {done.unchanged} unchanged"
    click.echo(f"upload: {'would send' if dry_run else 'sent'} {counts}")


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
