"""Courses of the balancing vehicle that tests share: studies in open loop, and rolling over a bump without torques."""

import dataclasses
import math

import numpy as np

import plants
from plants.balancing_vehicle import BALANCING_VEHICLE, STUDY, standing
from plants.excitation import Sine, Step

EQUATIONS = dataclasses.replace(BALANCING_VEHICLE, advance=None)
CASES = {"1a": (0.5, 0.0, 0.0, 4.0), "1b": (0.0, 1.6, 0.0, 4.0), "2": (0.5, 0.0, -0.9, 5.0)}


def study(case, step, plant=EQUATIONS, integrator="rosenbrock", t_end=None, parameters=STUDY, initial=None):
    """Constant torque, a sine of it, and a drop of friction on the left: of one form, so one kernel serves all."""
    level, swing, drop, length = CASES[case] if isinstance(case, str) else case
    tau = level + Sine(swing, 1.0 / math.pi)
    return plants.simulate(
        plant, t_end or length, step, inputs={"tau_L": tau, "tau_R": tau}, integrator=integrator,
        disturbances={"s_L": 1.0 + Step(drop, at=2.0)}, initial=initial or standing(0.0, STUDY),
        parameters=parameters,
    )  # fmt: skip


def own(case, step, **more):
    return study(case, step, plant=BALANCING_VEHICLE, integrator="rk4", **more)


def rolling_on(speed):
    """Rolling without torques; slung below the axle, so that nothing falls."""
    x = list(standing(0.0, STUDY))
    x[8], x[14], x[15] = speed, speed / 0.15, speed / 0.15
    return tuple(x)


def energy(states, p):
    still = ((0.0, 0.0), (1.0, 1.0, 0.0, 0.0), tuple(p.values()))
    return np.array([BALANCING_VEHICLE.energy(0.0, tuple(x), *still) for x in states])


ONE_BUMP = STUDY | {"mu_s": 0.8, "mu_k": 0.6, "c_b": 0.0, "bump_L": 0.04, "bump_x": 0.5, "bump_length": 0.2}
BUMP = ONE_BUMP | {"bump_R": 0.04}
