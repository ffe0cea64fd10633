"""Contenders of the unicycle's comparisons: of a finished design, LQR, a knowledge base started from LQR's gains.

LQR is searched alike. The knowledge base begins at the gains of LQR scheduled over the speed, and is refined as every
other one is; it is a contender where each motion has a channel of its own.
Imitation of a teacher and searches around constant gains do not find that roll must be steered the other way round
where the wheel rolls backwards. LQR knows it from the model. Its feedback at each node is a rule of each channel: all
of it but what crosses from one motion to the other, which is next to nothing. The best fixed gains are a start, too:
the same everywhere, and with roll steered back where it rolls backwards. Searched are the gains that LQR has, at places
that stay. LQR's own search is counted: the fixed gains are the better ones of two searches, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import pid_form
from experiments.pipeline import search_results
from experiments.runtime.run_folder import RunFolder
from experiments.studies.engine import contenders as any_plant
from experiments.studies.unicycle.lqr import MEASURED, NODES, UnicycleLqr
from flcs import FuzzyController, KnowledgeBase
from flcs.inference.rule_base import Rule, RuleBase
from flcs.inference.variable import Variable
from flcs.refinement.genome import candidate, with_reference
from sscq.baselines.search_plan import search
from sscq.search.cmaes import CmaEs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.pipeline.ladder import Bench, Reference
    from experiments.settings import Setup
    from experiments.studies.engine.contenders import RivalController
    from plants import Plant
    from sscq.baselines.candidates import Candidate

    Array = np.ndarray


OUTPUTS = ("pitch", "roll", "speed", "yaw_rate", "table_rate")
"""Channels of a unicycle that has one for each motion, in its plant's order."""
NAME, TITLE = "knowledge_base_lqr", "knowledge base started from LQR's gains"
_REACH = 30.0  # m/s, either way: hard pushes send it off at 17 m/s; outside, the reference gains would come back
_STEP, _CROWD = 0.03, 12  # first steps of the search, in boxes, and its population
_ROLL = 1
_FED_BACK = (  # channel, its gain (0: kp, 2: kd), which command of LQR's, and the measurement that is fed back
    (0, 0, 0, "pitch"), (0, 2, 0, "pitch_rate"), (1, 0, 1, "roll"), (1, 2, 1, "roll_rate"), (2, 0, 0, "speed"),
    (3, 0, 1, "yaw_rate"), (4, 0, 1, "table_rate"),
)  # fmt: skip


def gains_of(theta: Array) -> Array:
    """Return the channels' gains at LQR's nodes [node, channel, 3] from the numbers of its schedule [n_theta]."""
    return gains_of_feedback(theta.reshape(len(NODES), -1))


def gains_of_feedback(rows: Array) -> Array:
    """Return the channels' gains [..., channel, 3] of feedback [..., command * measurement], what crosses left out."""
    gains = np.zeros((*rows.shape[:-1], len(OUTPUTS), 3))
    for channel, gain, command, measurement in _FED_BACK:
        gains[..., channel, gain] = rows[..., command * len(MEASURED) + MEASURED.index(measurement)]
    return gains


def turned(gains: Array) -> Array:
    """Return gains [node, channel, 3] that are these [n_gains] where it rolls forward, and steer back otherwise."""
    several = np.tile(np.reshape(gains, (1, -1, 3)), (len(NODES), 1, 1))
    several[:, _ROLL] *= np.sign(NODES)[:, None]
    return several


def of_gains(job: Setup, reference: Array, gains: Array) -> KnowledgeBase:
    """Return the knowledge base over the measured speed that has gains [node, channel, 3] within everyone's box.

    Parameters
    ----------
    job : Setup
    reference : ndarray [n_gains]
        The best fixed gains.
    gains : ndarray [node, channel, 3]
    """
    low, high, own = (np.asarray(v, float).reshape(-1, 3) for v in (job.low, job.high, reference))
    kept = np.clip(gains, low, high)
    speed = Variable("speed", "m/s", -_REACH, _REACH, NODES)
    bases = tuple(
        RuleBase(
            channel.output, (speed,), tuple(Rule((k,), tuple(row)) for k, row in enumerate(kept[:, i].tolist())),
            tuple(low[i]), tuple(high[i]), tuple(own[i]), law=pid_form.describe(job.laws[i]),
        )
        for i, channel in enumerate(job.plant.channels)
    )  # fmt: skip
    return KnowledgeBase(job.plant.name, bases, job.network.inference(), job.tick)


@dataclass(frozen=True)
class Narrowed:
    """A candidate with only some of its genes searched, the others as in its first start."""

    whole: Candidate
    free: Array

    def decode(self, genomes: Array) -> Array:
        """Return schedule parameters [n, n_theta] of free genes [n, n_free]."""
        full = np.tile(self.whole.start[0], (len(genomes), 1))
        full[:, self.free] = genomes
        return np.asarray(full if self.whole.decode is None else self.whole.decode(full))

    @property
    def candidate(self) -> Candidate:
        """What is searched."""
        one = self.whole
        return replace(
            one, low=one.low[self.free], high=one.high[self.free], start=one.start[:, self.free], decode=self.decode
        )


def narrowed(whole: Candidate) -> Candidate:
    """Return the candidate of a knowledge base with the gains searched that LQR has, and no places of terms."""
    rule = np.zeros((len(OUTPUTS), len(NODES), 3), dtype=bool)
    for channel, gain, _, _ in _FED_BACK:
        rule[channel, :, gain] = True
    names = np.array(whole.controller.theta_names)
    kinds = np.array([not (name.endswith((".centre", ".width")) or name.startswith("on")) for name in names])
    searched = np.array([not name.startswith("on") for name in names])  # masks are no genes
    gains = np.flatnonzero(kinds[searched])
    return Narrowed(whole, gains[rule.ravel()]).candidate


def searched(bench: Bench, reference: Reference, known: Mapping[str, RivalController]) -> dict[str, RivalController]:
    """Return the knowledge base as a contender: refined with everyone's fitness, evaluations and validation, once."""
    job = bench.setup

    def compute(checkpoints: Path) -> KnowledgeBase:
        best = known["fixed"].theta
        begun = of_gains(job, best, gains_of(known["lqr_scheduled"].theta))
        starts = (begun, of_gains(job, best, turned(best)), with_reference(begun))
        several = narrowed(candidate(begun, starts, job.laws, NAME, TITLE))
        plan, progress = bench.plan(len(several.low), checkpoints, TITLE)
        plan = replace(plan, methods=(CmaEs(evaluations=job.evaluations, sigma=_STEP, population=_CROWD),))
        with progress:
            found = search(
                job.task(fitness=reference.fitness), several, plan, bench.margins,
                job.task("validation", reference.fitness),
            )  # fmt: skip
        return several.controller.with_theta(found.theta)

    kb = bench.folder.stage(NAME, compute, *search_results.KB)
    fuzzy: Any = FuzzyController(kb, laws=job.laws)
    return {NAME: replace(known["fixed"], title=TITLE, controller=fuzzy, theta=np.asarray(fuzzy.theta))}


_OWN = "fixed gains of an LQR, rounded"  # what the searches may begin at
_GENTLE = (50.0, 8.0, 1.0, 0.2, 6.0, 1.5)
"""Weights of LQR, and its speed, that spare the motors: its search may begin there, too, where they are limited."""
_COMMANDS = ("iae", "entropy_plant", "effort", "total_variation", "saturated_time")
_MOTORS = ("iae", "entropy_plant", "motor_effort", "motor_travel", "motor_limit_time", "motor_load")


def balanced(plant: Plant) -> bool:
    """Whether each motion has a channel of its own, whose sums the motors limit."""
    return tuple(channel.output for channel in plant.channels) == OUTPUTS


def measures(known: Mapping[str, RivalController]) -> tuple[str, ...]:
    """Return what is measured: of motors where several channels ask for their torques, else of the commands."""
    return _MOTORS if balanced(known["fixed"].plant) else _COMMANDS


def robots(run: Path, threads: int | None = None) -> dict[str, RivalController]:
    """Return all contenders of a finished design; LQR is searched here, once, and kept in the run's folder.

    Parameters
    ----------
    run : Path
    threads : int, optional
        Of the simulations; results do not depend on it.
    """
    with RunFolder.resume(run, command="design") as folder:
        return unicycle_contenders(folder, threads)


def unicycle_contenders(folder: RunFolder, threads: int | None = None) -> dict[str, RivalController]:
    """Return all contenders of a finished design whose folder is open."""
    found = any_plant.contenders(folder, _searched, threads=threads, begun=_begun)
    return {name: replace(one, title=_OWN) if name == "own" else one for name, one in found.items()}


def _begun(bench: Bench, reference: Reference, known: Mapping[str, RivalController]) -> dict[str, RivalController]:
    return searched(bench, reference, known) if balanced(bench.setup.plant) else {}


def _searched(job: Setup) -> list[Candidate]:
    limits = tuple((channel.low, channel.high) for channel in job.plant.channels)
    sample = job.laws[0].sample_time or job.step
    outputs = tuple(channel.output for channel in job.plant.channels)
    starts = (_GENTLE,) if balanced(job.plant) else ()
    return [UnicycleLqr(limits, sample, scheduled, outputs, starts).candidate() for scheduled in (False, True)]
