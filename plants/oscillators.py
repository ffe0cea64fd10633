"""Oscillators with one degree of freedom: Van der Pol, one with nonlinear inertia, and Duffing's.

Van der Pol's and the one with nonlinear inertia carry one excitation xi that acts as a parameter (on the stiffness)
and as a force.

Duffing's has cubic stiffness, here with two wells and a hill between them, and dry friction if wanted: m q'' + c q' +
alpha q + beta q^3 + F tanh(q' / v_s) = u + w. With alpha < 0 rest at q = 0 is unstable and the wells lie at q =
+-sqrt(-alpha / beta). Coulomb friction of size F is smooth: F sgn q' within 2.5 % beyond |q'| = 2.2 v_s, and a
viscous friction F / v_s near rest, so that nothing sticks for ever.

Sources: the equations of the first two are those of the loop-free simulation studies US 2004/0039555 and WO
2004/012098; Duffing's: J. Guckenheimer and P. Holmes, Nonlinear Oscillations, Dynamical Systems, and Bifurcations of
Vector Fields (Springer, 1983), section 2.2; I. Kovacic and M. J. Brennan, The Duffing Equation (Wiley, 2011).
"""

from __future__ import annotations

from typing import Any

from plants.core.elementary import tanh
from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Sine, UniformFilter, WhiteNoise

Numbers = tuple[Any, ...]

_STATES = (
    Quantity("position", "m", 0.1, -100.0, 100.0, "coordinate q"),
    Quantity("velocity", "m/s", 0.0, -1000.0, 1000.0, "rate of q"),
)
_FORCE = (Quantity("force", "N", 0.0, text="control force on q"),)
_EXCITATION = (Quantity("excitation", "N", 0.0, text="xi: on the stiffness [1] and as a force [N]"),)
_CHANNEL = (
    Channel(output="position", rate="velocity", scale=1.0, low=-20.0, high=20.0, gains_high=(40.0, 10.0, 10.0)),
)
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


def _ranges(**parameters: tuple[float, float]) -> OperatingRanges:
    """Return the operating ranges of both oscillators, with those of their parameters."""
    return OperatingRanges(
        parameters=parameters,
        initial={"position": (-2.0, 2.5), "velocity": (-1.0, 2.0)},
        reference={"position": (-1.8, 2.5)},
        excitation={"excitation": (0.0, 0.6**0.5)},
        noise={"position": (0.0, 0.02)},
        delay=(0.0, 0.04),
        authority=(0.7, 1.0),
    )


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
        task=ControlTask(operating_points=_POINTS, situations=_task("mu"), ranges=_ranges(mu=(0.5, 2.0))),
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
        task=ControlTask(
            operating_points=_POINTS,
            situations=_task("a1", 0.5),
            ranges=_ranges(a1=(0.25, 1.0), a2=(0.07, 0.13), a3=(0.28, 0.52), a4=(0.14, 0.26)),
        ),
        text="q'' + a1 q^2 q' + a2 q^3 + a3 q (q q'' + q'^2) + a4 q' + (1 + xi) q = u + xi.",
    )
)


_USUAL = WhiteNoise(0.1, hold=0.1)  # N^2
_STRONG = WhiteNoise(0.3, hold=0.1)
_FORCED = Sine(0.3, 0.19) + WhiteNoise(0.05, hold=0.1)  # 1.2 rad/s, near the wells' own sqrt(2)


def _duffing_friction(velocity: Any, p: Numbers) -> Any:
    """Dry friction [N]."""
    return p[4] * tanh(velocity / p[5])


def duffing_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of position [m] and velocity [m/s]."""
    q, v = x
    mass, damping, linear, cubic = p[:4]
    return v, (u[0] + w[0] - damping * v - _duffing_friction(v, p) - linear * q - cubic * q * q * q) / mass


def duffing_energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J], 0 at rest on the hill."""
    q, v = x
    square = q * q
    return 0.5 * (p[0] * v * v + p[2] * square) + 0.25 * p[3] * square * square


def duffing_supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of control force and excitation [W]."""
    return (u[0] + w[0]) * x[1]


def duffing_entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: viscous and dry friction, c q'^2 + F q' tanh(q' / v_s)."""
    return p[1] * x[1] * x[1] + _duffing_friction(x[1], p) * x[1]


def _duffing_case(
    name: str, target: float, initial: Numbers, seed: int, excitation: Any = _USUAL, **more: Any
) -> dict[str, Any]:
    return {
        "name": name, "reference": target, "initial": initial, "seed": seed, "excitation": excitation, "t_end": 20.0,
        **more,
    }  # fmt: skip


_DUFFING_SITUATIONS = {
    "taught": [
        _duffing_case("onto the hill", 0.0, (1.0, 0.0), 1),
        _duffing_case("across", 1.0, (-1.0, 0.0), 2),
        _duffing_case("up the wall", -1.8, (-0.8, 0.0), 3),
        _duffing_case("slope", 0.5, (0.0, -0.5), 4),
    ],
    "validation": [
        _duffing_case("back across", -1.2, (1.1, 0.0), 6),
        _duffing_case("other slope", -0.4, (0.8, 0.5), 7),
    ],
    "unforeseen": [
        _duffing_case("high up the wall", 2.3, (0.0, 0.0), 11),
        _duffing_case("dry friction", 0.6, (-1.0, 0.0), 12, parameters={"friction": 0.3}),
        _duffing_case("stiffer", -1.5, (1.0, 0.5), 13, parameters={"linear": -1.3, "cubic": 1.3, "mass": 1.3}),
        _duffing_case("softer", 0.0, (-1.8, 0.0), 14, parameters={"linear": -0.7, "cubic": 0.7, "damping": 0.07}),
        _duffing_case("strong noise", 1.4, (0.2, 0.0), 15, _STRONG),
        _duffing_case("periodic force", -0.2, (1.0, 0.0), 16, _FORCED),
        _duffing_case("other noise", 0.9, (-1.5, 1.0), 17, UniformFilter(0.8, 10.0)),
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
            Channel(output="position", rate="velocity", scale=1.0, low=-20.0, high=20.0, gains_high=(60.0, 30.0, 12.0)),
        ),
        derivative=duffing_derivative,
        energy=duffing_energy,
        supplied_power=duffing_supplied_power,
        entropy_rate=duffing_entropy_rate,
        task=ControlTask(
            operating_points=tuple(OperatingPoint(f"position {q:g}", (q, 0.0)) for q in (-1.0, 0.0, 0.5, 1.0, 2.0)),
            situations=_DUFFING_SITUATIONS,
            ranges=OperatingRanges(
                parameters={
                    "mass": (0.8, 1.3),
                    "damping": (0.07, 0.13),
                    "linear": (-1.3, -0.7),
                    "cubic": (0.7, 1.3),
                    "friction": (0.0, 0.3),
                },
                initial={"position": (-1.8, 1.1), "velocity": (-0.5, 1.0)},
                reference={"position": (-1.8, 2.3)},
                excitation={"excitation": (0.0, 0.3**0.5)},
                noise={"position": (0.0, 0.02)},
                delay=(0.0, 0.04),
                authority=(0.7, 1.0),
            ),
        ),
        text="Duffing oscillator with two wells, m q'' + c q' + alpha q + beta q^3 + F tanh(q'/v_s) = u + w.",
    )
)
