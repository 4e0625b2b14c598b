"""What an undisturbed `benchpipe runs` makes of a small lab, once per session, and the lab as it was before."""

import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benchpipe.lab import Lab
from benchpipe_tests.faults.building import outputs, run, small_lab


class Reference(NamedTuple):
    """`pristine` is the lab with nothing collected. `seconds`: how long the build took on this machine."""

    lab: Lab
    pristine: Path
    clock: int
    outputs: dict[str, Any]
    seconds: float

    def fresh(self) -> Lab:
        """The lab as it was before anything was collected."""
        shutil.rmtree(self.lab.root, ignore_errors=True)
        shutil.copytree(self.pristine, self.lab.root, symlinks=True)
        return self.lab


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    folder = tmp_path_factory.mktemp("reference")
    lab = small_lab(folder / "lab")
    shutil.copytree(lab.root, folder / "pristine", symlinks=True)
    clock, started = int(time.time()), time.monotonic()
    run(lab, clock, {"TZ": "UTC", "LC_ALL": "C.UTF-8"}, log=folder / "log")
    return Reference(lab, folder / "pristine", clock, outputs(lab), time.monotonic() - started)
