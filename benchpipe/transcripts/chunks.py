"""Steps in files of about 256 kB with content-addressed names, so that a page fetches by step range.

The builder of logs writes whole texts into them; the public site makes them from a published log. One writer for both.
"""

from collections.abc import Callable

import msgspec

from benchpipe.files import sha256
from benchpipe.transcripts.records import Chunk, Step
from benchpipe.transcripts.texts import TEXT_LIMIT, cut_text

CHUNK_BYTES = 256 * 1024
CHUNK_STEPS = 200
TEXT_FIELDS = ("text", "cmd", "code", "out")


class ChunkWriter:
    """Takes steps in order, hands files to `write(name, data)`: `chunks/*.json` (`{"first": n, "steps": […]}`), `text/*.txt`."""

    def __init__(self, write: Callable[[str, bytes], object]) -> None:
        self.chunks: list[Chunk] = []
        self._write = write
        self._first = 0
        self._steps: list[bytes] = []
        self._size = 0

    def add(self, step: Step) -> None:
        """Append a step with whole texts. A text above TEXT_LIMIT is cut here too, the whole of it gets its own file."""
        encoded = msgspec.json.encode(self._bounded(step))
        if self._steps and (self._size + len(encoded) > CHUNK_BYTES or len(self._steps) == CHUNK_STEPS):
            self._flush()
        self._steps.append(encoded)
        self._size += len(encoded)

    def close(self) -> list[Chunk]:
        """Write the rest; the chunks in order."""
        if self._steps:
            self._flush()
        return self.chunks

    def _bounded(self, step: Step) -> Step:
        whole = {name: text for name in TEXT_FIELDS if (text := getattr(step, name)) and len(text) > TEXT_LIMIT}
        if not whole:
            return step
        step = msgspec.structs.replace(step, raw={}, **{name: cut_text(text) for name, text in whole.items()})
        assert step.raw is not None
        for name, text in whole.items():
            data = text.encode()
            step.raw[name] = [f"text/{sha256(data)[:16]}.txt", len(text)]
            self._write(step.raw[name][0], data)
        return step

    def _flush(self) -> None:
        data = b'{"first":%d,"steps":[%s]}\n' % (self._first, b",".join(self._steps))
        name = f"chunks/{sha256(data)[:16]}.json"
        self._write(name, data)
        self.chunks.append(Chunk(name, self._first, len(self._steps)))
        self._first += len(self._steps)
        self._steps, self._size = [], 0
