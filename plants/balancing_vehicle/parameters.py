"""Parameters of the vehicle and of the ground, and the parameter sets."""

from __future__ import annotations

from typing import Any, NamedTuple

from plants.core.quantities import Quantity
from plants.friction import LuGre

GRAVITY = 9.81  # m/s^2
PATCH_EDGE = 0.02  # m, over which the ground of the patch changes
LENGTH, WIDTH, WHEEL_WIDTH = 0.30, 0.50, 0.04  # m: of the platform's box and of a wheel, for their inertias
SIDES = (1.0, -1.0)  # left, right


def box(mass: float, height: float) -> dict[str, float]:
    """Return the inertias [kg m^2] of the platform as a homogeneous box of the `height` [m]."""
    return {
        "I_px": mass * (WIDTH**2 + height**2) / 12.0,
        "I_py": mass * (LENGTH**2 + height**2) / 12.0,
        "I_pz": mass * (LENGTH**2 + WIDTH**2) / 12.0,
    }


_BOX = box(10.0, 0.40)
_WHEEL = {"I_a": 0.5 * 0.15**2, "I_d": 0.25 * 0.15**2 + WHEEL_WIDTH**2 / 12.0}  # of 1 kg

PARAMETERS = (
    Quantity("m_p", "kg", 10.0, 0.1, 1e3, "mass of the platform"),
    Quantity("m_w", "kg", 1.0, 1e-3, 1e3, "mass of a wheel"),
    Quantity("r", "m", 0.15, 1e-3, 10.0, "radius of the wheels"),
    Quantity("b", "m", 0.50, 1e-3, 10.0, "track, from wheel centre to wheel centre"),
    Quantity("l", "m", 0.20, -10.0, 10.0, "height of the platform's centre of mass above the axle"),
    Quantity("I_px", "kg m^2", _BOX["I_px"], 1e-9, 1e4, "platform about its x axis"),
    Quantity("I_py", "kg m^2", _BOX["I_py"], 1e-9, 1e4, "platform about its y axis"),
    Quantity("I_pz", "kg m^2", _BOX["I_pz"], 1e-9, 1e4, "platform about its z axis"),
    Quantity("I_a", "kg m^2", _WHEEL["I_a"], 1e-9, 1e4, "wheel about the axle"),
    Quantity("I_d", "kg m^2", _WHEEL["I_d"], 1e-9, 1e4, "wheel about a diameter"),
    Quantity("c_b", "N m s", 0.01, 0.0, 10.0, "viscous friction of a bearing"),
    Quantity("sigma0", "1/m", 1e4, 1.0, 1e7, "bristle stiffness per unit load"),
    Quantity("sigma1", "s/m", 10.0, 0.0, 1e4, "bristle damping per unit load"),
    Quantity("v_d", "m/s", 0.1, -1.0, 10.0, "speed over which bristle damping fades; 0 or less: constant"),
    Quantity("sigma2", "s/m", 0.02, 0.0, 10.0, "viscous coefficient per unit load"),
    Quantity("mu_s", "1", 0.8, 1e-3, 5.0, "static friction"),
    Quantity("mu_k", "1", 0.6, 1e-3, 5.0, "kinetic friction"),
    Quantity("v_s", "m/s", 0.05, 1e-4, 10.0, "Stribeck velocity"),
    Quantity("averaging", "s", 5e-3, 1e-5, 0.1, "time over which gaps are averaged; at least 2.5 steps count"),
    Quantity("tau_max", "N m", 6.0, 0.0, 1e3, "torque limit of a motor"),
    Quantity("no_load_speed", "rad/s", 0.0, 0.0, 1e4, "where a motor has no torque left to accelerate; 0: no limit"),
    Quantity("encoder", "1", 0.0, 0.0, 1.0, "0: the true speed is controlled, 1: the encoders' speed"),
    Quantity("push_height", "m", 0.30, -10.0, 10.0, "of the pushes above the axle, along the body"),
    Quantity("payload", "kg", 0.0, 0.0, 1e3, "a point load on the platform"),
    Quantity("payload_x", "m", 0.0, -10.0, 10.0, "its place ahead of the axle"),
    Quantity("payload_y", "m", 0.0, -10.0, 10.0, "to the left of the middle"),
    Quantity("payload_z", "m", 0.40, -10.0, 10.0, "above the axle"),
    Quantity("slope_x", "1", 0.0, -0.5, 0.5, "rise of the ground along x"),
    Quantity("slope_y", "1", 0.0, -0.5, 0.5, "rise of the ground along y"),
    Quantity("bump_L", "m", 0.0, -1.0, 1.0, "height of the bump under the left wheel"),
    Quantity("bump_R", "m", 0.0, -1.0, 1.0, "height of the bump under the right wheel"),
    Quantity("bump_x", "m", 1.0, -1e3, 1e3, "where the bump begins"),
    Quantity("bump_length", "m", 0.4, 1e-3, 1e3, "of the bump along x"),
    Quantity("patch", "1", 1.0, 0.0, 10.0, "friction scale on a rectangular patch of other ground; 1: there is none"),
    Quantity("patch_x", "m", 1.0, -1e3, 1e3, "where the patch begins"),
    Quantity("patch_length", "m", 1.0, 1e-3, 1e4, "along x"),
    Quantity("patch_y", "m", 0.0, -1e3, 1e3, "middle of the patch across"),
    Quantity("patch_width", "m", 2.0, 1e-3, 1e4, "across"),
)

BALANCER = {q.name: q.nominal for q in PARAMETERS}
"""A balancing vehicle: its centre of mass is above the axle."""
STUDY = BALANCER | box(10.0, 0.10) | {"l": -0.08, "mu_s": 0.15, "mu_k": 0.10}
"""Slung below the axle, on slippery ground: open loops can be studied for seconds without a controller."""
PARAMETER_SETS = {"balancer": BALANCER, "study": STUDY}
"""Full parameter sets, for `parameters` of simulations and situations."""


class VehicleParameters(NamedTuple):
    """The parameters by name, each a number or traced: the fields are those of :data:`PARAMETERS`."""

    m_p: Any
    m_w: Any
    r: Any
    b: Any
    l: Any  # the source's letter
    I_px: Any
    I_py: Any
    I_pz: Any
    I_a: Any
    I_d: Any
    c_b: Any
    sigma0: Any
    sigma1: Any
    v_d: Any
    sigma2: Any
    mu_s: Any
    mu_k: Any
    v_s: Any
    averaging: Any
    tau_max: Any
    no_load_speed: Any
    encoder: Any
    push_height: Any
    payload: Any
    payload_x: Any
    payload_y: Any
    payload_z: Any
    slope_x: Any
    slope_y: Any
    bump_L: Any  # noqa: N815  (wheels are called L and R)
    bump_R: Any  # noqa: N815
    bump_x: Any
    bump_length: Any
    patch: Any
    patch_x: Any
    patch_length: Any
    patch_y: Any
    patch_width: Any

    @property
    def friction(self) -> LuGre:
        """Friction between a wheel and the ground, per unit load."""
        return LuGre(self.sigma0, self.sigma1, self.sigma2, self.mu_s, self.mu_k, self.v_s, self.v_d)
