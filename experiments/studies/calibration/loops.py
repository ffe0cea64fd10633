"""Plants of eleven kinds, none of them an identified one, under a PI law: simulated finely, in plain Python.

Each kind draws its parameters and answers with its rates. Inputs and outputs are in per cent. The step of integration
is a twentieth of the sample time or of the plant's fastest lag, whichever is shorter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Rates = Callable[[Sequence[float], float], Sequence[float]]

REST = 50.0


@dataclass(frozen=True)
class DrawnPlant:
    """One plant.

    Attributes
    ----------
    kind : str
    rates : callable
        Of the states, for an input in per cent.
    start : tuple of float
        States at which the input REST holds the output at REST.
    output : callable
        Of the states.
    dead_time, fastest : float
        [s]
    gain, lag, late : float
        About rest, for the rule that gives the present gains: what is as good as dead time beside the dead time itself.
        An integrating plant has an infinite lag and its slope.
    """

    kind: str
    rates: Rates
    start: tuple[float, ...]
    output: Callable[[Sequence[float]], float]
    dead_time: float
    fastest: float
    gain: float
    lag: float
    late: float


def lags(kind: str, gain: float, times: Sequence[float], dead: float, curve: float = 0.0) -> DrawnPlant:
    """Lags in a row behind an input whose gain may change with its place."""

    def rates(x: Sequence[float], u: float) -> list[float]:
        given = math.expm1(curve * (u - REST)) / curve if curve else u - REST
        before = [gain * given, *x[:-1]]
        return [(a - b) / T for a, b, T in zip(before, x, times, strict=True)]

    return DrawnPlant(
        kind,
        rates,
        (0.0,) * len(times),
        lambda x: REST + x[-1],
        dead,
        min(times),
        gain,
        max(times),
        sum(times) - max(times),
    )


def first_order(rng: np.random.Generator) -> DrawnPlant:
    """One lag."""
    return lags("first order", _log(rng, 0.5, 3.0), [_log(rng, 15.0, 60.0)], _log(rng, 2.0, 12.0))


def two_lags(rng: np.random.Generator) -> DrawnPlant:
    """Two lags."""
    slow = _log(rng, 20.0, 60.0)
    return lags("two lags", _log(rng, 0.5, 3.0), [slow, slow * rng.uniform(0.1, 0.5)], _log(rng, 2.0, 10.0))


def four_lags(rng: np.random.Generator) -> DrawnPlant:
    """Four lags, no dead time."""
    slow = _log(rng, 10.0, 30.0)
    return lags("four lags", _log(rng, 0.5, 3.0), [slow * r for r in (1.0, *rng.uniform(0.2, 0.7, 3))], 0.0)


def valve_curve(rng: np.random.Generator) -> DrawnPlant:
    """Two lags behind a valve whose gain changes by a third to the double over 20 %."""
    slow, curve = _log(rng, 20.0, 50.0), float(rng.choice([-1.0, 1.0]) * rng.uniform(0.01, 0.03))
    return lags("valve curve", _log(rng, 0.5, 2.0), [slow, 0.2 * slow], _log(rng, 2.0, 10.0), curve)


def heater(rng: np.random.Generator) -> DrawnPlant:
    """A slow lag, a sensor's, and radiation: the loss grows with the fourth power of the absolute temperature."""
    slow, sensor, share = _log(rng, 60.0, 120.0), _log(rng, 3.0, 12.0), rng.uniform(0.1, 0.4)
    gain = _log(rng, 0.6, 1.5)

    def rates(x: Sequence[float], u: float) -> list[float]:
        hot = 1.0 + x[0] / 330.0
        loss = (1.0 - share) * x[0] + share * 330.0 * (hot**4 - 1.0) / 4.0
        return [(gain * (u - REST) - loss) / slow, (x[0] - x[1]) / sensor]

    return DrawnPlant("heater", rates, (0.0, 0.0), lambda x: REST + x[1], 2.0, sensor, gain, slow, sensor)


def integrating(rng: np.random.Generator) -> DrawnPlant:
    """An integrator behind a lag."""
    slope, lag = _log(rng, 0.01, 0.05), _log(rng, 1.0, 6.0)

    def rates(x: Sequence[float], u: float) -> list[float]:
        return [(u - REST - x[0]) / lag, slope * x[0]]

    dead = _log(rng, 2.0, 8.0)
    return DrawnPlant("integrating", rates, (0.0, 0.0), lambda x: REST + x[1], dead, lag, slope, math.inf, lag)


def oscillating(rng: np.random.Generator) -> DrawnPlant:
    """Two states with a damping of 0.2 to 0.6."""
    gain, damping, period = _log(rng, 0.5, 2.0), rng.uniform(0.2, 0.6), _log(rng, 4.0, 12.0)

    def rates(x: Sequence[float], u: float) -> list[float]:
        return [x[1], (gain * (u - REST) - x[0] - 2.0 * damping * period * x[1]) / period**2]

    dead = _log(rng, 1.0, 5.0)
    return DrawnPlant(
        "oscillating", rates, (0.0, 0.0), lambda x: REST + x[0], dead, period, gain, 2.0 * period, 4.0 * period
    )


def inverse_response(rng: np.random.Generator) -> DrawnPlant:
    """Two lags against each other: it first goes the wrong way."""
    slow, gain = _log(rng, 20.0, 50.0), _log(rng, 0.8, 2.0)
    quick, share = 0.25 * slow, rng.uniform(0.1, 0.3)

    def rates(x: Sequence[float], u: float) -> list[float]:
        v = u - REST
        return [((1.0 + share) * gain * v - x[0]) / slow, (-share * gain * v - x[1]) / quick]

    dead = _log(rng, 1.0, 5.0)
    return DrawnPlant(
        "inverse response", rates, (0.0, 0.0), lambda x: REST + x[0] + x[1], dead, quick, gain, slow, 2.0 * quick
    )


def tank(rng: np.random.Generator) -> DrawnPlant:
    """A level over an outlet: the outflow goes with the root of the level; a sensor's lag."""
    area, sensor = _log(rng, 15.0, 60.0), _log(rng, 1.0, 5.0)

    def rates(x: Sequence[float], u: float) -> list[float]:
        return [(u - REST * math.sqrt(max(x[0], 0.0) / REST)) / area, (x[0] - x[1]) / sensor]

    dead = _log(rng, 1.0, 6.0)
    return DrawnPlant("tank", rates, (REST, REST), lambda x: x[1], dead, sensor, 2.0, 2.0 * area, sensor)


def two_tanks(rng: np.random.Generator) -> DrawnPlant:
    """One tank above another."""
    upper, lower = _log(rng, 8.0, 20.0), _log(rng, 15.0, 50.0)

    def rates(x: Sequence[float], u: float) -> list[float]:
        between, out = (REST * math.sqrt(max(level, 0.0) / REST) for level in x)
        return [(u - between) / upper, (between - out) / lower]

    dead = _log(rng, 1.0, 6.0)
    return DrawnPlant(
        "two tanks", rates, (REST, REST), lambda x: x[1], dead, 2.0 * upper, 2.0, 2.0 * lower, 2.0 * upper
    )


def reactor(rng: np.random.Generator) -> DrawnPlant:
    """A stirred reactor whose reaction heats itself: a lag whose gain and time grow with temperature."""
    slow, gain, heat = _log(rng, 20.0, 50.0), _log(rng, 0.8, 2.0), rng.uniform(0.2, 0.6)

    def rates(x: Sequence[float], u: float) -> list[float]:
        reaction = heat * 25.0 * (math.exp(min(x[0], 60.0) / 25.0) - 1.0)
        return [(gain * (1.0 - heat) * (u - REST) - x[0] + reaction) / slow, (x[0] - x[1]) / 4.0]

    dead = _log(rng, 1.0, 5.0)
    return DrawnPlant("reactor", rates, (0.0, 0.0), lambda x: REST + x[1], dead, 4.0, gain, slow / (1.0 - heat), 4.0)


_PROCESSES = (first_order, two_lags, integrating, four_lags, oscillating, inverse_response)
_UNITS = (tank, two_tanks, heater, reactor, valve_curve)
KINDS = (*_PROCESSES, *_UNITS)


def _log(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


def careful_gains(plant: DrawnPlant, share: float) -> tuple[float, float]:
    """Return a share of Skogestad's gains for the plant about rest (kp, ki)."""
    late = max(plant.dead_time + plant.late, 2.0)
    slope = plant.gain if math.isinf(plant.lag) else plant.gain / plant.lag
    kp = 0.5 * share / (slope * late)
    return kp, kp / min(plant.lag, 8.0 * late)


def closed(
    plant: DrawnPlant,
    gains: tuple[float, float],
    set_point: np.ndarray,
    load: np.ndarray,
    noise: np.ndarray,
    step: float,
    manual: np.ndarray | None = None,
    rounding: tuple[float, float] = (0.0, 0.0),
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return measured values, outputs and true values [n] of the loop.

    Parameters
    ----------
    plant : DrawnPlant
    gains : (kp, ki)
    set_point, load, noise : array [n]
        Set point and load in per cent, the latter at the plant's input; noise of the sensor.
    step : float
        Sample time [s].
    manual : array [n], optional
        Outputs by hand; not a number: automatic.
    rounding : (of the measured value, of the output)
        0: none.
    """
    n, (kp, ki) = len(set_point), gains
    parts = max(1, math.ceil(20.0 * step / min(plant.fastest, 20.0 * step)))
    dt = step / parts
    late = round(plant.dead_time / dt)
    past = [REST] * (late + 1)
    state, integral, place = list(plant.start), REST, 0
    measured, output, true = np.empty((3, n))
    for k in range(n):
        true[k] = plant.output(state)
        measured[k] = _rounded(true[k] + noise[k], rounding[0])
        error = set_point[k] - measured[k]
        wanted = kp * error + integral
        u = min(max(wanted, 0.0), 100.0)
        if u == wanted or (wanted - u) * ki * error < 0.0:
            integral += ki * error * step
        if manual is not None and not math.isnan(manual[k]):
            u = float(manual[k])
            integral = u - kp * error
        output[k] = u = _rounded(u, rounding[1])
        for _ in range(parts):
            past[place] = u
            place = (place + 1) % len(past)
            given = past[place] + load[k]
            first = plant.rates(state, given)
            middle = plant.rates([x + 0.5 * dt * r for x, r in zip(state, first, strict=True)], given)
            state = [x + dt * r for x, r in zip(state, middle, strict=True)]
        if not abs(state[-1]) < 1e4:
            measured[k:], output[k:], true[k:] = math.inf, math.inf, math.inf
            break
    return measured, output, true


def _rounded(value: float, grid: float) -> float:
    return round(value / grid) * grid if grid else value
