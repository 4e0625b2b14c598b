"""Hostile servers and archives: refused within limits, nothing written outside the work folder, nothing executed (F5)."""

import gzip
import io
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchpipe.contributions.archives import BadArchive, Limits, members
from benchpipe.contributions.trajectories import fetching
from benchpipe.contributions.trajectories.fetching import Forbidden, Policy, TooLarge, Unreachable
from benchpipe_tests.contributions.trajectories import servers
from benchpipe_tests.contributions.trajectories.conftest import World
from benchpipe_tests.contributions.trajectories.servers import Server

# --- addresses ---------------------------------------------------------------------------------------------------------

NOT_PUBLIC = [
    "127.0.0.1",
    "127.9.9.9",
    "10.0.0.7",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "not an address",
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_addresses_that_are_never_connected_to(address: str) -> None:
    assert not fetching.is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses(address: str) -> None:
    assert fetching.is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/a",
        "ftp://example.org/a",
        "file:///etc/passwd",
        "//example.org/a",
        "https:///a",
        "https://user:word@example.org/a",
        "https://example.org/a b",
        "https://example.org/a\r\nHost: other",
        "https://example.org:99999/",
        "https://[::1",
    ],
)
def test_links_that_are_never_asked(url: str) -> None:
    with pytest.raises(Forbidden):
        fetching.vetted(url, Policy(addresses=lambda host, port: ["8.8.8.8"]))


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/a", "https://localhost/a", "https://2130706433/a", "https://0x7f.1/a", "https://[::1]/a"]
)
def test_every_spelling_of_loopback_is_refused_by_the_systems_own_resolver(url: str) -> None:
    with pytest.raises((Forbidden, Unreachable)):
        fetching.vetted(url, Policy())


def test_a_name_with_one_private_address_among_public_ones_is_refused() -> None:
    with pytest.raises(Forbidden, match=r"files\.example leads to a private address"):
        fetching.vetted("https://files.example/a", Policy(addresses=lambda host, port: ["8.8.8.8", "10.0.0.1"]))


def test_what_is_connected_to_is_what_was_looked_at(server: Server, tmp_path: Path) -> None:
    """A name that means another address the second time it is asked for is asked for once only."""
    server.answers["/a"] = servers.gives(b"fine")
    asked: list[str] = []

    def addresses(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    policy = Policy(trusted=frozenset({("files.example", server.server_port)}), tls=server.client_context, addresses=addresses)
    url = f"https://files.example:{server.server_port}/a"
    assert fetching.fetch(url, tmp_path / "got", declared=4, limit=4, policy=policy).bytes == 4
    assert asked == ["files.example"]


def test_only_listed_hosts_are_asked_where_there_is_a_list(server: Server, tmp_path: Path) -> None:
    with pytest.raises(Forbidden, match="is not among the hosts"):
        fetching.fetch(
            f"{server.base}/a", tmp_path / "got", declared=1, limit=1, policy=server.policy(hosts=frozenset({"huggingface.co"}))
        )


@pytest.mark.parametrize(
    "target",
    [
        "https://localhost:{port}/a",
        "https://127.0.0.1:1/a",
        "http://127.0.0.1:{port}/a",
        "https://10.0.0.1/a",
        "https://other.example/a",
        "file:///etc/passwd",
    ],
)
def test_a_redirect_to_a_private_place_is_not_followed(target: str, server: Server, tmp_path: Path) -> None:
    server.answers["/start"] = servers.redirects(target.format(port=server.server_port))
    server.answers["/a"] = servers.gives(b"inside")
    policy = server.policy(
        addresses=lambda host, port: ["192.168.0.9"] if host == "other.example" else fetching.system_addresses(host, port)
    )
    with pytest.raises(Forbidden):
        fetching.fetch(f"{server.base}/start", tmp_path / "got", declared=6, limit=6, policy=policy)
    assert server.asked == ["GET /start"]
    assert not (tmp_path / "got").exists()


def test_five_redirects_are_followed_and_a_circle_is_not(server: Server, tmp_path: Path) -> None:
    for n in range(5):
        server.answers[f"/{n}"] = servers.redirects(f"/{n + 1}", 307)
    server.answers["/5"] = servers.gives(b"fine")
    server.answers["/circle"] = servers.redirects("/circle")
    got = fetching.fetch(f"{server.base}/0", tmp_path / "got", declared=4, limit=4, policy=server.policy())
    assert got.resolved_url == f"{server.base}/5"
    with pytest.raises(Forbidden, match="more than 5 redirects"):
        fetching.fetch(f"{server.base}/circle", tmp_path / "got", declared=4, limit=4, policy=server.policy())


def test_a_certificate_that_is_not_valid_is_not_trusted(server: Server, tmp_path: Path) -> None:
    policy = Policy(trusted=frozenset({("127.0.0.1", server.server_port)}))
    with pytest.raises(Unreachable, match="no valid certificate"):
        fetching.fetch(f"{server.base}/a", tmp_path / "got", declared=1, limit=1, policy=policy)


# --- servers -----------------------------------------------------------------------------------------------------------

BODIES: dict[str, tuple[servers.Answer, type[Exception], str]] = {
    "endless": (servers.endless, TooLarge, "more than 1,000"),
    "announces too much": (servers.announces(10**12), TooLarge, "are announced"),
    "ends early": (servers.announces(1000, b"x" * 10), Unreachable, "ended after 10 of 1,000"),
    "not there": (servers.missing, Unreachable, "answered 404"),
    "no web server": (servers.chatter, Unreachable, "does not speak HTTP"),
    "drips": (servers.drips(b"x" * 900, 0.05), Unreachable, "took too long"),
    "drips headers": (servers.drips_headers, Unreachable, "took too long"),
    "says nothing": (servers.silent, Unreachable, "took too long"),
}


@pytest.mark.parametrize("name", BODIES)
def test_bad_answers_end_within_size_and_time(name: str, server: Server, tmp_path: Path) -> None:
    answer, error, words = BODIES[name]
    server.answers["/a"] = answer
    policy = server.policy(patience_s=0.6, bytes_per_s=10_000, idle_s=5.0)
    with pytest.raises(error, match=words):
        fetching.fetch(f"{server.base}/a", tmp_path / "got", declared=1000, limit=1000, policy=policy)
    got = tmp_path / "got"
    assert not got.exists() or got.stat().st_size <= 1000


def test_an_endless_stream_is_left_after_little_more_than_was_declared(server: Server, tmp_path: Path) -> None:
    server.answers["/a"] = servers.endless
    with pytest.raises(TooLarge):
        fetching.fetch(f"{server.base}/a", tmp_path / "got", declared=1 << 20, limit=1 << 20, policy=server.policy())
    assert server.sent < 64 << 20


# --- archives ----------------------------------------------------------------------------------------------------------


def tar(*entries: tuple[str, bytes, bytes], packed: bool = True, form: int = tarfile.GNU_FORMAT) -> bytes:
    """An archive of (name, tar type, content or link target)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz" if packed else "w", format=form) as archive:
        for name, kind, data in entries:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                info.linkname, data = data.decode(), b""
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


FILE, SYMLINK, HARDLINK = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
UNSAFE: dict[str, tuple[bytes, str]] = {
    "absolute path": (tar(("/etc/cron.d/x", FILE, b"x")), "absolute path"),
    "parent": (tar(("../../x", FILE, b"x")), "traversal"),
    "parent inside": (tar(("a/../../x", FILE, b"x")), "traversal"),
    "parent folder": (tar(("a/../..", tarfile.DIRTYPE, b"")), "traversal"),
    "long parent": (tar(("a" * 300 + "/../../../x", FILE, b"x")), "traversal"),
    "pax parent": (tar(("a" * 300 + "/../../../x", FILE, b"x"), form=tarfile.PAX_FORMAT), "traversal"),
    "drive": (tar(("C:/x", FILE, b"x")), "absolute path"),
    "backslash": (tar(("a\\..\\x", FILE, b"x")), "absolute path"),
    "symbolic link": (tar(("a", SYMLINK, b"/etc/passwd")), "link"),
    "link then file": (tar(("a", SYMLINK, b".."), ("a/x", FILE, b"x")), "link"),
    "hard link": (tar(("a", HARDLINK, b"/etc/passwd")), "link"),
    "device": (tar(("a", tarfile.CHRTYPE, b"")), "device"),
    "pipe": (tar(("a", tarfile.FIFOTYPE, b"")), "device"),
    "twice": (tar(("a", FILE, b"1"), ("a", FILE, b"2")), "twice"),
    "control character": (tar(("a\nb", FILE, b"1")), "control characters"),
    "empty part": (tar(("a//b", FILE, b"1")), "traversal"),
}


def read_all(data: bytes, limits: Limits | None = None) -> list[str]:
    found = []
    for member in members(io.BytesIO(data), limits):
        member.content.read()
        found.append(member.name)
    return found


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_members_end_the_reading(name: str) -> None:
    data, words = UNSAFE[name]
    with pytest.raises(BadArchive, match=words) as caught:
        read_all(data)
    assert caught.value.unsafe


def header_of(size: int, kind: bytes) -> bytes:
    info = tarfile.TarInfo("x")
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


class Repeating:
    """A stream that never ends: `head`, then zeroes or a block again and again. Counts what was asked of it."""

    def __init__(self, head: bytes, block: bytes) -> None:
        self._head, self._block, self.given = head, block, 0

    def read(self, size: int, /) -> bytes:
        data, self._head = (self._head or self._block)[:size], b""
        self.given += len(data)
        return data


SMALL = Limits(members=50, member_bytes=1 << 20, total_bytes=64 << 20, expansion=20, free=1 << 20)
DAMAGED: dict[str, tuple[Callable[[], bytes], str]] = {
    "bomb": (
        lambda: gzip.compress(header_of(1 << 20, FILE) + b"\0" * (1 << 20) + tar(("a", FILE, b"0" * 30_000_000), packed=False)),
        "unpacks to more|has",
    ),
    "bomb of bombs": (
        lambda: gzip.compress(
            b"".join(header_of(1 << 20, FILE).replace(b"x", bytes([97 + n]), 1) + b"\0" * (1 << 20) for n in range(20))
        ),
        "unpacks|no tar",
    ),
    "too many members": (lambda: tar(*[(f"{n}", FILE, b"") for n in range(60)]), "more than 50 members"),
    "many folders": (lambda: tar(*[(f"{n}", tarfile.DIRTYPE, b"") for n in range(60)]), "more than 50 members"),
    "large member": (lambda: tar(("a", FILE, b"0" * (2 << 20))), "the limit is"),
    "size that is a lie": (lambda: gzip.compress(header_of(9 << 40, FILE)), "the limit is"),
    "negative size": (lambda: gzip.compress(header_of(0, FILE).replace(b"00000000000\0", b"-0000000001\0", 1)), "no tar"),
    "giant long name": (lambda: gzip.compress(header_of(1 << 30, b"L")), "a header of"),
    "giant pax header": (lambda: gzip.compress(header_of(1 << 30, b"x")), "a header of"),
    "sparse file": (lambda: gzip.compress(header_of(10, b"S") + b"\0" * 1024), "device or special"),
    "damaged checksum": (lambda: gzip.compress(b"x" * 512 + b"\0" * 1024), "no tar archive"),
    "cut gzip": (lambda: tar(("a", FILE, os.urandom(5000)))[:-900], "ends in the middle"),
    "cut tar": (lambda: tar(("a", FILE, b"abc"), packed=False)[:700], "ends"),
    "no end mark": (lambda: tar(("a", FILE, b"abc"), packed=False)[:1024], "without an end mark"),
    "empty": (lambda: b"", "without an end mark"),
    "zip": (lambda: b"PK\x03\x04" + b"\0" * 2000, "no tar archive"),
    "broken deflate": (lambda: gzip.compress(b"x" * 10)[:10] + b"\xff" * 100, "damaged"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_bombs_and_damage_end_the_reading(name: str) -> None:
    make, words = DAMAGED[name]
    with pytest.raises(BadArchive, match=words):
        read_all(make(), SMALL)


def test_a_stream_without_end_is_left() -> None:
    stream = Repeating(b"", header_of(0, tarfile.DIRTYPE) * 2000)
    with pytest.raises(BadArchive, match="more than 50 members"):
        list(members(stream, SMALL))
    assert stream.given < 8 << 20


def test_a_bomb_is_left_before_it_is_unpacked() -> None:
    packed = zlib.compressobj(9, wbits=31)
    bomb = (
        packed.compress(header_of(1 << 30, FILE))
        + b"".join(packed.compress(b"\0" * (1 << 20)) for _ in range(256))
        + packed.flush()
    )
    limits = Limits(member_bytes=2 << 30, expansion=20, free=1 << 20)
    given = 0

    def count() -> Iterator[None]:
        nonlocal given
        for one in members(io.BytesIO(bomb), limits):
            while block := one.content.read(1 << 16):
                given += len(block)
            yield

    with pytest.raises(BadArchive, match="unpacks to more"):
        list(count())
    assert given < 16 << 20


def test_a_hostile_archive_writes_nothing_and_runs_nothing(world: World, tmp_path: Path) -> None:
    """Whole way, with an archive whose members would overwrite and start things if anybody unpacked them."""
    marker = tmp_path / "pwned"
    script = f"#!/bin/sh\ntouch {marker}\n".encode()
    before = {path for path in tmp_path.rglob("*") if ".cache" not in path.parts}
    for entry in (
        ("../../../../pwned.sh", FILE, script),
        (str(tmp_path / "abs.sh"), FILE, script),
        ("harness/agent.py", FILE, script),
    ):
        world.link(tar(entry))
        assert world.go().after == "bad_format"
    after = {path for path in tmp_path.rglob("*") if ".cache" not in path.parts}
    new = {path.relative_to(world.contribution.lab.root).parts[:3] for path in after - before if path.is_file()}
    assert new == {("state", "contrib", "trajectories")}
    assert not marker.exists()


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (servers.endless, "too_large"),
        (servers.announces(10**12), "too_large"),
        (servers.redirects("https://10.0.0.1/a"), "unreachable"),
        (servers.redirects("http://127.0.0.1/"), "unreachable"),
        (servers.chatter, "declared"),
        (servers.announces(10, b"y"), "declared"),
    ],
    ids=["endless", "announced", "private", "http", "chatter", "cut"],
)
def test_hostile_servers_leave_a_state_and_no_file(answer: servers.Answer, state: str, world: World) -> None:
    world.server.answers["/a.tar.gz"] = answer
    assert world.go().after == state
    assert list((world.contribution.lab.cache / "contrib").rglob("archive")) == []
