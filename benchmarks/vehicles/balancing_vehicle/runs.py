"""Runs of the balancing vehicle: studies in open loop, the step's accuracy, closed loops to time, bumps.

Ways to step it: its own map with more or fewer passes, explicit couplings, integrators; sixteen lanes against one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import controllers
import plants
import sscq
from benchmarks.runner.report import FigureSection, at_least
from experiments.reproduce.vehicles.balancing_vehicle import EQUATIONS, study
from experiments.runtime.timing import Timing, alternate, ratio
from plants.balancing_vehicle import (
    BALANCER,
    BALANCING_VEHICLE,
    BALANCING_VEHICLE_NO_SLIP,
    NOMINAL_GAINS,
    STUDY,
    standing,
)
from plants.balancing_vehicle.motion import accelerations, bristles, loads, of_instant, turned
from plants.balancing_vehicle.parameters import VehicleParameters
from plants.balancing_vehicle.signals import encoder_speed, true_speed
from plants.balancing_vehicle.stepping import PASSES, stepped
from plants.balancing_vehicle.stepping import run as variable
from plants.balancing_vehicle.wheels import dynamics
from plants.core.kernel.kernel import LANES
from plants.core.motion.trajectory import DivergedError
from plants.excitation import Sine
from sscq.loop.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runner.size import Size
    from plants import Plant


PASSES_TRIED = (2, 3, 4, 6, 8)


class VehicleScheme(NamedTuple):
    """A plant as it is stepped, and the integrator to name for it."""

    plant: Plant
    integrator: str


def with_passes(passes: int) -> Plant:
    """Return the vehicle with another number of passes in its step."""

    def advance(_: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
        return stepped(x, u, w, VehicleParameters(*p), h, passes)

    return replace(BALANCING_VEHICLE, advance=advance)


def explicit(update: str) -> Plant:
    """Return the vehicle with an `update` of its bristles ("exponential", "implicit") velocities stepped after it."""

    def advance(_: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
        named = VehicleParameters(*p)
        now, law = dynamics(x, u, w, named), named.friction
        slips = [now.slip(wheel) for wheel in range(2)]
        bent = [getattr(law, update)(slip, z, h) for slip, z in zip(slips, bristles(x), strict=True)]
        friction = [
            tuple(touch.scale * value for value in law.coefficient(slip, z))
            for touch, slip, z in zip(now.touches, slips, bent, strict=True)
        ]
        ahead, aside, *others = accelerations(now, loads(now, friction, of_instant(now, named)), friction)
        rates = (*turned(now, ahead, aside), *others)
        velocities = [v + h * a for v, a in zip(x[8:16], rates, strict=True)]
        return (*(q + h * v for q, v in zip(x[:8], velocities, strict=True)), *velocities, *bent[0], *bent[1])

    return replace(BALANCING_VEHICLE, advance=advance)


SCHEMES: dict[str, Callable[[], VehicleScheme]] = {
    f"own step, {PASSES} passes": lambda: VehicleScheme(BALANCING_VEHICLE, "rk4"),
    "exponential bristles, explicit velocities": lambda: VehicleScheme(explicit("exponential"), "rk4"),
    "implicit bristles, explicit velocities": lambda: VehicleScheme(explicit("implicit"), "rk4"),
    "rk4": lambda: VehicleScheme(EQUATIONS, "rk4"),
    "rosenbrock": lambda: VehicleScheme(EQUATIONS, "rosenbrock"),
}


STEPS = (2e-3, 1e-3, 5e-4, 2e-4)  # s, compared
TORQUES = (0.8, 1.0, 1.2, 1.3, 1.35, 1.4, 1.5, 1.6, 1.8)  # N m, amplitudes of sin 2t
PERIOD = 4e-3  # s, of the controllers


def slip_found() -> list[tuple[float, float, float]]:
    """Torque amplitude, largest friction that ideal rolling needs [of mu_s], largest slip speed [m/s], over 2 s."""
    p = {q.name: STUDY[q.name] for q in BALANCING_VEHICLE_NO_SLIP.parameters}
    found = []
    for swing in TORQUES:
        tau = 0.0 + Sine(swing, 1.0 / math.pi)
        ideal = plants.simulate(BALANCING_VEHICLE_NO_SLIP, 2.0, 1e-3, inputs={"tau_L": tau, "tau_R": tau}, parameters=p)
        need = float((np.abs(ideal["needed_friction"]) / ideal["load"]).max()) / STUDY["mu_s"]
        found.append((swing, need, float(np.abs(study(0.0, swing, 0.0, 2.0)["slip_t_L"]).max())))
    return found


def errors() -> dict[str, dict[float, float]]:
    """Largest error of a coordinate [m, rad] in study 1b over 2 s, by scheme and step; infinite where it is lost."""
    schemes = {name: make() for name, make in SCHEMES.items()}
    schemes |= {f"own step, {k} passes": (with_passes(k), "rk4") for k in PASSES_TRIED if k != 6}  # type: ignore[misc]
    exact = study(0.0, 1.6, 0.0, 2.0, 5e-5).states[:, :8]
    return {name: {h: _error(scheme, h, exact) for h in STEPS} for name, scheme in schemes.items()}


def _error(scheme: Any, step: float, exact: np.ndarray) -> float:
    try:
        found = study(0.0, 1.6, 0.0, 2.0, step, scheme=scheme).states[:, :8]
    except DivergedError:
        return math.inf
    every = round(1e-2 / step)
    return float(np.abs(found[::every] - exact[:: round(1e-2 / 5e-5)]).max())


def loop(plant: Plant, integrator: str, lanes: int) -> ClosedLoop:
    """Return the taught situations as a closed loop at 1 ms."""
    situations = [sscq.Situation(**s) for s in BALANCING_VEHICLE.situations["taught"]]
    laws = tuple(controllers.PID() for _ in range(3))
    return ClosedLoop(plant, laws, situations, 1e-3, integrator=integrator, lanes=lanes)


STEPS_OF_TAUGHT = sum(round(s["t_end"] / 1e-3) for s in BALANCING_VEHICLE.situations["taught"])


def times(size: Size) -> dict[str, Timing]:
    """Time of one step and rollout [s], one thread."""
    n = LANES
    theta = np.tile(NOMINAL_GAINS, (n, 1))
    loops = {f"{name}, {LANES} lanes": loop(*make(), LANES) for name, make in SCHEMES.items()}
    loops |= {
        f"own step, {k} passes, {LANES} lanes": loop(with_passes(k), "rk4", LANES) for k in PASSES_TRIED if k != 6
    }
    loops |= {f"{name}, one lane": loop(*SCHEMES[name](), 1) for name in SCHEMES if "explicit" not in name}
    calls = {name: lambda it=it: it.evaluate(theta, 1) for name, it in loops.items()}
    return {name: t.per(n * STEPS_OF_TAUGHT) for name, t in alternate(calls, max(2, size.rounds // 20)).items()}


@dataclass(frozen=True)
class Course:
    """Outcome of one closed-loop run of study 3: end [s], whether it fell, pitch and yaw there [rad], heat [J]."""

    end: float
    fell: bool
    pitch: float
    yaw: float
    heat: float


class Cascade:
    """The source's cascade with its nominal gains and no anti-windup."""

    def __init__(self, speed: float, period: float, *, encoder: bool) -> None:
        self.target, self.period, self.encoder = speed, period, encoder
        self.along = self.around = 0.0
        self.p = VehicleParameters(**BALANCER)

    def __call__(self, _: float, x: Any) -> tuple[float, float]:
        """Torques [N m]."""
        error = self.target - (encoder_speed if self.encoder else true_speed)(x, self.p)
        self.along += self.period * error
        self.around -= self.period * x[11]
        lean = min(0.3, max(-0.3, 0.2 * error + 0.08 * self.along))
        both, turn = 60.0 * (x[5] - lean) + 8.0 * x[13], -2.0 * x[11] + 4.0 * self.around
        left, right = (min(6.0, max(-6.0, 0.5 * (both + s * turn))) for s in (-1.0, 1.0))
        return left, right


def study_3(scales: tuple[float, float], *, encoder: bool) -> Course:
    """2 m/s from rest with both wheels' friction scaled from 0.3 s on, at 1 ms."""
    law, x, p, h = Cascade(2.0, 1e-3, encoder=encoder), standing(), BALANCING_VEHICLE.nominal(), 1e-3
    names, heat, k = [q.name for q in BALANCING_VEHICLE.measurements], 0.0, 0
    parts = [names.index(f"heat_{kind}") for kind in ("sliding", "bristle", "viscous")]
    for k in range(8000):
        w = (*(scales if k * h >= 0.3 else (1.0, 1.0)), 0.0, 0.0)
        u = law(k * h, x)
        if k % 10 == 0:
            shown = BALANCING_VEHICLE.outputs(k * h, x, u, w, p)
            heat += 10.0 * h * sum(shown[i] for i in parts)
        x = BALANCING_VEHICLE.advance(k * h, x, u, w, p, h)  # type: ignore[misc]
        if abs(x[5]) > 1.4:
            break
    return Course((k + 1) * h, abs(x[5]) > 1.4, x[5], x[3], heat)


BUMP = BALANCER | {"bump_L": 0.04, "bump_R": 0.04, "bump_x": 2.0, "bump_length": 0.2}


def bump(halvings: tuple[int, int], t_end: float = 6.0) -> tuple[int, float, float, float]:
    """A bump of 4 cm at 2 m/s: steps, place at the end [m], largest and smallest gap [m]."""
    x = list(standing())
    x[8], x[14], x[15] = 2.0, 2.0 / BALANCER["r"], 2.0 / BALANCER["r"]
    law = Cascade(2.0, PERIOD, encoder=False)
    done = variable(t_end, PERIOD, tuple(x), law, parameters=BUMP, halvings=halvings)
    return done.steps, float(done.states[-1, 0]), float(done.gaps.max()), float(done.gaps.min())


AIM = 3.0  # times one lane
SHOWN = (next(iter(SCHEMES)), "rosenbrock")


def vehicle_lanes(size: Size) -> FigureSection:
    """Time the taught situations in closed loop, in turns on one thread."""
    section = FigureSection("vehicle_lanes", "Stiff friction in lanes: the balancing vehicle in closed loop")
    theta = np.tile(NOMINAL_GAINS, (LANES, 1))
    loops = {(name, n): loop(*SCHEMES[name](), n) for name in SHOWN for n in (LANES, 1)}
    calls = {f"{name}, {n}": lambda it=it: it.evaluate(theta, 1) for (name, n), it in loops.items()}
    times = alternate(calls, max(2, size.rounds // 20))
    for name in SHOWN:
        for n in (LANES, 1):
            each = times[f"{name}, {n}"].per(LANES * STEPS_OF_TAUGHT)
            section.time(f"one step, {name}, lanes: {n}", each, "ns", 1e9)
        factor = ratio(times[f"{name}, 1"], times[f"{name}, {LANES}"])
        section.ratio(f"{name}: one lane / {LANES} lanes", factor, at_least(factor, AIM))
    return section
