"""State feedback by the linear-quadratic criterion for the unicycle, at one speed and scheduled over the speed.

It rolls about no equilibrium, so the linear model is the mean over a turn of the wheel (`plants.unicycle.model`). Fed
back are the measured roll, pitch, yaw rate, roll rate, pitch rate, speed and turntable rate; yaw, the wheel's and the
turntable's angle and the contact point act on nothing. Limits, sample time, noise and delays are everyone's. Free are
six numbers: weights of both commands against half of their ranges, the times in which a rate counts as much as its
angle, the speed error that counts, and the speed of the design.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import Controller
from controllers.state_feedback import DemandLaw, StateFeedback
from plants.core.elementary import table1d
from plants.unicycle import BETA0, UNICYCLE_SPEED_HOLD
from plants.unicycle.model import averaged
from plants.unicycle.signals import K5, PEDAL_MAX, TABLE_MAX
from sscq.baselines.candidates import Candidate
from sscq.baselines.linear_quadratic import feedback
from sscq.margins.hold import hold_inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controllers.protocols import Numbers

    Array = np.ndarray

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
    from plants.unicycle.parameters import NOMINAL

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

        def decode(genomes: Array) -> Array:
            return np.nan_to_num(self.theta(genomes), nan=0.0)  # no feedback at all: it falls

        def none(theta: Array) -> Array:
            return np.zeros((len(theta), 0, 0))

        free = slice(5 if self.scheduled else 6)
        name, title = ("lqr_scheduled", "LQR scheduled over speed") if self.scheduled else ("lqr", "LQR")
        low, high, start = np.array(_LOW[free]), np.array(_HIGH[free]), np.array((*_STARTS, *self.starts))[:, free]
        return Candidate(name, title, self.controller, low, high, start, none, "log", decode)
