"""What the trade-off fronts vary beside the fixed gains: a knowledge base's rules, constants of the plant's rivals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.judging import RIVAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from experiments.judging import Contender
    from experiments.knowledge import Refined
    from experiments.ladder import Bench
    from plants import Plant
    from sscq.baselines import Candidate


@dataclass(frozen=True)
class Kind:
    """What is varied, on which plant; names of the constants, where these stand for the schedule's parameters."""

    candidate: Candidate
    plant: Plant | None = None
    constants: tuple[str, ...] = ()


def rivals(bench: Bench, others: Sequence[Contender]) -> Iterator[Kind]:
    """Constants of the laws of the plant's own field; starts: nominal, random and tuned ones."""
    from experiments.rungs.rival import candidate_of

    tuned = {contender.name: contender for contender in others}
    for rival in bench.setup.plant.rivals:
        name = f"{RIVAL}{rival.name}"
        if rival.constants and (plant := tuned[name].plant) is not None:
            law = candidate_of(bench, plant, rival)
            own = tuned[name].theta[: 2 * len(law.low) : 2]  # demands; nothing else is used
            start = np.vstack([own, law.start])
            yield Kind(replace(law, name=name, start=start), plant, tuple(c.name for c in rival.constants))


def knowledge_base(bench: Bench, refined: Mapping[str, Refined]) -> Candidate:
    """Rules and terms of the knowledge base with free travel; starts: both knowledge bases and the fixed gains."""
    from flcs.refinement import candidate, with_reference

    kb = refined["free"].kb
    starts = (kb, refined["equal"].kb, with_reference(kb))
    return candidate(kb, starts, bench.setup.laws, "knowledge_base", "knowledge base")
