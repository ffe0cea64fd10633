"""The car's numbers: body, two axles, four corners, and what a load changes of them.

All values are chosen for a passenger car of the compact class; `_front` and `_rear` are those of the left side, the
right side is its mirror image. A load changes mass, inertia and centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plants.core.quantities import Quantity

WHEELS = ("i", "ii", "iii", "iv")
"""Front left, front right, rear left, rear right."""
LEFT = (True, False, True, False)
C_MIN, C_MAX = 300.0, 8000.0  # N s/m, range of the adjustable dampers
CS_FRONT, CS_REAR = 3000.0, 2700.0  # N s/m, as built

_BODY = (
    Quantity("g", "m/s^2", 9.81, 0.0, 30.0, "acceleration of free fall"),
    Quantity("mb", "kg", 1300.0, 100.0, 1e4, "mass of the body"),
    Quantity("Ibx", "kg m^2", 480.0, 10.0, 1e5, "roll inertia of the body"),
    Quantity("Iby", "kg m^2", 1900.0, 10.0, 1e5, "pitch inertia of the body"),
    Quantity("a0", "m", -1.25, -5.0, 5.0, "centre of mass ahead of the front axle"),
    Quantity("b0", "m", 0.0, -1.0, 1.0, "centre of mass left of the middle"),
    Quantity("c0", "m", 0.04, -1.0, 2.0, "centre of mass above the reference point"),
    Quantity("kzf", "N/m", 25000.0, 0.0, 1e6, "front stabiliser, at its links"),
    Quantity("kzr", "N/m", 12000.0, 0.0, 1e6, "rear stabiliser, at its links"),
)

# Name, unit, front, rear, low, high, text.
_AXLE = (
    ("a1", "m", 1.30, -1.40, -5.0, 5.0, "axle ahead of the reference point"),
    ("b2", "m", 0.42, 0.40, 0.1, 2.0, "corner frame left of the middle"),
    ("gam", "rad", -0.15, -0.12, -1.0, 1.0, "tilt of the corner frame"),
    ("c1", "m", 0.35, 0.32, 0.05, 2.0, "hinge of the strut above the corner frame"),
    ("c2", "m", -0.25, -0.24, -1.0, -0.01, "hinge of the arm above the corner frame"),
    ("e0", "m", 0.20, 0.20, 0.0, 2.0, "link of the stabiliser along the arm"),
    ("e1", "m", 0.17, 0.18, 0.0, 2.0, "centre of mass of the arm"),
    ("e2", "m", 0.26, 0.27, 0.01, 0.5, "foot of the strut along the arm"),
    ("e3", "m", 0.36, 0.38, 0.05, 2.0, "centre of the wheel along the arm"),
    ("d1", "m", 0.25, 0.24, 0.0, 2.0, "mass of the strut to its foot"),
    ("ms", "kg", 5.0, 4.5, 0.01, 1e3, "mass of the strut"),
    ("ma", "kg", 6.0, 5.5, 0.0, 1e3, "mass of the arm"),
    ("mw", "kg", 36.0, 34.0, 0.1, 1e3, "mass of the wheel"),
    ("Iax", "kg m^2", 0.065, 0.066, 0.0, 100.0, "inertia of the arm"),
    ("ks", "N/m", 40000.0, 36000.0, 0.0, 1e6, "spring of the strut"),
    ("ls", "m", -0.492, -0.4765, -3.0, 0.0, "coordinate z6 at which that spring is free"),
    ("cs", "N s/m", CS_FRONT, CS_REAR, 0.0, 1e5, "damper as it is: a worn one gives less at every setting"),
    ("kw", "N/m", 190000.0, 190000.0, 1.0, 1e7, "tyre"),
    ("lw", "m", -0.323, -0.3295, -3.0, 0.0, "coordinate z12 at which the tyre is free"),
    ("cw", "N s/m", 150.0, 150.0, 0.0, 1e5, "damping of the tyre"),
)

PARAMETERS = _BODY + tuple(
    Quantity(f"{name}_{axle}", unit, (front, rear)[k], low, high, f"{text}, {axle}")
    for name, unit, front, rear, low, high, text in _AXLE
    for k, axle in enumerate(("front", "rear"))
)
_N_BODY = len(_BODY)


@dataclass(frozen=True)
class Axle:
    """The numbers of one axle, on its left side."""

    a1: Any
    b2: Any
    gam: Any
    c1: Any
    c2: Any
    e0: Any
    e1: Any
    e2: Any
    e3: Any
    d1: Any
    ms: Any
    ma: Any
    mw: Any
    Iax: Any
    ks: Any
    ls: Any
    cs: Any
    kw: Any
    lw: Any
    cw: Any


@dataclass(frozen=True)
class Car:
    """All numbers of the car, by name."""

    g: Any
    mb: Any
    Ibx: Any
    Iby: Any
    a0: Any
    b0: Any
    c0: Any
    kzf: Any
    kzr: Any
    front: Axle
    rear: Axle

    @classmethod
    def of(cls, p: tuple[Any, ...]) -> Car:
        """Return the parameters `p`, in the order of `PARAMETERS`, by name."""
        numbers: tuple[Any, ...] = (*p[:_N_BODY], Axle(*p[_N_BODY::2]), Axle(*p[_N_BODY + 1 :: 2]))
        return cls(*numbers)

    @property
    def axles(self) -> tuple[Axle, Axle, Axle, Axle]:
        """The axle of each wheel."""
        return (self.front, self.front, self.rear, self.rear)

    @property
    def body_at(self) -> Any:
        """Centre of mass ahead of the reference point [m]."""
        return self.a0 + self.front.a1

    @property
    def worn(self) -> tuple[Any, Any, Any, Any]:
        """What each damper gives of the coefficient that is set: 1 where it is as built."""
        front, rear = self.front.cs * (1.0 / CS_FRONT), self.rear.cs * (1.0 / CS_REAR)
        return (front, front, rear, rear)


def loaded(mass: float, along: float = -1.2, above: float = 0.2) -> dict[str, float]:
    """Return the parameters of the car with a point load [kg].

    Parameters
    ----------
    along, above : float
        Place of the load ahead of and above the reference point [m]; nominally just before the rear axle.
    """
    nominal = {q.name: q.nominal for q in PARAMETERS}
    body, place = nominal["mb"], nominal["a0"] + nominal["a1_front"]
    total = body + mass
    centre = (body * place + mass * along) / total
    height = (body * nominal["c0"] + mass * above) / total
    lifted = body * (nominal["c0"] - height) ** 2 + mass * (above - height) ** 2
    apart = body * (place - centre) ** 2 + mass * (along - centre) ** 2
    return {
        "mb": total, "a0": centre - nominal["a1_front"], "c0": height,
        "Ibx": nominal["Ibx"] + lifted, "Iby": nominal["Iby"] + lifted + apart,
    }  # fmt: skip
