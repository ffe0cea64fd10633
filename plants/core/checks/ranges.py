"""Whether the ranges that a plant declares fit it: names, bounds, the nominal values, and that they say something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plants.core.checks.report import CheckReport
    from plants.core.plant import Plant
    from plants.core.quantities import Quantity

_KINDS = {
    "parameters": "parameters",
    "initial": "states",
    "reference": "measurements",
    "load": "disturbances",
    "excitation": "disturbances",
    "noise": "measurements",
}
_BOUNDED = ("parameters", "initial", "reference", "load")  # deviations have no place in the quantity's bounds


def check_ranges(report: CheckReport, plant: Plant) -> None:
    """Report ranges of what the plant has not, beyond its bounds or without its nominal values.

    Ranges that are all of a quantity's bounds are advised against: these say where the model holds, not where it works.
    """
    given = plant.ranges.given()
    found = [text for name in _KINDS if name in given for text in _complaints(plant, name, given[name])]
    low, high = plant.ranges.authority or (1.0, 1.0)
    if not 0.0 < low <= high <= 1.0:
        found.append(f"authority is a share of the command limits in (0, 1], got [{low:g}, {high:g}]")
    names = [str(one.get("name")) for several in plant.situations.values() for one in several]
    found += [
        unknown(f"situation of plant {plant.name!r}", name, names)
        for name in plant.ranges.excitations_of
        if name not in names
    ]
    found += _of_sets(plant)
    report.problems.extend(f"declared ranges: {text}" for text in found)
    if plant.channels and not given and not plant.situations:
        report.advice.append(
            "neither situations nor ranges are declared: designs draw from steps of the channels' scale and parameters "
            "+-30 %; say what it meets with ranges=OperatingRanges(parameters={...}, reference={...})"
        )
    elif given and not found:
        report.passed.append(f"declared ranges fit: {_listed(plant)}")
        report.advice.extend(_advice(plant))


def _complaints(plant: Plant, name: str, ranges: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """Yield what is wrong with a group of ranges."""
    quantities = {q.name: q for q in getattr(plant, _KINDS[name])}
    if name == "reference":
        outputs = {channel.output for channel in plant.channels}
        quantities = {key: q for key, q in quantities.items() if key in outputs}
    for key, (low, high) in ranges.items():
        if key not in quantities:
            yield f"{name}: {unknown(_KINDS[name], key, list(quantities))}"
            continue
        quantity = quantities[key]
        text = f"{name}[{key}] = [{low:g}, {high:g}] {quantity.unit}"
        if name in _BOUNDED and not quantity.low <= low <= high <= quantity.high:
            yield f"{text} must lie inside its bounds [{quantity.low:g}, {quantity.high:g}]"
        elif name == "parameters" and not low <= quantity.nominal <= high:
            yield f"{text} must hold the nominal value {quantity.nominal:g}"


def _of_sets(plant: Plant) -> list[str]:
    """What is wrong with parameter sets that belong together, each fault of the first one that has it."""
    quantities = {q.name: q for q in plant.parameters}
    found: dict[str, str] = {}
    for key, value in (pair for one in plant.ranges.together for pair in one.items()):
        if key not in quantities:
            found.setdefault(key, f"together: {unknown('parameters', key, list(quantities))}")
        elif not quantities[key].low <= value <= quantities[key].high:
            low, high = quantities[key].low, quantities[key].high
            found.setdefault(key, f"together: {key} = {value:g} must lie inside its bounds [{low:g}, {high:g}]")
    return list(found.values())


def _advice(plant: Plant) -> Iterator[str]:
    """Yield a line for each range that is all of its quantity's bounds."""
    for name, ranges in plant.ranges.given().items():
        for key, ends in ranges.items() if name in ("parameters", "initial") else ():
            quantity: Quantity = getattr(plant, _KINDS[name])[plant.index(_KINDS[name], key)]
            if ends == (quantity.low, quantity.high):
                yield (
                    f"declared range {name}[{key}] is all of its bounds [{ends[0]:g}, {ends[1]:g}]: bounds say where "
                    "the model holds, ranges what it meets in operation"
                )


def _listed(plant: Plant) -> str:
    groups = [
        f"{name} of {', '.join(group)}" if name in _KINDS and group else f"{name} of none" if name in _KINDS else name
        for name, group in plant.ranges.given().items()
    ]
    return "; ".join(groups)
