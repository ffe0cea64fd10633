"""A knowledge base renewed in operation: teacher and network from the old one on the changed plant, then refinement.

The network keeps the old one's terms and rules as its start and its structure, so that new numbers take over in the
running loop. The refinement begins with the numbers in force, with what the network has learnt, and with the reference
gains in all rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.fuzzy_controller import FuzzyController
from flcs.learning.config import NetworkConfig
from flcs.learning.imitation import retrained
from flcs.refinement.genome import candidate, with_reference
from plants.core.motion.simulate import count_steps
from sscq.baselines.search_plan import search
from sscq.search.box import Box
from sscq.search.genetic import GeneticAlgorithm
from sscq.teaching.teach import teach
from sscq.teaching.teacher import Teacher

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from flcs.knowledge_base.knowledge_base import KnowledgeBase
    from sscq.baselines.objective import Task
    from sscq.operation.renewal import OperatingTask

    Array = NDArray[np.float64]

_WINDOWS, _AHEAD = 20, 4  # of a taught situation, and windows that gains are judged ahead
_TEACHER = GeneticAlgorithm(population=12, generations=2, stall_generations=None)


@dataclass(frozen=True, eq=False)
class KnowledgeRenewal:
    """A knowledge base and how it is renewed.

    Attributes
    ----------
    kb : KnowledgeBase
        Of the design.
    relearned : bool
        Whether a teacher and the network come before the refinement; needs torch.
    taught : int
        Of the plants that are searched on, so many are taught.
    network : NetworkConfig
    """

    kb: KnowledgeBase
    relearned: bool = True
    taught: int = 1
    network: NetworkConfig = field(default_factory=NetworkConfig)

    @property
    def controller(self) -> FuzzyController:
        """The fuzzy controller."""
        return FuzzyController(self.kb)

    @property
    def start(self) -> Array:
        """Its numbers at the start of the run."""
        return self.controller.theta

    def proposed(
        self, task: OperatingTask, plants: Sequence[Mapping[str, float]], theta: Array, travel: float, seed: int
    ) -> Array:
        """Return numbers for plants that it may be; see :class:`sscq.operation.renewal.Renewal`."""
        kb, searched = self.controller.with_theta(theta), task.on(plants, travel=travel)
        starts = [kb, with_reference(kb)]
        if self.relearned:
            starts.insert(
                1, relearned(kb, task, searched.on(task.situations(plants[: self.taught])), seed, self.network)
            )
        given = candidate(kb, tuple(starts), self.controller.laws, "knowledge_base", "knowledge base")
        margins = task.margins(plants, self.controller, theta)
        return np.asarray(search(searched, given, task.plan(seed), margins).theta)


def relearned(kb: KnowledgeBase, given: OperatingTask, task: Task, seed: int, network: NetworkConfig) -> KnowledgeBase:
    """Return a knowledge base with numbers that the network has learnt anew, from the old ones, in closed loop.

    The teacher looks for the best gains in the states that the old knowledge base visits.

    Parameters
    ----------
    kb : KnowledgeBase
        In force.
    given : OperatingTask
        The box of gains.
    task : Task
        The changed plant's situations.
    seed : int
    network : NetworkConfig
    """
    controller = FuzzyController(kb)
    shortest = min(situation.t_end for situation in task.situations)
    window = max(1, count_steps(shortest, task.step) // _WINDOWS) * task.step
    reference = np.array([gain for base in kb.channels for gain in base.reference])
    teacher = Teacher(window=window, horizon=_AHEAD * window, continuations=2, search=_TEACHER)
    extra: dict[str, Any] = {"outputs": controller.schedule.signals}
    signal = teach(
        task.plant,
        controller.laws,
        task.situations,
        task.fitness,
        Box(tuple(given.low), tuple(given.high)),
        reference,
        teacher,
        seed=seed,
        step=task.step,
        options=dict(task.options),
        threads=task.threads,
        along=controller,
        theta=controller.theta,
        **extra,
    )
    return retrained(kb, signal, network, seed)
