"""Computer algebra against derivatives on the tape: operations, time to derive, time of one evaluation.

Measured on chains of rigid links with any number of joints.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.runner.report import FigureSection
from experiments.reproduce.motions import OpenLoop
from experiments.runtime.timing import alternate, ratio
from plants import Mechanism
from plants.core.elementary import cos, sin
from plants.core.kernel.kernel import LANES
from plants.core.motion.integrators import EVALUATIONS
from plants.mechanics.algebra.calculus import Taped
from plants.mechanics.algebra.symbolic import Symbolic
from plants.mechanics.forms.reduced import reduced

if TYPE_CHECKING:
    from benchmarks.runner.size import Size
    from plants.mechanics.declaration.declaration import MechanismDeclaration


G = 9.81  # m/s^2
Vector = tuple[Any, Any, Any]


def chain(n: int) -> Mechanism:
    """Return a cart with a plane chain of `n` rods, angles from upright."""
    mech = Mechanism(f"chain_{n}")
    mech.coordinates("place " + " ".join(f"angle_{k}" for k in range(n)), initial=0.3)
    speed, *turning = mech.rates()
    cart, mass, length, inertia = mech.parameters(cart=1.0, mass=0.3, length=0.4, inertia=0.004)
    mech.force({"place": mech.inputs("push")})
    mech.kinetic(cart / 2 * speed**2)
    along, up, height = speed, 0.0, 0.0
    for k, w in enumerate(turning):
        angle = mech.symbol(f"angle_{k}")
        reach, rise = length / 2 * cos(angle), length / 2 * sin(angle)
        mech.kinetic(mass / 2 * ((along + reach * w) ** 2 + (up - rise * w) ** 2) + inertia / 2 * w**2)
        mech.potential(mass * G * (height + reach))
        along, up, height = along + 2 * reach * w, up - 2 * rise * w, height + 2 * reach
    return mech


def arm(n: int) -> Mechanism:
    """Return a spatial arm of `n` links whose joints turn about z and y in turns, velocities in the links' frames."""
    mech = Mechanism(f"arm_{n}")
    mech.coordinates(" ".join(f"joint_{k}" for k in range(n)), initial=0.3)
    rates = mech.rates()
    mass, length = mech.parameters(mass=1.0, length=0.4)
    inertias = mech.parameters(J1=0.001, J2=0.01, J3=0.012)
    up: Vector = (0.0, 0.0, 1.0)  # the vertical, seen from the link
    turning: Vector = (0.0, 0.0, 0.0)
    speed: Vector = (0.0, 0.0, 0.0)
    height: Any = 0.0
    for k in range(n):
        turn, axis = _joint(k, mech.symbol(f"joint_{k}"))
        up, speed = turn(up), turn(speed)
        turning = tuple(a + rates[k] * b for a, b in zip(turn(turning), axis, strict=True))  # type: ignore[assignment]
        middle = _plus(speed, _cross(turning, (length / 2, 0.0, 0.0)))
        mech.kinetic(mass / 2 * _square(middle))
        mech.kinetic(sum((j * w**2 for j, w in zip(inertias, turning, strict=True)), 0.0) / 2)
        mech.potential(mass * G * (height + length / 2 * up[0]))
        height = height + length * up[0]
        speed = _plus(speed, _cross(turning, (length, 0.0, 0.0)))
    return mech


def _joint(k: int, angle: Any) -> tuple[Any, Vector]:
    """Change of frame over a joint, and its axis."""
    c, s = cos(angle), sin(angle)
    if k % 2:
        return lambda v: (c * v[0] - s * v[2], v[1], s * v[0] + c * v[2]), (0.0, 1.0, 0.0)
    return lambda v: (c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]), (0.0, 0.0, 1.0)


def _cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _plus(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _square(a: Vector) -> Any:
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


STEP, STEPS = 1e-4, 200  # s
WAYS = ("symbols", "tape")
CALCULI = {
    "symbols, normal form": Symbolic,
    "symbols, as derived": lambda declared: Symbolic(declared, trigonometric=False),
    "tape": Taped,
}
SYSTEMS = {
    **{f"cart, {n} plane links": (chain, n) for n in (1, 2, 4, 6, 9)},
    **{f"arm, {n} joints": (arm, n) for n in (2, 3, 4, 5, 6)},
}
_QUICK = 2  # a quick run has systems of at most as many links


def two_ways(size: Size) -> FigureSection:
    """Derive every system in both ways, and step what came out."""
    section = FigureSection("two_ways", "Deriving equations of motion: computer algebra, or derivatives on the tape")
    for name, (make, n) in SYSTEMS.items():
        if size.repeats > 1 or n <= _QUICK:
            _derive(section, name, make(n).declared())
            _step(section, name, make(n), size)
    section.notes.append(
        "Operations of one evaluation of all rates, L D L' included, after sharing common parts; time to derive with "
        "sharing included, once. One evaluation: RK4 steps of 16 lanes in the project's kernels, in turns; computer "
        "algebra with the better of its two forms. Joints of the arm turn about z and y in turns."
    )
    return section


def _derive(section: FigureSection, name: str, declared: MechanismDeclaration) -> None:
    for way, calculus in CALCULI.items():
        begin = time.perf_counter()
        reduced(calculus(declared), declared).condensed()
        section.figure(f"{name}: {way}, to derive", time.perf_counter() - begin, "s")


def _step(section: FigureSection, name: str, mech: Mechanism, size: Size) -> None:
    calls: dict[str, Any] = {}
    for way in WAYS:
        plant = mech.build("free", derivatives=way, check=False, step=STEP)
        for which, count in plant.equations.facts["operations"].items():
            section.figure(f"{name}: {which}", count, "operations")
        run, n = OpenLoop(plant, "solved", lanes=LANES), len(plant.states) // 2
        states = np.tile(np.r_[np.full(n, 0.3), np.full(n, 0.1)], (2 * LANES, 1))
        calls[way] = lambda r=run, x=states: r.run(len(x), STEPS, STEP, x)
    ends = [call()[0] for call in calls.values()]
    if not np.allclose(ends[0], ends[1], rtol=1e-8, atol=1e-8):
        message = f"{name}: the two ways move differently"
        raise RuntimeError(message)
    times = alternate(calls, max(2, size.rounds // 2))
    evaluations = 2 * LANES * STEPS * EVALUATIONS["rk4"]
    for way, timing in times.items():
        section.time(f"{name}: one evaluation, {way}", timing.per(evaluations), "ns", 1e9)
    section.ratio(f"{name}: time of computer algebra / tape", ratio(times["symbols"], times["tape"]))
