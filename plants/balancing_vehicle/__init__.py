"""The two-wheeled balancing vehicle on real ground: LuGre friction, one-sided contact, and ideal rolling beside it.

x forward, y left, z up; yaw psi, roll phi, pitch theta; wheels turn by aL and aR against the platform. Rolling is not
imposed: it results from friction, so slip, side slip and lift-off can all occur.

Source: friction after Canudas de Wit et al. (1995); phenomena after Wang, Zhang, Yao, System dynamics of two-wheel
self-balance vehicle based on LuGre friction model; equations derived anew by virtual power.
"""

from plants.balancing_vehicle.model import (
    BALANCING_VEHICLE,
    BALANCING_VEHICLE_RIGID,
    BALANCING_VEHICLE_SLIPPERY,
    NOMINAL_GAINS,
    on_rigid_ground,
)
from plants.balancing_vehicle.no_slip import BALANCING_VEHICLE_NO_SLIP
from plants.balancing_vehicle.parameters import BALANCER, PARAMETER_SETS, STUDY
from plants.balancing_vehicle.tasks import dropped, standing

__all__ = [
    "BALANCER", "BALANCING_VEHICLE", "BALANCING_VEHICLE_NO_SLIP", "BALANCING_VEHICLE_RIGID",
    "BALANCING_VEHICLE_SLIPPERY", "NOMINAL_GAINS", "PARAMETER_SETS", "STUDY", "dropped", "on_rigid_ground", "standing",
]  # fmt: skip
