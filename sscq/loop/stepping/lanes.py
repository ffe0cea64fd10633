"""Rollouts side by side that are commanded from outside: reset, command, look.

Their law is a direct command: the command is what the law is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import Controller
from controllers.schedule import ConstantGains, gain_names
from plants.core.elementary import clip
from plants.core.kernel.kernel import ALIVE
from plants.core.kernel.lanes import CLOCK
from plants.core.motion.simulate import count_steps
from sscq.loop.closed_loop import side_by_side
from sscq.loop.observation import observing
from sscq.loop.quality import Quality
from sscq.loop.stepping.stepped_loop import ExcitationTable, RepeatedCall, SteppedLoop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from plants.core.kernel.kernel import Kernel
    from sscq.situations.situation import Situation


@dataclass(frozen=True)
class DirectCommand:
    """A law (:class:`controllers.protocols.Law`) whose only gain is the command itself.

    Attributes
    ----------
    limits : (low, high), optional
        Range of the command; None: the channel's.
    sample_time : float, optional
        Time between two commands [s].
    """

    limits: tuple[float, float] | None = None
    sample_time: float | None = None

    @property
    def gain_names(self) -> tuple[str, ...]:
        """The command."""
        return ("command",)

    @property
    def n_states(self) -> int:
        """None."""
        return 0

    def initial(self) -> tuple[float, ...]:
        """Return the empty state."""
        return ()

    def error_rate(self, r_rate: Any, y_rate: Any, c: Any) -> Any:  # noqa: ARG002
        """Return the error rate as it is: nothing is filtered."""
        return r_rate - y_rate

    def law(self, t: Any, r: Any, y: Any, r_rate: Any, y_rate: Any, c: Any, g: Any) -> tuple[Any, Any]:  # noqa: ARG002
        """Return the command inside its limits."""
        return (g[0] if self.limits is None else clip(g[0], *self.limits)), c

    continuous = law


def commanded(plant: Plant, sample_time: float | None) -> Controller:
    """Return the controller of a loop that is told its commands, and that looks at all measurements of the plant."""
    laws = (DirectCommand(sample_time=sample_time),) * len(plant.channels)
    outputs = tuple(quantity.name for quantity in plant.measurements)
    return observing(Controller(laws, ConstantGains(gain_names(laws))), outputs, len(laws))


class Lanes:
    """Rollouts of one plant that are commanded from outside, a controller sample at a time.

    Each lane has a time, a situation and random numbers of its own. A lane that leaves the plant's region stays where
    it was.

    Parameters
    ----------
    plant : Plant
    situations : sequence of Situation
        Of equal delays and hold times.
    count : int
        Number of lanes.
    step : float
        Integration step [s].
    sample_time : float
        Time between two commands [s], a multiple of the step.
    integrator : str
    measures : sequence of str
        Quality measures to accumulate.
    entropy_scale : float

    Raises
    ------
    ValueError
        If the situations cannot share a call of a kernel.
    """

    def __init__(
        self,
        plant: Plant,
        situations: Sequence[Situation],
        count: int,
        *,
        step: float,
        sample_time: float,
        integrator: str = "rk4",
        measures: Sequence[str] = (),
        entropy_scale: float = 1.0,
    ) -> None:
        self.plant, self.situations, self.count = plant, tuple(situations), count
        self.loop = SteppedLoop(
            plant, commanded(plant, sample_time), self.situations, step, integrator=integrator, measures=measures,
            entropy_scale=entropy_scale,
        )  # fmt: skip
        self._check_shared()
        self.table = ExcitationTable(self.loop)
        self.stride = self.loop.spec.timing.sample
        self.horizons = np.array([count_steps(s.t_end, step) for s in self.situations])
        self._templates = [self.loop.template(k) for k in range(len(self.situations))]
        self._table = np.zeros((count, len(self.table.rows), int(self.horizons.max()) + 1))
        self.number = np.zeros(count, np.int64)
        self._moves = self._call(self.loop.kernel, self.stride, entropy_scale, len(plant.channels))
        self._senses = self._call(self.loop.senses, 1, entropy_scale)
        self.rows = self._moves.start
        self.rows[:] = self._templates[0]
        self._names = tuple(f"lane {k}" for k in range(count))
        self._every_lane = np.arange(count)[:, None, None]
        self._every_row = np.arange(len(self.table.rows))[None, :, None]
        self._step = 0  # of the calls, not of the lanes: only the delay lines' rings turn with it

    def _call(self, kernel: Kernel, n_steps: int, entropy_scale: float, n_theta: int = 0) -> RepeatedCall:
        n, fed = self.count, len(self.table.rows)
        integers, numbers, ring = self.loop.delay_numbers()
        return RepeatedCall(
            kernel, side_by_side(range(n), kernel.lanes), n_steps, self.loop.step,
            width=self.loop.design.rows.count + ring, n_theta=n_theta, series=np.zeros((max(1, n * fed), n_steps)),
            codes=np.zeros((n, 1), np.int64), keys=np.zeros((n, 1, 5), np.int64),
            integers=integers, numbers={**numbers, "entropy_scale": entropy_scale}, finals=True,
        )  # fmt: skip

    def _check_shared(self) -> None:
        delays = self.loop.spec.delays
        if any(delay != delays[0] for delay in delays):
            names = ", ".join(situation.name for situation in self.situations)
            raise ValueError(
                f"situations that are stepped side by side need the same delays, got {names}; make one environment each"
            )

    # ------------------------------------------------------------------------------------------------------ rollouts

    def reset(
        self, lanes: Sequence[int], numbers: Sequence[int], seeds: Sequence[int], initial: Sequence[Any] | None = None
    ) -> None:
        """Put `lanes` to the start of the situations at places `numbers`, with these seeds.

        Parameters
        ----------
        initial : sequence, optional
            Initial state of each lane by name or in full; None: the situation's.
        """
        for k, (lane, number, seed) in enumerate(zip(lanes, numbers, seeds, strict=True)):
            self.rows[lane] = self._templates[number]
            self.number[lane] = number
            drawn = self.table.draw(number, seed)
            self._table[lane, :, : drawn.shape[1]] = drawn
            if initial is not None and initial[k] is not None:
                self.rows[lane, self._span("x")] = self._initial(number, initial[k])
        if self.loop.spec.delayed_output:
            self.rows[list(lanes)] = self._filled(list(lanes))

    def _filled(self, lanes: list[int]) -> np.ndarray:
        """Workspaces of `lanes` with the first measurement in all slots of their output delay."""
        self.look()
        rows = self.rows.copy()
        rows[:, self._span("measured")] = self._senses.finals[:, self._span("measured")]
        self.loop.fill_ring(rows, lanes)
        return rows[lanes]

    def _initial(self, number: int, given: Any) -> tuple[float, ...]:
        situation = self.situations[number]
        if isinstance(given, dict) and isinstance(situation.initial, dict):
            given = {**situation.initial, **given}
        return self.plant.start(given, situation.parameters)[0]

    def command(self, commands: np.ndarray) -> None:
        """Give every lane its commands [lane, channel] for one sample, and move on to the next one."""
        self._moves.theta[:] = commands
        self._feed(self._moves)
        self._moves(self._step)
        self.rows[:] = self._moves.finals
        self._step += self.stride

    def look(self) -> np.ndarray:
        """Return what the next command may be based on [lane, measurement then reference]."""
        self._senses.start[:] = self.rows
        self._feed(self._senses)
        self._senses(self._step)
        return self._senses.results.copy()

    def _feed(self, call: RepeatedCall) -> None:
        """Put the table's numbers of each lane's next steps into the call's series [lane * fed row, steps]."""
        fed, n = self._table.shape[1], call.series.shape[1]
        if fed:
            now = np.minimum(self.clock[:, None] + np.arange(n), self._table.shape[2] - 1)
            taken = self._table[self._every_lane, self._every_row, now[:, None, :]]
            call.series[:] = taken.reshape(-1, n)

    # ------------------------------------------------------------------------------------------------------- reading

    def _span(self, group: str) -> slice:
        return self.loop.design.rows.span(group)

    @property
    def clock(self) -> np.ndarray:
        """Steps since each lane's start [lane]."""
        return self.rows[:, self._span(CLOCK)][:, 0].astype(np.int64)

    @property
    def states(self) -> np.ndarray:
        """States of the plant [lane, n_x]."""
        return self.rows[:, self._span("x")]

    @property
    def diverged(self) -> np.ndarray:
        """Whether each lane has left the plant's region [lane]."""
        return self.rows[:, self._span(ALIVE)][:, 0] <= 0.0

    @property
    def finished(self) -> np.ndarray:
        """Whether each lane has reached its situation's horizon [lane]."""
        return self.clock >= self.horizons[self.number]

    def quality(self) -> Quality:
        """Return the quality so far, every lane as a situation [lane, 1]."""
        steps, own = self.rows[:, self._span("steps")][:, 0], self.loop.scoring.own
        values = {name: self.rows[:, self._span(f"q_{name}")] for name in self.loop.scoring.built_in}
        if own:
            states = np.hstack([self.rows[:, self._span(group)] for group in own.groups])
            # At the start, before anything is measured, own measures are those of the initial states over one step.
            found = own.values(states, self.loop.step * np.maximum(steps, 1.0))
            values |= {measure.name: found[:, k : k + 1] for k, measure in enumerate(own.measures)}
        lost = np.where(self.diverged, steps * self.loop.step, np.nan)[:, None]
        horizon = self.horizons[self.number] * self.loop.step
        return Quality(self._names, horizon, lost, values, worst=own.worst)
