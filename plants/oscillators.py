"""Oscillators with one degree of freedom: Van der Pol, and one with nonlinear inertia.

Both carry one excitation xi that acts as a parameter (on the stiffness) and as a force.

Source: the equations are those of the loop-free simulation studies US 2004/0039555 and WO 2004/012098.
"""

from __future__ import annotations

from typing import Any

from plants.core.plant import Channel, OperatingPoint, Plant, Quantity
from plants.core.registry import register
from plants.excitation import UniformFilter, WhiteNoise

Numbers = tuple[Any, ...]

_STATES = (
    Quantity("position", "m", 0.1, -100.0, 100.0, "coordinate q"),
    Quantity("velocity", "m/s", 0.0, -1000.0, 1000.0, "rate of q"),
)
_FORCE = (Quantity("force", "N", 0.0, text="control force on q"),)
_EXCITATION = (Quantity("excitation", "N", 0.0, text="xi: on the stiffness [1] and as a force [N]"),)
_CHANNEL = (Channel(output="position", rate="velocity", scale=1.0, low=-20.0, high=20.0, collocated=True),)
_POINTS = tuple(OperatingPoint(f"position {q:g}", (q, 0.0)) for q in (0.0, 0.5, 1.0, 1.5, 2.0))


def _task(parameter: str, nominal: float = 1.0) -> dict[str, list[dict[str, Any]]]:
    """Return the control task of both oscillators; unforeseen situations double and halve `parameter`."""
    usual, strong = WhiteNoise(0.3, hold=0.1), WhiteNoise(0.6, hold=0.1)
    flat = WhiteNoise(0.48, hold=0.1, density="uniform")
    return {
        "taught": [
            {"name": "step up", "reference": 1.5, "initial": (0.1, 0.0), "excitation": usual, "seed": 1},
            {"name": "return to rest", "reference": 0.0, "initial": (2.0, 0.0), "excitation": usual, "seed": 2},
            {"name": "step down", "reference": -1.0, "initial": (1.5, -1.0), "excitation": usual, "seed": 3},
            {"name": "swing across", "reference": 0.5, "initial": (-2.0, 0.0), "excitation": usual, "seed": 4},
        ],
        "validation": [
            {"name": "far step", "reference": 2.0, "initial": (0.0, 0.0), "excitation": usual, "seed": 6},
            {"name": "uniform noise", "reference": -0.5, "initial": (1.8, 0.5), "excitation": flat, "seed": 7},
            {"name": "negative step", "reference": -1.8, "initial": (0.5, 0.0), "excitation": usual, "seed": 8},
        ],
        "unforeseen": [
            {"name": "farther step", "reference": 2.5, "initial": (0.0, 0.0), "excitation": usual, "seed": 11},
            {"name": "other noise", "reference": 1.5, "initial": (0.1, 0.0), "seed": 12,
             "excitation": UniformFilter(1.2, 10.0)},
            {"name": "doubled parameter", "reference": 0.0, "initial": (2.5, 0.1), "excitation": usual, "seed": 13,
             "parameters": {parameter: 2.0 * nominal}},
            {"name": "doubled noise", "reference": -1.5, "initial": (1.0, 0.0), "excitation": strong, "seed": 14},
            {"name": "halved parameter", "reference": 1.0, "initial": (-2.0, 2.0), "excitation": usual, "seed": 15,
             "parameters": {parameter: 0.5 * nominal}},
        ],
    }  # fmt: skip


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power [W] of the control force and of the excitation, which acts on the stiffness and as a force."""
    q, v = x
    return (u[0] + w[0] - w[0] * q) * v


def van_der_pol_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of q and q': q'' + mu (q^2 - 1) q' + (1 + xi) q = u + xi."""
    q, v = x
    (force,) = u
    (xi,) = w
    (mu,) = p
    return v, mu * (1.0 - q * q) * v - (1.0 + xi) * q + force + xi


def van_der_pol_energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J] for unit mass and stiffness."""
    q, v = x
    return 0.5 * (v * v + q * q)


def van_der_pol_entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: mu (q^2 - 1) q'^2, negative (energy is fed in) for |q| < 1."""
    q, v = x
    return p[0] * (q * q - 1.0) * v * v


VAN_DER_POL = register(
    Plant(
        name="van_der_pol",
        states=_STATES,
        parameters=(Quantity("mu", "N s/m", 1.0, 0.0, 10.0, "strength of the self-excitation"),),
        inputs=_FORCE,
        disturbances=_EXCITATION,
        channels=_CHANNEL,
        derivative=van_der_pol_derivative,
        energy=van_der_pol_energy,
        supplied_power=supplied_power,
        entropy_rate=van_der_pol_entropy_rate,
        operating_points=_POINTS,
        situations=_task("mu"),
        text="Van der Pol oscillator, unit mass and stiffness, parametric and additive excitation.",
    )
)


def nonlinear_inertia_mass_matrix(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> tuple[Numbers, ...]:
    """Inertia [kg]: 1 + a3 q^2."""
    return ((1.0 + p[2] * x[0] * x[0],),)


def nonlinear_inertia_force(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """All that does not carry q'' [N]."""
    q, v = x
    a1, a2, a3, a4 = p
    damping = (a1 * q * q + a4) * v
    return (u[0] + w[0] - damping - a2 * q * q * q - a3 * q * v * v - (1.0 + w[0]) * q,)


def nonlinear_inertia_acceleration(
    t: Any,
    x: Numbers,
    a: Numbers,
    u: Numbers,
    w: Numbers,
    p: Numbers,
) -> Numbers:
    """q'' from the equation solved for it, with q'' on the right as well: the algebraic loop of gain a3 q^2."""
    return (nonlinear_inertia_force(t, x, u, w, p)[0] - p[2] * x[0] * x[0] * a[0],)


def nonlinear_inertia_energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J]: the inertia term conserves energy."""
    q, v = x
    return 0.5 * (1.0 + p[2] * q * q) * v * v + 0.5 * q * q + 0.25 * p[1] * q * q * q * q


def nonlinear_inertia_entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: (a1 q^2 + a4) q'^2."""
    q, v = x
    return (p[0] * q * q + p[3]) * v * v


NONLINEAR_INERTIA = register(
    Plant(
        name="nonlinear_inertia",
        states=_STATES,
        parameters=(
            Quantity("a1", "N s/m^3", 0.5, 0.0, 10.0, "damping that grows with q^2"),
            Quantity("a2", "N/m^3", 0.1, 0.0, 10.0, "cubic stiffness"),
            Quantity("a3", "kg/m^2", 0.4, 0.0, 10.0, "inertia that grows with q^2: the algebraic loop"),
            Quantity("a4", "N s/m", 0.2, 0.0, 10.0, "linear damping"),
        ),
        inputs=_FORCE,
        disturbances=_EXCITATION,
        channels=_CHANNEL,
        mass_matrix=nonlinear_inertia_mass_matrix,
        force=nonlinear_inertia_force,
        acceleration=nonlinear_inertia_acceleration,
        energy=nonlinear_inertia_energy,
        supplied_power=supplied_power,
        entropy_rate=nonlinear_inertia_entropy_rate,
        operating_points=_POINTS,
        situations=_task("a1", 0.5),
        text="q'' + a1 q^2 q' + a2 q^3 + a3 q (q q'' + q'^2) + a4 q' + (1 + xi) q = u + xi.",
    )
)
