"""Controllers of a finished design, and others searched alike, to be run again: in other situations or to look at.

Each comes with its plant, its controller and its numbers [n_theta].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from controllers import ConstantGains, Controller, gain_names
from controllers.state_feedback import DemandLaw
from experiments.cases.stored_controllers import stored_controller
from experiments.pipeline import ladder, search_results
from experiments.pipeline.bench import Bench
from experiments.pipeline.judged_rollouts import RIVAL
from experiments.runtime import formats
from experiments.settings import setup
from experiments.starting.opening import stored_settings
from plants import with_rival
from sscq.baselines.candidates import Candidate
from sscq.baselines.search_plan import search

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from experiments.runtime.run_folder import RunFolder
    from experiments.settings import Setup
    from plants import Plant, Rival
    from plants.core.motion.trajectory import Trajectory
    from sscq.baselines.tuned import Tuned

    Begun = Callable[[Bench, ladder.Reference, Mapping[str, "RivalController"]], dict[str, "RivalController"]]


DESIGNED = ("fixed", "own", "two_degree", "knowledge_base", "knowledge_base_free")


@dataclass(frozen=True)
class RivalController:
    """A controller on its plant, with its numbers [n_theta]."""

    title: str
    plant: Plant
    controller: Any
    theta: np.ndarray
    step: float
    threads: int | None = None

    def outcome(self, situations: Sequence[sscq.Situation], measures: Sequence[str]) -> dict[str, np.ndarray]:
        """Return whether it stood [situation], and measures."""
        found = sscq.evaluate(
            self.plant, self.controller, self.theta[None], situations, self.step, measures=measures,
            threads=self.threads,
        )  # fmt: skip
        values = {name: found.until_lost[name][:, 0] for name in measures}
        return {"stood": ~np.isfinite(found.diverged_at[:, 0]), **values}

    def survives(self, situations: Sequence[sscq.Situation]) -> np.ndarray:
        """Return whether it stood in each situation."""
        return np.asarray(self.stood(situations, self.theta[None])[:, 0])

    def stood(self, situations: Sequence[sscq.Situation], theta: np.ndarray) -> np.ndarray:
        """Return whether parameters [n, n_theta] stood [situation, n]."""
        found = sscq.evaluate(
            self.plant, self.controller, theta, situations, self.step, measures=("iae",), threads=self.threads
        )
        return np.asarray(~np.isfinite(found.diverged_at))

    def record(self, situation: sscq.Situation) -> Trajectory:
        """Return everything about one rollout over time."""
        return sscq.record(self.plant, self.controller, self.theta, situation, self.step)


def contenders(
    folder: RunFolder,
    others: Callable[[Setup], Sequence[Candidate]],
    step: float | None = None,
    threads: int | None = None,
    begun: Begun | None = None,
) -> dict[str, RivalController]:
    """Return all contenders of a finished design whose folder is open; others are searched here, once, and kept there.

    Parameters
    ----------
    folder : RunFolder
    others : callable
        Setup of the design to what is searched beside its own contenders.
    step : float, optional
        Of the rollouts [s]; left out, the design's.
    threads : int, optional
        Of the simulations; results do not depend on it.
    begun : callable, optional
        The run, its fitness and all these contenders to further ones, which begin where these have come to: none where
        they do not fit the plant.
    """
    job = replace(setup(stored_settings("design", folder.config)), threads=threads)
    bench = Bench(job, folder, quiet=True)
    reference = ladder.reference(bench)
    searched = [(one, _searched(bench, reference, one)) for one in others(job)]
    told = formats.read_json(folder.path / "metrics.json")["controllers"]

    def contender(title: str, controller: Any, theta: np.ndarray) -> RivalController:
        return RivalController(title, job.plant, controller, theta, step or job.step, threads)

    found = {}
    for name in (one for one in DESIGNED if one in told):
        controller, theta = stored_controller(folder.path, job, name, told[name])
        found[name] = contender(told[name]["title"], controller, theta)
    found |= {one.name: contender(one.title, one.controller, entry.theta) for one, entry in searched}
    return found if begun is None else found | begun(bench, reference, found)


def _searched(bench: Bench, reference: ladder.Reference, candidate: Candidate) -> Tuned:
    """The candidate searched with everyone's fitness, evaluations and methods, chosen on the way by validation."""
    job = bench.setup

    def compute(checkpoints: Path) -> Tuned:
        plan, progress = bench.plan(len(candidate.low), checkpoints, candidate.title)
        with progress:
            return search(
                job.task(fitness=reference.fitness), candidate, plan, None, job.task("validation", reference.fitness)
            )

    return bench.folder.stage(candidate.name, compute, *search_results.ONE)


def of_feedback(
    name: str,
    title: str,
    controller: Controller,
    box: tuple[np.ndarray, ...],
    theta: Callable[[np.ndarray], np.ndarray],
) -> Candidate:
    """Return state feedback to be searched, as all other controllers are.

    Parameters
    ----------
    name, title : str
    controller : Controller
    box : ndarray [n_genes], [n_genes], [n_start, n_genes]
        Least and largest weights, and those to begin with.
    theta : callable
        Weights [n, n_genes] to the schedule's numbers [n, n_theta]; NaN where there is no feedback at all: it falls.
    """
    low, high, start = box

    def decode(genomes: np.ndarray) -> np.ndarray:
        return np.nan_to_num(theta(genomes), nan=0.0)

    return Candidate(name, title, controller, low, high, start, "log", decode)


def named_contenders(run: Path, names: Sequence[str]) -> dict[str, RivalController]:
    """Return controllers of a finished design, in the plant's own step: ours, and rivals on the plant they drive."""
    job = setup(stored_settings("design", formats.read_json(run / "config.json")["config"]))
    told = formats.read_json(run / "metrics.json")["controllers"]
    rivals = {RIVAL + rival.name: rival for rival in job.plant.rivals}
    found = {}
    for name in names:
        plant, theta = job.plant, np.array(told[name]["theta"], float)
        if name in rivals:
            plant, controller = law_of_field(plant, rivals[name])
        else:
            controller, theta = stored_controller(run, job, name, told[name])
        found[name] = RivalController(told[name]["title"], plant, controller, theta, plant.step)
    return found


def law_of_field(plant: Plant, rival: Rival) -> tuple[Plant, Controller]:
    """Return the plant that a law of its field drives, and the controller that carries the law's constants."""
    driven = with_rival(plant, rival)
    laws = tuple(DemandLaw(limits=(channel.low, channel.high)) for channel in driven.channels)
    return driven, Controller(laws, ConstantGains(gain_names(laws)))


def constants_as_theta(rival: Rival, controller: Controller, constants: np.ndarray) -> np.ndarray:
    """Return parameters [n, n_theta] that carry constants [n, n_constants]."""
    theta = np.zeros((len(constants), controller.n_theta))
    theta[:, : 2 * len(rival.constants) : 2] = constants
    return theta
