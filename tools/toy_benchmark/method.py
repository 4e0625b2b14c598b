"""skill-search: in every round, try each candidate skill on the study tasks and keep the one that gains most."""

import shutil
import tempfile
from pathlib import Path

import measuring

CANDIDATES = measuring.HERE / "candidates"


def improve(harness: Path, method: str) -> str:
    """Change a harness in place by one edit; the name of the skill that was added, or "" if none gains anything.

    `method` is "skill-search", or "first-come", which adds the next candidate without trying it.
    """
    left = [file for file in sorted(CANDIDATES.glob("*.py")) if not (harness / "skills" / file.name).exists()]
    if method == "first-come":
        best = left[0] if left else None
    else:
        before = measuring.measure(harness, "study").score
        gains = [(gain, file) for file in left if (gain := study_score(harness, file) - before) > 0]
        best = max(gains, key=lambda pair: pair[0])[1] if gains else None
    if best is None:
        return ""
    shutil.copyfile(best, harness / "skills" / best.name)
    return best.stem


def study_score(harness: Path, candidate: Path) -> float:
    """Score on the study tasks of the harness with one more skill."""
    with tempfile.TemporaryDirectory() as place:
        trial = Path(place) / "harness"
        shutil.copytree(harness, trial)
        shutil.copyfile(candidate, trial / "skills" / candidate.name)
        return measuring.measure(trial, "study").score
