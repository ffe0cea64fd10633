"""A controller with the parameters that were found for it: one record, from its search to the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from plants import Plant
    from sscq.search.history import GenerationHistory


@dataclass(frozen=True, eq=False)
class Tuned:
    """A tuned controller.

    Attributes
    ----------
    name, title : str
    text : str
        How it was obtained, in a line.
    controller : controller for sscq
        None where only numbers of a search are read back.
    theta : ndarray [n_theta]
        Parameters of its schedule.
    evaluations : int or None
        What its search cost; None: not counted.
    parameters : int or None
        Number of tuned numbers.
    margins_asked : bool
        Whether margins are asked of its gains.
    per_situation : ndarray [situation, n_theta] or None
        Of an oracle, which has parameters of its own for every declared situation.
    plant : Plant or None
        Where it measures more than the declared plant does; None: that one.
    fitness : float
        On the taught situations as its search saw it, margins and travel limit included; NaN: not searched.
    histories : tuple of (name, GenerationHistory)
        Of the searches behind it; the name is the method's, "label|method" where they are several.
    genome : ndarray [n_genes]
        What the search found; theta is decoded from it.
    incumbents : ndarray [n, n_genes]
        The best genomes on the way.
    """

    name: str
    title: str
    text: str = ""
    controller: Any = None
    theta: np.ndarray = field(default_factory=lambda: np.empty(0))
    evaluations: int | None = None
    parameters: int | None = None
    margins_asked: bool = False
    per_situation: np.ndarray | None = None
    plant: Plant | None = None
    fitness: float = float("nan")
    histories: tuple[tuple[str, GenerationHistory], ...] = ()
    genome: np.ndarray = field(default_factory=lambda: np.empty(0))
    incumbents: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def spent(self) -> int:
        """Evaluations, 0 where they are not counted."""
        return self.evaluations or 0
