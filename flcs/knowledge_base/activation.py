"""What happens inside a rule base at one point: memberships, firing strengths, output sets and the gains they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flcs.inference import defuzzification
from flcs.inference.inference import consequent_values, firing, infer, own_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flcs.inference.rule_base import Inference, RuleBase
    from flcs.knowledge_base.knowledge_base import KnowledgeBase

    Array = NDArray[np.float64]
    Line = tuple[Array, Array]

_DRAWN = 241  # points of a drawn output set


@dataclass(frozen=True, eq=False)
class Conclusion:
    """What the rules say about one gain.

    Attributes
    ----------
    gain : str
    sets : tuple of (values of the gain, memberships), one a rule
        Mamdani: the rule's set after implication. Tsukamoto: the rising set up to the firing strength, its last value
        what the rule says. Sugeno: a singleton as high as the firing strength.
    joined : (values, memberships) or None
        Mamdani's aggregated set.
    mean : float
        What the rules say together, before confidence, authority and fallback; NaN where none fires.
    value : float
        The gain.
    """

    gain: str
    sets: tuple[Line, ...]
    joined: Line | None
    mean: float
    value: float


@dataclass(frozen=True, eq=False)
class Activation:
    """A rule base at one point.

    Attributes
    ----------
    point : tuple of float [n_inputs]
    memberships : tuple of array [n_terms], one an input
    rules : tuple of int
        Numbers of the rules that are on.
    firing : array [n_rules that are on]
    conclusions : tuple of Conclusion [n_gains]
    """

    point: tuple[float, ...]
    memberships: tuple[Array, ...]
    rules: tuple[int, ...]
    firing: Array
    conclusions: tuple[Conclusion, ...]


def activation(kb: KnowledgeBase, point: Sequence[float], channel: int = 0) -> Activation:
    """Return what the rules of a channel do at a point.

    Parameters
    ----------
    kb : KnowledgeBase
    point : sequence of float [n_inputs of the channel]
    channel : int

    Raises
    ------
    ValueError
        If the point has not one number for each input of the channel.
    """
    base, how = kb.channels[channel], kb.inference
    x = tuple(float(value) for value in point)
    if len(x) != len(base.inputs):
        raise ValueError(f"a point needs one number for each of {base.input_names}, got {x}")
    numbers = own_numbers(base)
    rules, found = firing(base, how, x, numbers)
    strengths = [float(r) for r in found]
    grades = tuple(np.array(v.memberships(value), dtype=float) for v, value in zip(base.inputs, x, strict=True))
    gains = [float(gain) for gain in infer(base, how, x, numbers)]
    return Activation(x, grades, rules, np.array(strengths), tuple(_conclusions(base, how, x, rules, strengths, gains)))


def _conclusions(
    base: RuleBase, how: Inference, x: tuple[float, ...], rules: tuple[int, ...], strengths: list[float],
    gains: list[float],
) -> list[Conclusion]:  # fmt: skip
    box = list(zip(base.low, base.reference, base.high, strict=True))
    numbers = own_numbers(base)
    values = consequent_values(base, how, x, [numbers.gains[number] for number in rules])
    total = sum(strengths, 0.0)
    pulls = defuzzification.pulls(how, strengths, total, values, box)
    found = []
    for k, (pull, ends) in enumerate(zip(pulls, box, strict=True)):
        said = [float(value[k]) for value in values]
        mean = ends[1] + float(pull) / total if total > 0.0 else float("nan")
        sets, joined = _sets(how, strengths, said, ends)
        found.append(Conclusion(base.gain_names[k], sets, joined, mean, gains[k]))
    return found


def _sets(
    how: Inference, strengths: list[float], said: list[float], box: tuple[float, float, float]
) -> tuple[tuple[Line, ...], Line | None]:
    low, reference, high = box
    if how.output is None:
        rising = how.form == "tsukamoto"
        feet = [reference if rising else value for value in said]
        tops = [f + r * (v - f) for r, v, f in zip(strengths, said, feet, strict=True)]
        lines = zip(feet, tops, strengths, strict=True)
        return tuple((np.array([f, top]), np.array([0.0, r])) for f, top, r in lines), None
    sets, span = how.output, high - low if high > low else 1.0
    grid = np.linspace(-sets.width, 1.0 + sets.width, _DRAWN)
    places = defuzzification.centres(said, box)
    single = [defuzzification.aggregated(sets, [r], [c], grid) for r, c in zip(strengths, places, strict=True)]
    joined = defuzzification.aggregated(sets, strengths, places, grid) * np.ones(_DRAWN)
    values = low + span * grid
    return tuple((values, np.asarray(one)) for one in single), (values, joined)
