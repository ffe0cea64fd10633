"""What all stages of a design work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sscq.baselines.objective import Task
from sscq.margins.operating import OperatingMargins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from controllers import PID
    from flcs.learning.config import NetworkConfig
    from plants import Plant
    from sscq.fitness import Fitness
    from sscq.margins.margins import MarginLimits
    from sscq.search.method import SearchMethod
    from sscq.search.nsga2 import NonDominatedSorting
    from sscq.situations.situation import Situation
    from sscq.teaching.teacher import Teacher


@dataclass(frozen=True)
class FrontPlan:
    """How trade-off fronts are searched, and which point of the fixed gains' is judged; see `FrontConfig`."""

    method: NonDominatedSorting
    objectives: tuple[str, ...]
    with_knowledge_base: bool
    choice: str
    error_budget: float
    error_span: float
    with_rivals: bool = False
    limit: float | None = None
    limit_of: str | None = None


@dataclass(frozen=True)
class Setup:
    """Everything a design works with.

    Attributes
    ----------
    plant : Plant
    sets : mapping of "taught", "validation", "unforeseen" to tuples of Situation
        As declared: shown in the report.
    seeds : int
        Repetitions of the validation and unforeseen situations for the verdict.
    spread : float
        Relative spread of the plant's parameters in these repetitions.
    repeat_taught : bool
        Whether the taught situations are repeated likewise; else they are judged as they were searched.
    laws : tuple of PID
    low, high : ndarray [n_gains]
    own : ndarray [n_gains] or None
        The user's present gains.
    tick : float
        Time between two updates of scheduled gains [s].
    fitness : Fitness
        Not yet relative to a reference.
    relative : bool
        Whether it is to become so.
    limits : MarginLimits or None
    evaluations : int
        Budget of every candidate of the ladder.
    rounds : int
        Of teaching.
    margins_of : {"taught", "first"}
        Whose plants and delays keep the margins: of all taught situations, or of the first one.
    pooling : {"rows", "equal", "reference"}
        Share of each taught situation in what the knowledge base learns.
    renew_every : int or None
        Generations between new noise in the searches.
    warnings : tuple of str
    front : FrontPlan or None
        How the trade-off front is searched, where one is wished for.
    further : tuple of str
        Rungs of the ladder beside the usual ones.
    """

    plant: Plant
    sets: Mapping[str, tuple[Situation, ...]]
    seeds: int
    spread: float
    laws: tuple[PID, ...]
    low: np.ndarray
    high: np.ndarray
    own: np.ndarray | None
    tick: float
    step: float
    options: dict[str, Any]
    threads: int | None
    fitness: Fitness
    relative: bool
    limits: MarginLimits | None
    evaluations: int
    method: Callable[..., tuple[SearchMethod, ...]]
    redraw: Callable[[str, int], tuple[Situation, ...]]
    teacher: Teacher
    network: NetworkConfig
    seed: int
    rounds: int = 1
    pooling: str = "rows"
    renew_every: int | None = None
    tries: int = 2
    anchor_share: float = 0.0
    coarse_share: float = 0.0
    scatter_share: float = 0.0
    region_share: float = 0.0
    travel_share: float = 0.95
    margins_of: str = "taught"
    warnings: tuple[str, ...] = ()
    front: FrontPlan | None = None
    further: tuple[str, ...] = ()
    repeat_taught: bool = False

    def task(self, kind: str = "taught", fitness: Fitness | None = None) -> Task:
        """Return the task in the declared situations of one kind."""
        return Task(self.plant, self.sets[kind], fitness or self.fitness, self.step, self.options, self.threads)

    def repetition(self, kind: str, number: int) -> tuple[Situation, ...]:
        """Return situations of one kind with the seeds (and the plant) of a repetition; 0: the declared ones."""
        return self.redraw(kind, number)

    def repetitions(self, kind: str) -> int:
        """Return how often the situations of one kind are judged."""
        return 1 if kind == "taught" and not self.repeat_taught else self.seeds

    def margins(self) -> OperatingMargins | None:
        """Return the margin constraint, or None where it is off or the plant has no operating points."""
        if self.limits is None or not self.plant.operating_points:
            return None
        taught = self.sets["taught"]
        of = taught if self.margins_of == "taught" else taught[:1]
        return OperatingMargins(self.plant, self.laws, of, self.step, list(self.low), list(self.high), self.limits)

    def methods(self, n_genes: int) -> tuple[SearchMethod, ...]:
        """Return the searches of a candidate: they share its budget."""
        return self.method(n_genes, self.evaluations)
