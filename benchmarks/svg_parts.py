"""Parts of the benchmarks' figures that lines and bars share: colours, words, the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.markup import Html, element, join

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLOURS = ("#1f5fa8", "#d1661b", "#2b8a3e", "#a02c5a", "#6b4fa0", "#8a6d1f", "#3a8f98", "#555555")
LEFT, RIGHT, TOP, BOTTOM, KEY = 66.0, 14.0, 30.0, 44.0, 16.0  # pixels
NARROW = 28.0  # pixels
STYLE = (
    "text{font:12px sans-serif;fill:#222} .title{font-weight:bold} .axis{fill:#555} .grid{stroke:#ddd}"
    " .frame{fill:none;stroke:#888}"
)


def colour_of(number: int) -> str:
    """Colour of a curve's or bar's number; they begin again after eight."""
    return _COLOURS[number % len(_COLOURS)]


def words(written: str, x: float, y: float, anchor: str = "start", style: str = "axis") -> Html:
    """Words at a place [pixels]."""
    return element("text", written, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=style)


def upright_label(label: str, middle: float) -> Html:
    """Label of a vertical axis."""
    turned = f"translate(14 {middle:g}) rotate(-90)"
    return element("text", label, transform=turned, text_anchor="middle", class_="axis")


def heading(title: str) -> Html:
    """Title of a panel."""
    return words(title, LEFT, 18.0, style="title")


def key_lines(names: Sequence[str], width: float) -> list[list[tuple[int, str, float]]]:
    """Names of curves with their numbers and places, broken into lines that fit."""
    lines: list[list[tuple[int, str, float]]] = [[]]
    at = LEFT
    for number, name in enumerate(names):
        if lines[-1] and at + 26.0 + 6.6 * len(name) > width:
            lines.append([])
            at = LEFT
        lines[-1].append((number, name, at))
        at += 34.0 + 6.6 * len(name)
    return lines


def key(lines: list[list[tuple[int, str, float]]], colours: Sequence[int]) -> Html:
    """Lines of a key: a stroke in the colour and the name."""
    parts = []
    for k, line in enumerate(lines):
        y = TOP + KEY * k
        for number, name, at in line:
            colour = colour_of(colours[number])
            parts += [element("path", d=f"M{at:g} {y:g}h18", stroke=colour, stroke_width="3")]
            parts.append(words(name, at + 23.0, y + 4.0))
    return join(parts)


def bar_value(value: float, middle: float, top: float, *, upright: bool) -> Html:
    """A bar's value above it, turned where the bar is narrower than the figure."""
    if not upright:
        return words(f"{value:.3g}", middle, top - 4.0, "middle")
    turned = f"translate({middle + 4.0:.1f} {top - 4.0:g}) rotate(-90)"
    return element("text", f"{value:.3g}", transform=turned, class_="axis")
