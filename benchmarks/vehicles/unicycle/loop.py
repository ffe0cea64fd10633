"""The unicycle's algebraic loop: how strong it is, how accurate delayed accelerations are, and what time it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

import plants
from benchmarks.runner.report import FigureSection
from benchmarks.runner.timing import Timing, alternate, ratio
from benchmarks.vehicles.unicycle.rollouts import (
    GAINS,
    SPEED,
    UnicycleRuns,
    UnicycleScheme,
    UnicycleSchemeRuns,
    plant_of,
)
from controllers import PID
from plants.core.kernel.kernel import LANES
from plants.core.sharing.sharing import operations
from plants.core.tracing.trace import names, trace
from plants.unicycle import BETA0, UNICYCLE, UNICYCLE_SPEED_HOLD
from plants.unicycle.signals import K5
from plants.unicycle.tasks import start
from plants.unicycle.verification.loop_gains import ARRANGEMENTS, gains, largest_share, upright

if TYPE_CHECKING:
    from benchmarks.runner.timing import Size
    from plants.core.algebraic_loop.gain import MatrixGain


ROLLS = (0.0, 0.047, 0.05, 0.1, 0.15, 0.2, 0.3)  # rad
TILT = 0.3  # rad, of random tilts
STEPS = (1e-3, 1e-4)  # s
T_END = 4.0  # s
_LEAN = 0.03  # rad, of the start before where it balances
_MARKS = np.arange(1, 201) * (T_END / 200)  # s
PUBLISHED = 200.0  # "up to 200 times" as fast without the loop, US 2004/0039555
BASELINES = ("iterated", "iterated_exact", "gauss_seidel")
WAYS = (
    ("minimal", "solved"), *(("minimal", mode) for mode in BASELINES), ("minimal", "loop_free"),
    ("kit", "solved"), ("redundant", "solved"),
    ("printed", "solved"), *(("printed", mode) for mode in BASELINES), ("printed", "loop_free"),
)  # fmt: skip
SCHEMES = {
    "solved": UnicycleScheme(solved=True),
    "delayed": UnicycleScheme(),
    "delayed, printed form": UnicycleScheme(form="printed"),
    "delayed, 5 passes a step": UnicycleScheme(passes=5),
    "delayed, share 0.8": UnicycleScheme(share=0.8),
    "delayed, share 0.5": UnicycleScheme(share=0.5),
    "delayed, share 0.2": UnicycleScheme(share=0.2),
    "delayed, share 0.05": UnicycleScheme(share=0.05),
    "share 0.5, 20 passes a step": UnicycleScheme(share=0.5, passes=20),
    "Gauss-Seidel, delayed": UnicycleScheme(sweep=True),
    "Gauss-Seidel, 5 passes a step": UnicycleScheme(sweep=True, passes=5),
}
CASES = {
    **{f"{roll:g} rad": (roll, SPEED) for roll in (0.03, 0.05, 0.06, 0.08, 0.1)},
    **{f"{roll:g} rad at 3 m/s": (roll, 3.0) for roll in (0.2, 0.25)},
}
FIRST = next(iter(CASES))
_ROLLOUTS = 16 * LANES  # of one timed call: some 10 ms where it is quick


@dataclass(frozen=True)
class UnicycleLoopFindings:
    """All figures of one run.

    Attributes
    ----------
    gains : by roll [rad] and arrangement
        Balanced, at rest.
    shares : by roll
        Largest share of a pass for which relaxed passes of the minimal form converge.
    tilts : by arrangement
        Least, median and greatest gain at random tilts.
    errors : by scheme and step
        Largest distance in roll and pitch from the solution [rad] over the first case, or infinite where it falls.
    lasted : by scheme, step and case
        Time survived [s] of `T_END`.
    times, gaps : by (form, mode)
        Per step and rollout; largest distance of a coordinate from the solved minimal form's at the end.
    lanes : Timing of 1 lane and of `LANES`, minimal form solved
    operations : by name
    threshold : float
        Roll [rad] at which the gain of the minimal form is 1.
    """

    gains: dict[float, dict[str, MatrixGain]]
    shares: dict[float, float]
    tilts: dict[str, tuple[float, float, float]]
    errors: dict[tuple[str, float], float]
    lasted: dict[tuple[str, float, str], float]
    times: dict[tuple[str, str], Timing]
    gaps: dict[tuple[str, str], float]
    lanes: dict[int, Timing]
    operations: dict[str, int]
    threshold: float


def measured(size: Size) -> UnicycleLoopFindings:
    """Measure everything."""
    table = {roll: gains(state=upright(roll)) for roll in ROLLS}
    shares = {roll: largest_share(upright(roll)) for roll in ROLLS}
    errors, lasted = _schemes()
    times, gaps = _timed(size)
    return UnicycleLoopFindings(
        table, shares, _tilts(), errors, lasted, times, gaps, _lanes(size), _operations(), threshold()
    )


def threshold() -> float:
    """Return the roll [rad], balanced at rest, at which the gain of the minimal form is 1."""
    minimal, *_ = ARRANGEMENTS
    return float(brentq(lambda roll: gains(state=upright(roll))[minimal].radius - 1.0, 0.0, TILT, xtol=1e-12))


def _tilts(count: int = 400) -> dict[str, tuple[float, float, float]]:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        state = (0.0, *rng.uniform(-TILT, TILT, 2), *rng.uniform(-np.pi, np.pi, 2), *(0.0,) * 7)
        found.append([gain.radius for gain in gains(state=state).values()])
    rows = zip(np.min(found, axis=0), np.median(found, axis=0), np.max(found, axis=0), strict=True)
    return {name: tuple(map(float, row)) for name, row in zip(ARRANGEMENTS, rows, strict=True)}  # type: ignore[misc]


def _schemes() -> tuple[dict[tuple[str, float], float], dict[tuple[str, float, str], float]]:
    """Errors of the first case, and how long all cases last."""
    expected = solution()
    errors: dict[tuple[str, float], float] = {}
    lasted: dict[tuple[str, float, str], float] = {}
    starts = [(start(speed, roll, _LEAN), speed) for roll, speed in CASES.values()]
    for name, scheme in SCHEMES.items():
        runs = UnicycleSchemeRuns(scheme)
        for step in STEPS:
            _, survived = runs(step, T_END, starts)
            lasted |= {(name, step, case): float(t) for case, t in zip(CASES, survived, strict=True)}
            stood = survived[0] >= T_END - 0.5 * step
            errors[name, step] = error(runs, step, expected) if stood else np.inf
    return errors, lasted


def error(runs: UnicycleSchemeRuns, step: float, expected: np.ndarray) -> float:
    """Return the largest distance in roll and pitch [rad] from the solution over the first case."""
    roll, speed = CASES[FIRST]
    begun = [(start(speed, roll, _LEAN), speed)]
    found = np.array([runs(step, t, begun)[0][0][1:3] for t in _MARKS])
    return float(np.hypot(*(found - expected).T).max())


def solution() -> np.ndarray:
    """Return roll and pitch [n, 2] of the first case every 20 ms, by RK4."""
    k1, k2, k3, k4 = GAINS
    roll, speed = CASES[FIRST]
    closed = plants.close(
        UNICYCLE_SPEED_HOLD, PID(), (k1, 0.0, k2, k3, 0.0, k4), {"lean": BETA0 + K5 * speed, "roll": 0.0},
        channel_limits=False,
    )  # fmt: skip
    initial = {q.name: value for q, value in zip(UNICYCLE.states, start(speed, roll, _LEAN), strict=True)}
    found = plants.simulate(closed, T_END, 5e-4, initial)
    return np.asarray(found.states[np.rint(_MARKS / 5e-4).astype(int), 1:3])


def _timed(size: Size) -> tuple[dict[tuple[str, str], Timing], dict[tuple[str, str], float]]:
    """Times per step and rollout in turns, and distances of the ends."""
    n, n_steps = _ROLLOUTS, max(10, size.steps // 5)
    runs = {way: UnicycleRuns(*way) for way in WAYS}
    ends = {way: one.run(n, n_steps) for way, one in runs.items()}
    found = alternate(
        {f"{form} {mode}": lambda one=one: one.run(n, n_steps) for (form, mode), one in runs.items()},
        max(2, size.rounds // 4),
    )
    gaps = {way: float(np.abs(end - ends["minimal", "solved"]).max()) for way, end in ends.items()}
    return {way: found[" ".join(way)].per(n * n_steps) for way in WAYS}, gaps


def _lanes(size: Size) -> dict[int, Timing]:
    n, n_steps = _ROLLOUTS, max(10, size.steps // 5)
    runs = {lanes: UnicycleRuns("minimal", "solved", lanes) for lanes in (1, LANES)}
    found = alternate(
        {str(k): lambda one=one: one.run(n, n_steps) for k, one in runs.items()}, max(2, size.rounds // 3)
    )
    return {k: found[str(k)].per(n * n_steps) for k in runs}


def _operations() -> dict[str, int]:
    """Operations of one evaluation of all rates."""
    found: dict[str, int] = {}
    for form in ("minimal", "kit", "redundant", "printed"):
        plant = plant_of(form)
        sizes = {"x": plant.states, "u": plant.inputs, "w": plant.disturbances, "p": plant.parameters}
        groups = [names(kind, len(quantities)) for kind, quantities in sizes.items()]
        found[form] = operations(trace(plant.derivative, "t", *groups))  # type: ignore[arg-type]
    return found


def unicycle_loop(size: Size) -> FigureSection:
    """Return all figures as a section."""
    return as_section(measured(size))


def as_section(found: UnicycleLoopFindings) -> FigureSection:
    """Return the figures of one run as a section."""
    section = FigureSection("unicycle_loop", "The unicycle: its algebraic loop, solved, iterated, delayed")
    for roll, table in found.gains.items():
        for name in ARRANGEMENTS:
            section.figure(f"roll {roll:g} rad: loop gain, {name}", table[name].radius, "")
    for (name, step), error in found.errors.items():
        section.figure(f"{name}, {step:g} s: largest error in {T_END:g} s", error, "rad")
    for (name, step, case), time in found.lasted.items():
        section.figure(f"{name}, {step:g} s, from {case}: lasted", time, "s")
    for (form, mode), timing in found.times.items():
        section.time(f"{form}, {mode}", timing, "ns", 1e9, f"at the end {found.gaps[form, mode]:.1e} from solved")
    for form, mode in WAYS:
        if mode in BASELINES:
            values = ratio(found.times[form, mode], found.times[form, "loop_free"])
            section.ratio(f"{form}, {mode} / loop_free", values, f"published: up to {PUBLISHED:g}")
    values = ratio(found.lanes[1], found.lanes[LANES])
    section.ratio(f"minimal solved: 1 lane / {LANES} lanes", values, "aim: at least 4 with AVX-512")
    section.counts |= found.operations
    return section
