"""The inputs of the knowledge base by measurement: information first, then what the closed loop loses without them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flcs import imitate
from flcs.learning.imitation import arranged
from flcs.learning.rows import TeachingRows, merged
from flcs.refinement.input_choice import eliminate

if TYPE_CHECKING:
    from collections.abc import Callable

    from flcs import KnowledgeBase
    from flcs.learning.config import NetworkConfig
    from flcs.refinement.input_choice import InputValue
    from sscq.teaching.teaching_signal import TeachingSignal

    Judge = Callable[[KnowledgeBase], float]


def with_needed_inputs(
    kb: KnowledgeBase,
    signal: TeachingSignal,
    config: NetworkConfig,
    seed: int,
    taught: Judge,
    validation: Judge,
    whole: Callable[[KnowledgeBase], KnowledgeBase],
) -> KnowledgeBase:
    """Return the knowledge base with the inputs that the closed loop needs, imitated anew where some went.

    Parameters
    ----------
    kb : KnowledgeBase
        By imitation, with all candidates that the permutation test left.
    signal : TeachingSignal
    config : NetworkConfig
        Its `max_inputs`, and with `choose_inputs` its `input_loss`.
    seed : int
    taught, validation : callable
        Fitness of a knowledge base.
    whole : callable
        Gives a knowledge base all rules of its grid.

    Returns
    -------
    KnowledgeBase
        What every input is worth is in ``training["structure"]``.
    """
    rows = merged(TeachingRows.of(signal), config.merge_within)
    full = whole(kb)
    loss = config.input_loss if config.choose_inputs else None
    chosen, values = eliminate(full, rows, config, taught, validation, most=config.max_inputs, loss=loss)
    record = _record(kb, values)
    if chosen.input_names != full.input_names or any(not value.kept for value in values):
        kb = imitate(chosen, arranged(chosen, rows), config, seed)
    return replace(kb, training={**kb.training, "structure": record})


def _record(kb: KnowledgeBase, values: tuple[InputValue, ...]) -> dict[str, Any]:
    before = kb.training.get("structure", {})
    return {
        base.name: {
            **before.get(base.name, {}),
            "inputs": {value.name: value.document() for value in values if value.channel == number},
        }
        for number, base in enumerate(kb.channels)
    }
