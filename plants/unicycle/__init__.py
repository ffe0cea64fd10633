"""The robotic unicycle: a wheel that rolls without slip, a body on its axle, two pedalling legs and a turntable.

Axes x forward, y left, z up; roll gamma is positive to the right, pitch beta forward, yaw alpha to the left. Each leg
closes a four-bar loop of body, thigh, shank and crank. Equal and opposite pedal torques drive the wheel, the reaction
of the turntable steers it.

Source: the model of Fig. 10 of US 2004/0039555 A1 and the equations that follow it, derived anew in minimal
coordinates with the terms of a rolling wheel that the source leaves out.
"""

from plants.unicycle.model import (
    UNICYCLE,
    UNICYCLE_BALANCED,
    UNICYCLE_PUSHED,
    UNICYCLE_REGION,
    UNICYCLE_SPEED_HOLD,
)
from plants.unicycle.motion import BETA0, trim

__all__ = [
    "BETA0", "UNICYCLE", "UNICYCLE_BALANCED", "UNICYCLE_PUSHED", "UNICYCLE_REGION", "UNICYCLE_SPEED_HOLD", "trim",
]  # fmt: skip
