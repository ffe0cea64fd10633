"""PID gains by tuning rules, as an engineer gets them: from the plant's own answer to a step at an operating point.

The answer is read as a process model (two-point fit, or an integrator). Ultimate gain and period, for
rules that ask for them, are those of the sampled loop: proportional control at the edge of stability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

import plants
from controllers import tuning
from sscq.margins.frequency_response import loop_transfer
from sscq.margins.hold import hold_inputs
from sscq.margins.sampled_loop import sample, spectral_radius

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from controllers import Gains, Law
    from plants import OperatingPoint, Plant
    from plants.core.analysis.linearise import LinearModel
    from sscq.margins.linear_loop import LinearPlant, LoopSettings
    from sscq.margins.sampled_loop import SampledPlant

    Array = NDArray[np.float64]


_STEPS = 4000
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
    t = np.linspace(0.0, horizon, _STEPS + 1)
    return t, _step(model, channel, output, t[1]), bool(at_rest.any())


def _step(model: LinearModel, channel: int, output: int, dt: float) -> Array:
    """Answer of one output to a unit step of one command, exact at multiples of `dt`."""
    n = len(model.A)
    held, pushed = hold_inputs(model.A, model.B[:, channel, None], dt)
    advance = np.block([[held, pushed], [np.zeros(n), 1.0]])
    state, row = np.zeros(n + 1), np.append(model.C[output], model.D[output, channel])
    state[n] = 1.0
    values = np.empty(_STEPS + 1)
    for k in range(_STEPS + 1):
        values[k] = row @ state
        state = advance @ state
    return values


def _asymptote(t: Array, y: Array, delay: float, plant: str) -> StepModel:
    late = slice(-_STEPS // 10, None)
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


def _lambda(gain: float, time_constant: float, dead_time: float) -> Gains:
    return tuning.lambda_tuning(gain, time_constant, dead_time, kind="pi" if np.isinf(time_constant) else "pid")


RULES: dict[str, Callable[[float, float, float], Gains]] = {
    "Ziegler-Nichols": tuning.ziegler_nichols,
    "Chien-Hrones-Reswick": tuning.chien_hrones_reswick,
    "Cohen-Coon": tuning.cohen_coon,
    "AMIGO": tuning.amigo,
    "SIMC": tuning.simc,
    "lambda": _lambda,
}


@dataclass(frozen=True)
class RuleGains:
    """What a rule gives for a plant.

    Attributes
    ----------
    rule : str
        A name of :data:`RULES`.
    gains : tuple of float or None
        kp, ki, kd of all channels in their order; None where the rule does not apply.
    text : str
        The models and the point they belong to, or why the rule does not apply.
    """

    rule: str
    gains: tuple[float, ...] | None
    text: str


def rule_gains(plant: Plant, sample_time: float, laws: Sequence[Law] = ()) -> tuple[RuleGains, ...]:
    """Return the gains of every rule at the first operating point at which all channels answer as rules need it.

    Each channel is tuned alone, with the other commands at rest. Half a sample time counts as dead time, as for every
    sampled loop.

    Parameters
    ----------
    plant : Plant
    sample_time : float
        Of the controller [s].
    laws : sequence of Law, optional
        One per channel; a law with reverse action turns the sign by itself, so its gains are for the opposite one.

    Returns
    -------
    tuple of RuleGains
        In the order of :data:`RULES`; without gains, and with the reason, where none applies.
    """
    reasons = []
    for point in plant.operating_points or (None,):
        try:
            models = [_seen_by(laws, k, step_model(plant, k, point)) for k in range(len(plant.channels))]
        except ValueError as error:  # NoStepModelError, or nothing holds the plant there
            reasons.append(str(error))
            continue
        return tuple(_of(rule, models, point, sample_time) for rule in RULES)
    return tuple(RuleGains(rule, None, reasons[0]) for rule in RULES)


def _seen_by(laws: Sequence[Law], channel: int, model: StepModel) -> StepModel:
    reverse = bool(laws) and getattr(laws[channel], "action", "direct") == "reverse"
    return replace(model, gain=-model.gain) if reverse else model


def _of(rule: str, models: list[StepModel], point: OperatingPoint | None, sample_time: float) -> RuleGains:
    gains: list[float] = []
    for model in models:
        try:
            found = RULES[rule](model.gain, model.time_constant, model.dead_time + 0.5 * sample_time)
        except ValueError as error:
            return RuleGains(rule, None, str(error))
        gains += found.vector
    where = f"at {point.name}" if point is not None else "at the nominal state"
    words = "; ".join(_in_words(model) for model in models)
    return RuleGains(rule, tuple(gains), f"{where}: {words}")


def _in_words(model: StepModel) -> str:
    kind = "slope" if np.isinf(model.time_constant) else "gain"
    lag = "" if np.isinf(model.time_constant) else f", time constant {model.time_constant:.3g} s"
    swings = f", its own answer overshoots by {100 * model.overshoot:.0f} %" if model.overshoot > 0.1 else ""
    return f"{kind} {model.gain:.3g}{lag}, dead time {model.dead_time:.3g} s{swings}"


_FREQUENCIES = 2000
_SLOWEST = 1e-7  # of the Nyquist frequency
_SAMPLES = 10  # a period shorter than these belongs to the sampling, not to the plant
_ASIDE = 1e-3  # of the gain: how near to it the loop is asked whether it is stable


def ultimate_gain(plant: LinearPlant, loop: LoopSettings) -> tuple[float, float] | None:
    """Return the ultimate gain (positive, in the sense of the loop's action) and its period [s].

    None where proportional control alone never holds the plant, where it holds it with any gain, or where the period
    is that of the sampling (below ten samples): then the plant itself has no ultimate gain.

    Source: J. G. Ziegler, N. B. Nichols, Optimum settings for automatic controllers, Trans. ASME 64 (1942) 759-768.
    """
    sampled = sample(plant, loop)
    top = np.pi / loop.sample_time
    frequency = np.geomspace(_SLOWEST * top, 0.999 * top, _FREQUENCIES)
    response = _of_p(sampled, frequency)
    turns = np.flatnonzero((np.diff(np.sign(response.imag)) != 0.0) & (response.real[1:] < 0.0))
    found = []
    for k in turns:
        w = brentq(lambda w: float(_of_p(sampled, np.array([w]))[0].imag), frequency[k], frequency[k + 1], rtol=1e-12)
        value = float(_of_p(sampled, np.array([w]))[0].real)
        if value < 0.0:
            found.append((-1.0 / value, 2.0 * np.pi / w))
    for gain, period in sorted(found):
        if _is_edge(sampled, gain):
            return (gain, period) if period >= _SAMPLES * loop.sample_time else None
    return None


def _of_p(plant: SampledPlant, frequency: np.ndarray) -> np.ndarray:
    return loop_transfer(plant, np.asarray(1j * frequency))[0]


def _is_edge(plant: SampledPlant, gain: float) -> bool:
    """Whether the loop is stable just below the gain and unstable just above it."""
    sets = np.array([[gain * (1.0 + side), 0.0, 0.0] for side in (-_ASIDE, _ASIDE)])
    below, above = spectral_radius(plant, sets)
    return bool(below < 1.0 <= above)
