"""Enters a verdict and a mirror into a merged submission: `status` and `trajectories.mirror`, and nothing else (3.11, 15.4).

Keys keep their order and numbers their literal form. The contributor's own link is never touched. The file's new hash is
noted among the maintainers' decisions first, so that nobody else's `status` is ever believed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchpipe import __version__
from benchpipe.contributions import decisions
from benchpipe.contributions.checking import Checked
from benchpipe.contributions.strict_json import decode, dumps, parse
from benchpipe.contributions.trajectories.trail import MirrorRecord
from benchpipe.files import sha256, write_bytes
from benchpipe.lab import Lab


def written(data: bytes, status: Mapping[str, Any], mirror: MirrorRecord | None) -> bytes:
    """A submission's bytes with the platform's two blocks in them. Pure; equal inputs give equal bytes."""
    doc = parse(decode(data))
    if mirror is not None:
        doc["trajectories"]["mirror"] = msgspec.to_builtins(mirror)
    doc["status"] = dict(status)
    return dumps(doc).encode()


def status_of(checked: Checked, *, mirrored: bool, reference: str | None, checked_at: str, before: Any) -> dict[str, Any]:
    """The `status` block of a verdict. `before` is the block that is there; the contributor's own hash stays in it."""
    kept = before.get("input_sha256") if isinstance(before, Mapping) else None
    return {
        "verified": checked.report.verdict == "verified",
        "mirrored": mirrored,
        "reasons": [{"code": said.code, "message": said.message} for said in checked.report.reasons],
        "reference": reference,
        "checked_at": checked_at,
        "checker": f"benchpipe@{__version__}",
        "input_sha256": kept or checked.input_sha256,
    }


def write_back(lab: Lab, path: str, checked: Checked, mirror: MirrorRecord, reference: str | None) -> None:
    """Write a verdict and a mirror into the submission at a lab-relative path. Doing it again changes nothing."""
    file = lab.root / path
    data = file.read_bytes()
    before = (checked.doc or {}).get("status")
    status = status_of(checked, mirrored=True, reference=reference, checked_at=mirror.mirrored_at, before=before)
    new = written(data, status, mirror)
    dataset, key = _key(path)
    decisions.change(lab.state_contrib / f"{dataset}.yml", key, lambda entry, _: entry.update(written=sha256(new)))
    write_bytes(file, new)


def _key(path: str) -> tuple[str, str]:
    """(dataset, `<method>/<variant>`) of a submission's path."""
    method, variant = Path(path).parent, Path(path).stem
    return method.parent.name, f"{method.name}/{variant}"
