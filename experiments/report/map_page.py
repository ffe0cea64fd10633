"""The page of `sscq map`: cost, its change, lost loops and Ms over two ranges, for each controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.builders import words
from experiments.report.drawing.heat_map import Surface, heat_map
from experiments.report.drawing.html import Html, document, element, join
from experiments.report.sections.view import multiples, section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.cases.map_case import MapCase
    from experiments.report.records.results import Array

_FINEST = 200  # cells in a direction: finer maps are drawn by the means of their blocks
_LARGEST_PEAK = 5.0  # of a map of Ms; beyond, a loop is as good as unstable
_MOST_CHANGE = 100.0  # %
_MOST_MEDIANS = 4.0  # of J: colours are for what loops cost that work


def page(case: MapCase, stored: Mapping[str, Array], margins: Mapping[str, Array]) -> str:
    """Return the page."""
    parts = [_change(case, stored), _cost(case, stored), _lost(case, stored), _peaks(case, margins)]
    cross = " The cross: this situation's own values." if _cross(case, stored) else ""
    told = element("p", f"{words.situation(case.plant, case.situation)}.{cross}")
    return document("Robustness map:", case.plant.name, told, *filter(None, parts))


def _surface(
    case: MapCase,
    stored: Mapping[str, Array],
    name: str,
    values: Array,
    scale: Array | None = None,
    signed: bool = False,
) -> Html:
    """One picture; `values` [n_y, n_x]."""
    x, y, values = _coarser(stored["x"], stored["y"], values)
    units = [axis.unit if axis.unit != "1" else "" for axis in (case.x, case.y)]
    across, up = (axis.name.removeprefix("parameters.") for axis in (case.x, case.y))
    surface = Surface(name, across, up, x, y, values, x_unit=units[0], y_unit=units[1], scale=scale, signed=signed)
    return element("figure", heat_map(surface, _cross(case, stored)))


def _of_each(case: MapCase, stored: Mapping[str, Array], what: str, values: Array) -> Html:
    """One picture for each controller, in the same colours; `values` [controller, n_y, n_x]."""
    named = zip(case.contenders, values, strict=True)
    return multiples(_surface(case, stored, f"{what}, {one.title}", each, scale=values) for one, each in named)


def _coarser(x: Array, y: Array, values: Array) -> tuple[Array, Array, Array]:
    """Means of blocks, where there are more cells than can be seen; a block with a blank is blank."""
    sizes = [-(-n // _FINEST) for n in values.shape]
    for axis, size in enumerate(sizes):
        starts = np.arange(0, values.shape[axis], size)
        counts = np.diff([*starts, values.shape[axis]])
        values = np.add.reduceat(values, starts, axis=axis) / (counts if axis else counts[:, None])
    return _block_means(x, sizes[1]), _block_means(y, sizes[0]), values


def _block_means(values: Array, size: int) -> Array:
    starts = np.arange(0, len(values), size)
    return np.add.reduceat(values, starts) / np.diff([*starts, len(values)])


def _cross(case: MapCase, stored: Mapping[str, Array]) -> tuple[tuple[Array, Array], ...]:
    """Where the situation itself lies on the map; empty: elsewhere."""
    x, y = stored["x"], stored["y"]
    place = [axis.value_in(case.situation, case.plant) for axis in (case.x, case.y)]
    if not (x[0] <= place[0] <= x[-1] and y[0] <= place[1] <= y[-1]):
        return ()
    arms = [0.02 * (ends[-1] - ends[0]) for ends in (x, y)]
    ways = ((arms[0], 0.0), (0.0, arms[1]))
    return tuple(
        (np.array([place[0] - dx, place[0] + dx]), np.array([place[1] - dy, place[1] + dy])) for dx, dy in ways
    )


def _change(case: MapCase, stored: Mapping[str, Array]) -> Html:
    """Every controller against the reference gains."""
    names = [one.name for one in case.contenders]
    base = names.index("reference")
    figures = []
    for number, one in enumerate(case.contenders):
        if number == base:
            continue
        whole = (stored["lost"][number] == 0.0) & (stored["lost"][base] == 0.0)
        change = np.where(whole, 100.0 * (stored["cost"][number] / stored["cost"][base] - 1.0), np.nan)
        change = np.clip(change, -_MOST_CHANGE, _MOST_CHANGE)
        figures.append(_surface(case, stored, f"change of J by the {one.title} [%]", change, signed=True))
    lead = "Against the reference gains: blue is better, red is worse; blank where a loop of either is lost."
    return section("change", "Change of the cost J", multiples(figures), lead=lead, folded=False)


def _cost(case: MapCase, stored: Mapping[str, Array]) -> Html:
    whole = np.where(stored["lost"] == 0.0, stored["cost"], np.nan)
    known = whole[np.isfinite(whole)]
    whole = np.minimum(whole, _MOST_MEDIANS * np.median(known)) if known.size else whole
    lead = (
        "Mean over the seeds, the same colours for all; blank where a loop is lost or the plant cannot start. What "
        f"costs more than {_MOST_MEDIANS:g} times the median is drawn as that."
    )
    return section("cost", "Cost J", _of_each(case, stored, "J", whole), lead=lead, folded=False)


def _lost(case: MapCase, stored: Mapping[str, Array]) -> Html:
    lost = 100.0 * np.where(np.isfinite(stored["cost"]), stored["lost"], np.nan)
    if not (lost > 0.0).any():
        return section("lost", "Lost loops", element("p", "No loop of any controller was lost anywhere."), folded=False)
    figures = _of_each(case, stored, "lost [%]", lost)
    return section("lost", "Lost loops", figures, lead="Share of the seeds.", folded=False)


def _peaks(case: MapCase, margins: Mapping[str, Array]) -> Html:
    if not margins["peak"].size:
        return join(())
    peaks = np.minimum(margins["peak"], _LARGEST_PEAK)
    lead = (
        "Largest peak of sensitivity about the plant's operating points, gains at rest, on a coarser grid; "
        f"{_LARGEST_PEAK:g} stands for this and beyond, an unstable loop among it; blank: no rest."
    )
    return section("ms", "Margins: Ms", _of_each(case, margins, "Ms", peaks), lead=lead, folded=False)
