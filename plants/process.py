"""Process plants of the tuning literature: first order, second order, integrating and two lags, each plus dead time.

None has an energy of its own. The balance is that of an equivalent circuit with the same equation, normalised so that
the process output is a voltage and losses vanish at rest. The dead time delays the command and is the kernel's
business.

Source: S. Skogestad, Simple analytic rules for model reduction and PID controller tuning, J. Process Control 13
(2003), 291-309, whose model classes these are; the circuits are the project's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Step, WhiteNoise
from plants.identification.row import curved

Numbers = tuple[Any, ...]
_LOAD_NOISE = WhiteNoise(0.01, hold=0.5)  # what disturbs every process a little


def fopdt_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """First order: T y' + y = K (u + w); the dead time L delays u and is the kernel's business."""
    gain, time_constant, _dead_time = p
    return ((gain * (u[0] + w[0]) - x[0]) / time_constant,)


def fopdt_energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy of the equivalent RC circuit with capacity T and unit resistance [J]: T y^2 / 2."""
    return 0.5 * p[1] * x[0] * x[0]


def fopdt_supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the source K (u + w) at the current (source - y) of the equivalent circuit [W]."""
    source = p[0] * (u[0] + w[0])
    return source * (source - x[0])


def fopdt_entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power lost in the resistance of the equivalent circuit [W]: (K (u + w) - y)^2, zero at rest."""
    current = p[0] * (u[0] + w[0]) - x[0]
    return current * current


def _ranges(delay: float, reference: tuple[float, float], **parameters: tuple[float, float]) -> OperatingRanges:
    """Return the operating ranges of all three: from rest, with loads; delays up to `delay` [s]."""
    return OperatingRanges(
        parameters=parameters,
        initial={},
        reference={"output": reference},
        load={"load": (-0.5, 1.0)},
        excitation={"load": (0.0, 0.1)},
        noise={"output": (0.0, 0.02)},
        delay=(0.0, delay),
        authority=(0.7, 1.0),
    )


FOPDT = register(
    Plant(
        name="fopdt",
        states=(Quantity("output", "1", 0.0, -1.0e3, 1.0e3, "process output y"),),
        parameters=(
            Quantity("K", "1", 1.0, text="static gain"),
            Quantity("T", "s", 1.0, 1e-3, text="time constant"),
            Quantity("L", "s", 0.3, 0.0, text="dead time of the input"),
        ),
        inputs=(Quantity("command", "1", 0.0),),
        disturbances=(Quantity("load", "1", 0.0, text="load at the process input"),),
        # With K = T = 1 and L = 0.3 a pure gain of 5.6 swings for ever.
        channels=(
            Channel(output="output", scale=1.0, low=-10.0, high=10.0, collocated=False, gains_high=(5.0, 8.0, 1.0)),
        ),
        derivative=fopdt_derivative,
        energy=fopdt_energy,
        supplied_power=fopdt_supplied_power,
        entropy_rate=fopdt_entropy_rate,
        input_delay="L",
        task=ControlTask(
            operating_points=(OperatingPoint("rest", (0.0,)),),
            ranges=_ranges(0.04, (-1.5, 1.5), K=(0.7, 1.3), T=(0.7, 1.3), L=(0.2, 0.4)),
            situations={
                "taught": [
                    {
                        "name": "step and load",
                        "reference": 1.0,
                        "excitation": Step(-0.5, at=10.0) + _LOAD_NOISE,
                        "seed": 1,
                    },
                ],
                "validation": [
                    {"name": "small step", "reference": 0.5, "excitation": Step(0.5, at=10.0) + _LOAD_NOISE, "seed": 6},
                ],
                "unforeseen": [
                    {
                        "name": "step and load",
                        "reference": 1.0,
                        "excitation": Step(-0.5, at=10.0) + _LOAD_NOISE,
                        "seed": 11,
                    },
                    {"name": "step down", "reference": -1.5, "excitation": Step(1.0, at=8.0) + _LOAD_NOISE, "seed": 12},
                    {
                        "name": "slower plant",
                        "reference": 1.0,
                        "excitation": _LOAD_NOISE,
                        "seed": 13,
                        "parameters": {"T": 1.3},
                    },
                ],
            },
        ),
        text="First order plus dead time: T y' + y = K (u(t - L) + load).",
    )
)


_COMMAND = (Quantity("command", "1", 0.0),)
_LOAD = (Quantity("load", "1", 0.0, text="load at the process input"),)
_REST = Quantity("output", "1", 0.0, -1.0e3, 1.0e3, "process output y")
_DEAD_TIME = "dead time of the input"


def second_order_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """T^2 y'' + 2 zeta T y' + y = K (u + w); the dead time delays u and is the kernel's business."""
    y, rate = x
    gain, T, zeta, _dead_time = p
    return rate, (gain * (u[0] + w[0]) - y - 2.0 * zeta * T * rate) / (T * T)


def second_order_energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J] of the equivalent series circuit, capacity T, inductance T: T (y^2 + (T y')^2) / 2."""
    current = p[1] * x[1]
    return 0.5 * p[1] * (x[0] * x[0] + current * current)


def second_order_supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the source K (u + w) at the circuit's current T y' [W]."""
    return p[0] * (u[0] + w[0]) * p[1] * x[1]


def second_order_entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power lost in the circuit's resistance 2 zeta [W]: 2 zeta (T y')^2, zero at rest."""
    current = p[1] * x[1]
    return 2.0 * p[2] * current * current


def integrating_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Integrator: y' = K (u + w)."""
    return (p[0] * (u[0] + w[0]),)


def integrating_energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J] of the equivalent capacity 1 / K that the current u + w charges: y^2 / (2 K)."""
    return 0.5 * x[0] * x[0] / p[0]


def integrating_supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the current u + w through a unit resistance into the capacity [W]."""
    current = u[0] + w[0]
    return current * (x[0] + current)


def integrating_entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power lost in the unit resistance [W]: (u + w)^2 = (y' / K)^2, zero at rest.

    It is the limit of the first-order circuit's (T y')^2 for K and T that grow together, with currents in units of u.
    """
    current = u[0] + w[0]
    return current * current


def two_lags_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Two lags with slope and curve: T2 x1' = phi(u) + w - x1, y' = slope x1 - decay y; the dead time delays u."""
    slope, decay, lag, _dead_time, curve = p
    return (curved(u[0], curve) + w[0] - x[0]) / lag, slope * x[0] - decay * x[1]


def two_lags_outputs(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """The process output alone."""
    return (x[1],)


def _in_units_of_command(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """What is given behind the valve, v, the lag's answer and the output as the command that would hold it."""
    return curved(u[0], p[4]) + w[0], x[0], p[1] * x[1] / p[0]


def two_lags_energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J] of capacities T2 and T1 = 1 / decay at voltages x1 and z = y decay / slope.

    (T2 x1^2 + T1 z^2) / 2 stays finite without decay; with one below 0 the second capacity is negative.
    """
    return 0.5 * (p[2] * x[0] * x[0] + p[1] * x[1] * x[1] / (p[0] * p[0]))


def two_lags_supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the source v at the current v - z [W]."""
    given, _, z = _in_units_of_command(t, x, u, w, p)
    return given * (given - z)


def two_lags_entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power lost [W], a^2 - a b + b^2 of what both lags have to go, a = x1 - v and b = z - v: zero at rest."""
    given, inner, z = _in_units_of_command(t, x, u, w, p)
    a, b = inner - given, z - given
    return a * a - a * b + b * b


def _task(at: float, t_end: float, gain: str, lag: str, values: dict[str, float]) -> dict[str, list[dict[str, Any]]]:
    """Steps with a load `at` half way; unforeseen parameters differ by 30 % either way."""
    noise = WhiteNoise(0.01, hold=t_end / 40.0)

    def situation(name: str, seed: int, reference: float, load: float, **more: Any) -> dict[str, Any]:
        excitation = Step(load, at=at) + noise
        return {"name": name, "reference": reference, "excitation": excitation, "t_end": t_end, "seed": seed, **more}

    return {
        "taught": [situation("step and load", 1, 1.0, -0.5), situation("step down and load", 2, -0.6, 0.3)],
        "validation": [situation("small step", 6, 0.5, 0.4)],
        "unforeseen": [
            situation("far step", 11, 2.0, -0.5),
            situation("strong load", 12, -1.0, 1.0),
            situation("stronger plant", 13, 1.0, -0.5, parameters={gain: 1.3 * values[gain], lag: 1.3 * values[lag]}),
            situation("weaker plant", 14, 1.0, -0.5, parameters={gain: 0.7 * values[gain], lag: 0.7 * values[lag]}),
        ],
    }


SECOND_ORDER = register(
    Plant(
        name="second_order_dead_time",
        step=0.03,
        states=(_REST, Quantity("rate", "1/s", 0.0, -1.0e4, 1.0e4, "its rate y'")),
        parameters=(
            Quantity("K", "1", 1.0, text="static gain"),
            Quantity("T", "s", 1.0, 1e-3, text="time constant: 1 / natural frequency"),
            Quantity("zeta", "1", 0.7, 0.0, text="damping ratio; above 1: two lags"),
            Quantity("L", "s", 0.3, 0.0, text=_DEAD_TIME),
        ),
        inputs=_COMMAND,
        disturbances=_LOAD,
        channels=(Channel("output", low=-10.0, high=10.0, collocated=False, gains_high=(4.0, 2.5, 2.5)),),
        derivative=second_order_derivative,
        energy=second_order_energy,
        supplied_power=second_order_supplied_power,
        entropy_rate=second_order_entropy_rate,
        input_delay="L",
        task=ControlTask(
            operating_points=(OperatingPoint("rest", (0.0, 0.0)),),
            situations=_task(15.0, 30.0, "K", "T", {"K": 1.0, "T": 1.0}),
            ranges=_ranges(0.12, (-1.0, 2.0), K=(0.7, 1.3), T=(0.7, 1.3), zeta=(0.5, 0.9), L=(0.21, 0.39)),
        ),
        text="Second order plus dead time (SOPDT): T^2 y'' + 2 zeta T y' + y = K (u(t - L) + load).",
    )
)

INTEGRATING = register(
    Plant(
        name="integrating_dead_time",
        step=0.05,
        states=(_REST,),
        parameters=(
            Quantity("K", "1/s", 0.2, 1e-6, text="slope of the output per unit of the command"),
            Quantity("L", "s", 1.0, 0.0, text=_DEAD_TIME),
        ),
        inputs=_COMMAND,
        disturbances=_LOAD,
        channels=(Channel("output", low=-5.0, high=5.0, collocated=False, gains_high=(4.5, 0.6, 3.0)),),
        derivative=integrating_derivative,
        energy=integrating_energy,
        supplied_power=integrating_supplied_power,
        entropy_rate=integrating_entropy_rate,
        input_delay="L",
        task=ControlTask(
            operating_points=(OperatingPoint("rest", (0.0,)),),
            situations=_task(40.0, 80.0, "K", "L", {"K": 0.2, "L": 1.0}),
            ranges=_ranges(0.2, (-1.0, 2.0), K=(0.14, 0.26), L=(0.7, 1.3)),
        ),
        text="Integrating plus dead time (a level with a pumped outflow): y' = K (u(t - L) + load).",
    )
)

TWO_LAGS = register(
    Plant(
        name="two_lags",
        step=0.02,
        states=(
            Quantity("inner", "1", 0.0, -1.0e4, 1.0e4, "the command behind the first lag"),
            _REST,
        ),
        parameters=(
            Quantity("slope", "1/s", 0.5, text="rate of the output per unit of the command; negative: against it"),
            Quantity("decay", "1/s", 0.5, text="1 / time constant; 0 integrates, below 0 is unstable"),
            Quantity("lag", "s", 0.5, 1e-3, text="time constant of the first lag"),
            Quantity("L", "s", 0.3, 0.0, text=_DEAD_TIME),
            Quantity("curve", "1", 0.1, text="of the valve: the gain is exp(curve u) times that at rest"),
        ),
        inputs=_COMMAND,
        disturbances=_LOAD,
        measurements=(_REST,),
        outputs=two_lags_outputs,
        channels=(Channel("output", low=-10.0, high=10.0, collocated=False, gains_high=(4.0, 2.5, 2.5)),),
        derivative=two_lags_derivative,
        energy=two_lags_energy,
        supplied_power=two_lags_supplied_power,
        entropy_rate=two_lags_entropy_rate,
        input_delay="L",
        task=ControlTask(
            operating_points=(OperatingPoint("rest", (0.0, 0.0)),),
            situations=_task(20.0, 40.0, "slope", "lag", {"slope": 0.5, "lag": 0.5}),
            ranges=_ranges(
                0.08,
                (-1.0, 2.0),
                slope=(0.35, 0.65),
                decay=(0.35, 0.65),
                lag=(0.35, 0.65),
                L=(0.21, 0.39),
                curve=(0.0, 0.2),
            ),
        ),
        text="Two lags plus dead time: y' = slope x - decay y behind a first lag and a valve with a curve.",
    )
)


def _behind_valve(u: Numbers, p: Numbers) -> Numbers:
    return (curved(u[0], p[4]),)


SECOND_ORDER_WITH_VALVE = replace(
    SECOND_ORDER,
    name="second_order_with_valve",
    parameters=(*SECOND_ORDER.parameters, TWO_LAGS.parameters[-1]),
    measurements=(_REST,),
    outputs=lambda t, x, u, w, p: x[:1],  # noqa: ARG005  (the position alone)
    derivative=lambda t, x, u, w, p: second_order_derivative(t, x, _behind_valve(u, p), w, p[:4]),
    energy=lambda t, x, u, w, p: second_order_energy(t, x, u, w, p[:4]),
    supplied_power=lambda t, x, u, w, p: second_order_supplied_power(t, x, _behind_valve(u, p), w, p[:4]),
    entropy_rate=lambda t, x, u, w, p: second_order_entropy_rate(t, x, u, w, p[:4]),
    text="Second order plus dead time behind a valve with a curve; not registered: oscillating loops of a log have it.",
)
