"""Block diagrams as SVG files: boxes, sums and arrows between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.svg import STYLE, words

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH, _HEIGHT = 86.0, 40.0  # pixels, of a block
_HEAD = "M0 0L-9 -4L-9 4z"

Point = tuple[float, float]


def block(x: float, y: float, text: str, *, wide: float = 1.0) -> Html:
    """A block about its middle [pixels], so many widths wide."""
    width = wide * _WIDTH
    box = element(
        "rect",
        x=f"{x - 0.5 * width:g}",
        y=f"{y - 0.5 * _HEIGHT:g}",
        width=f"{width:g}",
        height=f"{_HEIGHT:g}",
        fill="white",
        stroke="#333",
    )
    return join([box, words(text, x, y + 4.0, "middle", "label")])


def arrow(points: Sequence[Point], text: str = "", *, colour: str = "#333", dashed: bool = False) -> Html:
    """A line through points [pixels] with a head at its end, and words above its first stretch."""
    (x0, y0), (x1, y1), *_ = points
    (xa, ya), (xb, yb) = points[-2:]
    angle = 0 if xb > xa else 180 if xb < xa else 90 if yb > ya else -90
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
    dash = "5 3" if dashed else None
    line = element("path", d=path, fill="none", stroke=colour, stroke_width="1.6", stroke_dasharray=dash)
    head = element("path", d=_HEAD, fill=colour, transform=f"translate({xb:g} {yb:g}) rotate({angle})")
    label = words(text, 0.5 * (x0 + x1), 0.5 * (y0 + y1) - 6.0, "middle", "label") if text else Html("")
    return join([line, head, label])


def drawing(width: float, height: float, *parts: Html) -> str:
    """Return an SVG file of so many pixels."""
    paper = element("rect", width="100%", height="100%", fill="white")
    size = {"width": f"{width:g}", "height": f"{height:g}", "viewBox": f"0 0 {width:g} {height:g}"}
    style = element("style", f"{STYLE} .label{{fill:#222}}")
    return element("svg", style, paper, *parts, xmlns="http://www.w3.org/2000/svg", **size) + "\n"
