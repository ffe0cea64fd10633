"""Control situations drawn from declared ranges: those that teach, those that select, and fresh ones that judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from sscq.search.operators import latin_hypercube
from sscq.worst.genome import EnvelopeGenes, begins

if TYPE_CHECKING:
    from plants import Plant
    from sscq.situations.situation import Situation
    from sscq.worst.envelope import Envelope


def drawn_situations(
    plant: Plant,
    envelope: Envelope,
    n: int,
    seed: int,
    name: str = "drawn",
    *,
    evenly: bool = False,
    step: float | None = None,
) -> tuple[Situation, ...]:
    """Return situations drawn from an envelope, uniformly in every range.

    Parameters
    ----------
    n : int
    seed : int
    name : str
        Of the draw: situations are called "name 1", "name 2", ... Another name gives others for the same seed.
    evenly : bool
        As a Latin hypercube: few situations then cover every range, but are no independent sample. Left out, they are
        independent, as an interval over situations needs them.
    step : float, optional
        Integration step [s]; left out, the plant's.

    Returns
    -------
    tuple of Situation
        Each with a noise path of its own. Draws that the plant refuses (see :func:`sscq.worst.genome.begins`), such as
        those of a closed chain that nothing closes, are left out, so that there may be fewer than `n`.
    """
    if n == 0:
        return ()
    genes = EnvelopeGenes(plant, envelope)
    rng = np.random.Generator(np.random.PCG64([seed, crc32(name.encode())]))
    size = (n, genes.box.n_genes)
    genomes = genes.placed(latin_hypercube(rng, *size) if evenly else rng.random(size))
    several = (replace(genes.situation(row), name=f"{name} {k}") for k, row in enumerate(genomes, 1))
    return tuple(situation for situation in several if begins(plant, situation, step))
