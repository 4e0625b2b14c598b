"""Uploads: to a folder, and to a server that speaks the Hub's API and fails on purpose. Nothing twice, nothing lost."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchpipe.errors import UsageError
from benchpipe.publish.media.stores import FolderStore, HubStore
from benchpipe.publish.media.upload import Uploaded, upload
from benchpipe_tests.publish.fake_hub import DATASET, FakeHub, fake_hub

PROGRAM = """
import sys
from pathlib import Path
from benchpipe.publish.media.stores import HubStore, StoreError
from benchpipe.publish.media.upload import upload
from benchpipe.errors import BenchpipeError
store = HubStore(sys.argv[2])
print("ready", flush=True)
try:
    done = upload(store, Path(sys.argv[1]), "tabletop", sys.argv[3:], batch_files=4, sleep=lambda s: print("waits", s, flush=True),
                  on_progress=lambda done, n, what: print("says", what, flush=True))
except (BenchpipeError, StoreError) as error:
    sys.exit(f"error: {error}")
print("sent", len(done.sent), "deleted", len(done.deleted), "unchanged", done.unchanged)
"""


def media(root: Path, n: int = 10, seed: int = 1) -> dict[str, bytes]:
    """`n` files of a benchmark, some small, some large enough for LFS."""
    rng = random.Random(seed)
    made = {}
    for k in range(n):
        address = f"tabletop/run/task_{k % 3}/limited/img/{k:03}.webp"
        made[address] = rng.randbytes(rng.choice((100, 5000, 200_000)))
        (root / address).parent.mkdir(parents=True, exist_ok=True)
        (root / address).write_bytes(made[address])
    return made


def start(hub: FakeHub, root: Path, *named: str, dataset: str = DATASET) -> "subprocess.Popen[str]":
    environment = {
        **os.environ, "HF_ENDPOINT": hub.endpoint, "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": "any", "HF_HOME": str(root / ".hf"),
        "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }  # fmt: skip
    command = [sys.executable, "-c", PROGRAM, str(root), dataset, *named]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def run(hub: FakeHub, root: Path, *named: str) -> str:
    out, err = start(hub, root, *named).communicate(timeout=120)
    return out + err


def sent_once(hub: FakeHub) -> bool:
    """No file is in two commits."""
    added = [path for _, paths, _ in hub.commits for path in paths]
    return len(added) == len(set(added))


def test_files_arrive_in_batches_and_a_second_upload_sends_nothing(tmp_path: Path) -> None:
    files = media(tmp_path)
    with fake_hub() as hub:
        assert "sent 10 deleted 0 unchanged 0" in run(hub, tmp_path)
        assert hub.files == files
        assert [len(added) for _, added, _ in hub.commits] == [4, 4, 2]
        assert "sent 0 deleted 0 unchanged 10" in run(hub, tmp_path)
        assert len(hub.commits) == 3


def test_every_fault_of_the_server_is_lived_through(tmp_path: Path) -> None:
    files = media(tmp_path)
    with fake_hub("429", "cut", "500", "412", "500") as hub:
        said = run(hub, tmp_path)
        assert hub.used == ["429", "cut", "500", "412", "500"], said
        assert {path: data for path, data in hub.files.items() if path in files} == files
        assert sent_once(hub)
        assert "somebody/else.txt" in hub.files


def test_media_that_nothing_names_any_more_are_removed_and_a_colleagues_stay(tmp_path: Path) -> None:
    files = media(tmp_path, n=3)
    with fake_hub() as hub:
        hub.files |= {
            "tabletop/run/gone/limited/replay.mp4": b"x",
            "tabletop/theirs/task/limited/replay.mp4": b"y",
            "kinder/z.mp4": b"z",
        }
        assert "sent 3 deleted 1 unchanged 0" in run(hub, tmp_path, "tabletop/theirs/task/limited/replay.mp4")
        assert set(hub.files) == {*files, "tabletop/theirs/task/limited/replay.mp4", "kinder/z.mp4"}


def test_the_card_is_sent_where_it_differs_and_never_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, card = media(tmp_path, n=2), tmp_path / "card.md"
    monkeypatch.setenv("HF_TOKEN", "any")
    with fake_hub() as hub:
        store = HubStore(DATASET)
        store._api.endpoint = hub.endpoint
        for text, sent in (("one", 3), ("one", 0), ("two", 1)):
            card.write_text(text)
            assert len(upload(store, tmp_path, "tabletop", (), beside={"README.md": card}).sent) == sent
        assert hub.files == {**files, "README.md": b"two"}
        assert upload(store, tmp_path, "tabletop", ()).deleted == ()


def test_who_is_no_member_is_told_what_to_do(tmp_path: Path) -> None:
    media(tmp_path, n=1)
    with fake_hub() as hub:
        hub.member = False
        assert "must be a member of some-lab" in run(hub, tmp_path)


def test_where_nothing_answers_it_is_said_and_given_up_soon(tmp_path: Path) -> None:
    media(tmp_path, n=1)
    with fake_hub() as hub:
        pass
    said = run(hub, tmp_path)
    assert "error: the Hub can't be reached (ConnectError)" in said
    assert said.count("says the Hub can't be reached (ConnectError); looking again in") == 2


def test_an_answer_that_no_retry_mends_is_one_sentence_and_is_not_asked_for_again(tmp_path: Path) -> None:
    media(tmp_path, n=1)
    with fake_hub("400") as hub:
        said = run(hub, tmp_path)
    assert "error: the Hub refused to serve some-lab/agent-runs (400" in said
    assert "Traceback" not in said
    assert hub.used == ["400"]


def test_who_is_not_logged_in_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(UsageError, match="hf auth login"):
        HubStore("some-lab/agent-runs")
    with pytest.raises(UsageError, match="hub_dataset is empty"):
        HubStore("")


@pytest.mark.parametrize("times", [5, pytest.param(30, marks=pytest.mark.long)])
def test_an_upload_killed_at_random_goes_on_without_sending_anything_twice(tmp_path: Path, times: int) -> None:
    rng = random.Random(4)
    with fake_hub() as hub:
        files = media(tmp_path, n=times * 8)
        for _ in range(times):
            process = start(hub, tmp_path)
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.6))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        run(hub, tmp_path)
        assert hub.files == files
        assert sent_once(hub)


def test_a_folder_is_a_store_too(tmp_path: Path) -> None:
    files = media(tmp_path / "from")
    store = FolderStore(tmp_path / "to")
    first = upload(store, tmp_path / "from", "tabletop", ())
    second = upload(store, tmp_path / "from", "tabletop", ())
    assert {path: (tmp_path / "to" / path).read_bytes() for path in files} == files
    assert (len(first.sent), len(second.sent), second.unchanged) == (10, 0, 10)


def test_a_dry_run_sends_nothing(tmp_path: Path) -> None:
    media(tmp_path / "from", n=2)
    done: Uploaded = upload(FolderStore(tmp_path / "to"), tmp_path / "from", "tabletop", (), dry_run=True)
    assert len(done.sent) == 2
    assert not (tmp_path / "to").exists()
