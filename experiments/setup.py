"""From a configuration to the objects of a design: plant, situations, laws, fitness, searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from configs.rules import did_you_mean
from controllers import PID, gain_names
from experiments import situations
from experiments.errors import UserError
from sscq.fitness import Fitness
from sscq.objective import Task
from sscq.operating import OperatingMargins
from sscq.step_grid import StepGrid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from configs.schema import DesignConfig
    from flcs.network_config import NetworkConfig
    from plants import Plant
    from sscq.margins import MarginLimits
    from sscq.nsga2 import NonDominatedSorting
    from sscq.search_method import SearchMethod
    from sscq.situation import Situation
    from sscq.teacher import Teacher

_ROUNDING = 1e-9
INPUTS = ("e", "e_rate", "z")
_NEAR, _FAR = 0.1, 0.3  # first steps of CMA-ES, in boxes
_POLISH_SHARE = 0.9  # of a candidate's evaluations: the genetic algorithm explores, CMA-ES polishes


@dataclass(frozen=True)
class FrontPlan:
    """How trade-off fronts are searched, and which point of the fixed gains' is judged; see `FrontConfig`."""

    method: NonDominatedSorting
    objectives: tuple[str, ...]
    with_knowledge_base: bool
    choice: str
    error_budget: float
    error_span: float


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
    travel_share: float = 0.95
    warnings: tuple[str, ...] = ()
    front: FrontPlan | None = None
    further: tuple[str, ...] = ()

    def task(self, kind: str = "taught", fitness: Fitness | None = None) -> Task:
        """Return the task in the declared situations of one kind."""
        return Task(self.plant, self.sets[kind], fitness or self.fitness, self.step, self.options, self.threads)

    def repetition(self, kind: str, number: int) -> tuple[Situation, ...]:
        """Return situations of one kind with the seeds (and the plant) of a repetition; 0: the declared ones."""
        return self.redraw(kind, number)

    def margins(self) -> OperatingMargins | None:
        """Return the margin constraint, or None where it is off or the plant has no operating points."""
        if self.limits is None or not self.plant.operating_points:
            return None
        return OperatingMargins(
            self.plant, self.laws, self.sets["taught"], self.step, list(self.low), list(self.high), self.limits
        )

    def methods(self, n_genes: int) -> tuple[SearchMethod, ...]:
        """Return the searches of a candidate: they share its budget."""
        return self.method(n_genes, self.evaluations)


def setup(config: DesignConfig) -> Setup:
    """Return the objects of a design; user errors are told in the user's words."""
    from sscq.genetic import GeneticAlgorithm
    from sscq.margins import MarginLimits
    from sscq.teacher import Teacher

    plant = plants.get(config.plant)
    if not plant.channels:
        raise UserError(
            f"plant {plant.name!r} declares no control channel (channels=(plants.Channel(output=...),)), so there is "
            "nothing to design; it can only be simulated"
        )
    config.step = config.step or plant.step
    step, law = config.integration_step, _law(config)
    low, high = _box(config, plant)
    sets, warnings = situations.declared_sets(config, plant)
    fitness = config.fitness
    limits = None
    if fitness.max_sensitivity is not None:
        limits = MarginLimits(fitness.max_sensitivity, fitness.min_delay_margin)
        if not plant.operating_points:
            warnings.append(f"plant {plant.name!r} declares no operating points: no margins are computed or kept")
    window, horizon = _windows(config, sets["taught"])
    teacher = Teacher(
        window=window, horizon=horizon, continuations=config.teacher.continuations,
        search=GeneticAlgorithm(
            population=config.teacher.population, generations=config.budget.teacher_generations, stall_generations=None
        ),
        shrink=config.teacher.shrink, clairvoyant=config.teacher.clairvoyant, encoding=config.teacher.encoding,
        gain_step=tuple(config.teacher.gain_step or ()), most_steps=tuple(config.teacher.most_steps),
    )  # fmt: skip
    _check_steps(teacher, low, high, gain_names((law,) * len(plant.channels)))
    sample = law.sample_time or step
    _check_learning(config, plant)
    return Setup(
        plant=plant,
        sets=sets,
        seeds=config.budget.verdict_seeds,
        spread=config.situations.unforeseen_spread,
        laws=(law,) * len(plant.channels),
        low=low,
        high=high,
        own=None if config.controller.own_gains is None else _gains("own_gains", config.controller.own_gains, plant),
        tick=config.controller.schedule_time or 4.0 * sample,
        step=step,
        options={"integrator": config.integrator, "algebraic_loop": config.algebraic_loop},
        threads=config.threads,
        fitness=_fitness(config),
        relative=fitness.relative,
        limits=limits,
        evaluations=config.budget.evaluations,
        method=_methods(config),
        redraw=situations.redrawing(config, plant, sets),
        teacher=teacher,
        network=_network(config),
        seed=config.seed,
        rounds=config.teacher.rounds,
        pooling=config.teacher.pooling,
        renew_every=config.search.renew_every,
        tries=config.search.tries,
        anchor_share=config.search.anchor_share,
        coarse_share=config.search.coarse_share,
        travel_share=config.fitness.travel_share,
        warnings=tuple(warnings),
        front=_front(config),
        further=tuple(config.ladder.further),
    )  # fmt: skip


_WINDOWS = 40  # of a taught situation, where the teacher's window is not given
_AHEAD = 4  # windows


def _windows(config: DesignConfig, taught: Sequence[Situation]) -> tuple[float, float]:
    """The teacher's window and horizon [s]: whole steps, and a window that fits into every taught situation."""
    given, step = config.teacher, config.integration_step
    shortest = min(taught, key=lambda situation: situation.t_end)
    window = given.window
    if window is None:
        window = max(1, round(shortest.t_end / _WINDOWS / step)) * step
        if given.horizon is not None:
            window = min(window, max(1, int(0.5 * given.horizon / step + _ROUNDING)) * step)
    if window > shortest.t_end * (1.0 + _ROUNDING) and shortest.t_end >= step:  # else told elsewhere, as what it is
        raise UserError(
            f"teacher.window = {window:g} s is longer than the taught situation {shortest.name!r} "
            f"({shortest.t_end:g} s); give a shorter one, or leave it out"
        )
    return window, _AHEAD * window if given.horizon is None else given.horizon


def _network(config: DesignConfig) -> NetworkConfig:
    """The fuzzy network, with output sets where its form of inference has them."""
    from flcs.network_config import NetworkConfig
    from flcs.output_sets import OutputSets

    net, sets = config.network, None
    if net.form == "mamdani":
        sets = OutputSets(net.output_width, net.implication, net.aggregation, net.defuzzifier, net.output_points)
    return NetworkConfig(
        inputs=tuple(net.inputs), terms=net.terms, shape=net.shape, rounds=net.rounds, order=net.order,
        learning_rate=net.learning_rate, prior_weight=net.prior_weight, keep_firing=net.keep_firing,
        max_rules=net.max_rules, rule_loss=net.rule_loss, merge_within=net.merge_within, drop_inputs=net.choose_inputs,
        max_inputs=net.max_inputs, input_loss=net.input_loss, form=net.form, output=sets,
        mirrored=net.mirrored,
    )  # fmt: skip


def _check_steps(teacher: Teacher, low: np.ndarray, high: np.ndarray, names: tuple[str, ...]) -> None:
    """Raise where gains cannot move in the steps asked for."""
    if not teacher.gain_step:
        return
    try:
        StepGrid(tuple(low), tuple(high), teacher.gain_step, teacher.most_steps, names)
    except ValueError as error:
        raise UserError(f"teacher.gain_step, teacher.most_steps: {error}") from None


def _check_learning(config: DesignConfig, plant: Plant) -> None:
    """Raise where the teaching signal could not give what the settings ask for."""
    known = (*INPUTS, *(quantity.name for quantity in plant.measurements))
    unknown = [name for name in config.network.inputs if name not in known]
    if unknown:
        near = did_you_mean(unknown[0], known)
        raise UserError(
            f"network.inputs: {unknown[0]!r} is none of {', '.join(INPUTS)}, and plant {plant.name!r} measures "
            f"{', '.join(known[len(INPUTS) :])}{near}"
        )
    limits = config.controller.limits
    if config.network.mirrored and not (plants.is_odd(plant) and (limits is None or limits[0] == -limits[1])):
        raise UserError(
            f"network.mirrored: plant {plant.name!r} with its limits is not odd, f(-x, -u) = -f(x, u), so what is "
            "right on one side says nothing of the other; leave it out"
        )
    drawn = [
        f"{name}: numpy_white" for name, one in config.situations.taught.items() if one.excitation.kind == "numpy_white"
    ]
    if config.search.renew_every is not None and drawn:
        raise UserError(
            f"search.renew_every cannot draw the excitation of situation {drawn[0]} anew, it is one recorded series; "
            "use kind: white, or leave renew_every out"
        )


def _methods(config: DesignConfig) -> Callable[[int, int], tuple[SearchMethod, ...]]:
    from sscq.cmaes import CmaEs
    from sscq.differential_evolution import DifferentialEvolution
    from sscq.genetic import GeneticAlgorithm

    search = config.search

    def genetic(evaluations: int) -> GeneticAlgorithm:
        return GeneticAlgorithm(
            generations=None, evaluations=evaluations, population=search.population, tournament=search.tournament,
            crossover=search.crossover, p_crossover=search.p_crossover, eta_crossover=search.eta_crossover,
            alpha=search.alpha, p_mutation=search.p_mutation, eta_mutation=search.eta_mutation, elite=search.elite,
            stall_generations=search.stall_generations, stall_tolerance=search.stall_tolerance,
            renew_every=search.renew_every,
        )  # fmt: skip

    def methods(n_genes: int, evaluations: int, far: bool = False) -> tuple[SearchMethod, ...]:
        if search.method == "genetic":
            return (genetic(evaluations),)
        if search.method == "differential_evolution":
            return (DifferentialEvolution(evaluations=evaluations, renew_every=search.renew_every),)
        polish = evaluations if search.method == "cmaes" else max(1, round(_POLISH_SHARE * evaluations))
        # A population well above CMA-ES's default keeps it out of local optima: schedules have many.
        cma = CmaEs(
            evaluations=polish,
            population=max(12, round((4.0 if far else 10.0) * np.sqrt(n_genes))),
            sigma=_FAR if far else _NEAR,
            renew_every=search.renew_every,
        )
        return (cma,) if search.method == "cmaes" else (genetic(evaluations - polish), cma)

    return methods


def _front(config: DesignConfig) -> FrontPlan | None:
    from sscq.nsga2 import NonDominatedSorting

    given, search = config.front, config.search
    if given.of == "none":
        return None
    method = NonDominatedSorting(
        evaluations=given.evaluations or config.budget.evaluations, population=given.population,
        crossover=search.crossover, p_crossover=search.p_crossover, alpha=search.alpha, p_mutation=search.p_mutation,
        eta_mutation=search.eta_mutation, renew_every=search.renew_every,
    )  # fmt: skip
    return FrontPlan(
        method, tuple(given.objectives), given.of == "fixed_and_knowledge_base", given.choice, given.error_budget,
        given.error_span,
    )  # fmt: skip


def _law(config: DesignConfig) -> PID:
    given = config.controller
    return PID(
        limits=None if given.limits is None else (given.limits[0], given.limits[1]),
        rate_limit=given.rate_limit,
        derivative_filter_time=given.derivative_filter_time,
        derivative_on=given.derivative_on,
        anti_windup=given.anti_windup,
        tracking_time=given.tracking_time,
        sample_time=given.sample_time
        or config.integration_step,  # a knowledge base carries it to where the step is another
        rate_source=given.rate_source,
        action=given.action,
    )


def _box(config: DesignConfig, plant: Plant) -> tuple[np.ndarray, np.ndarray]:
    low = config.controller.low
    high = config.controller.high
    lows = [g for c in plant.channels for g in c.gains_low] if low is None else _gains("low", low, plant)
    highs = [g for c in plant.channels for g in c.gains_high] if high is None else _gains("high", high, plant)
    lows, highs = np.array(lows, float), np.array(highs, float)
    if not (lows <= highs).all() or not (lows < highs).any():
        given = f"low = {lows.tolist()}, high = {highs.tolist()}"
        raise UserError(
            f"gain bounds must satisfy low <= high, and low < high for one gain at least, got {given}; mend "
            "controller.low or controller.high (what is not given is the plant's)"
        )
    return lows, highs


def _gains(name: str, values: list[float], plant: Plant) -> np.ndarray:
    n = 3 * len(plant.channels)
    array = np.array(values if len(values) == n else list(values) * len(plant.channels), float)
    if len(values) not in {3, n} or not np.isfinite(array).all():
        raise UserError(
            f"controller.{name} must be kp, ki, kd for each of the {len(plant.channels)} channels of {plant.name!r} "
            f"({n} finite numbers, or 3 for all), got {values}"
        )
    return array


def _fitness(config: DesignConfig) -> Fitness:
    given = config.fitness
    return Fitness(
        kind=given.kind, error=given.error, error_weight=given.error_weight, entropy_weight=given.entropy_weight,
        travel_weight=given.travel_weight, effort_weight=given.effort_weight, aggregate=given.aggregate,
        kappa=given.kappa, share=given.share, travel_limit=given.travel_limit,
        saturation_limit=given.saturation_limit, tolerance=given.tolerance,
    )  # fmt: skip
