"""What one evaluation of a constrained mechanism's rates costs in each form: the same RK4 step around all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.mechanics import peers
from benchmarks.runner import machine
from benchmarks.runner.report import FigureSection, at_least
from experiments.reproduce.mechanics import mechanism_forms, mechanisms
from experiments.reproduce.motions import OpenLoop
from experiments.runtime.timing import alternate, ratio
from plants.core.kernel.kernel import LANES
from plants.core.motion.integrators import EVALUATIONS

if TYPE_CHECKING:
    from benchmarks.runner.size import Size
    from experiments.runtime.timing import Timing

STEP = 1e-3  # s
_STEPS = 500
_STAGES = EVALUATIONS["rk4"]
_AGREE = 1e-6  # of 1 + |q|, after half a second: the forms with multipliers drift by less
_NS = 1e9
LAPACK = "Routh, LAPACK's LU (Numba)"
FASTER, FASTER_BY = "cart (1 link)", 5.0
WIDER, WIDER_BY = ("cart (2 links)", "cart (3 links)"), {512: 4.0, 256: 3.0}


@dataclass(frozen=True)
class Costs:
    """One system's figures.

    Attributes
    ----------
    times : mapping of (form, lanes) to Timing
        Of one evaluation.
    operations : mapping of form to counts by name
        Of one evaluation; none where a library solves.
    """

    times: dict[tuple[str, int], Timing]
    operations: dict[str, dict[str, int]]

    def against_quasi(self, form: str, lanes: int) -> tuple[float, float]:
        """Time of a form over that of quasi-velocities."""
        return ratio(self.times[form, lanes], self.times[mechanism_forms.QUASI, lanes])

    def of_lanes(self, form: str) -> tuple[float, float]:
        """Time of one lane over that of many."""
        return ratio(self.times[form, 1], self.times[form, LANES])


def costs(name: str, size: Size) -> Costs:
    """Measure every form of one system in turns, on one thread; all must move alike."""
    plants = mechanism_forms.forms(name)
    calls, ends, evaluations = {}, {}, {}
    for form, plant in plants.items():
        first = mechanisms.start(name, plant)
        for lanes in (1, LANES):
            run, count = OpenLoop(plant, "solved", lanes=lanes), 2 * lanes
            states = np.tile(first, (count, 1))
            calls[form, lanes] = lambda r=run, s=states: r.run(len(s), _STEPS, STEP, s)
            ends[form, lanes] = calls[form, lanes]()[0][0]
            evaluations[form, lanes] = count * _STEPS * _STAGES
    peer = peers.AlgebraPeer(plants[mechanism_forms.ROUTH])
    initial = np.array(mechanisms.start(name, plants[mechanism_forms.ROUTH]))
    calls[LAPACK, 1] = lambda: peer.run(initial, _STEPS, STEP)
    ends[LAPACK, 1], evaluations[LAPACK, 1] = calls[LAPACK, 1](), _STEPS * _STAGES
    for key in [key for key, end in ends.items() if key[0] == mechanism_forms.CHAPLYGIN and _away(name, ends, end)]:
        del calls[key], ends[key]  # its motion met a pole
    check(name, ends)
    times = alternate(calls, max(2, size.rounds // 2))
    operations = {form: mechanism_forms.counts(plant) for form, plant in plants.items()}
    return Costs({key: timing.per(evaluations[key]) for key, timing in times.items()}, operations)


def check(name: str, ends: dict[tuple[str, int], np.ndarray]) -> None:
    """Raise unless the coordinates at the end are the same in every form."""
    for key, end in ends.items():
        if _away(name, ends, end):
            message = f"{name}, {key}: coordinates differ from those of quasi-velocities by more than {_AGREE:g}"
            raise RuntimeError(message)


def _away(name: str, ends: dict[tuple[str, int], np.ndarray], end: np.ndarray) -> bool:
    """Whether coordinates at the end differ from those of quasi-velocities, NaN included."""
    n = len(mechanisms.STARTS[name][0])
    wanted = ends[mechanism_forms.QUASI, 1][:n]
    return not np.max(np.abs(end[:n] - wanted) / (1.0 + np.abs(wanted))) <= _AGREE


def all_costs(size: Size) -> dict[str, Costs]:
    """Return the figures of all systems; of the first few in a quick run."""
    return {name: costs(name, size) for name in list(mechanisms.SYSTEMS)[: size.plants + 3]}


def formulations(size: Size) -> FigureSection:
    """Measure all forms of all systems."""
    return section_of(all_costs(size))


def section_of(found: dict[str, Costs]) -> FigureSection:
    """Put figures into a section: times with their ratio to quasi-velocities, and the aims."""
    section = FigureSection("formulations", "One evaluation of a constrained mechanism's rates, by formulation")
    for name, cost in found.items():
        for (form, lanes), timing in cost.times.items():
            count = sum(cost.operations.get(form, {}).values())
            remark = f"{cost.against_quasi(form, lanes)[0]:.2f} of {mechanism_forms.QUASI}"
            remark += f", {count} operations" if count else ""
            section.time(f"{name}: {form}, {lanes} lane{'s' * (lanes > 1)}", timing, "ns", _NS, remark)
        section.counts |= {f"{name}, {form}": sum(count.values()) for form, count in cost.operations.items()}
    if FASTER in found:
        for dense, lanes in ((mechanism_forms.PIVOTED, 1), (mechanism_forms.PIVOTED, LANES), (LAPACK, 1)):
            each = found[FASTER].against_quasi(dense, lanes)
            section.ratio(f"{FASTER}: {dense} / quasi-velocities, {lanes} lanes", each, at_least(each, FASTER_BY))
    for name in WIDER:
        if name in found:
            each = found[name].of_lanes(mechanism_forms.QUASI)
            section.ratio(f"{name}: one lane / {LANES} lanes", each, at_least(each, WIDER_BY[machine.width()]))
    section.notes.append("The RK4 step's own arithmetic is in every time, and the test whether a rollout diverged.")
    return section
