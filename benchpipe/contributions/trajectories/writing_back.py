"""Enters a verdict and a mirror into a merged submission: `status` and `trajectories.mirror`, and nothing else (3.11, 15.4).

Keys keep their order and numbers their literal form. The contributor's own link is never touched. The file's new hash is
noted among the maintainers' decisions first, beside the old one, so that nobody else's `status` is ever believed and nothing
is lost if the writing is cut off.
"""

from pathlib import Path

import msgspec

from benchpipe import __version__
from benchpipe.contributions import decisions
from benchpipe.contributions.checking import Checked
from benchpipe.contributions.file_rules import field
from benchpipe.contributions.strict_json import decode, dumps, parse
from benchpipe.contributions.trajectories.trail import MirrorRecord
from benchpipe.files import sha256, write_bytes
from benchpipe.lab import Lab


def entered(data: bytes, checked: Checked, mirror: MirrorRecord | None, reference: str | None, now: str) -> bytes:
    """A submission's bytes with the verdict of now and the mirror (None: the one it names stays). Pure.

    The hash of the contributor's own file stays, and while the verdict is the same the time of its check: bytes that say it
    already come back as they are.
    """
    doc = parse(decode(data))
    before = doc.get("status", {})
    if mirror is not None:
        doc["trajectories"]["mirror"] = msgspec.to_builtins(mirror)
    verdict = {
        "verified": checked.report.verdict == "verified",
        "mirrored": field(doc, "trajectories", "mirror") is not None,
        "reasons": [{"code": said.code, "message": said.message} for said in checked.report.reasons],
        "reference": reference,
    }
    by = {"checked_at": now, "checker": f"benchpipe@{__version__}"}
    if all(before.get(key) == value for key, value in verdict.items()):
        by = {key: before.get(key, value) for key, value in by.items()}
    doc["status"] = {**verdict, **by, "input_sha256": before.get("input_sha256") or checked.input_sha256}
    return dumps(doc).encode()


def without_blocks(data: bytes) -> bytes:
    """A submission's bytes as a contributor may send them: without the platform's two blocks. Refused if they can't be read."""
    doc = parse(decode(data))
    blocks = [(doc, "status"), (field(doc, "trajectories"), "mirror")]
    there = [(parent, key) for parent, key in blocks if isinstance(parent, dict) and key in parent]
    for parent, key in there:
        del parent[key]
    return dumps(doc).encode() if there else data


def write(lab: Lab, path: str, new: bytes) -> None:
    """Write what was `entered` into the submission at a lab-relative path, and note its hash. Doing it again changes nothing."""
    dataset, key = _key(path)
    state, file = lab.state_contrib / f"{dataset}.yml", lab.root / path
    old, digest = sha256(file.read_bytes()), sha256(new)
    decisions.change(state, key, lambda entry, before: decisions.writes(entry, before, old=old, new=digest))
    write_bytes(file, new)
    decisions.change(state, key, decisions.wrote)


def _key(path: str) -> tuple[str, str]:
    """(dataset, `<method>/<variant>`) of a submission's path."""
    method, variant = Path(path).parent, Path(path).stem
    return method.parent.name, f"{method.name}/{variant}"
