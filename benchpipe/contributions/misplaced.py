"""JSON below contrib/results/ that is no submission's: a submission in the wrong place would be dropped without a word (14)."""

import contextlib
from collections.abc import Collection, Iterator

from benchpipe.contributions.checking import Checked
from benchpipe.contributions.file_rules import field, runs_of
from benchpipe.contributions.reading import Reader
from benchpipe.contributions.store import Dataset
from benchpipe.contributions.strict_json import Refused, decode, parse
from benchpipe.lab import Lab

WHY = "is no submission's, and none can lie here: a submission is contrib/results/<dataset>/<method>/<variant>.json. Move it"


def misplaced(lab: Lab, datasets: Collection[Dataset]) -> Iterator[str]:
    """Lab-relative paths of .json files that are no submission and that no submission names.

    What lies beside a submission that can't be read may be its own, and is left alone until it can; so is everything of a
    dataset whose decisions can't be read, since its submissions aren't known.
    """
    submissions = {one.path: one for dataset in datasets for one in dataset.checked}
    unknown = {dataset.id for dataset in datasets if dataset.problem}
    named = {name for one in submissions.values() for name in _named(lab, one)}
    for file in sorted(lab.contrib_results.rglob("*.json")):
        name = lab.relative(file)
        if name in submissions or name in named or file.name.startswith(".") or name.split("/")[2] in unknown:
            continue
        owner = submissions.get("/".join(name.split("/")[:5]) + ".json")
        if owner is None or owner.doc is not None:
            yield name


def _named(lab: Lab, checked: Checked) -> Iterator[str]:
    """Files that a submission points at, by its own words: `Checked.doc` shows a path without what looks like an address."""
    reader, submission = Reader(lab), lab.root / checked.path
    with contextlib.suppress(Refused):
        doc = parse(decode(reader.read(submission)))
        paths = [run.get("per_task") for _, run in runs_of(doc)]
        for path in (*paths, field(doc, "artifacts", "run_meta"), field(doc, "artifacts", "curve")):
            with contextlib.suppress(Refused):
                if isinstance(path, str) and (file := reader.resolve(path, submission.parent)):
                    yield lab.relative(file)
