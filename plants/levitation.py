"""A steel ball below an electromagnet: unstable, driven by the coil's voltage.

The coil's inductance depends on the gap, L(x) = L_inf + 2 C / x; its slope is the magnetic force C I^2 / x^2 and the
voltage that the moving ball induces. With a constant inductance the energy balance would not close.

Source: W. Barie and J. Chiasson, Linear and nonlinear state-space controllers for magnetic levitation, Int. J. Systems
Science 27 (1996), 1153-1163: this model; mass, C, resistance and L_inf as open simulators quote them for it.
"""

from __future__ import annotations

from typing import Any

from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Sine, Step, WhiteNoise

Numbers = tuple[Any, ...]
_GRAVITY = 9.81
_MASS, _FORCE, _RESISTANCE = 0.01187, 1.4e-4, 28.7
_GAP = 0.1  # m, at rest
_HIGHEST = 150.0  # V


def _holding_current(gap: float) -> float:
    """Current [A] whose force is the weight."""
    return gap * (_MASS * _GRAVITY / _FORCE) ** 0.5


_BIAS = _RESISTANCE * _holding_current(_GAP)  # V: holds the ball at rest on the nominal plant


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """m x'' = m g - C I^2 / x^2 - b x' + w,  d(L(x) I)/dt = V - R I."""
    gap, speed, current = x
    mass, force, inductance, resistance, friction = p
    pull = force / (gap * gap)
    acceleration = _GRAVITY + (w[0] - pull * current * current - friction * speed) / mass
    induced = 2.0 * pull * speed * current  # - L'(x) x' I
    return speed, acceleration, (u[0] - resistance * current + induced) / (inductance + 2.0 * force / gap)


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J]: kinetic, of the height, magnetic; x points downwards."""
    gap, speed, current = x
    mass, force, inductance, _resistance, _friction = p
    magnetic = 0.5 * (inductance + 2.0 * force / gap) * current * current
    return 0.5 * mass * speed * speed - mass * _GRAVITY * gap + magnetic


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the voltage source and of the force on the ball [W]."""
    return u[0] * x[2] + w[0] * x[1]


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: heat of the coil and drag, R I^2 + b x'^2; not 0 at rest."""
    return p[3] * x[2] * x[2] + p[4] * x[1] * x[1]


def allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """Voltage [V]: the command is what is added to the voltage that holds 10 cm on the nominal plant."""
    return (_BIAS + commands[0],)


def _situation(name: str, seed: int, reference: Any, load: float, **more: Any) -> dict[str, Any]:
    excitation = Step(load, at=1.5) + WhiteNoise(4e-6, hold=0.03)
    return {"name": name, "reference": reference, "excitation": excitation, "t_end": 3.0, "seed": seed, **more}


_TASK = {
    "taught": [
        _situation("closer", 1, 0.095, 4e-3), _situation("farther", 2, 0.105, -4e-3),
        _situation("stay", 3, 0.1, 8e-3),
    ],
    "validation": [_situation("a little closer", 6, 0.097, -8e-3)],
    "unforeseen": [
        _situation("far off", 11, 0.11, 4e-3),
        _situation("near", 12, 0.09, -4e-3),
        _situation("strong load", 13, 0.1, 1.6e-2),
        _situation("follow", 14, 0.1 + Sine(0.005, 0.5), 4e-3),
        _situation("heavier ball", 15, 0.1, 4e-3, parameters={"mass": 1.3 * _MASS}),
        _situation("hot coil, weaker magnet", 16, 0.1, 4e-3,
                   parameters={"resistance": 1.1 * _RESISTANCE, "force": 0.9 * _FORCE}),
    ],
}  # fmt: skip

MAGNETIC_LEVITATION = register(
    Plant(
        name="magnetic_levitation",
        step=0.002,
        loses_at_rest=True,
        states=(
            Quantity("gap", "m", _GAP, 0.03, 0.25, "between magnet and ball, downwards"),
            Quantity("speed", "m/s", 0.0, -10.0, 10.0),
            Quantity("current", "A", _holding_current(_GAP), -10.0, 10.0, "of the coil"),
        ),
        parameters=(
            Quantity("mass", "kg", _MASS, 1e-4),
            Quantity("force", "N m^2/A^2", _FORCE, 1e-7, text="C: force C I^2 / x^2"),
            Quantity("inductance", "H", 0.65, 1e-3, text="L_inf, of the coil without the ball"),
            Quantity("resistance", "ohm", _RESISTANCE, 0.1),
            Quantity("friction", "N s/m", 1e-3, 0.0, text="drag of the air"),
        ),
        inputs=(Quantity("voltage", "V", _BIAS, -_HIGHEST, _HIGHEST, "of the coil"),),
        disturbances=(Quantity("load", "N", 0.0, -0.1, 0.1, "force on the ball, downwards; its weight is 0.116 N"),),
        channels=(
            # More voltage pulls the ball up, which makes the gap smaller: the loop's gains are negative.
            Channel("gap", "speed", 0.01, -_HIGHEST - _BIAS, _HIGHEST - _BIAS, collocated=False,
                    gains_low=(-2200.0, -1e4, -240.0), gains_high=(-1100.0, 0.0, -100.0)),
        ),
        derivative=derivative,
        energy=energy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        allocate=allocate,
        task=ControlTask(operating_points=tuple(
            OperatingPoint(f"gap {x:g} m", (x, 0.0, _holding_current(x))) for x in (_GAP, 0.095, 0.105)
        ), situations=_TASK, ranges=OperatingRanges(  # other balls, a coil from cold to hot
            parameters={
                "mass": (0.9 * _MASS, 1.3 * _MASS), "force": (0.9 * _FORCE, 1.1 * _FORCE),
                "resistance": (0.9 * _RESISTANCE, 1.1 * _RESISTANCE),
            },
            initial={},
            reference={"gap": (0.09, 0.11)},
            load={"load": (-8e-3, 1.6e-2)},
            excitation={"load": (0.0, 2e-3)},
            noise={"gap": (0.0, 2e-4)},
            delay=(0.0, 4e-3),
        )),
        text="Steel ball below an electromagnet: coil voltage about 83 V to the gap; unstable.",
    )
)  # fmt: skip
