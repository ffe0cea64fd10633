"""A plant about other values of its parameters, such as those that were fitted to measurements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants.core.plant import Plant
    from plants.core.quantities import Quantity


def with_parameters(plant: Plant, values: Mapping[str, float]) -> Plant:
    """Return a plant whose parameters have other nominal values.

    Declared ranges move with them: they keep their shares of the nominal value, from 0 their distance to it, inside the
    parameter's bounds.

    Parameters
    ----------
    plant : Plant
    values : mapping of parameter to float
        In its unit; the others keep theirs.

    Raises
    ------
    ValueError
        For an unknown name (with the near miss), or a value outside the parameter's bounds.
    """
    plant.values("parameters", values)  # says what does not fit
    moved = tuple(replace(q, nominal=values.get(q.name, q.nominal)) for q in plant.parameters)
    ranges = dict(plant.ranges.parameters or {})
    for old, new in zip(plant.parameters, moved, strict=True):
        if old.name in ranges and old.nominal != new.nominal:
            ranges[old.name] = _moved(ranges[old.name], old, new)
    given = plant.ranges if plant.ranges.parameters is None else replace(plant.ranges, parameters=ranges)
    return replace(plant, parameters=moved, task=replace(plant.task, ranges=given))


def _moved(span: tuple[float, float], old: Quantity, new: Quantity) -> tuple[float, float]:
    ends = [end - old.nominal + new.nominal if old.nominal == 0.0 else end / old.nominal * new.nominal for end in span]
    low, high = sorted(min(max(end, new.low), new.high) for end in ends)
    return low, high
