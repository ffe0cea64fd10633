"""The balancing vehicle's studies in open loop: rolling and slipping, and the fall of friction under one wheel.

Parameter set "study", by the Rosenbrock method: the centre of mass hangs below the axle, so that given torques act for
seconds without a controller.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import plants
from plants.balancing_vehicle import BALANCING_VEHICLE, STUDY, standing
from plants.excitation import Sine, Step

if TYPE_CHECKING:
    from plants import Trajectory

EQUATIONS = replace(BALANCING_VEHICLE, advance=None)
REFERENCE = 2e-4  # s: errors of the Rosenbrock method there are below 1e-6 of every state (tests)
RADIUS = float(STUDY["r"])


def study(level: float, swing: float, drop: float, t_end: float, step: float = REFERENCE, **more: Any) -> Trajectory:
    """Open loop on the study's parameters: constant torque, sine of 2 rad/s, friction drop on the left at 2 s."""
    tau = level + Sine(swing, 1.0 / math.pi)
    plant, integrator = more.get("scheme", (EQUATIONS, "rosenbrock"))
    return plants.simulate(
        plant,
        t_end,
        step,
        inputs={"tau_L": tau, "tau_R": tau},
        integrator=integrator,
        disturbances={"s_L": 1.0 + Step(drop, at=2.0)},
        initial=standing(0.0, STUDY),
        parameters=STUDY,
    )


@cache
def studies() -> dict[str, Trajectory]:
    """Return the studies 1a, 1b, 1c and 2."""
    return {
        "1a": study(0.5, 0.0, 0.0, 4.0),
        "1b": study(0.0, 1.6, 0.0, 4.0),
        "1c": study(0.0, 1.2, 0.0, 4.0),
        "2": study(0.5, 0.0, -0.9, 5.0),
    }
