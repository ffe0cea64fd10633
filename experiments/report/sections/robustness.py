"""Maps over two ranges: cost, its change and lost loops of several controllers; in a report and on a page alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.heat_map import Surface, heat_map
from experiments.report.drawing.html import Html, element
from experiments.report.sections.view import PageView, multiples, section

if TYPE_CHECKING:
    from experiments.report.records.robustness import Array, MapView

_FINEST = 200  # cells in a direction: finer maps are drawn by the means of their blocks
_MOST_CHANGE, _SAME = 100.0, 1e-9  # %
_MOST_MEDIANS = 4.0  # of J: colours are for what loops cost that work

COST_LEAD = (
    "Mean over the seeds, the same colours for all; blank where a loop is lost or the plant cannot start. What "
    f"costs more than {_MOST_MEDIANS:g} times the median is drawn as that."
)


def change_lead(base: str) -> str:
    """Return what the colours of changes mean."""
    return f"Against the {base}: blue is better, red is worse; blank where a loop of either is lost."


@dataclass(frozen=True, eq=False)
class MapFigures:
    """The pictures of a map."""

    seen: MapView

    def change(self) -> list[Html]:
        """Every controller against the first one; those that cost the same everywhere are left out."""
        found, figures = self.seen, []
        for name, cost, lost in zip(found.controllers[1:], found.cost[1:], found.lost[1:], strict=True):
            whole = (lost == 0.0) & (found.lost[0] == 0.0)
            change = np.where(whole, 100.0 * (cost / found.cost[0] - 1.0), np.nan)
            change = np.clip(change, -_MOST_CHANGE, _MOST_CHANGE)
            if (np.abs(change) > _SAME).any():
                figures.append(self._surface(f"change of J by the {name} [%]", found.x, found.y, change, signed=True))
        return figures

    def cost(self) -> list[Html]:
        """J of each, capped where it is far beyond the median."""
        whole = np.where(self.seen.lost == 0.0, self.seen.cost, np.nan)
        known = whole[np.isfinite(whole)]
        whole = np.minimum(whole, _MOST_MEDIANS * np.median(known)) if known.size else whole
        return self.of_each("J", self.seen.x, self.seen.y, whole)

    def lost(self) -> list[Html]:
        """Shares of lost loops; nothing where none is lost."""
        lost = 100.0 * np.where(np.isfinite(self.seen.cost), self.seen.lost, np.nan)
        return self.of_each("lost [%]", self.seen.x, self.seen.y, lost) if (lost > 0.0).any() else []

    def of_each(self, what: str, x: Array, y: Array, values: Array) -> list[Html]:
        """One picture for each controller, in the same colours; `values` [controller, n_y, n_x]."""
        named = zip(self.seen.controllers, values, strict=True)
        return [self._surface(f"{what}, {name}", x, y, each, scale=values) for name, each in named]

    def _surface(
        self, name: str, x: Array, y: Array, values: Array, scale: Array | None = None, *, signed: bool = False
    ) -> Html:
        found = self.seen
        x, y, values = _coarser(x, y, values)
        plain = Surface(name, found.x_name, found.y_name, x, y, values, scale=scale, signed=signed)
        return element("figure", heat_map(replace(plain, x_unit=found.x_unit, y_unit=found.y_unit), _cross(found)))


def _cross(found: MapView) -> tuple[tuple[Array, Array], ...]:
    """Where the situation itself lies on the map; empty: elsewhere."""
    if found.place is None:
        return ()
    arms = [0.02 * (ends[-1] - ends[0]) for ends in (found.x, found.y)]
    ways = ((arms[0], 0.0), (0.0, arms[1]))
    x, y = found.place
    return tuple((np.array([x - dx, x + dx]), np.array([y - dy, y + dy])) for dx, dy in ways)


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


def robustness(view: PageView) -> Html:
    """The map of a report; nothing where there is none."""
    found = view.data.robustness
    if found is None:
        return Html("")
    figures, base = MapFigures(found), found.controllers[0]
    change, lost = figures.change(), figures.lost()
    lead = (
        f"The two declared ranges of plant, delay and noise that change J of the {base} most, in one situation: "
        f"{found.situation}.{' The cross: its own values.' if found.place else ''} "
    )
    lead += change_lead(base) if change else f"The {found.controllers[1]} costs the same everywhere here."
    told = "Share of the seeds whose loop is lost:" if lost else "No loop is lost anywhere on this map."
    parts = [
        multiples([*change, *figures.cost()]),
        element("p", f"J: {COST_LEAD[0].lower()}{COST_LEAD[1:]}"),
        element("p", told),
    ]
    return section("robustness", "Map over two ranges", *parts, *([multiples(lost)] if lost else []), lead=lead)
