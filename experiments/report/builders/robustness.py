"""Maps over two ranges as records: what axes and situations are called, where the situation itself lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.builders import words
from experiments.report.records.robustness import MapView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.report.builders.case import FinishedDesign
    from experiments.report.records.robustness import Array
    from plants import Plant
    from sscq.situations.situation import Situation
    from sscq.worst.map_axes import MapAxis

_DIGITS = 5  # of J in report.json: no eye sees more in a colour


def map_view(
    plant: Plant, situation: Situation, axes: tuple[MapAxis, MapAxis], names: Sequence[str], cost: Array, lost: Array
) -> MapView:
    """Return a map as it is drawn; `cost` and `lost` [controller, n_y, n_x]."""
    x, y = axes
    place = x.value_in(situation, plant), y.value_in(situation, plant)
    inside = all(axis.values[0] <= at <= axis.values[-1] for axis, at in zip(axes, place, strict=True))
    names_of = [axis.name.removeprefix("parameters.") for axis in axes]
    units = [axis.unit if axis.unit != "1" else "" for axis in axes]
    told = words.situation(plant, situation)
    across, up = zip(names_of, units, strict=True)
    shown = place if inside else None
    return MapView(told, *across, *up, x.values, y.values, shown, tuple(names), cost, lost)


def robustness(case: FinishedDesign) -> MapView | None:
    """Return the map of a design."""
    found = case.judgement.robustness
    if found is None:
        return None
    names = [case.name(name) for name in found.names]
    cost = _rounded(found.cost)
    return map_view(case.plant, found.situation, (found.x, found.y), names, cost, found.lost)


def _rounded(values: Array) -> Array:
    """Numbers as short as they are read back."""
    return np.array([float(f"{value:.{_DIGITS}g}") for value in values.flat]).reshape(values.shape)
