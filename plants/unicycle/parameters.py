"""The robotic unicycle's numbers: wheel, body, two pairs of links, turntable, friction.

All values are chosen for a laboratory robot about 1 m high without a rider of flesh, with inertias of rods, discs and
boxes; the source prints none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from plants.core.quantities import Quantity

LINKS = ("L1", "L2", "L3", "L4")
"""Right thigh, left thigh, right shank, left shank."""


def _inertias(label: str, values: tuple[float, float, float], text: str) -> tuple[Quantity, ...]:
    return tuple(
        Quantity(f"I{label}{axis}", "kg m^2", value, 0.0, 10.0, f"{text}, about its {axis} axis")
        for axis, value in zip("xyz", values, strict=True)
    )


def _length(name: str, nominal: float, text: str, low: float = 1e-3, high: float = 3.0) -> Quantity:
    return Quantity(name, "m", nominal, low, high, text)


def _mass(name: str, nominal: float, text: str) -> Quantity:
    return Quantity(name, "kg", nominal, 1e-3, 500.0, text)


def _friction(name: str, nominal: float, text: str) -> Quantity:
    return Quantity(name, "N m s", nominal, 0.0, 100.0, text)


_THIGH, _SHANK = (0.0002, 0.0015, 0.0015), (0.0030, 0.0030, 0.00015)
PARAMETERS = (
    Quantity("g", "m/s^2", 9.81, 0.0, 30.0, "acceleration of free fall"),
    _length("Rw", 0.15, "radius of the wheel"),
    # Between these bounds both legs reach their pedals with bent knees, whatever is chosen of the four and the pitch.
    _length("e1", 0.40, "hips above the axle", 0.34, 0.46),
    _length("e2", 0.12, "thigh, from the hip to its mass centre; its length is twice that", 0.105, 0.15),
    _length("e3x", 0.06, "radius of the cranks", 0.01, 0.08),
    _length("e4L", 0.38, "length of a shank", 0.34, 0.46),
    _length("e5", 0.40, "mass centre of the body above the axle", -3.0),
    _length("e6", 0.70, "turntable above the axle", -3.0),
    _length("k1", 0.06, "lateral offset of the thighs, to the right of the middle and to the left", 0.0),
    _length("yk1", 0.09, "lateral offset of the shanks", 0.0),
    _length("dz", 0.19, "shank, from the pedal to its mass centre", 0.0),
    Quantity("psi0", "rad", 0.0, -7.0, 7.0, "crank angle where the wheel's angle is 0"),
    _mass("MW", 3.0, "wheel and axle"),
    _mass("MB", 8.0, "body"),
    _mass("ML1", 0.30, "right thigh"),
    _mass("ML2", 0.30, "left thigh"),
    _mass("ML3", 0.25, "right shank"),
    _mass("ML4", 0.25, "left shank"),
    _mass("MTt", 5.0, "turntable with its motor's rotor"),
    *_inertias("W", (0.020, 0.036, 0.020), "wheel and axle"),
    *_inertias("B", (0.30, 0.28, 0.06), "body"),
    *_inertias("L1", _THIGH, "right thigh"),
    *_inertias("L2", _THIGH, "left thigh"),
    *_inertias("L3", _SHANK, "right shank"),
    *_inertias("L4", _SHANK, "left shank"),
    *_inertias("T", (0.07, 0.09, 0.15), "turntable"),
    _friction("Dcor", 1.0, "of the tyre on the ground while the wheel yaws"),
    _friction("Dg", 0.005, "of the bearing between body and wheel, torque 2 Dg (beta' - theta_w')"),
    _friction("D1", 0.005, "of the right hip, on theta_1'"),
    _friction("D2", 0.005, "of the left hip, on theta_2'"),
    _friction("D3", 0.005, "of the right pedal, on theta_3'"),
    _friction("D4", 0.005, "of the left pedal, on theta_4'"),
    _friction("DTt", 0.002, "of the turntable's bearing, torque 2 DTt eta'"),
    _friction("Droll", 0.0, "rolling resistance, on theta_w'"),
    Quantity(
        "nh", "1", 1.0, 0.0, 1.0, "1: the equations of a rolling wheel; 0: without the terms the source leaves out"
    ),
)
NOMINAL = tuple(q.nominal for q in PARAMETERS)


class Inertia(NamedTuple):
    """Principal moments [kg m^2], y along the axle."""

    x: Any
    y: Any
    z: Any


@dataclass(frozen=True)
class Unicycle:
    """All numbers by name; inertias in threes, `links` in the order of `LINKS`."""

    g: Any
    Rw: Any
    e1: Any
    e2: Any
    e3x: Any
    e4L: Any  # noqa: N815  (the source's name)
    e5: Any
    e6: Any
    k1: Any
    yk1: Any
    dz: Any
    psi0: Any
    MW: Any
    MB: Any
    ML: tuple[Any, Any, Any, Any]
    MTt: Any
    IW: Inertia
    IB: Inertia
    IL: tuple[Inertia, Inertia, Inertia, Inertia]
    IT: Inertia
    Dcor: Any
    Dg: Any
    D: tuple[Any, Any, Any, Any]
    DTt: Any
    Droll: Any
    nh: Any

    @classmethod
    def of(cls, p: tuple[Any, ...]) -> Unicycle:
        """Return the parameters `p`, in the order of `PARAMETERS`, by name."""
        wheel, body, *links, table = (Inertia(*p[19 + k : 22 + k]) for k in range(0, 21, 3))
        right, left, right_shank, left_shank = links
        numbers: tuple[Any, ...] = (
            *p[:14], (p[14], p[15], p[16], p[17]), p[18], wheel, body, (right, left, right_shank, left_shank), table,
            p[40], p[41], (p[42], p[43], p[44], p[45]), *p[46:],
        )  # fmt: skip
        return cls(*numbers)
