"""Charts made at build time: a specification goes in, an SVG with nothing but shapes, texts and titles comes out.

Attributes only, with `currentColor` and the style sheet's colours of states, so that a chart fits both themes. The numbers
stand in a table below every chart; the drawing is one image to assistive tools.
"""

import xml.etree.ElementTree as ElementTree
from typing import Any, Final

from markupsafe import Markup

SVG: Final = "http://www.w3.org/2000/svg"
KEPT: Final = frozenset(
    [
        *("viewBox", "width", "height", "d", "fill", "fill-opacity", "opacity", "transform", "x", "x1", "x2", "y", "y1", "y2"),
        *("stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-miterlimit"),
        *("text-anchor", "font-family", "font-size", "font-weight"),
    ]
)
"""Attributes that a chart may have: none of them runs anything or needs a style."""


def drawing(chart: Any, label: str) -> Markup:
    """An Altair chart as safe inline SVG; every mark that has a description gets it as a title. `label` says what it shows."""
    import vl_convert

    themed = chart.properties(background="transparent").configure(**_theme())
    return _clean(vl_convert.vegalite_to_svg(themed.to_dict()), label)


def _theme() -> dict[str, Any]:
    ink, font = "currentColor", "system-ui, sans-serif"
    words = {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    lines = {"gridColor": ink, "gridOpacity": 0.12, "domainColor": ink, "domainOpacity": 0.4, "tickColor": ink, "tickOpacity": 0.4}
    return {"font": font, "axis": {**words, **lines, "labelOverlap": True}, "legend": words, "view": {"stroke": None}}


def _clean(svg: str, label: str) -> Markup:
    """The drawing with nothing but shapes, texts and a title for each point; built anew, so that it is safe to print."""
    ElementTree.register_namespace("", SVG)
    root = _copy(ElementTree.fromstring(svg))
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.attrib.update({"role": "img", "aria-label": label, "class": "chart-drawing"})
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _copy(element: ElementTree.Element) -> ElementTree.Element:
    new = ElementTree.Element(element.tag, {key: value for key, value in element.attrib.items() if key in KEPT})
    new.text = element.text
    if element.get("aria-roledescription") in ("point", "bar"):
        ElementTree.SubElement(new, f"{{{SVG}}}title").text = element.get("aria-label", "")
    if element.get("fill") is None and element.tag in (f"{{{SVG}}}path", f"{{{SVG}}}line"):
        new.set("fill", "none")
    for child in element:
        if child.tag in {f"{{{SVG}}}{name}" for name in ("g", "path", "line", "text", "rect")} and child.get("display") != "none":
            new.append(_copy(child))
    return new
