"""PID gains by tuning rules, as an engineer gets them: from the plant's own answer to a step at an operating point."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from controllers import tuning
from sscq.step_model import StepModel, step_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controllers import Gains, Law
    from plants import OperatingPoint, Plant


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
