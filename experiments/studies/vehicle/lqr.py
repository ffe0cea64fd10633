"""State feedback by the linear-quadratic criterion for the balancing vehicle, on its model of ideal rolling.

Fed back are what everyone's sensors measure: pitch, speed, pitch rate, yaw rate, and the integrals of the errors of
speed and yaw rate. Limits, sample time, noise and delays are everyone's. The model is sampled with the commands held.
Free are seven numbers: what of each state and integral counts as much as full torque.

Source: G. F. Franklin, J. D. Powell, M. Workman, Digital Control of Dynamic Systems, 3rd ed. (1998), sec. 9.2; 9.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from controllers import Controller
from controllers.state_feedback import DemandLaw, StateFeedback
from experiments.studies.engine.contenders import of_feedback
from plants.balancing_vehicle import BALANCING_VEHICLE_NO_SLIP
from plants.core.analysis.linearise import linearise
from sscq.baselines.linear_quadratic import feedback
from sscq.margins.hold import hold_inputs

if TYPE_CHECKING:
    from sscq.baselines.candidates import Candidate

    Array = np.ndarray

STATES = ("theta", "v", "theta_rate", "psi_rate")
MEASURED = ("pitch", "speed", "pitch_rate", "yaw_rate")
INTEGRATED = ("speed", "yaw_rate")
_TOTAL, _YAW = 0, 2  # channels that command both motors alike, and against one another
_FREE = ("pitch", "speed", "pitch rate", "yaw rate", "integral of speed", "integral of yaw rate", "torque of yaw")
_LOW = (0.01, 0.05, 0.05, 0.05, 0.05, 0.05, 0.1)
_HIGH = (1.0, 10.0, 20.0, 20.0, 50.0, 50.0, 10.0)
_STARTS = (
    (0.1, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0), (0.05, 0.3, 0.5, 0.5, 1.0, 1.0, 1.0), (0.2, 2.0, 2.0, 1.0, 5.0, 2.0, 1.0)
)  # fmt: skip


@lru_cache(maxsize=4)
def model() -> tuple[Array, Array]:
    """Return A [4, 4] and B [4, 2] of `STATES`, and the commands of all torque (forward tilts back) and of turning."""
    linear = linearise(BALANCING_VEHICLE_NO_SLIP, BALANCING_VEHICLE_NO_SLIP.operating_points[0].state, commands=True)
    kept = [linear.states.index(name) for name in STATES]
    return linear.A[np.ix_(kept, kept)], linear.B[np.ix_(kept, (_TOTAL, _YAW))]


@lru_cache(maxsize=4)
def extended(sample: float) -> tuple[Array, Array]:
    """Return A [6, 6] and B [6, 2] from sample to sample with the integrals of speed and yaw rate behind the states."""
    held, pushed = hold_inputs(*model(), sample)
    rows = np.zeros((len(INTEGRATED), len(STATES)))
    for k, name in enumerate(INTEGRATED):
        rows[k, MEASURED.index(name)] = sample
    whole = np.block([[held, np.zeros((len(STATES), len(INTEGRATED)))], [rows, np.eye(len(INTEGRATED))]])
    return whole, np.vstack([pushed, np.zeros((len(INTEGRATED), 2))])


@dataclass(frozen=True)
class VehicleLqr:
    """The design: limits of the three commands and the sample time [s]."""

    limits: tuple[tuple[float, float], ...]
    sample: float

    @cached_property
    def controller(self) -> Controller:
        """Laws and schedule: speed's command stays 0, all that balances is the pitch channel's."""
        goal = tuple(tuple(float(name == of) for of in ("pitch", "speed", "yaw_rate")) for name in MEASURED)
        n = len(self.limits)
        schedule = StateFeedback(
            measured=MEASURED, outputs=("pitch", "speed", "yaw_rate"), rest_state=(0.0,) * len(MEASURED),
            rest_command=(0.0,) * n, rest_output=(0.0,) * n, state_per_reference=goal,
            command_per_reference=((0.0,) * n,) * n, integrating=(1, 2), limits=self.limits, sample_time=self.sample,
        )  # fmt: skip
        return Controller(tuple(DemandLaw(limits=pair, sample_time=self.sample) for pair in self.limits), schedule)

    def theta(self, genomes: Array) -> Array:
        """Return the schedule's numbers [n, n_theta] for free ones [n, 7]; NaN where there is no feedback."""
        return np.array([self._theta(np.array(genome, float)) for genome in genomes.tolist()])

    def _theta(self, counts: Array) -> Array:
        R = np.diag([1.0, counts[6] ** -2]) / self.limits[_YAW][1] ** 2
        rows = np.zeros((len(self.limits), len(STATES) + len(INTEGRATED)))
        rows[[_TOTAL, _YAW]] = feedback(*extended(self.sample), np.diag(counts[:6] ** -2), R)
        n = len(STATES)
        on_rates = [rows[_TOTAL, MEASURED.index("pitch_rate")], 0.0, 0.0]
        flat = np.concatenate([rows[:, :n].ravel(), rows[:, n:].ravel(), on_rates])
        return np.where(np.isfinite(flat).all(), flat, np.nan)

    def candidate(self) -> Candidate:
        """Return what is searched, as all other controllers are."""
        box = (np.array(_LOW), np.array(_HIGH), np.array(_STARTS))
        return of_feedback("lqr", "LQR on the rolling model", self.controller, box, self.theta)
