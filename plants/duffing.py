"""Duffing oscillator: cubic stiffness, here with two wells and a hill between them, and dry friction if wanted.

m q'' + c q' + alpha q + beta q^3 + F tanh(q' / v_s) = u + w. With alpha < 0 rest at q = 0 is unstable and the wells lie
at q = +-sqrt(-alpha / beta). Coulomb friction of size F is smooth: F sgn q' within 2.5 % beyond |q'| = 2.2 v_s, and a
viscous friction F / v_s near rest, so that nothing sticks for ever.

Source: J. Guckenheimer and P. Holmes, Nonlinear Oscillations, Dynamical Systems, and Bifurcations of Vector Fields
(Springer, 1983), section 2.2; I. Kovacic and M. J. Brennan, The Duffing Equation (Wiley, 2011).
"""

from __future__ import annotations

from typing import Any

from plants.core.elementary import tanh
from plants.core.plant import Channel, OperatingPoint, Plant, Quantity
from plants.core.registry import register
from plants.excitation import Sine, UniformFilter, WhiteNoise

Numbers = tuple[Any, ...]

_USUAL = WhiteNoise(0.1, hold=0.1)  # N^2
_STRONG = WhiteNoise(0.3, hold=0.1)
_FORCED = Sine(0.3, 0.19) + WhiteNoise(0.05, hold=0.1)  # 1.2 rad/s, near the wells' own sqrt(2)


def _friction(velocity: Any, p: Numbers) -> Any:
    """Dry friction [N]."""
    return p[4] * tanh(velocity / p[5])


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of position [m] and velocity [m/s]."""
    q, v = x
    mass, damping, linear, cubic = p[:4]
    return v, (u[0] + w[0] - damping * v - _friction(v, p) - linear * q - cubic * q * q * q) / mass


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J], 0 at rest on the hill."""
    q, v = x
    square = q * q
    return 0.5 * (p[0] * v * v + p[2] * square) + 0.25 * p[3] * square * square


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of control force and excitation [W]."""
    return (u[0] + w[0]) * x[1]


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: viscous and dry friction, c q'^2 + F q' tanh(q' / v_s)."""
    return p[1] * x[1] * x[1] + _friction(x[1], p) * x[1]


def _case(
    name: str, target: float, initial: Numbers, seed: int, excitation: Any = _USUAL, **more: Any
) -> dict[str, Any]:
    return {
        "name": name, "reference": target, "initial": initial, "seed": seed, "excitation": excitation, "t_end": 20.0,
        **more,
    }  # fmt: skip


_SITUATIONS = {
    "taught": [
        _case("onto the hill", 0.0, (1.0, 0.0), 1),
        _case("across", 1.0, (-1.0, 0.0), 2),
        _case("up the wall", -1.8, (-0.8, 0.0), 3),
        _case("slope", 0.5, (0.0, -0.5), 4),
    ],
    "validation": [
        _case("back across", -1.2, (1.1, 0.0), 6),
        _case("other slope", -0.4, (0.8, 0.5), 7),
    ],
    "unforeseen": [
        _case("high up the wall", 2.3, (0.0, 0.0), 11),
        _case("dry friction", 0.6, (-1.0, 0.0), 12, parameters={"friction": 0.3}),
        _case("stiffer", -1.5, (1.0, 0.5), 13, parameters={"linear": -1.3, "cubic": 1.3, "mass": 1.3}),
        _case("softer", 0.0, (-1.8, 0.0), 14, parameters={"linear": -0.7, "cubic": 0.7, "damping": 0.07}),
        _case("strong noise", 1.4, (0.2, 0.0), 15, _STRONG),
        _case("periodic force", -0.2, (1.0, 0.0), 16, _FORCED),
        _case("other noise", 0.9, (-1.5, 1.0), 17, UniformFilter(0.8, 10.0)),
    ],
}

DUFFING = register(
    Plant(
        name="duffing",
        states=(
            Quantity("position", "m", 0.1, -20.0, 20.0, "coordinate q"),
            Quantity("velocity", "m/s", 0.0, -500.0, 500.0, "rate of q"),
        ),
        parameters=(
            Quantity("mass", "kg", 1.0, 1e-3, 100.0),
            Quantity("damping", "N s/m", 0.1, 0.0, 10.0, "c: viscous"),
            Quantity("linear", "N/m", -1.0, -100.0, 100.0, "alpha: linear stiffness; two wells where it is negative"),
            Quantity("cubic", "N/m^3", 1.0, 0.0, 100.0, "beta: cubic stiffness"),
            Quantity("friction", "N", 0.0, 0.0, 10.0, "F: dry friction; 0: none"),
            Quantity("friction_speed", "m/s", 0.05, 1e-3, 1.0, "v_s: speed at which dry friction is 76 % of F"),
        ),
        inputs=(Quantity("force", "N", 0.0, text="control force on q"),),
        disturbances=(Quantity("excitation", "N", 0.3, text="force; its usual size (standard deviation)"),),
        channels=(
            Channel(output="position", rate="velocity", scale=1.0, low=-20.0, high=20.0, gains_high=(15.0, 10.0, 8.0)),
        ),
        derivative=derivative,
        energy=energy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        operating_points=tuple(OperatingPoint(f"position {q:g}", (q, 0.0)) for q in (-1.0, 0.0, 0.5, 1.0, 2.0)),
        situations=_SITUATIONS,
        text="Duffing oscillator with two wells, m q'' + c q' + alpha q + beta q^3 + F tanh(q'/v_s) = u + w.",
    )
)
