"""The ladder of baselines as stages of a run: box of gains, reference, fixed gains, richer controllers, oracles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import gain_names, tuning
from experiments.pipeline.bench import Bench
from experiments.runtime import formats
from sscq.baselines import candidates
from sscq.baselines.apart import ApartObjective
from sscq.baselines.gain_box import walls, widened
from sscq.baselines.objective import Objective
from sscq.baselines.search_plan import SearchPlan, search
from sscq.baselines.survey import survey
from sscq.search.cmaes import CmaEs
from sscq.search.descent import GradientDescent

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.settings import Setup
    from sscq.baselines.candidates import Candidate, TableVariable
    from sscq.baselines.objective import Task
    from sscq.baselines.search_plan import Method
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness

_OF_SURVEY = ("diverged", "margin_weight", "entropy_scale")  # beside the reference values


@dataclass(frozen=True)
class Reference:
    """Where the searches start and what the fitness refers to."""

    fitness: Fitness
    start: np.ndarray
    rule: np.ndarray | None
    rule_name: str = ""


_BOX_SHARE = 0.25  # of the first search's evaluations: finds which walls hold the best gains back, not the gains
_ROOM = (
    0.2  # of the box's width, that a short search stays away from a wall: a long one goes on, and schedules need room
)
_MOST_WIDENINGS = 6  # times that a box is widened
MOST_BOX_LOOPS = _BOX_SHARE * (_MOST_WIDENINGS + 1)  # in candidates' evaluations in the first search


def widened_box(bench: Bench) -> Bench:
    """Return the bench with a box that does not hold the best fixed gains back, where the box may be widened.

    It grows `_MOST_WIDENINGS` times at most; the verdict tells of a wall that is left, see :func:`on_wall`.
    """
    if not bench.setup.may_widen:
        return bench

    def compute(_: Path) -> dict[str, Any]:
        setup = bench.setup
        moved: list[list[str]] = []
        with bench.progress(_MOST_WIDENINGS + 1, "gain box", "searches") as progress:
            for _number in range(_MOST_WIDENINGS + 1):
                best = _best_gains(setup, Bench(setup, bench.folder, quiet=True))
                progress.advance()
                on = walls(best, setup.low, setup.high, _ROOM)
                if not on or len(moved) == _MOST_WIDENINGS:
                    break
                moved.append([wall.said(gain_names(setup.laws)) for wall in on])
                low, high = widened(setup.low, setup.high, on)
                setup = replace(setup, low=low, high=high)
        return {"low": setup.low.tolist(), "high": setup.high.tolist(), "moved": moved}

    found = bench.stage("gain_box", compute, *formats.as_json("result.json"))
    setup = replace(bench.setup, low=np.array(found["low"]), high=np.array(found["high"]))
    if found["moved"]:
        bench, bench.job = Bench(setup, bench.folder, quiet=bench.quiet), bench.job
    return bench


def _best_gains(setup: Setup, bench: Bench) -> np.ndarray:
    """The best fixed gains of a short search in the box."""
    found = survey(
        setup.task(),
        setup.laws,
        setup.low,
        setup.high,
        own=setup.own,
        margins=bench.margins,
        relative=setup.config.fitness.relative,
    )
    candidate = candidates.fixed(setup.laws, setup.low, setup.high, found.best)
    method = CmaEs(evaluations=round(_BOX_SHARE * setup.searches[0]), renew_every=setup.config.search.renew_every)
    plan = SearchPlan((method,))  # not with the design's seed: its box is that of every other design of the plant
    return search(setup.task(fitness=found.fitness), candidate, plan, bench.margins).theta


def on_wall(setup: Setup, fixed: Tuned) -> tuple[str, ...]:
    """Return in words the walls of the box on which the best fixed gains lie."""
    return tuple(wall.said(gain_names(setup.laws)) for wall in walls(fixed.theta, setup.low, setup.high))


def reference(bench: Bench) -> Reference:
    """Fitness relative to random gains that survive; first starts: own gains, a tuning rule, the best of the sample."""
    setup = bench.setup
    rule, rule_name = tuning_rule(setup)

    def compute(_: Path) -> dict[str, Any]:
        found = survey(
            setup.task(), setup.laws, setup.low, setup.high, own=setup.own, margins=bench.margins,
            relative=setup.config.fitness.relative,
        )  # fmt: skip
        given = [np.atleast_2d(row) for row in (setup.own, rule) if row is not None]
        start = np.clip(np.vstack([*given, found.best]), setup.low, setup.high)
        of_fitness = {name: getattr(found.fitness, name) for name in _OF_SURVEY}
        return {"fitness": of_fitness | {"reference": dict(found.fitness.reference)}, "start": start.tolist()}

    # All later stages hang on this one, so what the plant itself declares is among its inputs.
    declared = [repr(situation) for group in setup.sets.values() for situation in group]
    inputs = [declared, repr(setup.plant.parameters)]
    stored = bench.stage("reference", compute, *formats.as_json("result.json"), inputs)
    fitness = replace(setup.fitness, **stored["fitness"])
    return Reference(fitness, np.array(stored["start"]), rule, rule_name)


def tuning_rule(setup: Setup) -> tuple[np.ndarray | None, str]:
    """Gains of a tuning rule, where the plant says what its model is (first order plus dead time)."""
    plant = setup.plant
    names = [q.name for q in plant.parameters]
    if plant.input_delay is None or not {"K", "T"} <= set(names) or len(plant.channels) != 1:
        return None, ""
    values = dict(zip(names, plant.nominal(), strict=True))
    gains = tuning.simc(values["K"], values["T"], values[plant.input_delay])
    return np.array([gains.kp, gains.ki, gains.kd]), "SIMC"


def fixed_gains(bench: Bench, ref: Reference) -> Tuned:
    """The best fixed PID: the better one of two searches, genetic and CMA-ES, each with the full budget."""
    setup = bench.setup

    def one() -> Candidate:
        return candidates.fixed(setup.laws, setup.low, setup.high, ref.start)

    def genetic(n: int) -> tuple[Method, ...]:
        first = setup.method(n, setup.evaluations)[0]
        return (replace(first, evaluations=setup.evaluations),)

    def cma(_: int) -> tuple[Method, ...]:
        return (CmaEs(evaluations=setup.evaluations, renew_every=setup.config.search.renew_every),)

    by_ga, by_cma = bench.side_by_side(
        [
            lambda each: each.search_stage("fixed_genetic", one, ref.fitness, genetic),
            lambda each: each.search_stage("fixed_cmaes", one, ref.fitness, cma),
        ]
    )
    better = by_cma if by_cma.fitness <= by_ga.fitness else by_ga
    return replace(better, evaluations=by_ga.spent + by_cma.spent, histories=(*by_ga.histories, *by_cma.histories))


def equal_limits(bench: Bench, ref: Reference, fixed: Tuned) -> Fitness:
    """Return the fitness with the actuator's travel and the tracking error that other candidates may have when taught.

    By default all that the fixed PID has. Less would be a handicap: the fixed gains, searched anew within it, would
    lose as well. The verdict allows no more travel in its own situations than the fixed PID has there, up to a few per
    cent, and no more error.
    """
    return _limited(bench, bench.setup.task(fitness=ref.fitness), fixed).fitness


def without_limits(fitness: Fitness) -> Fitness:
    """Return a fitness without limits that come from the fixed PID."""
    return replace(fitness, travel_limit=None, error_limit=None)


def _limited(bench: Bench, task: Task, fixed: Tuned) -> Task:
    """A task at the shares that are allowed of what the fixed PID has there.

    Errors are not limited where it loses rollouts: one that is cut short has a small one.
    """
    given, fitness = bench.setup.config.fitness, task.fitness
    quality, error = task.quality(bench.setup.laws, fixed.theta), None
    weighed = fitness.error in fitness.terms and not fitness.lexicographic
    if given.error_share is not None and weighed and not quality.failed.any():
        error = given.error_share * float(quality.until_lost[fitness.error].mean())
    travel = given.travel_share * float(quality.until_lost["total_variation"].mean())
    return replace(task, fitness=replace(fitness, travel_limit=travel, error_limit=error))


def validation_task(bench: Bench, fitness: Fitness, fixed: Tuned) -> Task:
    """Return the task in the validation situations, at the shares of what the fixed PID has there, as when taught.

    Limited measures of the plant's own may be there what they are with the fixed PID, too.
    """
    task = at_own_limits(bench, bench.setup.task("validation", fitness), fixed)
    return task if fitness.travel_limit is None else _limited(bench, task, fixed)


def at_own_limits(bench: Bench, task: Task, fixed: Tuned) -> Task:
    """Return a task in situations that are not taught: limited measures may be what they are with the fixed PID.

    That is no limit that anybody declared, so it is weighed with failures, not put before them.
    """
    limited = task.fitness.own_limits
    if not limited:
        return task
    found = task.quality(bench.setup.laws, fixed.theta).values
    limits = {name: float(found[name].mean()) for name in limited}
    return replace(task, fitness=replace(task.fitness, own_limits=limits, limits_first=False))


def richer(bench: Bench, ref: Reference, fixed: Tuned, fitness: Fitness) -> list[Tuned]:
    """Two-degree-of-freedom PID, and gain tables over one variable, at the given fitness (with its travel limit)."""
    setup = bench.setup
    start, validation = np.vstack([fixed.theta, ref.start]), validation_task(bench, fitness, fixed)

    low, high = setup.low, setup.high

    def two() -> Candidate:
        return candidates.two_degree(setup.laws, low, high, start)

    def table(variable: TableVariable) -> Candidate:
        return candidates.table(setup.laws, low, high, start, variable, setup.tick)

    several = [("two_degree", two, 0)]
    if len(setup.plant.channels) == 1:
        variables = enumerate(candidates.variables(setup.plant))
        several += [(f"table_{variable.name}", partial(table, variable), number) for number, variable in variables]
    return bench.side_by_side(
        [
            partial(
                Bench.search_stage, name=name, candidate=candidate, fitness=fitness, seed=seed, validation=validation
            )
            for name, candidate, seed in several
        ]
    )


def oracle_share(setup: Setup) -> int:
    """Evaluations of the oracle for one situation: all situations together get one candidate's budget."""
    return max(60, setup.evaluations // sum(len(group) for group in setup.sets.values()))


def oracle(bench: Bench, ref: Reference, fixed: Tuned) -> np.ndarray | None:
    """Best fixed gains for each situation alone [situation, n_gains]: no controller could know them.

    None where unforeseen plants are spread: every plant of the verdict would need a search of its own.
    """
    setup = bench.setup
    if setup.config.situations.unforeseen_spread > 0.0:
        return None
    situations = [s for kind in ("taught", "validation", "unforeseen") for s in setup.sets[kind]]

    task = setup.task(fitness=ref.fitness).on(situations)
    candidate = candidates.fixed(setup.laws, setup.low, setup.high, np.vstack([fixed.theta, ref.start]))
    candidate = replace(candidate, name="oracle")

    def alone(number: int) -> Objective:
        own = at_own_limits(bench, task.on(situations[number : number + 1]), fixed)
        return Objective(own, candidate.controller, None, bench.margins)

    def compute(checkpoints: Path) -> dict[str, np.ndarray]:
        share = oracle_share(setup)
        method = replace(setup.method(len(candidate.low), share)[-1], evaluations=share)
        plan = SearchPlan((method,), setup.seed, checkpoints)
        if isinstance(method, GradientDescent):
            together = ApartObjective(task, candidate.controller, None, bench.margins)
            if together.smooth:
                with bench.progress(share, "oracle", "evaluations of a situation") as progress:
                    plan = replace(plan, report=lambda *told: progress.at(told[-1].evaluations // len(situations)))
                    return {"gains": plan.search_apart(together, candidate, alone)}
        rows = []
        with bench.progress(len(situations), "oracle", "situations") as progress:
            for number in range(len(situations)):
                own = replace(candidate, name=f"oracle_{number}")
                rows.append(plan.search(alone(number), own).theta)
                progress.advance()
        return {"gains": np.array(rows)}

    return bench.stage("oracle", compute, *formats.as_npz("gains.npz"))["gains"]
