"""`data/public.yml` → `Public` (runs-system 3.7, E6), and the hand-made additions to log pages (3.8)."""

from collections.abc import Mapping

from benchpipe.lab import Lab
from benchpipe.registry.fields import NAME
from benchpipe.registry.records import Backfill, Public
from benchpipe.registry.source import Source


def load_public(source: Source) -> Public:
    """Settings of the public build; a missing or broken file means all defaults."""
    fields = source.optional(source.lab.public_file, "public")
    fields.read_elsewhere("allow")
    base = fields.text("run_media_base") or ""
    if base and not base.endswith("/"):
        fields.problem("run_media_base", "`run_media_base` has to end with `/`: it is put in front of every media path")
        base += "/"
    return Public(
        link_demos=fields.texts("link_demos", form=NAME) or (),
        run_media_base=base,
        run_media_images=fields.choice("run_media_images", ("webp", "")) or "",
        hub_dataset=fields.text("hub_dataset") or "",
        site_url=fields.text("site_url") or "",
        contact=fields.text("contact") or "",
        trajectory_hosts=fields.texts("trajectory_hosts") or (),
        machine_names=fields.texts("machine_names") or (),
        raw=fields.data,
    )


def read_backfill(lab: Lab, benchmark: str, run: str) -> Mapping[str, Backfill]:
    """`"<task>/<slot>"` → what people added to that log page. Empty where there is no file or it can't be read."""
    top = Source(lab).optional(lab.backfill_file(benchmark, run), "backfill")
    return {slot: Backfill(**{name: fields.text(name) for name in Backfill.__struct_fields__}) for slot, fields in top.entries()}
