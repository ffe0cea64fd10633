"""A knowledge base without a teacher: terms where a fixed PID's closed loop has been, every rule at its gains.

It is the start of a closed-loop refinement, as the imitated one is: what the two become tells what imitation is worth.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from controllers import pid_form
from flcs.inference.membership import shape_of
from flcs.inference.rule_base import OWN_INPUTS, RuleBase, full_grid
from flcs.inference.variable import Variable, evenly
from flcs.knowledge_base.knowledge_base import KnowledgeBase
from flcs.learning.config import SEARCH, NetworkConfig
from flcs.learning.terms import Population, bounds_of, given_variable
from flcs.learning.variables import unit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from controllers.protocols import Law
    from plants import Plant
    from sscq.loop.record import Visited

    Array = NDArray[np.float64]

_COLUMN = {name: k for k, name in enumerate(OWN_INPUTS)}


def direct(structure: KnowledgeBase, seen: Visited, plant: Plant, config: NetworkConfig | None = None) -> KnowledgeBase:
    """Return the full grid of rules over ranges that a closed loop has been in, all rules at the reference gains.

    Parameters
    ----------
    structure : KnowledgeBase
        Inputs, numbers and shapes of terms, inference, box and reference gains are taken from it; its ranges, places of
        terms and rules are not.
    seen : Visited
        Of the reference gains, in the taught situations.
    plant : Plant
    config : NetworkConfig, optional
        How terms are placed over a range (`evenness`, `overlap`), as for :func:`flcs.design`.
    """
    settings = config or NetworkConfig()
    channels = tuple(
        _placed(base, i, seen, plant, settings, structure.inference.order) for i, base in enumerate(structure.channels)
    )
    return replace(structure, channels=channels, training={}, validation=(), stability={})


def blank(
    plant: Plant,
    laws: Sequence[Law],
    box: tuple[Array, Array],
    reference: Array,
    tick: float,
    config: NetworkConfig | None = None,
) -> KnowledgeBase:
    """Return inputs and numbers of terms as the settings say, over no range yet: a structure for :func:`direct`.

    Where the settings leave the numbers of terms to the teaching signal, every input has three.

    Parameters
    ----------
    plant : Plant
    laws : sequence of law
        Of the channels.
    box : pair of ndarray [n_gains]
        Least and largest gains.
    reference : ndarray [n_gains]
    tick : float
        Time between two updates of the gains [s].
    config : NetworkConfig, optional
    """
    settings = config or NetworkConfig()
    counts = settings.counts(len(settings.inputs)) or (_USUAL,) * len(settings.inputs)
    shape = NetworkConfig.shape if settings.shape == SEARCH else settings.shape
    size, bases = len(reference) // len(laws), list[RuleBase]()
    for i, (channel, law) in enumerate(zip(plant.channels, laws, strict=True)):
        inputs = tuple(
            Variable(name, unit_of(plant, i, name), -1.0, 1.0, evenly(-1.0, 1.0, n), shape=shape_of(shape))
            for name, n in zip(settings.inputs, counts, strict=True)
        )
        low, high, gains = (tuple(map(float, part[i * size : (i + 1) * size])) for part in (*box, reference))
        rules = full_grid(counts, gains, settings.order)
        bases.append(RuleBase(channel.output, inputs, rules, low, high, gains, law=pid_form.describe(law)))
    return KnowledgeBase(plant.name, tuple(bases), settings.inference(), tick=tick, common_terms=settings.common_terms)


_USUAL = 3  # terms


def _placed(base: RuleBase, channel: int, seen: Visited, plant: Plant, config: NetworkConfig, order: int) -> RuleBase:
    variables = tuple(_variable(v, _column(seen, plant, channel, v.name), plant, config) for v in base.inputs)
    rules = full_grid([v.n_terms for v in variables], base.reference, order)
    return replace(base, inputs=variables, rules=rules, integral_limit=None)


def _variable(like: Variable, x: Array, plant: Plant, config: NetworkConfig) -> Variable:
    """Terms given by hand, or as many as another variable has, placed over the data."""
    if like.name in config.centres:
        return given_variable(
            like.name, config.centres[like.name], x, unit=like.unit, shape=like.shape, overlap=config.overlap,
            bounds=bounds_of(plant, like.name),
        )  # fmt: skip
    return Population(x, np.ones(len(x))).variable(
        like.name, like.n_terms, unit=like.unit, shape=like.shape, evenness=config.evenness, overlap=config.overlap
    )


def _column(seen: Visited, plant: Plant, channel: int, name: str) -> Array:
    if name in _COLUMN:
        return np.asarray(seen.own[:, channel, _COLUMN[name]])
    return np.asarray(seen.outputs[:, plant.index("measurements", name)])
