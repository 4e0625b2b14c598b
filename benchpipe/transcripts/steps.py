"""From events to steps: runs are opened by calls and closed by their answers, long texts are cut, images become files.

Memory is bounded by the cut texts: whole ones wait in a spool file until the chunks are written.
"""

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterator
from typing import IO

import msgspec

from benchpipe.transcripts.chunks import TEXT_FIELDS
from benchpipe.transcripts.records import Called, Event, Problems, Returned, Said, Step, Thought
from benchpipe.transcripts.texts import cut, cut_text, plain, tool_input, tool_output

_EXTENSIONS = {"png": "png", "jpeg": "jpg", "jpg": "jpg", "gif": "gif", "webp": "webp"}
"""Image types that are stored. SVG is left out on purpose: it is markup."""


class ImageFiles:
    """Images that the model saw, as `img/001.png` … in order of first appearance; equal ones once (runs-system 10.3, 5)."""

    def __init__(self, write: Callable[[str, bytes], object], problems: Problems) -> None:
        self.names: dict[str, str] = {}
        """First 16 hex digits of the SHA-1 → name relative to the slot."""
        self._write = write
        self._problems = problems

    def add(self, url: str) -> str | None:
        """The name of the file with the image of a data URL; None if it isn't one that is stored."""
        head, comma, body = url.partition(",")
        extension = _EXTENSIONS.get(head.removeprefix("data:image/").removesuffix(";base64").lower())
        if not comma or extension is None or not head.endswith(";base64"):
            self._problems.add("an image is of a type that is not shown")
            return None
        try:
            data = base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError):
            self._problems.add("an image is damaged")
            return None
        key = hashlib.sha1(data, usedforsecurity=False).hexdigest()[:16]
        if key not in self.names:
            self.names[key] = f"img/{len(self.names) + 1:03}.{extension}"
            self._write(self.names[key], data)
        return self.names[key]


class Transcript:
    """Collects steps. Times stay absolute (epoch seconds) until `shift`."""

    def __init__(self, images: ImageFiles, spool: IO[bytes]) -> None:
        self.steps: list[Step] = []
        self._images = images
        self._spool = spool
        self._whole: dict[tuple[int, str], tuple[int, int]] = {}
        self._open: dict[str, list[int]] = {}

    def add(self, event: Event) -> None:
        """Take the next event. An answer without an open call (of a log that begins in the middle, say) is left out."""
        match event:
            case Said():
                self._append(Step(k="say", t=event.t, by=event.by, agent=event.agent), text=event.text)
            case Thought():
                self._append(Step(k="think", t=event.t, agent=event.agent), text=event.text)
            case Called():
                asked = tool_input(event.input)
                self._open.setdefault(event.id, []).append(len(self.steps))
                step = Step(k="run", t=event.t, tool=plain(event.tool)[:200] or None, agent=event.agent)
                self._append(step, cmd=asked.cmd, code=asked.code)
            case Returned():
                self._close(event)

    def shift(self, t0: float) -> None:
        """Turn absolute times into seconds since `t0`, one decimal."""
        for step in self.steps:
            step.t = round(step.t - t0, 1)
            if step.te is not None:
                step.te = round(step.te - t0, 1)

    def whole_steps(self) -> Iterator[Step]:
        """The steps with whole texts, read back from the spool one by one."""
        for n, step in enumerate(self.steps):
            whole = {name: self._read(*place) for name in TEXT_FIELDS if (place := self._whole.get((n, name)))}
            yield msgspec.structs.replace(step, **whole) if whole else step

    def _append(self, step: Step, **texts: str | None) -> None:
        self.steps.append(step)
        for name, text in texts.items():
            if text is not None:
                self._set(len(self.steps) - 1, name, plain(text), cut_text)

    def _close(self, event: Returned) -> None:
        waiting = self._open.get(event.id)
        if not waiting:
            return
        n = waiting.pop(0)
        step = self.steps[n]
        output = tool_output(plain(event.text), event.failed)
        step.status, step.wall, step.n = output.status, output.wall_s, len(output.text)
        step.te = max(event.t, step.t)
        self._set(n, "out", output.text, cut)
        names = [name for url in event.images if (name := self._images.add(url))]
        step.img = names or None

    def _set(self, n: int, name: str, text: str, shorten: Callable[[str], str]) -> None:
        short = shorten(text)
        setattr(self.steps[n], name, short)
        if short is not text:
            data = text.encode()
            self._whole[n, name] = (self._spool.seek(0, 2), len(data))
            self._spool.write(data)

    def _read(self, offset: int, length: int) -> str:
        self._spool.seek(offset)
        return self._spool.read(length).decode()
