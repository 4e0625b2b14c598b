"""The offset cache is a speed-up only: whatever happens to it, the numbers stay and nothing else is written."""

import sqlite3
import threading
from pathlib import Path

from benchpipe.probe.cache import KEEP_DAYS, MAX_BYTES, Cursors, cache_path


def test_what_was_put_is_there_in_the_next_poll(tmp_path: Path) -> None:
    path = str(tmp_path / "c" / "cursors.sqlite")
    first = Cursors(path, "v", 1000)
    first.put("a", b"\0one")
    first.put("a", b"\0two")
    first.close()
    second = Cursors(path, "v", 1001)
    assert (second.get("a"), second.get("b")) == (b"\0two", None)


def test_nothing_is_opened_before_the_first_use(tmp_path: Path) -> None:
    Cursors(str(tmp_path / "c" / "cursors.sqlite"), "v", 1000).close()
    assert list(tmp_path.iterdir()) == []


def test_xdg_cache_home_is_honoured() -> None:
    assert cache_path({"XDG_CACHE_HOME": "/c"}) == "/c/benchpipe/cursors.sqlite"
    assert cache_path({}).endswith("/.cache/benchpipe/cursors.sqlite")


def test_a_damaged_file_is_replaced_and_a_damaged_value_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "cursors.sqlite"
    path.write_bytes(b"this is no database, but long enough to look at" * 100)
    broken = Cursors(str(path), "v", 1000)
    broken.put("a", b"1")
    assert broken.get("a") is None
    again = Cursors(str(path), "v", 1000)
    again.put("a", b"1")
    again.close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE cursors SET value = CAST(substr(value, 1, 32) || 'x' AS BLOB)")
    database.close()
    assert Cursors(str(path), "v", 1000).get("a") is None


def test_a_place_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cursors = Cursors(str(tmp_path / "file" / "cursors.sqlite"), "v", 1000)
    cursors.put("a", b"1")
    assert cursors.get("a") is None
    cursors.close()


def test_what_nobody_used_for_long_and_what_is_too_much_goes(tmp_path: Path) -> None:
    path = str(tmp_path / "cursors.sqlite")
    old = Cursors(path, "v", 0)
    old.put("old", b"1")
    old.close()
    new = Cursors(path, "v", KEEP_DAYS * 86400 + 1)
    for n in range(20):
        new.put(f"n{n}", bytes(MAX_BYTES // 16))
    new.close()
    with sqlite3.connect(path) as database:
        kept = {row[0] for row in database.execute("SELECT key FROM cursors")}
    database.close()
    assert "old" not in kept
    assert len(kept) == 10


def test_two_probes_at_once_keep_what_both_put(tmp_path: Path) -> None:
    path = str(tmp_path / "cursors.sqlite")

    def work(name: str) -> None:
        cursors = Cursors(path, "v", 1000)
        for n in range(50):
            cursors.put(f"{name}{n}", name.encode())
        cursors.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reader = Cursors(path, "v", 1000)
    assert all(reader.get(f"{name}{n}") == name.encode() for name in "ab" for n in range(50))


def test_what_another_version_of_the_program_counted_is_not_there(tmp_path: Path) -> None:
    path = str(tmp_path / "cursors.sqlite")
    old = Cursors(path, "old", 1000)
    old.put("a", b"counted by other rules")
    old.close()
    assert Cursors(path, "new", 1000).get("a") is None
    assert Cursors(path, "old", 1000).get("a") == b"counted by other rules"
