"""Process models for tuning rules, read from a plant's answer to a small step about an operating point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import plants

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants import OperatingPoint, Plant
    from plants.core.linearise import LinearModel

    Array = NDArray[np.float64]

_POINTS = 4000
_SETTLED = 16.0  # horizon, in times of the slowest mode that settles: exp(-16) = 1e-7 is left
_AT_REST = 1e-7  # share of the fastest mode below which a pole counts as 0
_NO_ANSWER = 1e-9  # share of the largest deviation on the way below which a static gain counts as 0


class NoStepModelError(ValueError):
    """The plant's answer to a step has no form that tuning rules know; the message says why."""


@dataclass(frozen=True)
class StepModel:
    """First order plus dead time, or integrating plus dead time.

    Attributes
    ----------
    gain : float
        Static gain [y/u]; of an integrating process the slope [y/(u s)].
    time_constant : float
        [s]; infinite: integrating.
    dead_time : float
        Apparent dead time [s], that of the inputs included.
    overshoot : float
        Of the plant's own answer, as a share of its final value: rules are made for 0.
    """

    gain: float
    time_constant: float
    dead_time: float
    overshoot: float = 0.0


def step_model(plant: Plant, channel: int = 0, point: OperatingPoint | str | None = None) -> StepModel:
    """Fit the model that tuning rules ask for to the linearised plant's answer to a step of one command.

    A first-order model goes through the points where 28.3 and 63.2 % of the answer are reached; an integrating one is
    the asymptote.

    Parameters
    ----------
    plant : Plant
    channel : int
        Number of the control channel; the other commands stay.
    point : OperatingPoint or str, optional
        One of the plant's operating points; left out: the nominal initial state.

    Returns
    -------
    StepModel

    Raises
    ------
    NoStepModelError
        If the plant is unstable there, integrates twice, or does not answer in the long run.

    Notes
    -----
    Source of the two points: Smith, Digital Computer Process Control (1972); Seborg et al., Process Dynamics and
    Control, 2nd ed., sec. 7.2.
    """
    model = plants.linearise(plant, point, commands=True)
    output = model.outputs.index(plant.channels[channel].output)
    t, y, integrates = _answer(model, channel, output, plant.name)
    return _asymptote(t, y, model.delay, plant.name) if integrates else _two_points(t, y, model.delay, plant.name)


def _answer(model: LinearModel, channel: int, output: int, plant: str) -> tuple[Array, Array, bool]:
    """Times, answer to a unit step without the inputs' dead time, and whether the plant integrates."""
    poles = model.poles
    fast = float(np.abs(poles).max())
    at_rest = np.abs(poles) <= _AT_REST * max(fast, 1e-300)
    if (poles.real[~at_rest] > 0.0).any():
        pole = poles[0].real
        raise NoStepModelError(
            f"plant {plant!r} is unstable there (pole {pole:+.3g} 1/s): its step response does not settle"
        )
    if at_rest.sum() > 1:
        raise NoStepModelError(
            f"plant {plant!r} integrates {at_rest.sum()} times: no rule for a first-order model applies"
        )
    settling = -poles.real[~at_rest]
    if (settling <= _AT_REST * fast).any():
        raise NoStepModelError(f"plant {plant!r} swings without damping there: its step response does not settle")
    horizon = _SETTLED / float(settling.min()) if settling.size else 1.0
    t = np.linspace(0.0, horizon, _POINTS + 1)
    return t, _step(model, channel, output, t[1]), bool(at_rest.any())


def _step(model: LinearModel, channel: int, output: int, dt: float) -> Array:
    """Answer of one output to a unit step of one command, exact at multiples of `dt`."""
    from scipy.linalg import expm

    n = len(model.A)
    block = np.zeros((n + 1, n + 1))
    block[:n, :n], block[:n, n] = model.A, model.B[:, channel]
    advance = expm(block * dt)
    state, row = np.zeros(n + 1), np.append(model.C[output], model.D[output, channel])
    state[n] = 1.0
    values = np.empty(_POINTS + 1)
    for k in range(_POINTS + 1):
        values[k] = row @ state
        state = advance @ state
    return values


def _asymptote(t: Array, y: Array, delay: float, plant: str) -> StepModel:
    late = slice(-_POINTS // 10, None)
    slope, level = np.polyfit(t[late], y[late], 1)
    if abs(slope) * t[-1] <= _NO_ANSWER**0.5 * float(np.abs(y).max(initial=1e-300)):
        return _two_points(t, y, delay, plant)  # another output integrates, this one settles
    return StepModel(float(slope), math.inf, max(0.0, float(-level / slope)) + delay)


def _two_points(t: Array, y: Array, delay: float, plant: str) -> StepModel:
    gain = float(y[-1])
    if abs(gain) <= _NO_ANSWER * float(np.abs(y).max(initial=1e-300)):
        raise NoStepModelError(f"plant {plant!r} does not answer in the long run: its static gain is 0")
    share = y / gain
    early, late = (_reached(t, share, level) for level in (1.0 - math.exp(-1.0 / 3.0), 1.0 - math.exp(-1.0)))
    lag = min(1.5 * (late - early), late)  # the latter: a first-order answer, or one that starts faster
    return StepModel(gain, lag, late - lag + delay, max(0.0, float(share.max()) - 1.0))


def _reached(t: Array, share: Array, level: float) -> float:
    """Time at which the answer first reaches a share of its final value."""
    k = int(np.argmax(share >= level))
    if k == 0:
        return 0.0
    return float(t[k - 1] + (t[k] - t[k - 1]) * (level - share[k - 1]) / (share[k] - share[k - 1]))
