"""Trajectory archives as streams that are made while they are read: peak memory of the reading process, beside plain unpacking."""

import base64
import random
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

TITLE = "20 GB of packed trajectories read as a stream (level L0): peak memory, and rate against gunzip alone"
FILE_BYTES = 16 << 20
"""Unpacked bytes of one member."""


def lines(n_bytes: int) -> bytes:
    """JSONL of about `n_bytes`, which hardly packs."""
    rng = random.Random(7)
    out, size, step = [], 0, 0
    while size < n_bytes:
        text = base64.b64encode(rng.randbytes(6000)).decode()
        line = f'{{"step": {step}, "command": "make", "exit": 0, "output": "{text}"}}\n'.encode()
        out.append(line)
        size, step = size + len(line), step + 1
    return b"".join([*out, b'{"verdict": {"score": 1, "kind": "answer"}}\n'])


class Generated:
    """A tar.gz of `n_bytes` packed bytes: gzip members one after the other, made of the same content under other names."""

    def __init__(self, n_bytes: int, file_bytes: int) -> None:
        self._content = lines(file_bytes)
        padding = b"\0" * (-len(self._content) % 512)
        self._packed = zlib_gzip(self._content + padding)
        self.n_files = max(1, n_bytes // len(self._packed))
        self.tasks = [f"task-{n:06}" for n in range(self.n_files)]
        self.n_packed = 0
        self._parts = self._stream()
        self._rest = memoryview(b"")

    def _stream(self) -> Iterator[bytes]:
        for task in self.tasks:
            info = tarfile.TarInfo(f"{task}/trial-0.jsonl")
            info.size = len(self._content)
            yield zlib_gzip(info.tobuf(tarfile.GNU_FORMAT))
            yield self._packed
        yield zlib_gzip(b"\0" * 1024)

    def read(self, size: int, /) -> bytes:
        """The next bytes of the archive."""
        if not self._rest:
            self._rest = memoryview(next(self._parts, b""))
        data, self._rest = bytes(self._rest[:size]), self._rest[size:]
        self.n_packed += len(data)
        return data


def zlib_gzip(data: bytes) -> bytes:
    packer = zlib.compressobj(1, wbits=31)
    return packer.compress(data) + packer.flush()


def read_generated(n_bytes: int, file_bytes: int) -> tuple[int, int, float, float]:
    """(packed bytes, records, seconds, peak memory in MiB, generator included) of one reading."""
    import time

    from benchpipe.contributions.archives import Limits
    from benchpipe.contributions.trajectories.contents import read_contents, slots

    stream = Generated(n_bytes, file_bytes)
    began = time.perf_counter()
    contents = read_contents(stream, slots(None, stream.tasks, 1), limits=Limits())
    seconds = time.perf_counter() - began
    if contents.faults or contents.n_files != stream.n_files:
        raise AssertionError(contents.faults)
    return stream.n_packed, contents.n_records, seconds, peak_mib()


def peak_mib() -> float:
    """Peak memory of this process since it was started (ru_maxrss would remember its parent's)."""
    found = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(found.split()[1]) / 1024


def gunzip_seconds(n_bytes: int, file_bytes: int) -> float:
    """Seconds that zlib alone takes for the same stream."""
    import time

    stream = Generated(n_bytes, file_bytes)
    began = time.perf_counter()
    inflate = zlib.decompressobj(wbits=31)
    while data := stream.read(1 << 20):
        while data:
            inflate.decompress(data, 1 << 20)
            data = inflate.unconsumed_tail or inflate.unused_data
            if inflate.eof:
                inflate = zlib.decompressobj(wbits=31)
    return time.perf_counter() - began


def in_own_process(n_bytes: int, file_bytes: int) -> tuple[int, int, float, float]:
    """`read_generated` in a fresh process, so that its peak memory is its own."""
    code = f"from benchpipe_tests.bench.archives import read_generated as r; print(*r({n_bytes}, {file_bytes}))"
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=True, capture_output=True, text=True)
    packed, n_records, seconds, peak = done.stdout.split()
    return int(packed), int(n_records), float(seconds), float(peak)


def run(full: bool) -> Iterator[str]:
    sizes = (1 << 30, 20 << 30) if full else (32 << 20, 256 << 20)
    file_bytes = FILE_BYTES if full else 8 << 20
    for n_bytes in sizes:
        packed, n_records, seconds, peak = in_own_process(n_bytes, file_bytes)
        yield (
            f"{packed / 1e9:6.2f} GB packed, {n_records:,} records: {packed / 1e6 / seconds:.0f} MB/s, "
            f"peak memory of the whole process {peak:.0f} MiB (generator included)"
        )
    packed, _, seconds, _ = in_own_process(sizes[0], file_bytes)
    ratio = seconds / gunzip_seconds(sizes[0], file_bytes)
    yield f"{packed / 1e9:6.2f} GB: ratio of the time to zlib alone on the same bytes {ratio:.2f}"
