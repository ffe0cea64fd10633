"""The ladder of baselines: every kind of controller that a knowledge base has to beat, searched alike.

Each kind of controller is a :class:`Candidate`: laws, schedule, box of parameters, start. All are searched with the
same method, fitness, margins and budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import ConstantGains, Controller, GainTable, TwoDegreePID, gain_names
from sscq.encoding import FixedGains
from sscq.objective import GainSets, Objective, Task
from sscq.operating import hull
from sscq.warp import Warp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from controllers import PID
    from plants import Plant
    from sscq.operating import OperatingMargins
    from sscq.search_method import SearchMethod
    from sscq.search_result import History, SearchResult

_POLISH_STEP = 0.1  # first step size of the polishing search, of the box


@dataclass(frozen=True)
class Candidate:
    """A kind of controller to be searched.

    Attributes
    ----------
    name, title : str
    controller : Controller
    low, high : ndarray [n_genes]
    start : ndarray [n_start, n_genes]
    scale : str or tuple of str
        Scale of the genes, as for a search.
    decode : callable, optional
        Genomes [n, n_genes] to schedule parameters [n, n_theta].
    gain_sets : callable
        Schedule parameters [n, n_theta] to gain sets [n, n_sets, n_gains] that the schedule may give.
    """

    name: str
    title: str
    controller: Any
    low: np.ndarray
    high: np.ndarray
    start: np.ndarray
    gain_sets: GainSets
    scale: str | tuple[str, ...] = "linear"
    decode: Callable[[np.ndarray], np.ndarray] | None = None


@dataclass(frozen=True)
class Found:
    """Result of a candidate's search.

    Attributes
    ----------
    candidate : Candidate
    theta : ndarray [n_theta]
    fitness : float
        On the taught situations, margins and travel limit included.
    evaluations : int
    histories : tuple of (method name, History)
    incumbents : ndarray [n, n_genes]
        The best genomes on the way.
    """

    candidate: Candidate
    theta: np.ndarray
    fitness: float
    evaluations: int
    genome: np.ndarray
    histories: tuple[tuple[str, History], ...] = field(default=())
    incumbents: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))


@dataclass(frozen=True)
class SearchPlan:
    """How every candidate is searched: methods one after the other, each from the best before.

    Attributes
    ----------
    methods : tuple of SearchMethod
        Their budgets add up to that of a candidate.
    seed : int
    checkpoints : Path, optional
        Folder of checkpoint files; left out, none are written.
    report : callable, optional
        Called with (candidate name, method name, progress) after each generation.
    """

    methods: tuple[SearchMethod, ...]
    seed: int = 0
    checkpoints: Path | None = None
    report: Callable[[str, str, Any], None] | None = None

    def search(self, objective: Objective, candidate: Candidate) -> Found:
        """Search one candidate."""
        from sscq.checkpoint import Checkpoint
        from sscq.search import evolve

        start, histories, evaluations = candidate.start, [], 0
        results: list[SearchResult] = []
        unspent = 0
        for number, planned in enumerate(self.methods):
            method = _with_more(planned, unspent)
            name = type(method).__name__
            path = None if self.checkpoints is None else self.checkpoints / f"{candidate.name}_{number}.npz"
            result = evolve(
                objective, candidate.low, candidate.high, method, self.seed + number, start=start,
                scale=candidate.scale,
                checkpoint=None if path is None else Checkpoint(path, problem=objective.problem(candidate.name)),
                report=self._reporter(candidate.name, name),
            )  # fmt: skip
            evaluations += result.evaluations
            unspent = max(0, (method.evaluations or 0) - result.evaluations)  # a search that stalls leaves the rest
            histories.append((name, result.history))
            results.append(result)
            start = np.vstack([min(results, key=_fitness).genome, candidate.start])
        genome, fitness = self._best(objective, results)
        theta = genome if candidate.decode is None else candidate.decode(genome[None])[0]
        incumbents = np.vstack([result.incumbents for result in results])
        return Found(candidate, theta, fitness, evaluations, genome, tuple(histories), incumbents)

    def _best(self, objective: Objective, results: list[SearchResult]) -> tuple[np.ndarray, float]:
        """Genome and fitness of the best result; after renewals all are valued with the declared noise once more."""
        if not any(method.renew_every for method in self.methods):
            best = min(results, key=_fitness)
            return best.genome, best.fitness
        objective.renew(0)
        values = objective(np.vstack([result.genome for result in results]))
        place = int(np.argmin(values))
        return results[place].genome, float(values[place])

    def _reporter(self, candidate: str, method: str) -> Callable[[Any], None] | None:
        if self.report is None:
            return None
        report = self.report
        return lambda progress: report(candidate, method, progress)

    def within(self, folder: Path | None) -> SearchPlan:
        """Return the plan with another folder of checkpoints."""
        return replace(self, checkpoints=folder)


def _fitness(result: SearchResult) -> float:
    return result.fitness


def _with_more(method: SearchMethod, evaluations: int) -> SearchMethod:
    """Return the method with what the one before it did not need."""
    return replace(method, evaluations=method.evaluations + evaluations) if method.evaluations else method


def search(
    task: Task, candidate: Candidate, plan: SearchPlan, margins: OperatingMargins | None, validation: Task | None = None
) -> Found:
    """Search one candidate for a task, with margins as a constraint where they are given.

    With `validation`, of the best genomes on the way the one is taken that does best there: what the search gains by
    fitting the taught situations alone is left out (early stopping).
    """
    objective = Objective(task, candidate.controller, candidate.decode, margins, candidate.gain_sets)
    found = plan.search(objective, candidate)
    if validation is None:
        return found
    judge = Objective(validation, candidate.controller, candidate.decode, margins, candidate.gain_sets)
    genome = found.incumbents[[int(np.argmin(judge(found.incumbents)))]]
    fitness, spent = float(objective(genome)[0]), found.evaluations + len(found.incumbents)
    return replace(found, genome=genome[0], theta=objective.decode(genome)[0], fitness=fitness, evaluations=spent)


def gain_encoding(laws: Sequence[PID], low: np.ndarray, high: np.ndarray) -> FixedGains:
    """Return the encoding of constant gains: one gene a gain, logarithmic over more than two orders of magnitude."""
    return FixedGains(
        low=tuple(np.asarray(low, float).tolist()), high=tuple(np.asarray(high, float).tolist()),
        gain_names=gain_names(tuple(laws)), any_sign=True,
    )  # fmt: skip


def fixed(laws: Sequence[PID], low: np.ndarray, high: np.ndarray, start: np.ndarray) -> Candidate:
    """Constant gains: the fixed PID."""
    encoding = gain_encoding(laws, low, high)
    return Candidate(
        "fixed", "fixed PID", Controller(tuple(laws), encoding.schedule()), low, high, np.atleast_2d(start),
        lambda theta: theta[:, None, :], encoding.box.scale,
    )  # fmt: skip


def two_degree(laws: Sequence[PID], low: np.ndarray, high: np.ndarray, start: np.ndarray) -> Candidate:
    """Constant gains and a set-point weight b in [0, 1.5] for each channel; the first start bends the gains' genes."""
    names = {f.name for f in fields(TwoDegreePID)}
    free = tuple(
        TwoDegreePID(**{f.name: getattr(law, f.name) for f in fields(law) if f.name in names and f.init})
        for law in laws
    )
    controller = Controller(free, ConstantGains(gain_names(free)))
    rows, places = np.atleast_2d(start), _gain_places(len(laws))
    warp = Warp(low, high, rows[0])
    top = np.full(4 * len(laws), 1.5)
    top[places] = 1.0
    begin = np.ones((len(rows), 4 * len(laws)))
    begin[:, places] = warp.genes(rows)
    begin[:, places[::3] + 3] = [getattr(law, "set_point_weight", 1.0) for law in laws]  # the fixed PID itself

    def decode(genomes: np.ndarray) -> np.ndarray:
        theta = genomes.copy()
        theta[:, places] = warp.gains(genomes[:, places])
        return theta

    return Candidate(
        "two_degree", "two-degree-of-freedom PID", controller, np.zeros(4 * len(laws)), top, begin,
        lambda theta: theta[:, None, :], decode=decode,
    )  # fmt: skip


def _gain_places(n_channels: int) -> np.ndarray:
    return np.concatenate([4 * i + np.arange(3) for i in range(n_channels)])


def table(
    laws: Sequence[PID], low: np.ndarray, high: np.ndarray, start: np.ndarray, variable: Variable, tick: float | None
) -> Candidate:
    """Gains linear over one scheduling variable between two nodes whose distance is searched: seven parameters."""
    schedule = GainTable(
        variable.signal, (0.0, 1.0), transform=variable.transform, search_scale=True,
        gain_names=gain_names(tuple(laws)), tick=tick,
    )  # fmt: skip
    n, rows = len(low), np.atleast_2d(start)
    warp = Warp(low, high, rows[0])
    genes = warp.genes(rows)
    begin = np.hstack([genes, genes, np.full((len(rows), 1), np.sqrt(variable.least * variable.most))])

    def decode(genomes: np.ndarray) -> np.ndarray:
        nodes = warp.gains(genomes[:, : 2 * n].reshape(len(genomes), 2, n)).reshape(len(genomes), 2 * n)
        return np.hstack([nodes, genomes[:, 2 * n :]])

    def sets(theta: np.ndarray) -> np.ndarray:
        return hull(theta[:, : 2 * n].reshape(len(theta), 2, n), theta[:, :n])

    return Candidate(
        f"table_{variable.name}", f"gain table over {variable.title}", Controller(tuple(laws), schedule),
        np.concatenate([np.zeros(2 * n), [variable.least]]), np.concatenate([np.ones(2 * n), [variable.most]]), begin,
        sets, (*("linear",) * (2 * n), "log"), decode,
    )  # fmt: skip


@dataclass(frozen=True)
class Variable:
    """A scheduling variable of a gain table: signal, transform and the range in which its scale is searched."""

    name: str
    title: str
    signal: str
    transform: str
    least: float
    most: float


def variables(plant: Plant) -> list[Variable]:
    """Return the variables that one-variable tables are tried on: |e|, |e'| and the square of the output."""
    channel = plant.channels[0]
    scale = channel.scale
    return [
        Variable("error", "the error's magnitude", "error", "magnitude", 0.1 * scale, 10.0 * scale),
        Variable("rate", "the error rate's magnitude", "error_rate", "magnitude", 0.1 * scale, 20.0 * scale),
        Variable(
            "output", f"the square of {channel.output}", channel.output, "square", 0.1 * scale**2, 20.0 * scale**2
        ),
    ]
