"""A pull request on the Hub is checked like a checkout: a real client against a server on loopback."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from benchpipe.contributions.artifacts.remote import Place, place_of
from benchpipe.errors import UsageError
from benchpipe_tests.contributions.artifacts.conftest import METHOD, Grow, Tree
from benchpipe_tests.contributions.hub import DATASET, ReadableHub, readable_hub


@pytest.fixture
def hub() -> Iterator[ReadableHub]:
    with readable_hub() as server:
        yield server


def files_of(tree: Tree) -> dict[str, bytes]:
    root = tree.experiments.parent
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in tree.experiments.rglob("*") if path.is_file()}


def contrib_dataset(tree: Tree, hub: ReadableHub, place: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ, "HF_ENDPOINT": hub.endpoint, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tree.lab.root / ".hf"),
        "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DOWNLOAD_TIMEOUT": "20",
    }  # fmt: skip
    command = [sys.executable, "-c", "from benchpipe.cli.main import main; main()"]
    command += ["--lab", str(tree.lab.root), "contrib", "dataset", "--json", place]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=150)


def test_a_pull_request_on_the_hub_is_checked_and_asked_for_once(grow: Grow, hub: ReadableHub) -> None:
    tree = grow()
    hub.revisions["refs/pr/3"] = files_of(tree)
    done = contrib_dataset(tree, hub, f"hf://datasets/{DATASET}@refs/pr/3/Experiments/deskwork")
    report = json.loads(done.stdout)
    assert (done.returncode, report["verdict"], report["findings"]) == (0, "verified", [])
    assert report["runs"][0]["path"] == f"Experiments/{METHOD}"
    hub.read.clear()
    assert contrib_dataset(tree, hub, f"hf://datasets/{DATASET}@refs/pr/3/Experiments/deskwork").returncode == 0
    assert hub.read == []


def test_one_method_brings_the_manifests_above_it_and_no_other_method(grow: Grow, hub: ReadableHub) -> None:
    tree = grow()
    files = files_of(tree)
    files |= {name.replace("/first-come/", "/other/"): data for name, data in files.items() if "/first-come/" in name}
    family = json.loads(files[f"Experiments/{METHOD.rpartition('/')[0]}/family.json"])
    family["methods"] = ["first-come", "other"]
    files[f"Experiments/{METHOD.rpartition('/')[0]}/family.json"] = json.dumps(family).encode()
    hub.files.update(files)
    done = contrib_dataset(tree, hub, f"hf://datasets/{DATASET}/Experiments/{METHOD}")
    assert json.loads(done.stdout)["verdict"] == "verified"
    assert not any("/other/" in name for name in hub.read)


def test_what_is_wrong_on_the_hub_is_found(grow: Grow, hub: ReadableHub) -> None:
    tree = grow()
    (tree.harness(3) / "agent.py").write_text("x = 1\n")
    tree.cover()
    hub.files.update(files_of(tree))
    done = contrib_dataset(tree, hub, f"hf://datasets/{DATASET}@main/Experiments/deskwork")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert {one["code"] for one in report["findings"]} == {"DS-004"}


def test_a_name_that_is_no_path_is_not_written(grow: Grow, hub: ReadableHub) -> None:
    tree = grow()
    hub.files["Experiments/deskwork/../../../../x"] = b"x"
    done = contrib_dataset(tree, hub, f"hf://datasets/{DATASET}@main/Experiments/deskwork")
    assert done.returncode == 2
    assert "can't be a path here" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_place_that_is_not_there_is_one_line(grow: Grow, hub: ReadableHub) -> None:
    done = contrib_dataset(grow(), hub, f"hf://datasets/{DATASET}@main/Experiments/nowhere")
    assert done.returncode == 2
    assert "can't be read from the Hub" in done.stderr
    assert "Traceback" not in done.stderr


def test_places() -> None:
    assert place_of("contrib/Experiments") is None
    assert place_of("hf://datasets/a/b@refs/pr/12/Experiments/x") == Place("a/b", "refs/pr/12", "Experiments/x")
    assert place_of("hf://datasets/a/b/Experiments") == Place("a/b", "main", "Experiments")
    for text in ("hf://a/b", "hf://datasets/a/b/other", "hf://datasets/a/b@main/Experiments/../x", "hf:x"):
        with pytest.raises(UsageError, match="REVISION may be"):
            place_of(text)
