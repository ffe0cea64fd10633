"""State feedback with integral action by the linear-quadratic criterion (LQI), at one operating point.

An upper reference for output feedback: it sees every state, of a plant whose states are all measured as real sensors
would rarely allow. The plant is linearised with its commands as inputs, sampled with the hold of the controller, and
extended by the commands on their way through the dead time and by the integrals of the errors. The criterion weighs
errors by the channels' scales and commands by half of their ranges (Bryson's rule: A. E. Bryson, Y.-C. Ho, Applied
Optimal Control (1975), sec. 5.2); free are one weight on the commands, and the times in which an integral counts as
much as its error, and an error as much as its rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import Controller
from controllers.state_feedback import DemandLaw, StateFeedback
from plants import Quantity
from plants.core.analysis.linearise import linearise
from sscq.baselines.linear_quadratic import stabilising_feedback
from sscq.loop.spec import LoopSpec
from sscq.margins.hold import hold_inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from controllers import PID
    from plants import Plant
    from plants.core.analysis.linearise import LinearModel
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]


_PROBES = 3


def with_states(plant: Plant) -> tuple[Plant, tuple[str, ...]]:
    """Return the plant with every state among its outputs, and the outputs' names in the order of the states.

    A state that the plant measures already keeps that output, with the noise and the converter it has; the others are
    added behind, without noise.
    """
    names = [_output_of(plant, k) for k in range(len(plant.states))]
    missing = [k for k, name in enumerate(names) if name is None]
    known = {q.name for q in plant.measurements}
    added = {k: _free(f"state {plant.states[k].name}", known) for k in missing}
    extra = tuple(Quantity(name, plant.states[k].unit, text="every state is measured") for k, name in added.items())
    own = plant.outputs

    def outputs(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        values = own(t, x, u, w, p)
        values = tuple(values) if isinstance(values, (tuple, list)) else (values,)
        return (*values, *(x[k] for k in missing))

    wider = plant if not missing else replace(plant, measurements=(*plant.measurements, *extra), outputs=outputs)
    return wider, tuple(added[k] if name is None else name for k, name in enumerate(names))


def _output_of(plant: Plant, state: int) -> str | None:
    """Name of the measurement that is a state, told by its values at random states."""
    rng, u = np.random.default_rng(0), tuple(q.nominal for q in plant.inputs)
    equal = np.ones(len(plant.measurements), bool)
    for _ in range(_PROBES):
        x = tuple(float(q.nominal + (abs(q.nominal) or 1.0) * 0.1 * rng.standard_normal()) for q in plant.states)
        values = plant.outputs(0.0, x, u, plant.calm(), plant.nominal())
        equal &= np.ravel(np.asarray(values, dtype=float)) == x[state]
    places = np.flatnonzero(equal)
    return plant.measurements[places[0]].name if places.size else None


def _free(name: str, known: set[str]) -> str:
    while name in known:
        name += " (state)"
    return name


MOST_DELAY = 80  # samples; each is a state of the controller
_CONSISTENT = 1e-6  # of a channel's scale: what the steady state for its reference may miss


class NoLqiError(ValueError):
    """There is no LQI controller for the plant; the message says why."""


@dataclass(frozen=True)
class LqiProblem:
    """All that the gains follow from.

    Attributes
    ----------
    plant : Plant
        With all states measured.
    point : str
        Where it is linearised, in words.
    model : LinearModel
        Commands as inputs.
    schedule : StateFeedback
    laws : tuple of DemandLaw
    scales, spans : ndarray [n_channels]
        Errors and commands that count as large.
    """

    plant: Plant
    point: str
    model: LinearModel
    schedule: StateFeedback
    laws: tuple[DemandLaw, ...]
    scales: Array
    spans: Array

    @property
    def controller(self) -> Controller:
        """The laws and their schedule; theta is what :meth:`theta` gives."""
        return Controller(self.laws, self.schedule)

    @cached_property
    def outputs(self) -> Array:
        """Rows of the controlled outputs [n_channels, n_x]."""
        return np.array([self.model.row(name) for name in self.schedule.outputs])

    @cached_property
    def system(self) -> tuple[Array, Array]:
        """A and B from sample to sample of plant, commands on their way (newest first) and integrals."""
        held, pushed = hold_inputs(self.model.A, self.model.B, self.schedule.sample_time)
        n, m = self.model.B.shape
        late, kept = self.schedule.delay * m, list(self.schedule.integrating)
        A, B = np.zeros((n + late + len(kept),) * 2), np.zeros((n + late + len(kept), m))
        A[:n, :n] = held
        if late:
            A[:n, n + late - m : n + late] = pushed
            A[n + m : n + late, n : n + late - m] = np.eye(late - m)
            B[n : n + m] = np.eye(m)
        else:
            B[:n] = pushed
        A[n + late :, :n] = -self.schedule.sample_time * self.outputs[kept]
        A[n + late :, n + late :] = np.eye(len(kept))
        return A, B

    @cached_property
    def rates(self) -> Array:
        """Rows of the outputs' rates [n_channels, n_x]: measured ones, else those of the free motion."""
        given = [channel.rate for channel in self.plant.channels]
        return np.array([
            row @ self.model.A if rate is None else self.model.row(rate)
            for row, rate in zip(self.outputs, given, strict=True)
        ])  # fmt: skip

    def feedback(self, command_weight: float, integral_time: float, rate_time: float = 0.0) -> Array | None:
        """Return K [n_channels, n] of u = -K z for the system's state z; None where there is no stabilising one.

        Parameters
        ----------
        command_weight : float
            On half a command's range, where an error of the channel's scale weighs 1.
        integral_time, rate_time : float
            [s]: an error integral of scale x time, and a rate of scale / time, weigh 1.
        """
        A, B = self.system
        n = len(self.model.A)
        kept = list(self.schedule.integrating)
        Q = np.zeros_like(A)
        weighted = np.vstack([self.outputs, rate_time * self.rates]) / np.tile(self.scales, 2)[:, None]
        Q[:n, :n] = weighted.T @ weighted
        Q[len(A) - len(kept) :, len(A) - len(kept) :] = np.diag((self.scales[kept] * integral_time) ** -2.0)
        R = command_weight * np.diag(self.spans**-2.0)
        return stabilising_feedback(A, B, Q, R)

    def theta(self, command_weight: float, integral_time: float, rate_time: float = 0.0) -> Array | None:
        """Return the parameters of the schedule [n_theta] for weights; None where there is no stabilising feedback."""
        K = self.feedback(command_weight, integral_time, rate_time)
        if K is None:
            return None
        n, m = self.model.B.shape
        late = self.schedule.delay * m
        rates = [self._on_rate(i, K[i, :n]) for i in range(m)]
        return np.concatenate([K[:, :n].ravel(), K[:, n : n + late].ravel(), -K[:, n + late :].ravel(), rates])

    def _on_rate(self, i: int, row: Array) -> float:
        """The kd in a feedback row: its part along the output's rate beside the output; 0 where these are one."""
        found, _, rank, _ = np.linalg.lstsq(np.array([self.outputs[i], self.rates[i]]).T, row, rcond=None)
        return float(found[1]) if rank == 2 else 0.0


def lqi_problem(
    plant: Plant, laws: Sequence[PID], situations: Sequence[Situation], step: float, integrating: Sequence[bool]
) -> LqiProblem:
    """Return the design problem.

    Parameters
    ----------
    plant : Plant
        At its first operating point; where it declares none, at the equilibrium next to its nominal state.
    laws : sequence of PID
        Whose limits and sample time the feedback gets.
    situations : sequence of Situation
        Their largest delay is counted beside the plant's dead time, in whole samples.
    step : float
        Integration step [s].
    integrating : sequence of bool
        Which channels may have integral action.

    Raises
    ------
    NoLqiError
        If there is no equilibrium, no limit on a command, or too much dead time.
    """
    wider, measured = with_states(plant)
    model, point = _at_rest(wider)
    spec = LoopSpec(plant, tuple(laws), [replace(s, parameters=None) for s in situations], step)
    sample = spec.timing.sample_time
    late = model.delay + max(s.delay + s.output_delay + s.jitter * sample for s in situations)
    delay = round(late / sample)
    if delay > MOST_DELAY:
        raise NoLqiError(f"dead time of {delay} samples is more than the {MOST_DELAY} that it predicts over")
    limits = [getattr(law, "limits", None) for law in spec.laws]
    ends = tuple((float(pair[0]), float(pair[1])) for pair in limits if pair is not None)
    if len(ends) < len(limits) or not np.isfinite(ends).all():
        raise NoLqiError("a command has no limits, so there is nothing to weigh it by")
    names = tuple(channel.output for channel in plant.channels)
    scales = np.array([channel.scale for channel in plant.channels])
    state, command, reached = _steady_states(model, names, scales)
    schedule = StateFeedback(
        measured, names, tuple(model.state.tolist()), tuple(model.input.tolist()),
        tuple(float(model.output[model.outputs.index(name)]) for name in names), _tuples(state), _tuples(command),
        tuple(i for i, wanted in enumerate(integrating) if wanted and reached[i]), ends, sample, delay,
    )  # fmt: skip
    outer = tuple(
        DemandLaw(law.limits, law.rate_limit, law.sample_time, rest)
        for law, rest in zip(laws, schedule.rest_command, strict=True)
    )
    spans = np.array([0.5 * (high - low) for low, high in ends])
    return LqiProblem(wider, point, model, schedule, outer, scales, spans)


def _at_rest(plant: Plant) -> tuple[LinearModel, str]:
    if plant.operating_points:
        first = plant.operating_points[0]
        return linearise(plant, first, commands=True), f"at {first.name}"
    try:
        model = linearise(plant, adjust=[q.name for q in plant.states], commands=True)
    except ValueError as error:
        raise NoLqiError(f"no operating point, and no equilibrium next to the nominal state: {error}") from error
    return model, "at the equilibrium next to its nominal state"


def _steady_states(model: LinearModel, names: Sequence[str], scales: Array) -> tuple[Array, Array, list[bool]]:
    """N_x, N_u, and which references can be held; the columns of the others are 0."""
    n, m = model.B.shape
    rows = np.array([model.row(name) for name in names])
    whole = np.block([[model.A, model.B], [rows, np.zeros((len(rows), m))]])
    size = np.maximum(np.abs(whole).max(axis=1), 1e-300)[:, None]
    wanted = np.vstack([np.zeros((n, len(rows))), np.eye(len(rows))])
    found = np.linalg.lstsq(whole / size, wanted / size, rcond=1e-12)[0]
    missed = np.abs(rows @ found[:n] - np.eye(len(rows))) * scales / scales[:, None]
    left = np.abs(model.A @ found[:n] + model.B @ found[n:]) * scales
    reached = (missed.max(axis=0) <= _CONSISTENT) & (
        left.max(axis=0) <= _CONSISTENT * (1.0 + np.abs(found).max(axis=0))
    )
    found = np.where(reached, found, 0.0)
    return found[:n], found[n:], reached.tolist()


def _tuples(matrix: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in np.where(np.abs(matrix) > 1e-14, matrix, 0.0).tolist())
