"""Whether the set points that a plant declares can be held: a state of rest that the limits of the commands allow."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from plants.core.analysis.equilibrium import Equilibria
from plants.core.blocks import allocate_inputs, as_tuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plants.core.analysis.equilibrium import Equilibrium
    from plants.core.checks.report import CheckReport
    from plants.core.plant import Plant

    Given = Mapping[str, float]


def check_set_points(report: CheckReport, plant: Plant) -> None:
    """Advise against ends of the declared references that nothing holds.

    Each end is asked alone, the other channels at an operating point: with nominal parameters and no load, then with
    each end of each declared parameter and load. Plants without operating points, or with a channel whose reference is
    left to others, need not rest and are not asked.
    """
    wanted = plant.ranges.given().get("reference", {})
    if not plant.operating_points or not wanted or any(c.output not in wanted for c in plant.channels):
        return
    rests, advice = True, list[str]()
    for output, ends in wanted.items():
        for end in sorted(set(ends)):
            found = [(words, *_rest(plant, output, end, *given)) for words, *given in _circumstances(plant)]
            rests &= all(rest is not None and rest.reached > 0.0 for _, rest, _ in found)
            missed = ((words, rest, p) for words, rest, p in found if rest is not None and 0.0 < rest.reached < 1.0)
            advice += [_told(plant, output, end, *first) for first in islice(missed, 1)]
    report.advice.extend(advice)
    if rests and not advice:  # no rest on the whole way says nothing: at a set speed a place runs away
        report.passed.append(f"declared references are held inside the limits of the commands: {', '.join(wanted)}")


def _rest(
    plant: Plant, output: str, end: float, parameters: Given, loads: Given
) -> tuple[Equilibrium | None, tuple[float, ...]]:
    """The equilibrium at one channel's set point, None where none is found; and the parameters."""
    at = Equilibria(plant, parameters)
    disturbances = plant.values("disturbances", loads) if loads else None
    try:
        return at.at(_reference(plant, output, end), disturbances), tuple(at.p.tolist())
    except ValueError:
        return None, tuple(at.p.tolist())


def _circumstances(plant: Plant) -> Iterator[tuple[str, Given, Given]]:
    """Yield words, parameters and loads: nominal ones, and each end of each declared range alone."""
    ranges = plant.ranges.given()
    yield "", {}, {}
    for name, ends in ranges.get("parameters", {}).items():
        yield from ((f" with {name} = {end:g}", {name: end}, {}) for end in ends)
    for name, ends in ranges.get("load", {}).items():
        yield from ((f" with a load {name} = {end:g}", {}, {name: end}) for end in ends)


def _reference(plant: Plant, output: str, end: float) -> list[float]:
    """One channel's set point, the others at the first operating point."""
    nominal, state = tuple(q.nominal for q in plant.inputs), plant.start(plant.operating_points[0].state, None)[0]
    values = _outputs(plant, state, nominal, plant.nominal())
    return [end if channel.output == output else values[channel.output] for channel in plant.channels]


def _outputs(
    plant: Plant, state: tuple[float, ...], inputs: tuple[float, ...], p: tuple[float, ...]
) -> dict[str, float]:
    values = as_tuple(plant.outputs(0.0, state, inputs, plant.calm(), p), len(plant.measurements), "outputs")
    return {q.name: float(value) for q, value in zip(plant.measurements, values, strict=True)}


def _told(plant: Plant, output: str, end: float, words: str, rest: Equilibrium, p: tuple[float, ...]) -> str:
    unit, state = _unit(plant, output), tuple(rest.state.tolist())
    inputs = tuple(allocate_inputs(plant, 0.0, state, tuple(rest.commands.tolist()), p))
    last = _outputs(plant, state, inputs, p)[output]
    return (
        f"declared reference {output} = {end:g} {unit}{words} is not held inside the limits of the commands and the "
        f"bounds of the states: {last:.4g} {unit} is, on the way there, and little beyond; declare what can be reached"
    )


def _unit(plant: Plant, output: str) -> str:
    return plant.measurements[plant.index("measurements", output)].unit
