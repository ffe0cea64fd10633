"""Contenders of the unicycle's comparison: those of a finished design, LQR searched alike, and their rollouts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from experiments import formats, found_files, ladder
from experiments.launch import stored_settings
from experiments.run_folder import RunFolder
from experiments.setup import setup
from experiments.unicycle_lqr import Lqr
from flcs import FuzzyController, KnowledgeBase
from sscq.baselines import fixed, search, two_degree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.found_files import Entry
    from experiments.setup import Setup
    from plants import Plant
    from plants.core.trajectory import Trajectory
    from sscq.baselines import Candidate

DESIGNED = ("fixed", "two_degree", "knowledge_base", "knowledge_base_free")
MEASURES = ("iae", "entropy_plant", "effort", "total_variation", "saturated_time")
FILES = {"knowledge_base": "knowledge_base", "knowledge_base_free": "knowledge_base_free_travel"}


@dataclass(frozen=True)
class Robot:
    """A controller on the unicycle, with its numbers [n_theta]; simulated as its design was."""

    title: str
    plant: Plant
    controller: Any
    theta: np.ndarray
    step: float
    threads: int | None = None

    def outcome(self, situations: Sequence[sscq.Situation]) -> dict[str, np.ndarray]:
        """Return whether it stood [situation], and `MEASURES`."""
        found = sscq.evaluate(
            self.plant, self.controller, self.theta[None], situations, self.step, measures=MEASURES,
            threads=self.threads,
        )  # fmt: skip
        values = {name: found.values[name][:, 0] for name in MEASURES}
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
        """Return everything about one ride over time."""
        return sscq.record(self.plant, self.controller, self.theta, situation, self.step)


def robots(run: Path, threads: int | None = None) -> dict[str, Robot]:
    """Return all contenders of a finished design; LQR is searched here, once, and kept in the run's folder.

    Parameters
    ----------
    run : Path
    threads : int, optional
        Of the simulations; results do not depend on it.
    """
    with RunFolder.resume(run, command="design") as folder:
        return contenders(folder, threads)


def contenders(folder: RunFolder, threads: int | None = None) -> dict[str, Robot]:
    """Return all contenders of a finished design whose folder is open."""
    job = replace(setup(stored_settings("design", folder.config)), threads=threads)
    bench = ladder.Bench(job, folder, quiet=True)
    reference = ladder.reference(bench)
    searched = [_lqr(bench, reference, scheduled=scheduled) for scheduled in (False, True)]
    told = formats.read_json(folder.path / "metrics.json")["controllers"]

    def robot(title: str, controller: Any, theta: np.ndarray) -> Robot:
        return Robot(title, job.plant, controller, theta, job.step, threads)

    found = {}
    for name in (one for one in DESIGNED if one in told):
        controller, theta = _designed(folder.path, job, name, np.array(told[name]["theta"], float))
        found[name] = robot(told[name]["title"], controller, theta)
    return found | {one.name: robot(one.title, one.controller, entry.theta) for one, entry in searched}


def _designed(run: Path, job: Setup, name: str, theta: np.ndarray) -> tuple[Any, np.ndarray]:
    if name in FILES:
        fuzzy = FuzzyController(KnowledgeBase.load(run / f"{FILES[name]}.json"), laws=job.laws)
        return fuzzy, np.asarray(fuzzy.theta)
    kind = fixed if name == "fixed" else two_degree
    return kind(job.laws, job.low, job.high, job.low).controller, theta


def _lqr(bench: ladder.Bench, reference: ladder.Reference, *, scheduled: bool) -> tuple[Candidate, Entry]:
    """LQR searched with everyone's fitness, evaluations and methods, chosen on the way by the validation situations."""
    job = bench.setup
    limits = tuple((channel.low, channel.high) for channel in job.plant.channels)
    candidate = Lqr((limits[0], limits[1]), job.laws[0].sample_time or job.step, scheduled).candidate()

    def compute(checkpoints: Path) -> Entry:
        plan, progress = bench.plan(len(candidate.low), checkpoints, candidate.title)
        with progress:
            found = search(
                job.task(fitness=reference.fitness), candidate, plan, None, job.task("validation", reference.fitness)
            )
        return found_files.entry(found)

    stored = bench.folder.stage(
        candidate.name, compute,
        lambda folder, entry: found_files.save(folder, [entry]),
        lambda folder: found_files.load(folder)[0],
    )  # fmt: skip
    return candidate, stored
