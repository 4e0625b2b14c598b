"""Cost against score: which runs nobody beats in both, as a chart made at build time and the same numbers as a table.

A run whose cost is unknown stands in the table only, never at zero. Costs here are estimates; a bill is no part of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from markupsafe import Markup

from benchpipe.site.drawing import drawing
from benchpipe.site.render import cut, shown
from benchpipe.usage import format as fmt
from benchpipe.usage.compare import frontier
from benchpipe.usage.totals import Rate

MARKED: Final = 20
"""With more points than this their numbers would cover each other: then only the frontier is numbered."""


@dataclass(frozen=True)
class Candidate:
    """One run in one mode: solved of done, and the estimate summed over the trials that have one."""

    run: str
    mode: str
    href: str
    rate: Rate
    est_usd: Decimal
    est_n: int
    n: int


@dataclass(frozen=True)
class Point:
    """One row of the table; texts ready to print, `*_value` for sorting ("" = unknown)."""

    mark: str
    """The point's number in the drawing, "" where it has none; it sorts too."""
    run: str
    mode: str
    href: str
    score: str
    score_value: str
    interval: str
    cost: str
    cost_value: str
    coverage: str
    n: str
    frontier: str


@dataclass(frozen=True)
class Chart:
    """`svg` is "" when no run has both a cost and a score."""

    svg: Markup
    caption: str
    points: tuple[Point, ...]


def chart(candidates: Sequence[Candidate], where: str) -> Chart | None:
    """The chart of all candidates with a finished trial, or None without any. `where` names what is compared."""
    scored = [c for c in candidates if c.rate.n]
    if not scored:
        return None
    priced = [c for c in scored if c.est_n]
    best = on_frontier(priced)
    unknown = len(scored) - len(priced)
    caption = f"{where}: estimated cost per trial against the share of done trials that were solved. "
    caption += "Filled points joined by the dashed line are the frontier: no other is both cheaper and better in its mode."
    if unknown:
        caption += f" {unknown} without a known cost {'stands' if unknown == 1 else 'stand'} in the table only."
    marks = {id(c): str(n) for n, c in enumerate(priced if len(priced) <= MARKED else best, 1)}
    label = f"Cost against score of {where}; the numbers stand in the table below"
    svg = _svg(priced, best, marks, label) if priced else Markup("")
    return Chart(svg, caption, tuple(_point(c, marks.get(id(c), ""), c in best) for c in scored))


def on_frontier(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Per mode the candidates that no other beats in cost and score."""
    best: list[Candidate] = []
    for mode in dict.fromkeys(c.mode for c in candidates):
        group = [c for c in candidates if c.mode == mode]
        best += [group[i] for i in frontier([(cost_per_trial(c), c.rate.share) for c in group])]
    return best


def cost_per_trial(candidate: Candidate) -> Decimal:
    """USD per trial that has an estimate."""
    return candidate.est_usd / candidate.est_n


def _point(c: Candidate, mark: str, best: bool) -> Point:
    known = c.est_n > 0
    return Point(
        mark=mark,
        run=c.run,
        mode=c.mode,
        href=c.href,
        score=f"{fmt.percent(c.rate.share)} of {c.rate.n}",
        score_value=f"{c.rate.share:.6f}",
        interval=fmt.interval(c.rate),
        cost=fmt.money(cost_per_trial(c)) if known else "—",
        cost_value=f"{cost_per_trial(c):.9f}" if known else "",
        coverage=f"{c.est_n} of {c.n}",
        n=str(c.est_n),
        frontier="frontier" if best else "",
    )


def _svg(priced: Sequence[Candidate], best: Sequence[Candidate], marks: Mapping[int, str], label: str) -> Markup:
    import altair

    rows = [
        {
            "cost": float(cost_per_trial(c)),
            "score": c.rate.share,
            "mode": cut(shown(c.mode), 40),
            "mark": marks.get(id(c), ""),
            "title": f"{cut(shown(c.run), 120)}: {fmt.percent(c.rate.share)}, {fmt.money(cost_per_trial(c))} per trial",
            "best": c in best,
        }
        for c in priced
    ]
    x = altair.X(
        "cost:Q", title="Estimated cost per trial", axis=altair.Axis(format="$,.3~r"), scale=altair.Scale(zero=False, nice=True)
    )
    y = altair.Y("score:Q", title="Solved of done", axis=altair.Axis(format=".0%"), scale=altair.Scale(domain=[0, 1]))
    shape = altair.Shape("mode:N", title="Mode", legend=altair.Legend(orient="top", direction="horizontal"))
    base = altair.Chart(altair.Data(values=rows))
    line = base.transform_filter("datum.best").mark_line(color="currentColor", strokeDash=[5, 4], strokeWidth=1, opacity=0.6)
    points = base.mark_point(color="currentColor", size=90, strokeWidth=1.5, opacity=1)
    layers = [
        line.encode(x=x, y=y, detail="mode:N", order="cost:Q"),
        points.transform_filter("!datum.best").encode(x=x, y=y, shape=shape, description="title:N"),
        points.transform_filter("datum.best").encode(
            x=x, y=y, shape=shape, description="title:N", fill=altair.value("currentColor")
        ),
    ]
    text = base.mark_text(align="left", dx=7, dy=-8, color="currentColor", fontSize=12)
    layers.append(text.encode(x=x, y=y, text="mark:N"))
    drawn = altair.layer(*layers).properties(width=760, height=320)
    return drawing(drawn, label)
