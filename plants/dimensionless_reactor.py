"""The jacketed stirred-tank reactor A -> B in the dimensionless form that is studied for multiplicity and cycles.

Time counts in residence times, x1 is the conversion, x2 = gamma (T - T_f) / T_f. Exergy counts in units of
rho c V T_f / gamma, with surroundings at the feed's temperature, so that the feed brings none.

Source: A. Uppal, W. H. Ray and A. B. Poore, On the dynamic behavior of continuous stirred tank reactors, Chem. Eng.
Science 29 (1974), 967-985; the set Da 0.072, B 8, gamma 20, beta 0.3 of later control studies has steady states at
(0.144, 0.886), (0.447, 2.752), (0.765, 4.705).
"""

from __future__ import annotations

from typing import Any

from plants.core.elementary import exp, log
from plants.core.plant import Channel, OperatingPoint, Plant, Quantity
from plants.core.registry import register
from plants.excitation import Step, WhiteNoise

Numbers = tuple[Any, ...]
_NOMINAL = (0.072, 8.0, 20.0, 0.3)
_REST = 2.752


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """x1' = -x1 + R,  x2' = -(x2 - w) + B R - beta (x2 - u),  R = Da (1 - x1) exp(x2 / (1 + x2 / gamma))."""
    conversion, temperature = x
    _damkoehler, heat, _gamma, beta = p
    rate = reaction(x, p)
    return rate - conversion, heat * rate - (temperature - w[0]) - beta * (temperature - u[0])


def reaction(x: Numbers, p: Numbers) -> Any:
    """Rate of reaction per residence time."""
    return p[0] * (1.0 - x[0]) * exp(x[1] / (1.0 + x[1] / p[2]))


def stored_exergy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Thermal exergy of the contents, surroundings at the feed's nominal temperature."""
    return x[1] - p[2] * log(1.0 + x[1] / p[2])


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Exergy that flow, jacket and heat of reaction bring; a heat q at x2 is worth q (1 - 1 / (1 + x2 / gamma))."""
    _damkoehler, heat, gamma, beta = p
    inside, jacket, entering = (1.0 + value / gamma for value in (x[1], u[0], w[0]))
    flow = w[0] - x[1] - gamma * log(entering / inside)
    return flow + beta * (u[0] - x[1]) * (1.0 - 1.0 / jacket) + heat * reaction(x, p) * (1.0 - 1.0 / inside)


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times the feed's temperature: heat transfer and mixing; not 0 at rest."""
    _damkoehler, _heat, gamma, beta = p
    inside, jacket, entering = (1.0 + value / gamma for value in (x[1], u[0], w[0]))
    apart = x[1] - u[0]
    ratio = entering / inside
    return beta * apart * apart / (gamma * inside * jacket) + gamma * (ratio - 1.0 - log(ratio))


def _state(temperature: float) -> tuple[float, float]:
    """Conversion and temperature of the steady state at a temperature."""
    rate = reaction((0.0, temperature), _NOMINAL)
    return rate / (1.0 + rate), temperature


def _holding(temperature: float) -> float:
    """Coolant temperature of that steady state."""
    return -derivative(0.0, _state(temperature), (0.0,), (0.0,), _NOMINAL)[1] / _NOMINAL[3]


_BIAS = _holding(_REST)  # about 0


def allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """Coolant temperature: the command is what is added to the one that holds the nominal point."""
    return (_BIAS + commands[0],)


def _situation(name: str, seed: int, reference: float, load: float, **more: Any) -> dict[str, Any]:
    excitation = Step(load, at=10.0) + WhiteNoise(4e-4, hold=0.2)
    return {
        "name": name, "reference": reference, "excitation": excitation, "delay": 0.06, "t_end": 20.0, "seed": seed,
        **more,
    }  # fmt: skip


_TASK = {
    "taught": [
        _situation("up", 1, 3.5, 0.2), _situation("down", 2, 2.0, -0.2),
        _situation("from the hot state", 3, 2.752, 0.2, initial=_state(4.705)),
    ],
    "validation": [
        _situation("a little up", 6, 3.1, -0.2),
        _situation("from the cold state", 7, 2.4, 0.2, initial=_state(0.886)),
    ],
    "unforeseen": [
        _situation("far up", 11, 4.2, 0.2), _situation("far down", 12, 1.2, -0.2),
        _situation("strong load", 13, 2.752, 0.6),
        _situation("faster reaction", 14, 2.752, 0.2, parameters={"Da": 0.0936}),
        _situation("slower reaction, fouled jacket", 15, 3.2, 0.2, parameters={"Da": 0.0504, "beta": 0.21}),
    ],
}  # fmt: skip

CSTR_DIMENSIONLESS = register(
    Plant(
        name="cstr_dimensionless",
        states=(
            Quantity("conversion", "1", _state(_REST)[0], -0.1, 1.1, "of A"),
            Quantity("temperature", "1", _REST, -3.0, 12.0, "gamma (T - T_f) / T_f"),
        ),
        parameters=(
            Quantity("Da", "1", _NOMINAL[0], 1e-3, text="Damkoehler number"),
            Quantity("B", "1", _NOMINAL[1], 0.0, text="adiabatic rise of temperature"),
            Quantity("gamma", "1", _NOMINAL[2], 15.0, 25.0, text="activation energy"),
            Quantity("beta", "1", _NOMINAL[3], 0.01, text="heat transfer"),
        ),
        inputs=(Quantity("coolant temperature", "1", _BIAS, -8.0, 8.0),),
        disturbances=(Quantity("feed temperature", "1", 0.0, -3.0, 3.0, "change"),),
        channels=(
            Channel(
                "temperature",
                None,
                1.0,
                -6.0,
                6.0,
                collocated=False,
                gains_low=(2.0, 0.0, 0.0),
                gains_high=(20.0, 15.0, 1.5),
            ),
        ),
        derivative=derivative,
        energy=stored_exergy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        loses_at_rest=True,
        allocate=allocate,
        operating_points=tuple(OperatingPoint(f"temperature {x2:g}", _state(x2)) for x2 in (_REST, 2.0, 3.5)),
        situations=_TASK,
        text="Jacketed stirred-tank reactor A -> B without dimensions (Uppal, Ray and Poore 1974): coolant to reactor "
        "temperature, unstable at 2.75; time in residence times.",
    )
)
