"""The way of linked trajectories: from declared to mirrored, and what stops it (contributions 15.3, 15.4)."""

import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchpipe.contributions import decisions
from benchpipe.contributions.trajectories import mirroring, writing_back
from benchpipe.contributions.trajectories.mirrors import Copied, FolderMirror
from benchpipe.errors import UsageError
from benchpipe.files import sha256
from benchpipe.publish.media.stores import StoreError
from benchpipe_tests.contributions.artifacts.mutations import link
from benchpipe_tests.contributions.trajectories.conftest import World, pack_rounds
from benchpipe_tests.contributions.trajectories.servers import status


def repacked(data: bytes, change: Callable[[dict[str, bytes]], object], special: tarfile.TarInfo | None = None) -> bytes:
    """An archive with its files (name → bytes) changed."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}  # type: ignore[union-attr]
    change(files)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        if special:
            tar.addfile(special)
    return out.getvalue()


def test_honest_trajectories_end_mirrored_and_verified(world: World) -> None:
    assert world.report().checks["trajectories"] == "not_run"
    done = world.go()
    assert (done.before, done.after, done.replay_level, done.fault) == ("none", "mirrored", "L3", None)
    trail = world.trail
    assert trail.n_files == 60
    assert trail.bytes == len(world.archive)
    assert trail.mirror is not None
    assert (world.store / trail.mirror.path).read_bytes() == world.archive
    doc = world.doc
    assert doc["trajectories"]["location"] == f"{world.server.base}/a.tar.gz"
    assert doc["trajectories"]["mirror"]["location"] == f"https://mirror.example/data/{trail.mirror.path}"
    assert (doc["status"]["verified"], doc["status"]["mirrored"], doc["status"]["reasons"]) == (True, True, [])
    assert world.report().verdict == "verified"


def test_the_way_can_be_gone_state_by_state_and_never_back(world: World) -> None:
    states = [world.go(until=until).after for until in ("downloaded", "format_ok", "replayed", "downloaded", "mirrored")]
    assert states == ["downloaded", "format_ok", "replayed", "replayed", "mirrored"]


def test_going_again_does_nothing_and_asks_nobody(world: World) -> None:
    world.go()
    before = (world.file.read_bytes(), world.trail_path.read_bytes(), len(world.server.asked))
    world.wait(30)
    assert world.go().after == "mirrored"
    assert (world.file.read_bytes(), world.trail_path.read_bytes(), len(world.server.asked)) == before


def test_nothing_of_the_archive_stays_behind(world: World) -> None:
    world.go()
    folder = world.contribution.lab.cache / "contrib" / "trajectories"
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_writing_back_changes_no_other_byte_of_meaning(world: World) -> None:
    text = world.file.read_text().replace('"jobs": 1', '"jobs": 1, "x_note": [1.50, 1e-3, -0.0, 12345678901234567890, "é\\u00e9"]')
    world.file.write_text(text)
    before = world.file.read_text()
    numbers = re.findall(r"(?<![\w\"])-?\d[\d.eE+-]*(?![\w\"])", before)
    world.go()
    after = world.file.read_text()
    kept = after[: after.index('"mirror"')]
    for number in ("1.50", "1e-3", "-0.0", "12345678901234567890"):
        assert number in numbers
        assert number in kept
    doc = json.loads(after)
    doc.pop("status")
    doc["trajectories"].pop("mirror")
    assert json.dumps(doc) == json.dumps(json.loads(before))
    assert world.report().verdict == "verified"


def test_a_status_that_somebody_else_changes_is_not_believed(world: World) -> None:
    world.go()
    world.file.write_text(world.file.read_text().replace('"reasons": []', '"reasons": [ ]'))
    report = world.report()
    assert report.verdict == "refused"
    assert {said.code for said in report.findings} == {"SUB-020"}


def test_a_correction_of_a_mirrored_submission_keeps_its_mirror(world: World, tmp_path: Path) -> None:
    world.go()
    lab, mirror = world.contribution.lab, world.doc["trajectories"]["mirror"]
    fixed = tmp_path / "fixed.json"
    fixed.write_text(world.file.read_text().replace('"selection": "last"', '"selection": "fixed_in_advance"', 1))
    key, options = "deskwork/first-come/v1", ["--file", str(fixed), "--reason", "the round was fixed in advance"]
    command = [sys.executable, "-c", "from benchpipe.cli.main import main; main()", "--lab", str(lab.root)]
    subprocess.run([*command, "contrib", "correct", key, *options], check=True, capture_output=True)
    assert world.report().verdict == "verified"
    assert "mirror" not in world.doc["trajectories"]
    assert mirroring.restate(lab, world.contribution.benchmarks(), world.file, world.now)
    assert world.report().verdict == "verified"
    assert world.doc["trajectories"]["mirror"] == mirror
    assert (world.doc["status"]["verified"], world.doc["status"]["mirrored"]) == (True, True)
    assert not mirroring.restate(lab, world.contribution.benchmarks(), world.file, world.now)


def test_a_verdict_that_moves_on_is_entered_anew_with_its_reasons(world: World) -> None:
    world.go()
    lab, benchmarks = world.contribution.lab, world.contribution.benchmarks()
    before = world.doc["status"]
    world.wait(24)
    assert not mirroring.restate(lab, benchmarks, world.file, world.now)
    world.contribution.edit(lambda doc: doc["platform"].update(content_sha="0" * 64), world.contribution.run_meta)
    assert mirroring.restate(lab, benchmarks, world.file, world.now)
    status = world.doc["status"]
    assert (status["verified"], status["mirrored"], status["checked_at"]) == (False, True, "2026-12-01T08:00:00Z")
    assert {reason["code"] for reason in status["reasons"]} == {"PLT-001"}
    assert status["input_sha256"] == before["input_sha256"]
    assert world.report().verdict == "unverified"


def test_a_writing_that_is_cut_off_loses_neither_file(world: World) -> None:
    world.go()
    lab, old = world.contribution.lab, world.file.read_bytes()
    new = old.replace(b'"verified": true', b'"verified": false')
    writing_back.write(lab, lab.relative(world.file), new)
    state = lab.state_contrib / "deskwork.yml"
    decisions.change(state, "first-come/v1", lambda entry, _: entry.update(written=sha256(old), writing=sha256(new)))
    for data in (old, new):
        world.file.write_bytes(data)
        assert world.report().verdict == "verified"
    third = new.replace(b'"verified": false', b'"verified":  true')
    cut_off_again = {"old": sha256(new), "new": sha256(third)}
    decisions.change(state, "first-come/v1", lambda entry, before: decisions.writes(entry, before, **cut_off_again))
    for data in (new, third):
        world.file.write_bytes(data)
        assert world.report().verdict == "verified"


def test_a_replay_speaks_only_for_the_scores_it_was_made_with(world: World) -> None:
    world.mirror = None
    world.go()
    assert world.report().verdict == "verified"
    flipped = world.contribution.per_task(1)
    world.contribution.edit(lambda value: value["tasks"]["backwards_1"].update(detail="other"), flipped)
    assert world.known is not None
    world.contribution.edit(lambda value: value["tasks"]["roman_numeral_1"].update(score=1), flipped)
    assert world.known is None
    world.go()
    assert world.trail.state == "replay_mismatch"


def test_one_run_alone_needs_no_round_folder(world: World, experiments: dict[int, Path], tmp_path: Path) -> None:
    world.contribution.edit(lambda doc: doc["runs"].pop(0))
    world.link(pack_rounds(experiments[1], [3], tmp_path / "one.tar.gz"))
    assert world.go().after == "mirrored"


def other_verdict(files: dict[str, bytes]) -> None:
    name = "round-3/sort_names_1/trial-0.jsonl"
    files[name] = files[name].replace(b'"score": 1.0', b'"score": 0.0')


def other_answer(files: dict[str, bytes]) -> None:
    """The recorded verdict stays; what was handed in would not have earned it."""
    name = "round-3/sort_names_1/trial-0.jsonl"
    files[name] = re.sub(rb'"reply": "[^"]*"', b'"reply": "Zoe"', files[name])


def never_submitted(files: dict[str, bytes]) -> None:
    name = "round-3/count_words_2/trial-0.jsonl"
    files[name] = b"".join(line for line in files[name].splitlines(keepends=True) if b"submitted" not in line)


def steps_back(files: dict[str, bytes]) -> None:
    name = "round-3/count_words_2/trial-0.jsonl"
    files[name] = b'{"step": 99}\n' + files[name]


def deep(files: dict[str, bytes]) -> None:
    files["round-3/count_words_2/trial-0.jsonl"] = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"


FAULTS: dict[str, tuple[str, str, str, Callable[[World], object]]] = {
    "another archive": ("hash_mismatch", "TRJ-002", "sha256 of the", lambda w: w.link(w.archive, sha256="0" * 64)),
    "another size": ("hash_mismatch", "TRJ-002", "received", lambda w: w.link(w.archive, bytes=len(w.archive) + 1)),
    "far more than declared": ("too_large", "TRJ-002", "are announced", lambda w: w.link(w.archive, bytes=100)),
    "more than any archive": ("too_large", "TRJ-002", "the limit is", lambda w: w.link(w.archive, bytes=1 << 50)),
    "trial missing": (
        "bad_format",
        "TRJ-004",
        "round 3: task backwards_1 trial 0 has no file",
        lambda w: w.link(repacked(w.archive, lambda f: f.pop("round-3/backwards_1/trial-0.jsonl"))),
    ),
    "file too many": (
        "bad_format",
        "TRJ-004",
        "unexpected file x.py",
        lambda w: w.link(repacked(w.archive, lambda f: f.update({"x.py": b""}))),
    ),
    "no archive": ("bad_format", "TRJ-008", "no tar archive", lambda w: w.link(b"hello, world" * 900)),
    "line that is no object": (
        "bad_format",
        "TRJ-005",
        "line 1 is not a JSON object",
        lambda w: w.link(repacked(w.archive, lambda f: f.update({"round-0/backwards_1/trial-0.jsonl": b"7\n"}))),
    ),
    "steps that go back": ("bad_format", "TRJ-005", "comes after step 99", lambda w: w.link(repacked(w.archive, steps_back))),
    "nested without end": ("bad_format", "TRJ-005", "not a JSON object", lambda w: w.link(repacked(w.archive, deep))),
    "link inside": (
        "bad_format",
        "TRJ-003",
        "is unsafe: link",
        lambda w: w.link(repacked(w.archive, lambda f: None, link("a", "/etc/passwd"))),
    ),
    "other verdict": (
        "replay_mismatch",
        "TRJ-006",
        "L1: replay of sort_names_1 in round 3 gives 0",
        lambda w: w.link(repacked(w.archive, other_verdict)),
    ),
    "other answer": (
        "replay_mismatch",
        "TRJ-006",
        "L3: replay of sort_names_1 in round 3 gives 0",
        lambda w: w.link(repacked(w.archive, other_answer)),
    ),
    "never handed in": (
        "replay_mismatch",
        "TRJ-006",
        "L3: replay of count_words_2",
        lambda w: w.link(repacked(w.archive, never_submitted)),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_ends_in_its_state_with_its_code(name: str, world: World) -> None:
    state, code, words, change = FAULTS[name]
    change(world)
    done = world.go()
    assert (done.after, world.trail.code) == (state, code)
    assert words in (world.trail.fault or "")
    report = world.report()
    assert report.checks["trajectories"] == "failed"
    assert code in {said.code for said in report.findings}
    assert not any(path.is_file() for path in world.store.rglob("*"))


def test_a_failed_step_is_not_tried_again_until_its_input_changes(world: World) -> None:
    good = world.archive
    world.link(repacked(good, other_verdict))
    world.go()
    n_asked = len(world.server.asked)
    for _ in range(3):
        world.wait(48)
        assert world.go().after == "replay_mismatch"
    assert len(world.server.asked) == n_asked
    world.link(good)
    assert world.go().after == "mirrored"


def test_a_silent_server_is_asked_three_times_in_a_day(world: World) -> None:
    world.server.answers["/a.tar.gz"] = status(503)
    assert world.go().after == "declared"
    assert world.go().after == "declared"
    assert len(world.server.asked) == 1
    assert world.known is None
    world.wait(12)
    assert world.go().after == "declared"
    world.wait(12)
    assert world.go().after == "unreachable"
    assert "127.0.0.1 answered 503 on 3 attempts between 2026-11-30T08:00:00Z and 2026-12-01T08:00:00Z." in (
        world.trail.fault or ""
    )
    world.wait(100)
    assert world.go().after == "unreachable"
    assert len(world.server.asked) == 3


def test_a_server_that_comes_back_in_time_is_enough(world: World) -> None:
    answer = world.server.answers.pop("/a.tar.gz")
    world.go()
    world.wait(13)
    world.server.answers["/a.tar.gz"] = answer
    assert world.go().after == "mirrored"


def test_a_link_that_dies_before_the_mirror_turns_the_row_unverified(world: World) -> None:
    world.mirror = None
    assert world.go().after == "replayed"
    answer = world.server.answers.pop("/a.tar.gz")
    for _ in range(3):
        assert world.report().verdict == "verified"
        world.wait(12)
        done = world.go()
    assert done.after == "replayed"
    report = world.report()
    assert report.verdict == "unverified"
    reason = next(said for said in report.findings if said.code == "TRJ-001")
    assert "answered 404 on 3 attempts between" in reason.message
    world.server.answers["/a.tar.gz"] = answer
    world.wait(12)
    world.go()
    assert world.report().verdict == "verified"


def test_a_dead_link_answers_no_request_for_trajectories(world: World) -> None:
    asked = "submissions:\n  first-come/v1: {trajectories: {asked: 2026-10-01, reason: spot check}}\n"
    (world.contribution.lab.state_contrib / "deskwork.yml").write_text(asked)
    world.mirror = None
    world.go()
    assert world.report().verdict == "verified"
    world.server.answers.clear()
    for _ in range(3):
        world.wait(12)
        world.go()
    report = world.report()
    assert report.verdict == "refused"
    assert {said.code for said in report.findings} == {"PUB-004", "TRJ-001"}


def test_a_link_that_dies_after_the_mirror_changes_nothing(world: World) -> None:
    world.go()
    world.server.answers.clear()
    for _ in range(4):
        world.wait(12)
        world.go()
    assert world.report().verdict == "verified"


class Liar(FolderMirror):
    """Gives back something else than it was given."""

    def copy(self, archive: Path, address: str, message: str) -> Copied:
        return super().copy(archive, address, message)._replace(sha256="0" * 64)


class Down(FolderMirror):
    def copy(self, archive: Path, address: str, message: str) -> Copied:
        raise StoreError("the store is down")


def test_a_failed_mirror_takes_no_verdict_away(world: World) -> None:
    before = world.file.read_bytes()
    world.mirror = Liar(world.store, "https://liar.example")
    assert world.go().after == "mirror_failed"
    assert world.trail.code == "TRJ-007"
    assert world.file.read_bytes() == before
    assert world.report().verdict == "verified"
    assert world.go().after == "mirror_failed"
    world.mirror = FolderMirror(world.store, "https://mirror.example/data")
    assert world.go().after == "mirrored"


def test_a_store_that_is_down_is_asked_again(world: World) -> None:
    world.mirror = Down(world.store, "https://mirror.example/data")
    assert world.go().after == "mirroring"
    assert world.report().verdict == "verified"
    world.mirror = FolderMirror(world.store, "https://mirror.example/data")
    assert world.go().after == "mirrored"
    assert len(world.server.asked) == 1


def test_what_was_verified_elsewhere_is_downloaded_again_for_the_mirror(world: World) -> None:
    world.mirror = None
    world.go()
    for path in (world.contribution.lab.cache / "contrib" / "trajectories").rglob("archive"):
        path.unlink()
    world.mirror = FolderMirror(world.store, "https://mirror.example/data")
    assert world.go().after == "mirrored"
    assert len(world.server.asked) == 2


def test_without_the_adapter_the_level_is_not_reached_and_nothing_is_claimed(world: World) -> None:
    file = world.contribution.lab.benchmarks / "deskwork.yml"
    file.write_text(file.read_text().replace("adapter: deskwork", "adapter: elsewhere"))
    assert world.go().after == "format_ok"
    assert "L3 is wanted, L1 was reached" in (world.trail.fault or "")
    assert world.report().checks["trajectories"] == "not_run"


@pytest.mark.parametrize(("level", "reached"), [("L0", "L1"), ("L1", "L1")])
def test_the_default_is_the_recorded_verdicts(world: World, level: str, reached: str) -> None:
    file = world.contribution.lab.benchmarks / "deskwork.yml"
    file.write_text(file.read_text().replace("replay: {at_least: L3, adapter: deskwork}", f"replay: {{at_least: {level}}}"))
    assert (world.go().after, world.trail.replay_level) == ("mirrored", reached)


def test_expected_answers_on_our_side_make_level_two(world: World) -> None:
    from benchpipe.contributions.trajectories.adapters.deskwork import _by_id

    lab = world.contribution.lab
    file = lab.benchmarks / "deskwork.yml"
    file.write_text(file.read_text().replace("at_least: L3, adapter: deskwork", "at_least: L2, answers: answers.json"))
    assert world.go().after == "format_ok"
    (lab.root / "answers.json").write_text(json.dumps({task: one.answer.upper() for task, one in _by_id().items()}))
    assert (world.go().after, world.trail.replay_level) == ("mirrored", "L2")


def test_a_trail_that_cannot_be_read_stops_nobody_else(world: World) -> None:
    world.go()
    world.trail_path.write_text("{")
    assert world.report().checks["trajectories"] == "not_run"
    with pytest.raises(UsageError, match="restore it from git"):
        world.go()


def test_nobody_goes_on_while_somebody_is_at_it(world: World) -> None:
    from benchpipe.errors import LockHeld
    from benchpipe.files import lock

    lab = world.contribution.lab
    with lock(lab.lock_file(f"trajectories-{sha256(world.declared.path.encode())[:16]}")), pytest.raises(LockHeld):
        world.go()


def test_states_and_their_digest_are_what_assets_show(world: World) -> None:
    lab = world.contribution.lab
    before = mirroring.states_digest(lab, "deskwork")
    assert mirroring.states(lab, "deskwork") == {}
    world.go()
    assert {trail.state for trail in mirroring.states(lab, "deskwork").values()} == {"mirrored"}
    assert mirroring.states_digest(lab, "deskwork") != before
    world.save(replace(world.trail, fault="other"))
