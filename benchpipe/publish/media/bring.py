"""The whole way of a benchmark's media: export, compress, upload. For the command, the release and the pipeline alike."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from benchpipe.lab import Lab
from benchpipe.publish.media.compress import Compressed, compress
from benchpipe.publish.media.export import CARD, Exported, export, named_media
from benchpipe.publish.media.stores import Store
from benchpipe.publish.media.upload import Uploaded, upload
from benchpipe.registry.records import Registry

Progress = Callable[[int, int, str], None]


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """What each step did."""

    exported: Exported
    compressed: Compressed
    uploaded: Uploaded


def exported_folder(lab: Lab) -> Path:
    """Where exports go unless something else is said."""
    return lab.cache / "media" / "exported"


def compressed_folder(lab: Lab) -> Path:
    """Where compressed media go unless something else is said."""
    return lab.cache / "media" / "compressed"


def bring_media(
    lab: Lab,
    registry: Registry,
    benchmark: str,
    store: Store,
    *,
    dry_run: bool = False,
    jobs: int | None = None,
    image_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> Brought:
    """Bring a benchmark's folder of the store to what its snapshot names. `dry_run` sends and deletes nothing.

    UsageError without a snapshot, ffmpeg, or rights; StoreError when the store gives up.
    """
    source, out = exported_folder(lab), compressed_folder(lab)
    first = export(lab, source, benchmark)
    images = registry.public.run_media_images
    second = compress(source, out, benchmark, images=images, jobs=jobs, image_jobs=image_jobs, on_progress=on_progress)
    named = [one.address for one in named_media(lab, benchmark)]
    card = {CARD: lab.media_card} if lab.media_card.is_file() else {}
    return Brought(
        exported=first,
        compressed=second,
        uploaded=upload(store, out, benchmark, named, beside=card, dry_run=dry_run, on_progress=on_progress),
    )
