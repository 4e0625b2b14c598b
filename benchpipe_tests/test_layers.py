"""The house: imports go down, and everything below the pipeline works without Dagster."""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


def test_imports_go_down_or_stay_in_their_room() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_everything_below_the_pipeline_imports_with_dagster_blocked() -> None:
    program = """
import pkgutil, importlib, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "dagster":
            raise ImportError("blocked: " + name)
sys.meta_path.insert(0, Block())
import benchpipe
rooms = ("pipeline", "cli", "definitions")
names = [m.name for m in pkgutil.walk_packages(benchpipe.__path__, "benchpipe.") if m.name.split(".")[1] not in rooms]
assert len(names) > 20, names
for name in names:
    importlib.import_module(name)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
