"""A stirred tank in which base neutralises acid in the presence of a buffer: the slope of its titration curve varies.

The bench-scale process of Henson and Seborg: nitric acid, sodium bicarbonate (the buffer) and sodium hydroxide with
some bicarbonate flow in, the base's pump is the command. From pH 5.5 to 9.5 the slope of the titration curve varies
eightfold, and with half of the buffer it is 1.7 times as steep again. The equations are theirs in other coordinates, pH
in place of Wa (:mod:`plants.neutralisation.chemistry`). The level is held at its nominal 14 cm by an overflow, in place
of their outlet valve; pump, dead time and lag of the probe are the project's own.

The balance is of free energy: what flows in carries it, mixing and reaction destroy it, of every stream as much as its
free energy lies above the tangent at what is in the tank.

Source: M. A. Henson and D. E. Seborg, Adaptive nonlinear control of a pH neutralization process, IEEE Trans. Control
Systems Technology 2 (1994), 169-182, and Nonlinear Process Control (1997), 207-210, as open simulators quote them:
flows 16.6, 0.55, 15.6 mL/s, 207 cm^2 at 14 cm, 0.003 M HNO3, 0.03 M NaHCO3, 0.003 M NaOH with 5e-5 M NaHCO3, pK 6.35
and 10.25; pH 7.0 with Wa -4.32e-4 M and Wb 5.28e-4 M.
"""

from __future__ import annotations

from typing import Any

from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Step, WhiteNoise
from plants.neutralisation.chemistry import (
    acid_excess,
    buffer_capacity,
    free_energy,
    of_strong_acid,
    ph_of,
    speciation,
    strong_acid,
)

Numbers = tuple[Any, ...]
BUFFER, BASE = (-30.0, 30.0), (-3.05, 0.05)
"""Invariants Wa, Wb [mol/m^3] of the buffer and of the base."""

_ACID_FLOW, _BUFFER_FLOW = 16.6e-6, 0.55e-6  # m^3/s
_ACID, _VOLUME, _PUMP = 3.0, 207e-4 * 0.14, 0.3e-6
_PH = 7.0  # at rest


def _own_free_energy(strong: float, carbonate: float) -> float:
    return float(free_energy(speciation(ph_of(strong, carbonate)), strong, carbonate, carbonate))


_OF_BUFFER, _OF_BASE = _own_free_energy(*BUFFER), _own_free_energy(*BASE)  # J/m^3


def streams(u: Numbers, w: Numbers, p: Numbers) -> tuple[Numbers, ...]:
    """Flow [m^3/s], Wa and Wb [mol/m^3] and free energy [J/m^3] of acid, buffer and base."""
    acid_flow, buffer_flow, acid, _volume, pump, *_ = p
    return (
        (acid_flow + w[0], acid, 0.0, of_strong_acid(acid)),
        (buffer_flow + w[1], *BUFFER, _OF_BUFFER),
        (pump * u[0], *BASE, _OF_BASE),
    )


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """V beta pH' = -(sum of the flows times their acid excess at the tank's pH),  V Wb' = sum of F (Wb_in - Wb).

    The first is V Wa' = sum of F (Wa_in - Wa) with the charge balance Wa(pH, Wb) differentiated.
    """
    tank, carbonate, probe = x
    volume, lag = p[3], p[5]
    at, several = speciation(tank), streams(u, w, p)
    acid = sum(flow * acid_excess(at, strong, entering) for flow, strong, entering, _ in several)
    gained = sum(flow * (entering - carbonate) for flow, _, entering, _ in several)
    return -acid / (volume * buffer_capacity(at, carbonate)), gained / volume, (tank - probe) / lag


def stored(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Free energy of the contents [J], up to a constant for each mole; the probe takes no part."""
    at = speciation(x[0])
    return p[3] * free_energy(at, strong_acid(at, x[1]), x[1], x[1])


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Free energy [W] that flows in less what flows over."""
    at, several = speciation(x[0]), streams(u, w, p)
    inside = free_energy(at, strong_acid(at, x[1]), x[1], x[1])
    return sum(flow * (own - inside) for flow, _, _, own in several)


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: mixing and neutralisation of every stream; not 0 at rest."""
    at = speciation(x[0])
    several = streams(u, w, p)
    return sum(flow * (own - free_energy(at, strong, entering, x[1])) for flow, strong, entering, own in several)


def at_rest(pH: float, p: Numbers) -> tuple[float, float]:
    """Return carbonate [mol/m^3] and pump [%] that hold a pH: the balances are linear in the base's flow."""
    at = speciation(pH)
    acid, buffer, base = streams((1.0,), (0.0, 0.0), p)
    excesses = [flow * acid_excess(at, strong, entering) for flow, strong, entering, _ in (acid, buffer, base)]
    percent = -(excesses[0] + excesses[1]) / excesses[2]
    entering = buffer[0] * buffer[2] + percent * base[0] * base[2]
    return entering / (acid[0] + buffer[0] + percent * base[0]), percent


_NOMINAL = (_ACID_FLOW, _BUFFER_FLOW, _ACID, _VOLUME, _PUMP, 10.0, 20.0)
_CARBONATE, _BIAS = at_rest(_PH, _NOMINAL)


def allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """Pump [%]: the command is what is added to the one that holds pH 7 on the nominal plant."""
    return (_BIAS + commands[0],)


def _rest(pH: float) -> tuple[float, float, float]:
    return pH, at_rest(pH, _NOMINAL)[0], pH


def _situation(name: str, seed: int, reference: float, buffer: float, **more: Any) -> dict[str, Any]:
    """A step of the reference, and half way one of the buffer's flow [mL/s]."""
    excitation = {
        "buffer flow": Step(1e-6 * buffer, at=600.0),
        "acid flow": WhiteNoise(2.5e-15, hold=12.0),
    }
    return {"name": name, "reference": reference, "excitation": excitation, "t_end": 1200.0, "seed": seed, **more}


_TASK = {
    "taught": [
        _situation("up", 1, 8.2, -0.1),
        _situation("down", 2, 6.0, 0.1),
        _situation("far up", 3, 9.3, 0.1),
        _situation("from basic to neutral", 4, 7.0, -0.1, initial=_rest(9.3)),
    ],
    "validation": [
        _situation("a little up", 6, 7.5, 0.1),
        _situation("far down", 7, 5.5, -0.1),
        _situation("from acid to basic", 8, 8.5, 0.1, initial=_rest(5.5)),
    ],
    "unforeseen": [
        _situation("to the steepest", 11, 8.3, 0.1),
        _situation("to the other side", 12, 9.5, -0.2),
        _situation("buffer nearly fails", 13, 7.5, -0.4),
        _situation("little buffer", 14, 8.0, -0.1, parameters={"buffer flow": 0.35e-6}),
        _situation("much buffer, strong acid", 15, 6.5, 0.1, parameters={"buffer flow": 0.8e-6, "acid": 3.3}),
    ],
}

PH_NEUTRALISATION = register(
    Plant(
        name="ph_neutralisation",
        step=0.5,
        loses_at_rest=True,
        states=(
            Quantity("tank", "pH", _PH, 2.0, 12.0, "pH of the contents"),
            Quantity("carbonate", "mol/m^3", _CARBONATE, 0.01, 30.0, "Wb of the contents"),
            Quantity("probe", "pH", _PH, 2.0, 12.0, "what the glass electrode reads"),
        ),
        parameters=(
            Quantity("acid flow", "m^3/s", _ACID_FLOW, 1e-6),
            Quantity("buffer flow", "m^3/s", _BUFFER_FLOW, 5e-8),
            Quantity("acid", "mol/m^3", _ACID, 0.1, 10.0, "HNO3 in the acid"),
            Quantity("volume", "m^3", _VOLUME, 1e-4, text="of the contents, up to the overflow"),
            Quantity("pump", "m^3/(s %)", _PUMP, 1e-9, text="flow of base per percent"),
            Quantity("probe lag", "s", 10.0, 0.1),
            Quantity("dead time", "s", 20.0, 0.0, text="of the base's line and of the way to the probe"),
        ),
        inputs=(Quantity("base", "%", _BIAS, 0.0, 100.0, "of the base's pump"),),
        disturbances=(
            Quantity("acid flow", "m^3/s", 0.0, -8e-6, 8e-6, "change"),
            Quantity("buffer flow", "m^3/s", 0.0, -0.5e-6, 1.5e-6, "change"),
        ),
        channels=(Channel("probe", None, 1.0, -_BIAS, 100.0 - _BIAS, collocated=False, gains_high=(8.0, 0.15, 80.0)),),
        derivative=derivative,
        energy=stored,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        allocate=allocate,
        input_delay="dead time",
        task=ControlTask(
            operating_points=tuple(OperatingPoint(f"pH {pH:g}", _rest(pH)) for pH in (_PH, 5.5, 6.3, 7.6, 8.3, 9.3)),
            situations=_TASK,
            # Waste water whose acid and buffer vary, a pump that wears, a probe that fouls.
            ranges=OperatingRanges(
                parameters={
                    "acid flow": (0.93 * _ACID_FLOW, 1.07 * _ACID_FLOW),
                    "buffer flow": (0.4e-6, 0.75e-6),
                    "acid": (2.8, 3.2),
                    "pump": (0.9 * _PUMP, 1.1 * _PUMP),
                    "probe lag": (7.0, 15.0),
                    "dead time": (16.0, 24.0),
                },
                initial={},
                reference={"probe": (5.5, 9.5)},
                load={"buffer flow": (-0.15e-6, 0.2e-6), "acid flow": (-0.5e-6, 0.5e-6)},
                excitation={"acid flow": (0.0, 0.05e-6)},
                noise={"probe": (0.0, 0.03)},
                delay=(0.0, 2.0),
            ),
        ),
        text="pH neutralisation in a stirred tank (Henson and Seborg): base pump about 52 % to the probe's pH; the "
        "titration curve's slope varies eightfold.",
    )
)
