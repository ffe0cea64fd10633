"""The full car's algebraic loop: how strong it is, how accurate delayed accelerations are, and what time it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from benchmarks.runner.report import FigureSection
from benchmarks.runner.timing import Timing, alternate, ratio
from benchmarks.vehicles.suspension.rollouts import (
    DAMPING,
    NOMINAL_DAMPERS,
    SCHEMES,
    START,
    CarRuns,
    CarScheme,
    CarSchemeRuns,
    plant_of,
)
from plants.core.kernel.kernel import LANES
from plants.core.sharing.sharing import operations, shared
from plants.core.tracing.trace import names, trace
from plants.suspension import SUSPENSION
from plants.suspension.signals import REST
from plants.suspension.verification.loop_gains import ARRANGEMENTS, gains

if TYPE_CHECKING:
    from benchmarks.runner.timing import Size
    from benchmarks.vehicles.suspension.rollouts import End
    from plants.core.algebraic_loop.gain import MatrixGain
    from plants.core.tracing.trace import Program


STEPS = (1e-3, 2e-4)  # s
PUBLISHED = 9.0  # run time of the loop over the loop-free run time for the full car, US 2004/0039555
SHARES = (1.0, 0.7, 0.5)
LOST_AFTER = 2000  # steps that a scheme which runs must survive
BASELINES = ("iterated", "iterated_exact", "gauss_seidel")
WAYS = (
    ("minimal", "solved"), *(("minimal", mode) for mode in BASELINES), ("minimal", "loop_free"),
    ("redundant", "solved"), ("printed", "solved"), *(("printed", mode) for mode in BASELINES),
    ("printed", "loop_free"),
)  # fmt: skip


def _times(factor: float, *labels: str) -> dict[str, float]:
    return {q.name: factor * q.nominal for q in SUSPENSION.parameters if q.name.rpartition("_")[0] in labels}


CARS: dict[str, dict[str, float]] = {
    "nominal": {},
    **{f"strut mass x {factor:g}": _times(factor, "ms") for factor in (9.0, 10.0, 12.0, 20.0)},
    "arm and wheel mass x 0.1": _times(0.1, "ma", "mw"),
    "strut foot at 0.4 m": {"e2_front": 0.4, "e2_rear": 0.4},
    "strut foot at 0.5 m": {"e2_front": 0.5, "e2_rear": 0.5},
}


@dataclass(frozen=True)
class CarLoopFindings:
    """All figures of one run.

    Attributes
    ----------
    gains : by car and arrangement, at the nominal rest
    ends : by scheme and step, free motion of 1 s
    reference : ndarray [7]
        Where that motion ends.
    lost : by (share, kappa), with struts of twelve times the mass
        Steps survived.
    times : by damping and (form, mode)
        Per step and rollout.
    gaps : by damping and (form, mode)
        Largest distance of a position from the solved minimal form's at the end.
    lanes : Timing of 1 lane and of `LANES`, minimal form solved
    operations : by name
    """

    gains: dict[str, dict[str, MatrixGain]]
    ends: dict[tuple[str, float], End]
    reference: np.ndarray
    lost: dict[tuple[float, float], int]
    times: dict[str, dict[tuple[str, str], Timing]]
    gaps: dict[str, dict[tuple[str, str], float]]
    lanes: dict[int, Timing]
    operations: dict[str, int]


def measured(size: Size) -> CarLoopFindings:
    """Measure everything."""
    reference = plants.simulate(SUSPENSION, 1.0, 1e-4, START, inputs=list(NOMINAL_DAMPERS)).states[-1][:7]
    ends = {}
    for name, scheme in SCHEMES.items():
        runs = CarSchemeRuns(scheme)
        ends |= {(name, step): runs(step, round(1.0 / step)) for step in STEPS}
    lost = {}
    for share in SHARES:
        for kappa in (0.0, 20.0):
            runs = CarSchemeRuns(CarScheme("printed", share=share, kappa=kappa))
            lost[share, kappa] = int(runs(STEPS[0], LOST_AFTER, (CARS["strut mass x 12"],)).steps[0])
    times, gaps = {}, {}
    for damping in DAMPING:
        times[damping], gaps[damping] = _timed(damping, size)
    table = {name: gains(car, REST) for name, car in CARS.items()}
    return CarLoopFindings(table, ends, reference, lost, times, gaps, _lanes(size), _operations())


def _timed(damping: str, size: Size) -> tuple[dict[tuple[str, str], Timing], dict[tuple[str, str], float]]:
    """Times per step and rollout in turns, and distances of the ends."""
    n, n_steps = 4 * LANES, max(10, size.steps // 5)
    runs = {way: CarRuns(*way, damping) for way in WAYS}
    ends = {way: one.run(n, n_steps)[0] for way, one in runs.items()}
    found = alternate(
        {f"{form} {mode}": lambda one=one: one.run(n, n_steps) for (form, mode), one in runs.items()},
        max(2, size.rounds // 3),
    )
    gaps = {way: float(np.abs(end - ends["minimal", "solved"]).max()) for way, end in ends.items()}
    return {way: found[" ".join(way)].per(n * n_steps) for way in WAYS}, gaps


def _lanes(size: Size) -> dict[int, Timing]:
    n, n_steps = 4 * LANES, max(10, size.steps // 5)
    runs = {lanes: CarRuns("minimal", "solved", "variable", lanes) for lanes in (1, LANES)}
    found = alternate(
        {str(k): lambda one=one: one.run(n, n_steps) for k, one in runs.items()}, max(2, size.rounds // 3)
    )
    return {k: found[str(k)].per(n * n_steps) for k in runs}


def _operations() -> dict[str, int]:
    """Operations of one evaluation."""
    found: dict[str, int] = {}
    for form in ("minimal", "redundant", "printed"):
        program = _traced(plant_of(form), "derivative")
        found[f"{form}, all rates"] = operations(program)
    found["minimal, all rates, shared"] = operations(shared(_traced(SUSPENSION, "derivative")))
    found["printed, one pass of the 23"] = operations(_traced(plant_of("printed"), "acceleration"))
    return found


def _traced(plant: Any, block: str) -> Program:
    groups = [names("x", len(plant.states)), names("u", 8), names("w", 8), names("p", len(plant.parameters))]
    if block == "acceleration":
        groups.insert(1, names("a", 23))
    return trace(getattr(plant, block), "t", *groups)


def suspension_loop(size: Size) -> FigureSection:
    """Return all figures as a section."""
    return as_section(measured(size))


def as_section(found: CarLoopFindings) -> FigureSection:
    """Return the figures of one run as a section."""
    section = FigureSection("suspension_loop", "The full car: its algebraic loop, solved, iterated, delayed")
    for car, table in found.gains.items():
        for name in ARRANGEMENTS:
            section.figure(
                f"{car}: loop gain, {name}", table[name].radius, "", f"largest real part {table[name].real:.4f}"
            )
    for (name, step), end in found.ends.items():
        error = float(np.abs(end.positions[0] - found.reference).max())
        section.figure(
            f"{name}, {step:g} s: error after 1 s", error, "m, rad", f"linkage open by {end.opened[0]:.1e} m"
        )
    for (share, kappa), steps in found.lost.items():
        section.figure(
            f"struts of 12 times the mass, share {share:g}, kappa {kappa:g}/s: steps", steps, f"of {LOST_AFTER}"
        )
    for damping, times in found.times.items():
        for (form, mode), timing in times.items():
            remark = f"at the end {found.gaps[damping][form, mode]:.1e} from minimal solved"
            section.time(f"{damping} damping: {form}, {mode}", timing, "ns", 1e9, remark)
        for form, mode in WAYS:
            if mode in BASELINES:
                values = ratio(times[form, mode], times[form, "loop_free"])
                section.ratio(f"{damping} damping: {form}, {mode} / loop_free", values, f"published: {PUBLISHED:g}")
    values = ratio(found.lanes[1], found.lanes[LANES])
    section.ratio(f"minimal solved, variable damping: 1 lane / {LANES} lanes", values, "aim: at least 4 with AVX-512")
    section.counts |= found.operations
    return section
