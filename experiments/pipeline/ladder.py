"""The ladder of baselines as stages of a run: box of gains, reference, fixed gains, richer controllers, oracles."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from controllers import gain_names, tuning
from experiments.pipeline import search_results
from experiments.runtime import formats
from experiments.runtime.progress import JobProgress, Progress
from sscq.baselines import candidates
from sscq.baselines.gain_box import walls, widened
from sscq.baselines.objective import Objective
from sscq.baselines.search_plan import SearchPlan, search
from sscq.baselines.survey import survey
from sscq.search.cmaes import CmaEs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from experiments.runtime.run_folder import RunFolder
    from experiments.settings import Setup
    from sscq.baselines.candidates import Candidate
    from sscq.baselines.objective import Task
    from sscq.baselines.search_plan import Method
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness
    from sscq.margins.operating import OperatingMargins

    Result = TypeVar("Result")

_OF_SURVEY = ("diverged", "margin_weight", "entropy_scale")  # beside the reference values


def stage_name(name: str, search: int) -> str:
    """Return what a stage of one of a design's searches is called: of the first, as if there were no other."""
    return f"{name}_search_{search + 1}" if search else name


@dataclass(frozen=True)
class Reference:
    """Where the searches start and what the fitness refers to."""

    fitness: Fitness
    start: np.ndarray
    rule: np.ndarray | None
    rule_name: str = ""


_SEED_STRIDE = 104_729  # between the seeds of two searches of a design, far from those that one search uses


class Bench:
    """What all stages share: setup, run folder, margins, progress lines.

    Attributes
    ----------
    search : int
        Which of the searches of a design it is for: the first, 0, has the design's own seed.
    job : JobProgress
        How far all stages are; says nothing until it is given a plan.
    """

    def __init__(self, setup: Setup, folder: RunFolder, *, quiet: bool) -> None:
        self.setup, self.folder, self.quiet, self.search = setup, folder, quiet, 0
        self.margins: OperatingMargins | None = setup.margins()
        self.job = JobProgress()

    def searches(self) -> tuple[Bench, ...]:
        """Return a bench for each search of the design: other seeds, the same situations, box and margins."""
        return tuple(self._of_search(number) for number in range(self.setup.config.seeds))

    def _of_search(self, number: int) -> Bench:
        bench = copy(self)
        bench.setup = replace(self.setup, seed=self.setup.seed + _SEED_STRIDE * number)
        bench.search = number
        return bench

    def stage(
        self,
        name: str,
        compute: Callable[[Path], Result],
        save: Callable[[Path, Result], object],
        load: Callable[[Path], Result],
        inputs: Any = None,
    ) -> Result:
        """Run a stage of the run once, see :meth:`experiments.runtime.stages.Stages.run`; each search has its own."""
        own_name = stage_name(name, self.search)

        def counted(place: Path) -> Result:
            self.job.begin(own_name)
            return compute(place)

        result = self.folder.stage(own_name, counted, save, load, inputs)
        self.job.end(own_name)
        return result

    def labelled(self, text: str) -> str:
        """Return the label of a progress line, which tells of several searches which one it is."""
        several = self.setup.config.seeds
        return f"search {self.search + 1} of {several}: {text}" if several > 1 else text

    def progress(self, total: int, label: str, unit: str, loops: float | None = None) -> Progress:
        """Return a progress line for so many `loops` of the present stage; None: for all of it."""
        return Progress(total, label, unit, quiet=self.quiet, job=self.job, units=loops)

    def plan(
        self,
        n_genes: int,
        checkpoints: Path | None,
        label: str,
        seed: int = 0,
        share: float = 1.0,
        *,
        far: bool = False,
    ) -> tuple[SearchPlan, Progress]:
        """Return the search plan of a candidate, with a share of the full budget, and its progress line.

        With `far` the search begins with steps over much of the box, as where the start says little.
        """
        budget = round(share * self.setup.evaluations)
        progress = self.progress(budget, self.labelled(label), "loops", budget)
        base, last, before = 0, 0, ""

        def report(_: str, method: str, state: Any) -> None:
            nonlocal base, last, before
            if method != before:
                base, last, before = base + last, 0, method
            last = state.evaluations
            progress.at(base + last, f"fitness {state.best:.4g}")

        methods = self.setup.method(n_genes, budget, far)
        return SearchPlan(methods, self.setup.seed + seed, checkpoints, report), progress

    def search_stage(
        self,
        name: str,
        candidates: Callable[[], list[Candidate]],
        fitness: Fitness,
        methods: Callable[[int], tuple[Method, ...]] | None = None,
        validation: Task | None = None,
    ) -> list[Tuned]:
        """Run a stage that searches some candidates, each with the full budget; `validation` may stop them early."""

        def compute(checkpoints: Path) -> list[Tuned]:
            entries = []
            for number, candidate in enumerate(candidates()):
                plan, progress = self.plan(len(candidate.low), checkpoints, f"{name}: {candidate.title}", number)
                if methods is not None:
                    plan = replace(plan, methods=methods(len(candidate.low)))
                with progress:
                    found = search(self.setup.task(fitness=fitness), candidate, plan, self.margins, validation)
                entries.append(found)
            return entries

        def load(folder: Path) -> list[Tuned]:
            return search_results.load(folder, candidates())

        return self.stage(name, compute, search_results.save, load)


_BOX_SHARE = 0.25  # of a candidate's evaluations: finds which walls hold the best gains back, not the gains themselves
_ROOM = (
    0.2  # of the box's width, that a short search stays away from a wall: a long one goes on, and schedules need room
)
_MOST_WIDENINGS = 6  # times that a box is widened
MOST_BOX_LOOPS = _BOX_SHARE * (_MOST_WIDENINGS + 1)  # in candidates' evaluations


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
    method = CmaEs(evaluations=round(_BOX_SHARE * setup.evaluations), renew_every=setup.config.search.renew_every)
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

    def one() -> list[Candidate]:
        return [candidates.fixed(setup.laws, setup.low, setup.high, ref.start)]

    def genetic(n: int) -> tuple[Method, ...]:
        first = setup.method(n, setup.evaluations)[0]
        return (replace(first, evaluations=setup.evaluations),)

    def cma(_: int) -> tuple[Method, ...]:
        return (CmaEs(evaluations=setup.evaluations, renew_every=setup.config.search.renew_every),)

    by_ga = bench.search_stage("fixed_genetic", one, ref.fitness, genetic)[0]
    by_cma = bench.search_stage("fixed_cmaes", one, ref.fitness, cma)[0]
    better = by_cma if by_cma.fitness <= by_ga.fitness else by_ga
    return replace(better, evaluations=by_ga.spent + by_cma.spent, histories=(*by_ga.histories, *by_cma.histories))


def travel(bench: Bench, ref: Reference, fixed: Tuned) -> float:
    """Mean total variation that other candidates may use when taught: by default all that the fixed PID has.

    Less would be a handicap: the fixed gains, searched anew within it, would lose as well. The verdict allows no more
    travel in its own situations than the fixed PID has there, up to a few per cent.
    """
    return _share_of_travel(bench, bench.setup.task(fitness=ref.fitness), fixed)


def _share_of_travel(bench: Bench, task: Task, fixed: Tuned) -> float:
    quality = task.quality(bench.setup.laws, fixed.theta)
    return bench.setup.config.fitness.travel_share * float(quality.until_lost["total_variation"].mean())


def validation_task(bench: Bench, fitness: Fitness, fixed: Tuned) -> Task:
    """Return the task in the validation situations, at the share of the fixed PID's travel there as when taught.

    Limited measures of the plant's own may be there what they are with the fixed PID, too.
    """
    task = at_own_limits(bench, bench.setup.task("validation", fitness), fixed)
    if fitness.travel_limit is None:
        return task
    return replace(task, fitness=replace(task.fitness, travel_limit=_share_of_travel(bench, task, fixed)))


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

    def two() -> list[Candidate]:
        return [candidates.two_degree(setup.laws, setup.low, setup.high, start)]

    entries = bench.search_stage("two_degree", two, fitness, validation=validation)
    if len(setup.plant.channels) == 1:

        def tables() -> list[Candidate]:
            return [
                candidates.table(setup.laws, setup.low, setup.high, start, variable, setup.tick)
                for variable in candidates.variables(setup.plant)
            ]

        entries += bench.search_stage("tables", tables, fitness, validation=validation)
    return entries


def oracle_share(setup: Setup) -> int:
    """Evaluations of the oracle for one situation: all situations together get one candidate's budget."""
    return max(60, setup.evaluations // sum(len(group) for group in setup.sets.values()))


def oracle(bench: Bench, ref: Reference, fixed: Tuned) -> np.ndarray:
    """Best fixed gains for each situation alone [situation, n_gains]: no controller could know them."""
    setup = bench.setup
    situations = [s for kind in ("taught", "validation", "unforeseen") for s in setup.sets[kind]]

    def compute(checkpoints: Path) -> dict[str, np.ndarray]:
        rows = []
        with bench.progress(len(situations), "oracle", "situations") as progress:
            for number, situation in enumerate(situations):
                task = at_own_limits(bench, setup.task(fitness=ref.fitness).on((situation,)), fixed)
                candidate = candidates.fixed(setup.laws, setup.low, setup.high, np.vstack([fixed.theta, ref.start]))
                candidate = replace(candidate, name=f"oracle_{number}")
                share = oracle_share(setup)
                plan = SearchPlan(setup.method(len(candidate.low), share)[-1:], setup.seed, checkpoints)
                plan = replace(plan, methods=(replace(plan.methods[0], evaluations=share),))
                objective = Objective(task, candidate.controller, None, bench.margins)
                rows.append(plan.search(objective, candidate).theta)
                progress.advance()
        return {"gains": np.array(rows)}

    return bench.stage("oracle", compute, *formats.as_npz("gains.npz"))["gains"]
