"""The dataset's card: a committed file of the lab, beside the media of every benchmark."""

from datetime import UTC, datetime
from pathlib import Path

from benchpipe.lab import Lab
from benchpipe.publish.media.bring import bring_media
from benchpipe.publish.media.compress import compress
from benchpipe.publish.media.export import export
from benchpipe.publish.media.stores import FolderStore
from benchpipe.publish.snapshot import publish
from benchpipe.registry.load import load_registry
from benchpipe_tests.conftest import REPOSITORY
from benchpipe_tests.publish.collected import BENCHMARK, collect


def test_an_upload_brings_the_labs_card_and_an_export_holds_it(lab: Lab, tmp_path: Path) -> None:
    collect(lab)
    registry = load_registry(lab)
    publish(lab, registry, now=datetime(2026, 11, 30, tzinfo=UTC))
    text = (REPOSITORY / "data/media-card.md").read_text()
    lab.media_card.write_text(text)
    export(lab, tmp_path / "out")
    export(lab, tmp_path / "out")
    assert (tmp_path / "out/README.md").read_text() == text
    assert not (tmp_path / "out/.stale").exists()
    store = FolderStore(tmp_path / "dataset")
    assert bring_media(lab, registry, BENCHMARK, store).uploaded.sent == ("README.md",)
    assert (tmp_path / "dataset/README.md").read_text() == text
    lab.media_card.unlink()
    assert bring_media(lab, registry, BENCHMARK, store).uploaded.deleted == ()


def test_the_card_of_an_export_is_a_copy_and_no_medium(lab: Lab, tmp_path: Path) -> None:
    collect(lab)
    publish(lab, load_registry(lab), now=datetime(2026, 11, 30, tzinfo=UTC))
    lab.media_card.write_text("# Ours\n")
    export(lab, tmp_path / "out")
    with open(tmp_path / "out/README.md", "a") as exported:
        exported.write("somebody's words\n")
    assert lab.media_card.read_text() == "# Ours\n"
    done = compress(tmp_path / "out", tmp_path / "small")
    assert (done.failed, (tmp_path / "small/README.md").exists()) == ((), False)
