"""Contenders of the unicycle's comparisons: of a finished design, LQR, a knowledge base started from LQR's gains.

LQR is searched as all others are, at one speed and scheduled over the speed. It rolls about no equilibrium, so the
linear model is the mean over a turn of the wheel (`plants.unicycle.model`). Fed back are the measured roll, pitch, yaw
rate, roll rate, pitch rate, speed and turntable rate; yaw, the wheel's and the turntable's angle and the contact point
act on nothing. Limits, sample time, noise and delays are everyone's. Free are six numbers: weights of both commands
against half of their ranges, the times in which a rate counts as much as its angle, the speed error that counts, and
the speed of the design.

The knowledge base begins at the gains of LQR scheduled over the speed, and is refined as every
other one is; it is a contender where each motion has a channel of its own.
Imitation of a teacher and searches around constant gains do not find that roll must be steered the other way round
where the wheel rolls backwards. LQR knows it from the model. Its feedback at each node is a rule of each channel: all
of it but what crosses from one motion to the other, which is next to nothing. The best fixed gains are a start, too:
the same everywhere, and with roll steered back where it rolls backwards. Searched are the gains that LQR has, at places
that stay. LQR's own search is counted: the fixed gains are the better ones of two searches, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import Controller, pid_form
from controllers.state_feedback import DemandLaw, StateFeedback
from experiments.pipeline import search_results
from experiments.runtime.run_folder import RunFolder
from experiments.studies.engine import contenders as any_plant
from experiments.studies.engine.contenders import of_feedback
from flcs import FuzzyController, KnowledgeBase
from flcs.inference.rule_base import Rule, RuleBase
from flcs.inference.variable import Variable
from flcs.refinement.genome import candidate, with_reference
from plants.core.elementary import table1d
from plants.unicycle import BETA0, UNICYCLE_SPEED_HOLD
from plants.unicycle.model import averaged
from plants.unicycle.parameters import NOMINAL
from plants.unicycle.signals import K5, PEDAL_MAX, TABLE_MAX
from sscq.baselines.candidates import Candidate
from sscq.baselines.linear_quadratic import feedback
from sscq.baselines.search_plan import search
from sscq.margins.hold import hold_inputs
from sscq.search.cmaes import CmaEs

if TYPE_CHECKING:
    Array = np.ndarray
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from controllers.protocols import Numbers
    from experiments.pipeline.bench import Bench
    from experiments.pipeline.ladder import Reference
    from experiments.settings import Setup
    from experiments.studies.engine.contenders import RivalController
    from plants import Plant
    from sscq.baselines.candidates import Candidate


STATES = ("gamma", "beta", "alpha_rate", "gamma_rate", "beta_rate", "theta_w_rate", "eta_rate")
MEASURED = ("roll", "pitch", "yaw_rate", "roll_rate", "pitch_rate", "speed", "table_rate")
NODES = (-3.0, -1.5, -0.5, 0.5, 1.5, 3.0)
"""m/s: where scheduled feedback is designed; linear between, and so nothing to steer by at rest."""
_MOTORS = (PEDAL_MAX, TABLE_MAX)  # what both commands may be, N m
_ANGLE = 0.1  # rad that counts as large, as the channels' scale
_LOW, _HIGH = (1e-4, 1e-4, 1e-3, 1e-3, 0.1, 0.4), (1e2, 1e2, 1.0, 1.0, 100.0, 3.0)
_STARTS = ((1e-2, 1e-2, 0.05, 0.05, 3.0, 1.3), (1.0, 1.0, 0.1, 0.1, 3.0, 1.3), (1e-1, 1e-1, 0.2, 0.2, 10.0, 2.0))
_GRID = 0.1  # m/s: models are averaged at multiples of it


@lru_cache(maxsize=128)
def model(speed: float) -> tuple[Array, Array]:
    """Return A [7, 7] and B [7, 2] of `STATES`, the speed in m/s, and the commands, averaged over a turn."""
    linear = averaged(speed, plant=UNICYCLE_SPEED_HOLD, commands=True)
    kept = [linear.states.index(name) for name in STATES]
    scale = np.ones(len(kept))
    scale[STATES.index("theta_w_rate")] = NOMINAL[1]  # m/s for each rad/s
    A, B = linear.A[np.ix_(kept, kept)], linear.B[kept]
    return scale[:, None] * A / scale, scale[:, None] * B


@dataclass(frozen=True)
class Weights:
    """The criterion: commands of pitch and roll, times [s] of the rates of pitch and roll, speed error [m/s]."""

    pitch_command: float
    roll_command: float
    pitch_time: float
    roll_time: float
    speed: float

    def matrices(self, spans: Sequence[float]) -> tuple[Array, Array]:
        """Return Q [7, 7] and R [2, 2] for half ranges of the commands."""
        q = dict.fromkeys(STATES, 0.0)
        q["gamma"] = q["beta"] = _ANGLE**-2
        q["gamma_rate"], q["beta_rate"] = (self.roll_time / _ANGLE) ** 2, (self.pitch_time / _ANGLE) ** 2
        q["theta_w_rate"] = self.speed**-2
        r = np.array([self.pitch_command, self.roll_command]) / np.square(spans)
        return np.diag(list(q.values())), np.diag(r)


@lru_cache(maxsize=128)
def held_model(speed: float, sample: float) -> tuple[Array, Array]:
    """Return A and B of :func:`model` from sample to sample, commands held."""
    return hold_inputs(*model(speed), sample)


@dataclass(frozen=True)
class OverSpeed(StateFeedback):
    """State feedback whose gains are linear over the measured speed between nodes.

    theta: all of :class:`StateFeedback`, node after node.
    """

    nodes: tuple[float, ...] = NODES

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Those of the feedback at each node."""
        return tuple(f"{name} at {node:g}" for node in self.nodes for name in super(OverSpeed, self).theta_names)

    def gains(self, t: Any, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:
        """Return the demands with the feedback of the present speed."""
        speed = s[2 * self.n_channels + self.signals.index("speed")]
        width = len(theta) // len(self.nodes)
        rows = [theta[i * width : (i + 1) * width] for i in range(len(self.nodes))]
        mixed = tuple(table1d(speed, self.nodes, column) for column in zip(*rows, strict=True))
        return super().gains(t, s, k, mixed)


@dataclass(frozen=True)
class UnicycleLqr:
    """The design: limits of all channels' commands, sample time [s], whether the gains are scheduled, the channels.

    The first two command everything; channels behind them, whose motors are the same ones, stay still.
    """

    limits: tuple[tuple[float, float], ...]
    sample: float
    scheduled: bool = False
    outputs: tuple[str, ...] = ("lean", "roll")
    starts: tuple[tuple[float, ...], ...] = ()
    """Weights, and speed, that its search begins at beside the usual ones."""

    def _per_reference(self, name: str) -> tuple[float, ...]:
        """What each reference asks for of a measured state: the speed has its own, or stands behind the lean's."""
        if name != "speed":
            return (0.0,) * len(self.outputs)
        return tuple({"lean": 1.0 / K5, "speed": 1.0}.get(of, 0.0) for of in self.outputs)

    @cached_property
    def controller(self) -> Controller:
        """Laws and schedule."""
        kind, n = OverSpeed if self.scheduled else StateFeedback, len(self.outputs)
        schedule = kind(
            measured=MEASURED, outputs=self.outputs,
            rest_state=tuple(BETA0 if name == "pitch" else 0.0 for name in MEASURED), rest_command=(0.0,) * n,
            rest_output=(BETA0, *(0.0,) * (n - 1)),
            state_per_reference=tuple(self._per_reference(name) for name in MEASURED),
            command_per_reference=((0.0,) * n,) * n, integrating=(), limits=self.limits, sample_time=self.sample,
        )  # fmt: skip
        return Controller(tuple(DemandLaw(limits=pair, sample_time=self.sample) for pair in self.limits), schedule)

    def theta(self, genomes: Array) -> Array:
        """Return the schedule's numbers [n, n_theta] for free ones [n, 5 or 6]; NaN where there is no feedback."""
        matrices = [Weights(*row[:5]).matrices(_MOTORS) for row in genomes.tolist()]
        Q, R = (np.array(several)[:, None] for several in zip(*matrices, strict=True))
        speeds = [NODES if self.scheduled else (_GRID * round(row[5] / _GRID),) for row in genomes.tolist()]
        models = [[held_model(round(speed, 9), self.sample) for speed in several] for several in speeds]
        A, B = (np.array([[one[k] for one in several] for several in models]) for k in (0, 1))
        K = feedback(A, B, Q, R)
        on_rates = [K[..., 0, STATES.index("beta_rate"), None], K[..., 1, STATES.index("gamma_rate"), None]]
        idle = np.zeros((*K.shape[:2], len(self.outputs) - len(_MOTORS)))
        parts = [K.reshape(*K.shape[:2], -1), np.repeat(idle, len(MEASURED), axis=-1), *on_rates, idle]
        flat = np.concatenate(parts, axis=-1).reshape(len(genomes), -1)
        return np.asarray(np.where(np.isfinite(flat).all(axis=1, keepdims=True), flat, np.nan))

    def candidate(self) -> Candidate:
        """Return what is searched, as all other controllers are."""
        free = slice(5 if self.scheduled else 6)
        name, title = ("lqr_scheduled", "LQR scheduled over speed") if self.scheduled else ("lqr", "LQR")
        box = (np.array(_LOW[free]), np.array(_HIGH[free]), np.array((*_STARTS, *self.starts))[:, free])
        return of_feedback(name, title, self.controller, box, self.theta)


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
_COMMAND_MEASURES = ("iae", "entropy_plant", "effort", "total_variation", "saturated_time")
_MOTOR_MEASURES = ("iae", "entropy_plant", "motor_effort", "motor_travel", "motor_limit_time", "motor_load")


def balanced(plant: Plant) -> bool:
    """Whether each motion has a channel of its own, whose sums the motors limit."""
    return tuple(channel.output for channel in plant.channels) == OUTPUTS


def measures(known: Mapping[str, RivalController]) -> tuple[str, ...]:
    """Return what is measured: of motors where several channels ask for their torques, else of the commands."""
    return _MOTOR_MEASURES if balanced(known["fixed"].plant) else _COMMAND_MEASURES


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
