"""The transcript of a log page: sections of steps. The page holds the first and the last section, or all of a short log;
the others are fetched by step range (libraries 6).

`static/log.js` draws fetched steps in the same form as the template: change both.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchpipe.site.log_timeline import clock
from benchpipe.transcripts.records import Chunk, Step
from benchpipe.transcripts.texts import cut

COMPLETE = 300_000
"""Characters of a transcript that still stands in the page as a whole."""
CODE_LIMIT, CODE_HEAD, CODE_TAIL = 6_000, 4_500, 1_000
"""Characters of a command or a message before the page folds the middle away."""
_TEASER = 160


@dataclass(frozen=True)
class StepView:
    """One step as the template shows it; empty strings mean there is nothing to show."""

    n: int
    kind: str
    """say, run or think."""
    classes: str
    who: str
    t: float
    at: str
    body: str
    status: str
    icon: str
    about: str
    out: str
    folded: bool
    """Something of it is not shown here but stands in the section's file."""
    images: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """Steps `first … last` (counted from 1). `steps` is empty where they are fetched from `src`."""

    first: int
    last: int
    begin_s: float
    end_s: float
    at: str
    summary: str
    teaser: str
    n_say: int
    n_run: int
    n_failed: int
    n_img: int
    src: str
    steps: tuple[StepView, ...]


def sections(steps: Sequence[Step], chunks: Sequence[Chunk], media: str | None) -> tuple[Section, ...]:
    """The transcript's sections, one per chunk; one for all where there are no chunks, and then nothing is folded.

    `media` is put in front of the names of images; None leaves images out (they are not published).
    """
    ranges = [(chunk.first, chunk.first + chunk.n, chunk.file) for chunk in chunks] or [(0, len(steps), "")]
    whole = not chunks or characters(steps) <= COMPLETE
    made = []
    for number, (first, end, src) in enumerate(ranges):
        part = steps[first:end]
        if part:
            here = whole or number in (0, len(ranges) - 1)
            views = tuple(step_view(n, step, media, fold=bool(chunks)) for n, step in enumerate(part, first + 1)) if here else ()
            made.append(_section(first, part, src, views))
    return tuple(made)


def characters(steps: Iterable[Step]) -> int:
    """Characters of all texts."""
    return sum(len(text) for step in steps for text in (step.text, step.cmd, step.code, step.out) if text)


def step_view(n: int, step: Step, media: str | None, *, fold: bool) -> StepView:
    """One step; `fold` takes the middle out of long texts, which then stand in the section's file."""
    text = step.text or step.cmd or step.code or ""
    body = cut(text, CODE_LIMIT, CODE_HEAD, CODE_TAIL) if fold else text
    out = cut(step.out or "") if fold else step.out or ""
    images = () if media is None else tuple(media + name for name in step.img or ())
    return StepView(
        n=n,
        kind=step.k,
        classes=" ".join(_classes(step)),
        who=_who(step),
        t=step.t,
        at=clock(step.t),
        body=body,
        status={"failed": "failed", "background": "in background"}.get(step.status or "", ""),
        icon={"run": "▸", "say": "❝", "think": "…"}[step.k],
        about=_about(step),
        out=out,
        folded=fold and (len(body) < len(text) or (step.n or 0) > len(out)),
        images=images,
    )


def _classes(step: Step) -> list[str]:
    marks = {"by-other": step.by is not None, "is-failed": step.status == "failed", "has-img": bool(step.img)}
    return [f"k-{step.k}", *(name for name, holds in marks.items() if holds)]


def _who(step: Step) -> str:
    name = step.tool or "tool" if step.k == "run" else "thought" if step.k == "think" else step.by or "agent"
    return f"{step.agent} · {name}" if step.agent else name


def _about(step: Step) -> str:
    """Duration, size and images of a run."""
    if step.k != "run":
        return ""
    if step.status is None:
        return "no output was seen"
    seconds = step.wall if step.wall is not None else (step.te or step.t) - step.t
    parts = [f"{seconds:.1f} s"] if seconds else []
    parts += [f"{step.n:,} characters"] if step.n else ["no output"] if not step.img else []
    return ", ".join(parts)


def _section(first: int, part: Sequence[Step], src: str, views: tuple[StepView, ...]) -> Section:
    n_say = sum(step.k == "say" for step in part)
    n_run = sum(step.k == "run" for step in part)
    n_failed = sum(step.status == "failed" for step in part)
    words = [f"{n_run} tool runs"] if n_run else []
    words += [f"{n_failed} failed"] if n_failed else []
    words += [f"{n_say} messages"] if n_say else []
    begin, end = part[0].t, max(step.te or step.t for step in part)
    return Section(
        first=first + 1,
        last=first + len(part),
        begin_s=begin,
        end_s=end,
        at=f"{clock(begin)} – {clock(end)}",
        summary=", ".join(words),
        teaser=next((" ".join(step.text.split())[:_TEASER] for step in part if step.k == "say" and step.text), ""),
        n_say=n_say,
        n_run=n_run,
        n_failed=n_failed,
        n_img=sum(bool(step.img) for step in part),
        src=src,
        steps=views,
    )
