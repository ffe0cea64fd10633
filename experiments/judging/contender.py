"""One controller to be judged, and a knowledge base as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flcs import FuzzyController
from flcs.refinement import hull_of

if TYPE_CHECKING:
    import numpy as np

    from experiments.ladder import Bench
    from flcs import KnowledgeBase
    from plants import Plant


@dataclass(frozen=True)
class Contender:
    """One controller to be judged.

    Attributes
    ----------
    name, title, text : str
    controller : controller for sscq
    theta : ndarray [n_theta]
    per_situation : ndarray [situation, n_theta] or None
        Of an oracle, which has parameters of its own for every declared situation.
    point_gains : ndarray [n_operating_points, n_gains] or None
        Of a schedule over the operating point: those that stand at each; margins are asked of these alone.
    plant : Plant or None
        Where it measures more than the declared plant does; None: that one.
    gain_sets : ndarray [n_sets, n_gains] or None
        Gains that it may give, for margins.
    """

    name: str
    title: str
    text: str
    controller: Any
    theta: np.ndarray
    evaluations: int | None = None
    parameters: int | None = None
    gain_sets: np.ndarray | None = None
    per_situation: np.ndarray | None = None
    point_gains: np.ndarray | None = None
    plant: Plant | None = None


def of_kb(name: str, title: str, text: str, bench: Bench, kb: KnowledgeBase, evaluations: int | None) -> Contender:
    """Return a knowledge base as a contender."""
    laws = bench.setup.laws
    controller = FuzzyController(kb, laws=laws)
    numbers = sum(len([r for r in b.rules if r.on]) * len(b.gain_names) + sum(v.n_terms for v in b.inputs)
                  for b in kb.channels)  # fmt: skip
    return Contender(
        name, title, text, controller, controller.theta, evaluations, numbers,
        None if bench.margins is None else hull_of(kb, laws),
    )  # fmt: skip
