"""Two tanks one below the other, each emptied by a hole in its bottom (Torricelli); a pump fills the upper one.

Source: the coupled-tanks laboratory kit of Quanser (Apkarian, Lacheray and Abdossalami, Coupled Tanks Workbook, 2013):
tanks of 15.5 cm^2 and 30 cm, holes of 0.178 cm^2, pump 3.3 cm^3/(s V).
"""

from __future__ import annotations

from typing import Any

from plants.core.elementary import sqrt
from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Step, WhiteNoise

Numbers = tuple[Any, ...]
_GRAVITY, _DENSITY = 9.81, 1000.0
_SHALLOW = 1e-3  # m: the last film of water; Torricelli's law has an infinite slope at 0
_AREA, _HOLE, _PUMP = 15.52e-4, 0.1781e-4, 3.3e-6
_HIGHEST = 15.0  # V, of the pump
_LEVEL = 0.15  # m, at rest in both tanks


def outflow(hole: Any, level: Any) -> Any:
    """Flow [m^3/s] through a hole [m^2] below a level [m]: a sqrt(2 g h), smoothed within a millimetre of empty.

    h / (h^2 + s^2)^(1/4) is sqrt(h) but for s^2 / (4 h^2), 3e-4 of it at 3 cm: odd, smooth and finite on both sides of
    empty, so that a stage of the integrator may step across.
    """
    return hole * level * ((2.0 * _GRAVITY) ** 0.5 / sqrt(sqrt(level * level + _SHALLOW * _SHALLOW)))


_BIAS = outflow(_HOLE, _LEVEL) / _PUMP  # V: holds that level on the nominal plant


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Levels: A h1' = inflow - q1, A h2' = q1 - q2."""
    upper, lower = x
    area, upper_hole, lower_hole, pump = p
    between = outflow(upper_hole, upper)
    return (pump * u[0] + w[0] - between) / area, (between - outflow(lower_hole, lower)) / area


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Potential energy of the water [J], each tank above its own bottom: rho g A (h1^2 + h2^2) / 2."""
    return 0.5 * _DENSITY * _GRAVITY * p[0] * (x[0] * x[0] + x[1] * x[1])


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the water that enters at each surface [W]: rho g (inflow h1 + q1 h2).

    How far the water falls between the tanks is no part of the balance: that work is lost whatever the levels are.
    """
    return _DENSITY * _GRAVITY * ((p[3] * u[0] + w[0]) * x[0] + outflow(p[1], x[0]) * x[1])


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: throttling in both holes, rho g (q1 h1 + q2 h2); not 0 at rest."""
    return _DENSITY * _GRAVITY * (outflow(p[1], x[0]) * x[0] + outflow(p[2], x[1]) * x[1])


def allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """Pump voltage [V]: the command is what is added to the voltage that holds 15 cm on the nominal plant."""
    return (_BIAS + commands[0],)


def _rest(lower: float) -> tuple[float, float]:
    """Levels at rest: equal holes pass equal flows at equal levels."""
    return lower, lower


def _situation(name: str, seed: int, level: float, load: float, **more: Any) -> dict[str, Any]:
    excitation = Step(load, at=200.0) + WhiteNoise(1e-12, hold=4.0)
    return {"name": name, "reference": level, "excitation": excitation, "t_end": 400.0, "seed": seed, **more}


_TASK = {
    "taught": [
        _situation("up", 1, 0.19, -4e-6), _situation("down", 2, 0.10, 4e-6),
        _situation("fill", 3, 0.15, -3e-6, initial=(0.02, 0.02)),
    ],
    "validation": [_situation("a little up", 6, 0.17, 4e-6), _situation("far down", 7, 0.07, -4e-6)],
    "unforeseen": [
        _situation("far up", 11, 0.205, -4e-6),
        _situation("nearly empty", 12, 0.04, 3e-6),
        _situation("strong load", 13, 0.12, -1e-5),
        _situation("wider holes", 14, 0.18, -4e-6, parameters={"upper hole": 1.3 * _HOLE, "lower hole": 1.3 * _HOLE}),
        _situation("clogged holes, weak pump", 15, 0.12, 4e-6,
                   parameters={"upper hole": 0.8 * _HOLE, "lower hole": 0.7 * _HOLE, "pump": 0.7 * _PUMP}),
    ],
}  # fmt: skip

TWO_TANKS = register(
    Plant(
        name="two_tanks",
        step=0.4,
        loses_at_rest=True,
        states=(
            Quantity("upper", "m", _LEVEL, -0.01, 0.30, "level; above 30 cm it overflows"),
            Quantity("lower", "m", _LEVEL, -0.01, 0.30, "level"),
        ),
        parameters=(
            Quantity("area", "m^2", _AREA, 1e-6, text="cross-section of each tank"),
            Quantity("upper hole", "m^2", _HOLE, 1e-8),
            Quantity("lower hole", "m^2", _HOLE, 1e-8),
            Quantity("pump", "m^3/(s V)", _PUMP, 1e-9, text="flow per volt"),
        ),
        inputs=(Quantity("voltage", "V", _BIAS, 0.0, _HIGHEST, "of the pump"),),
        disturbances=(Quantity("inflow", "m^3/s", 0.0, -3e-5, 3e-5, "into the upper tank, beside the pump"),),
        channels=(
            Channel("lower", None, 0.05, -_BIAS, _HIGHEST - _BIAS, collocated=False, gains_high=(1000.0, 64.0, 3000.0)),
        ),
        derivative=derivative,
        energy=energy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        allocate=allocate,
        task=ControlTask(
            operating_points=tuple(OperatingPoint(f"level {h:g} m", _rest(h)) for h in (_LEVEL, 0.05, 0.25)),
            situations=_TASK,
            # Lime in the lower hole and a worn upper one, a worn pump: the upper tank holds what the lower one needs.
            ranges=OperatingRanges(
                parameters={
                    "upper hole": (0.95 * _HOLE, 1.3 * _HOLE),
                    "lower hole": (0.7 * _HOLE, _HOLE),
                    "pump": (0.85 * _PUMP, 1.1 * _PUMP),
                },
                initial={"upper": (0.02, 0.16), "lower": (0.02, 0.16)},
                reference={"lower": (0.06, 0.18)},
                load={"inflow": (-4e-6, 4e-6)},
                excitation={"inflow": (0.0, 1e-6)},
                noise={"lower": (0.0, 1e-3)},
                delay=(0.0, 1.6),
            ),
        ),
        text="Two tanks in a row (Torricelli): pump voltage about 9.3 V to the lower level.",
    )
)
