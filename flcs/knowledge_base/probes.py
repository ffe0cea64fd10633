"""Where the gains of a knowledge base are looked at: at its rules, between them, and outside the taught ranges.

Places are counted in terms: where 1.5 is half-way between the second and the third term's centre, wherever these are.
So all candidates of a search are asked at the same places, and whatever a search does to the terms, each rule is met
where it speaks alone. Only what some value of the inputs brings is met: mixtures of rules that are neighbours.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from controllers.probes import Probes
from flcs.inference.rule_base import OWN_INPUTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from controllers.probes import Near
    from flcs.inference.inference import RuleNumbers
    from flcs.inference.rule_base import Inference, RuleBase
    from flcs.inference.variable import Variable
    from flcs.knowledge_base.knowledge_base import KnowledgeBase

    Array = NDArray[np.float64]
    Key = tuple[int, str] | str

_AT_TERMS = 0.5  # share of a drawn place's inputs that stand at a term, when several channels are drawn together
_OUTSIDE = 0.25  # share of the drawn places with an input where the gains are on their way to the reference gains
_FARTHEST = 10.0  # ranges outside: where gains hardly fade, nothing goes so far that the reference gains stand


def probes(kb: KnowledgeBase, numbers: Sequence[RuleNumbers], near: Near, count: int, seed: int = 0) -> Probes:
    """Return signals and states at which a knowledge base gives what it may give near a point of rest.

    Of each channel: the places of all rules (those of outer terms also at the ends of the ranges, where gains change up
    to there) and one outside all ranges, where the reference gains stand, with the other channels at rest; then, for
    each channel, `count` drawn places of all channels together, some a little outside.

    Parameters
    ----------
    kb : KnowledgeBase
    numbers : sequence of RuleNumbers
        Of each channel; numbers that a search moves are columns [n, 1].
    near : mapping of plant output to (low, high)
    count, seed : int
    """
    blocks = [_of_rules(base, i, numbers[i], kb.inference) for i, base in enumerate(kb.channels)]
    blocks.append(_drawn(kb, numbers, count, seed))
    sizes = [_length(block) for block in blocks]
    own = [[(i, name) for name in OWN_INPUTS] for i in range(len(kb.channels))]
    outputs = [_moved(_joined(blocks, sizes, name, _middle(kb, name, near)), near.get(name)) for name in kb.signals]
    signals = [_joined(blocks, sizes, key, 0.0) for keys in own for key in keys[:2]]
    states = [_joined(blocks, sizes, (i, "z"), 0.0) for i, base in enumerate(kb.channels) if "z" in base.input_names]
    return Probes([*signals, *outputs], states)


def at_rest(kb: KnowledgeBase, numbers: Sequence[RuleNumbers], outputs: Sequence[Array]) -> Probes:
    """Return signals and states without control errors, whatever their integral is.

    Parameters
    ----------
    kb : KnowledgeBase
    numbers : sequence of RuleNumbers
    outputs : sequence of arrays [1, n_points]
        The plant outputs among its inputs, at points of rest.

    Returns
    -------
    Probes
        At n_points * n_integrals places, point by point: 0 and every term of the integral, of all channels together.
    """
    of_z = []
    for i, base in enumerate(kb.channels):
        if "z" in base.input_names:
            place = base.input_names.index("z")
            of_z.append(_reached(base, base.inputs[place], _centres(numbers[i], base, place)))
    n = 1 + max((centres.shape[1] for centres in of_z), default=0)
    zero = np.zeros((1, 1))
    states = []
    for centres in of_z:
        picked = np.minimum(np.arange(n - 1), centres.shape[1] - 1)
        states.append(np.hstack([np.zeros((len(centres), 1)), centres[:, picked]]))
    points = max((part.shape[1] for part in outputs), default=1)
    return Probes(
        [*[zero] * (2 * len(kb.channels)), *(np.repeat(part, n, axis=1) for part in outputs)],
        [np.tile(state, (1, points)) for state in states],
    )


def _of_rules(base: RuleBase, channel: int, numbers: RuleNumbers, how: Inference) -> dict[Key, Array]:
    """Inputs of one channel where each rule's terms are, and outside."""
    terms = np.array([rule.terms for rule in base.rules])
    beyond_centres = how.order > 0 or any(variable.shape.has_widths for variable in base.inputs)
    found = {}
    for place, variable in enumerate(base.inputs):
        own = terms[:, place]
        at_terms = _centres(numbers, base, place)[:, own]
        at_ends = np.where(own == 0, variable.low, np.where(own == variable.n_terms - 1, variable.high, at_terms))
        far = min(1.0 + how.fade, _FARTHEST) * (variable.high - variable.low)
        outside = np.full((len(at_terms), 1), variable.high + far)
        parts = [at_terms, at_ends, outside] if beyond_centres else [at_terms, outside]
        found[_key(channel, variable)] = _reached(base, variable, np.hstack(parts))
    return found


def _drawn(kb: KnowledgeBase, numbers: Sequence[RuleNumbers], count: int, seed: int) -> dict[Key, Array]:
    """Inputs of all channels at random places, in terms; plant outputs are those of the first channel that has them."""
    terms = tuple(tuple(variable.n_terms for variable in base.inputs) for base in kb.channels)
    drawn = _places(terms, min(kb.inference.fade, _FARTHEST), count, seed)
    found: dict[Key, Array] = {}
    for i, base in enumerate(kb.channels):
        outside, places = drawn[i]
        for place, (variable, at) in enumerate(zip(base.inputs, places, strict=True)):
            centres = _centres(numbers[i], base, place)
            low, high = centres[:, at.before], centres[:, at.before + 1]
            far = at.far * (variable.high - variable.low)
            inside = low + at.share * (high - low)
            values = np.where(outside == place, np.where(far < 0.0, variable.low, variable.high) + far, inside)
            found.setdefault(_key(i, variable), _reached(base, variable, values))
    return found


class _DrawnPlaces(NamedTuple):
    """Of an input: the term before each place, how far on the way to the next, and how far outside, in ranges."""

    before: NDArray[np.intp]
    share: Array
    far: Array


@lru_cache(maxsize=64)
def _places(
    terms: tuple[tuple[int, ...], ...], fade: float, count: int, seed: int
) -> tuple[tuple[NDArray[np.intp], tuple[_DrawnPlaces, ...]], ...]:
    """Which input is outside (-1: none) and places of each input, of each channel; a search asks for the same ones.

    `terms` are the numbers of terms of each channel's inputs.
    """
    rng, several = np.random.default_rng(seed), len(terms)
    found = []
    for own in terms:
        outside = np.where(rng.random(count * several) < _OUTSIDE, rng.integers(0, len(own), count * several), -1)
        places = []
        for n_terms in own:
            where = rng.uniform(0.0, n_terms - 1.0, count * several)
            at_term = rng.random(len(where)) < (_AT_TERMS if several > 1 else 0.0)
            where = np.where(at_term, np.round(where), where)
            before = np.minimum(where.astype(int), n_terms - 2)
            places.append(_DrawnPlaces(before, where - before, rng.uniform(-fade, fade, len(where))))
        found.append((outside, tuple(places)))
    return tuple(found)


def _reached(base: RuleBase, variable: Variable, values: Array) -> Array:
    """Values that the input comes to: an integral keeps to its limit."""
    if variable.name != "z":
        return values
    limit = base.integral_limit or 0.0  # it is set where z is used
    return np.clip(values, -limit, limit)


def _centres(numbers: RuleNumbers, base: RuleBase, place: int) -> Array:
    """Centres of an input's terms [n or 1, n_terms]."""
    own = base.inputs[place].centres if numbers.centres is None else numbers.centres[place]
    columns = np.broadcast_arrays(*(np.reshape(np.asarray(centre, float), (-1, 1)) for centre in own))
    return np.hstack(columns)


def _key(channel: int, variable: Variable) -> Key:
    return (channel, variable.name) if variable.name in OWN_INPUTS else variable.name


def _length(block: dict[Key, Array]) -> int:
    return next(iter(block.values())).shape[1]


def _joined(blocks: Sequence[dict[Key, Array]], sizes: Sequence[int], key: Key, rest: float) -> Array:
    """One input over all blocks [n or 1, n_places]; in blocks that do not move it, it is at rest."""
    parts = [block.get(key, np.full((1, size), rest)) for block, size in zip(blocks, sizes, strict=True)]
    rows = max(len(part) for part in parts)
    return np.hstack([np.broadcast_to(part, (rows, part.shape[1])) for part in parts])


def _middle(kb: KnowledgeBase, name: str, near: Near) -> float:
    variable = next(v for base in kb.channels for v in base.inputs if v.name == name)
    low, high = near.get(name, (-np.inf, np.inf))
    return float(0.5 * (max(low, min(variable.low, high)) + min(high, max(variable.high, low))))


def _moved(values: Array, ends: tuple[float, float] | None) -> Array:
    return values if ends is None else np.clip(values, *ends)
